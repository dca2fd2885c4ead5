"""What each signal of the judge, each source and each opinion adds, and the best that the sources allow.

    python benchmarks/ablation.py --models DIR/models [--data flights|FILE]… [--seed 0] [--part signals|sources|bound]

The models are those of `carat bench --profile fast`, with a judge put beside their transformer as in
`benchmarks/stacked.py`. Printed on the 400 anomalies of the seed:

- Feature Accuracy with one and two wrong entities and Recovery@1 of `carat-plus`, with all signals and without each
  group of them (the judge learns again without it)
- Recovery@1 and @50 of `carat-plus` and `instant` with all sources and opinions, and without each (the weights of the
  others are learned again)
- the same with the judge's own choice of domains, not by what a record looks like once it is fixed
- the bound: the same with the wrong domains given, so that only the entities have to be found
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("GOMP_SPINCOUNT", "1000")

from common import read
from stacked import ANOMALIES, loaded, with_judge
from torch import Tensor

from carat import Model
from carat.experiments.contest import Contest
from carat.experiments.trial import Trial
from carat.explain import Judge, targets
from carat.explain.lessons import Lessons
from carat.explain.signals import HABITS, TOLD, VOTED
from carat.fitting.fit import learned_blends
from carat.recourse import Guided, Settings
from carat.recourse.blend import learn_blend, learn_sets
from carat.recourse.candidates import UnionSource
from carat.recourse.ranking import Blend, BlendRanking
from carat.recourse.suspects import Suspects, Told
from carat.training import Run

AGAIN = 2
"""Signals of the vote that is held again, the last of `VOTED`."""
GROUPS = {
    "vote": range(len(VOTED) - AGAIN),
    "vote again": range(len(VOTED) - AGAIN, len(VOTED)),
    "witnesses": range(len(VOTED), len(TOLD)),
    "habits": range(len(TOLD), len(TOLD) + len(HABITS)),
    "transformer": range(len(TOLD) + len(HABITS), len(TOLD) + len(HABITS) + 1),
}


class Deaf(Judge):
    """A judge that hears nothing of some signals."""

    deaf_to: Iterable[int] = ()

    def _signals(self, lessons: Lessons) -> Tensor:
        told = super()._signals(lessons)
        told[..., list(self.deaf_to)] = 0.0
        return told


def without_signals(model: Model, trial: Trial, run: Run, group: str) -> Model:
    """A model with a judge, whose judge has learned again without a group of signals."""
    whole = model.explainer
    assert isinstance(whole, Judge)
    judge = Deaf(beside=whole.beside, beside_params=whole.beside_params)
    judge.__dict__.update(whole.__dict__)
    judge.deaf_to = GROUPS[group]
    judge.relearn(trial.data, run)
    deaf = replace(model, explainer=judge, blends={})
    return replace(deaf, blends=learned_blends(deaf, trial.data, run))


def without_part(method: Guided, trial: Trial, run: Run, part: str | None) -> Guided:
    """A method without a source or an opinion, the weights of the others learned again."""
    ranking, source = method.make_ranking(0.5, 0.0), method.source
    assert isinstance(ranking, BlendRanking)
    assert isinstance(source, UnionSource)
    sources = {name: one for name, one in source.sources.items() if name != part}
    opinions = {name: one for name, one in ranking.opinions.items() if name != part}

    def made(blend: Blend) -> Guided:
        def ranked(prefer: float, cost: float) -> BlendRanking:
            return BlendRanking(
                reference, opinions, blend=blend, prefer=prefer, shortlist=ranking.shortlist, cost_weight=cost
            )

        suspects = Suspects(method.explainer, blend.sets) if blend.sets else None
        found = UnionSource(sources, blend.sources, seen=source.seen)
        return replace(method, source=found, make_ranking=ranked, suspects=suspects)

    reference = ranking.reference
    begin = Blend(
        {name: weight for name, weight in ranking.blend.sources.items() if name != part},
        {name: weight for name, weight in ranking.blend.opinions.items() if name != part},
    )
    blend = learn_blend(made(begin), trial.data, seed=run.seed_of("blend"))
    return made(replace(blend, sets=learn_sets(made(blend), trial.data, seed=run.seed_of("sets"))))


def recovered(method: Guided, contest: Contest) -> dict[str, float]:
    """Recovery@1 and @50."""
    outcome, _ = contest.find(method, Settings(), contest.trial.anomalies.ids)
    ranks = contest.measure(outcome).rank
    return {f"recovery_{k}": round(sum(0 < rank <= k for rank in ranks) / len(ranks), 4) for k in (1, 50)}


def bound(method: Guided, contest: Contest) -> dict[str, float]:
    """The same where the wrong domains are known."""
    anomalies = contest.trial.anomalies
    told = replace(method, explainer=Told(anomalies.corrupted), suspects=None)
    ranks = contest.measure(told.find(anomalies.ids.long(), Settings())).rank
    return {f"recovery_{k}": round(sum(0 < rank <= k for rank in ranks) / len(ranks), 4) for k in (1, 50)}


def blame(judge: Judge, trial: Trial) -> dict[str, float]:
    """Feature Accuracy with one and two wrong entities."""
    right = (targets(judge.likelihood(trial.anomalies.ids)) == trial.anomalies.corrupted).double().mean(dim=1)
    wrong = trial.anomalies.corrupted.sum(dim=1)
    return {f"feature_accuracy_{k}": round(float(right[wrong == k].mean()), 4) for k in (1, 2)}


def main() -> None:
    """Print one line per variant."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--data", action="append")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", choices=["signals", "sources", "bound"])
    arguments = parser.parse_args()
    for name in arguments.data or ["flights"]:
        dataset, _ = read(name)
        run = Run(seed=arguments.seed)
        trial, plain = loaded(arguments.models, dataset, arguments.seed)
        assert len(trial.anomalies) <= ANOMALIES
        model = with_judge(plain, trial, run)

        def show(what: str, **found: Any) -> None:
            print(json.dumps({"data": dataset.name, "variant": what, **found}), flush=True)  # noqa: B023

        for group in (None, *GROUPS) if arguments.part in (None, "signals") else ():
            changed = model if group is None else without_signals(model, trial, run, group)
            assert isinstance(changed.explainer, Judge)
            contest = Contest.of(trial, changed, run)
            method = contest.method("carat-plus")
            assert isinstance(method, Guided)
            title = "all signals" if group is None else f"without {group}"
            show(f"judge, {title}", **blame(changed.explainer, trial), **recovered(method, contest))
        contest = Contest.of(trial, model, run)
        for kind in ("carat-plus", "instant"):
            method = contest.method(kind)
            assert isinstance(method, Guided)
            ranking = method.make_ranking(0.5, 0.0)
            assert isinstance(ranking, BlendRanking)
            assert isinstance(method.source, UnionSource)
            if arguments.part in (None, "sources"):
                for part in (*method.source.sources, *ranking.opinions):
                    show(f"{kind}, without {part}", **recovered(without_part(method, trial, run, part), contest))
            if arguments.part in (None, "bound"):
                show(f"{kind}, all sources", **recovered(method, contest))
                show(f"{kind}, domains by the judge alone", **recovered(replace(method, suspects=None), contest))
                show(f"{kind}, wrong domains given", **bound(method, contest))


if __name__ == "__main__":
    main()
