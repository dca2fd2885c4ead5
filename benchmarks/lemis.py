"""Detectors against a real outcome: shipments seized or refused at the border.

    python benchmarks/lemis.py lemis_amphibian.parquet [--profile fast] [--newest]
    python benchmarks/lemis.py lemis_amphibian.parquet --ablation [--newest]

The table is the US Fish & Wildlife Service's declarations of amphibian imports (LEMIS), cleaned by EcoHealth Alliance.
Trains on the records before 2018 that were neither seized nor refused, scores those from 2018 on, and prints for the
real label the ROC-AUC of every detector and what it catches where 1 % of the other records are listed, beside the
smallest and the mean pairwise PMI, and the same of the alarm of judges alone and beside the profile's other explainer.
Nothing is tuned on this table. `--newest` holds out the newest training records, as `carat fit` does where it is told
of a time column, instead of random ones. At the end, the difference of each alarm from the best of the others, with the
95 % interval of a paired bootstrap over the scored records.

`--ablation` asks why the alarm differs from the scores: judges without another explainer beside them, taught with more
and fewer replacements by frequent entities (0: all are uniform, so that a rare entity is likelier a wrong one), and
without each group of signals; and `counts` and the alarm put together, each as its share of held-out records that are
at least as strange, multiplied.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import torch
from ablation import GROUPS, Deaf

from carat.data import FIRST, Columns, Fold, Table, TrainingData, open_source, scan
from carat.devices import pick_device
from carat.explain import ContextDetector, CountsExplainer, Judge
from carat.explain.judge import BESIDE
from carat.explain.lessons import Corruption, Lessons
from carat.metrics import caught, roc_auc
from carat.registry import DETECTORS, EXPLAINERS, PROFILES
from carat.training import Run

DRAWS = 2_000
DOMAINS = (
    "SpeciesCode", "GenericName", "Description", "Unit", "CountryOrigin", "CountryShipped", "Purpose", "Source", "Port",
)  # fmt: skip


def pmi(data: TrainingData, ids: torch.Tensor) -> torch.Tensor:
    """Pointwise mutual information of every pair, add-half smoothed, NaN where one is not known; [n, pairs]."""
    pairs, rows = data.pairs, ids.long() + data.vocabulary.offsets
    low, high = torch.triu_indices(ids.shape[1], ids.shape[1], 1)
    together = pairs.count(rows[:, low], rows[:, high]) + 0.5
    value = (
        together * pairs.records / (pairs.singles[rows[:, low]] + 0.5) / (pairs.singles[rows[:, high]] + 0.5)
    ).log()
    return value.masked_fill((ids[:, low] < FIRST) | (ids[:, high] < FIRST), torch.nan)


SHARES = (0.0, 0.5, 0.85, 1.0)
"""Of the replacements that a judge learns from, how many follow frequency; `carat` has 0.85."""


class Taught(Deaf):
    """A judge that learns from other replacements than usual, and hears nothing of some signals.

    Args:
        by_frequency: share of the replacements that follow frequency.
        without: a group of signals; None leaves none out.
    """

    def __init__(self, *, by_frequency: float = 0.85, without: str | None = None) -> None:
        super().__init__()
        self.by_frequency = by_frequency
        self.deaf_to = () if without is None else GROUPS[without]

    def _told(self, lessons: Lessons, data: TrainingData, generator: torch.Generator) -> torch.Tensor:
        corruption = replace(Corruption(), by_frequency=self.by_frequency)
        changed, wrong = lessons.corrupted(corruption, data, generator)
        return torch.cat([self._signals(changed), (~wrong).float()[..., None]], dim=2).flatten(0, 1)


def ablation(data: TrainingData, ids: torch.Tensor, run: Run, show: Callable[[str, torch.Tensor], None]) -> None:
    """The alarm of judges that were taught otherwise, and alarm and score together."""
    for share in SHARES:
        show(f"alarm, {share:.0%} by frequency", -Taught(by_frequency=share).fit(data, run).alarm(ids))
    for group in ("vote", "vote again", "witnesses", "habits"):
        show(f"alarm without {group}", -Taught(without=group).fit(data, run).alarm(ids))
    counts, judge = DETECTORS["counts"].load()().fit(data, run), Judge().fit(data, run)
    scores, alarms = (
        _share_as_strange(told(ids), told(data.held_out)) for told in (counts.score, lambda some: -judge.alarm(some))
    )
    show("counts", counts.score(ids))
    show("counts and alarm together", scores.log() + alarms.log())


def _share_as_strange(scores: torch.Tensor, held_out: torch.Tensor) -> torch.Tensor:
    """Share of held-out scores that are no higher, [n]; never 0."""
    known = held_out.double().sort().values
    return (torch.searchsorted(known, scores.double(), right=True) + 0.5) / (len(known) + 1)


def main() -> None:
    """Fit, score, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--profile", default="fast")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--newest", action="store_true")
    parser.add_argument("--ablation", action="store_true")
    arguments = parser.parse_args()
    table = pq.read_table(arguments.file)
    early = pc.less(pc.cast(table["date"], "string"), "2018")
    refused = pc.equal(pc.cast(table["seized_or_refused"], "string"), "1")
    train = table.filter(pc.and_(early, pc.invert(refused)))
    test = table.filter(pc.invert(early))
    label = torch.from_numpy(refused.filter(pc.invert(early)).to_numpy().copy())
    found = scan(open_source(train), Columns(domains=DOMAINS))
    known = Table.read(open_source(train), found.schema, found.vocabulary).ids
    fold = Fold.newest(train["date"].combine_chunks()) if arguments.newest else None
    data = TrainingData.split(known, found.vocabulary, fold=fold)
    ids = Table.read(open_source(test), found.schema, found.vocabulary).ids
    print(f"{train.num_rows:,} records to train on, {len(ids):,} to score, {int(label.sum())} seized or refused")

    told: dict[str, torch.Tensor] = {}

    def show(name: str, scores: torch.Tensor) -> None:
        told[name] = scores.double().cpu()
        found = caught(told[name][~label], told[name][label])
        print(f"{name:34s} {roc_auc(scores[~label], scores[label]):.4f}, caught {found:.3f}", flush=True)

    run = Run(device=pick_device(arguments.device))
    if arguments.ablation:
        ablation(data, ids, run, show)
        return
    evidence = pmi(data, ids)
    show("smallest pairwise PMI", evidence.nan_to_num(nan=torch.inf).amin(dim=1).clamp(max=99))
    show("mean pairwise PMI", evidence.nanmean(dim=1).nan_to_num(nan=0.0))
    for name, entry in DETECTORS.items():
        if not entry.needs:  # the explainer's own follows
            show(name, entry.load()().fit(data, run).score(ids))
    profile = PROFILES.find(arguments.profile).load()()
    explainers = {
        "counts": CountsExplainer(),
        arguments.profile: EXPLAINERS[profile.plain].load()(**profile.plain_params),
    }
    for name, explainer in explainers.items():
        explainer.fit(data, run)
        show(f"context ({name})", ContextDetector().attach(explainer).fit(data, run).score(ids))
        show(f"least likely entity ({name})", explainer.likelihood(ids).nan_to_num(nan=1.0).amin(dim=1))
    others = dict(told)
    fitted = explainers[arguments.profile]
    judges = {"alone": Judge().fit(data, run)}
    if fitted.name in BESIDE:
        beside = Judge(beside=fitted.name, beside_params=fitted.params())
        judges[f"beside {fitted.name}"] = beside.put_beside(fitted, data, run)
    for name, judge in judges.items():
        show(f"alarm (judge {name})", -judge.alarm(ids))
    best = max(others, key=lambda name: roc_auc(others[name][~label], others[name][label]))
    for name in judges:
        mine = told[f"alarm (judge {name})"]
        low, high = _interval(mine, others[best], label)
        gain = roc_auc(mine[~label], mine[label]) - roc_auc(others[best][~label], others[best][label])
        print(f"alarm (judge {name}) less {best}: {gain:+.4f}, 95 % interval {low:+.4f} to {high:+.4f}")


def _interval(mine: torch.Tensor, other: torch.Tensor, label: torch.Tensor) -> tuple[float, float]:
    """Of the difference of two ROC-AUCs on the same records [n], drawn again with replacement, each class by itself."""
    generator = torch.Generator().manual_seed(0)
    places = [which.nonzero().flatten() for which in (~label, label)]
    gains = []
    for _ in range(DRAWS):
        normal, wrong = (p[torch.randint(len(p), (len(p),), generator=generator)] for p in places)
        gains.append(roc_auc(mine[normal], mine[wrong]) - roc_auc(other[normal], other[wrong]))
    low, high = torch.tensor(gains).quantile(torch.tensor([0.025, 0.975])).tolist()
    return low, high


if __name__ == "__main__":
    main()
