"""How a fit sets the gate, and what it finds: chosen on one half of the held-out records, measured on the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from carat.data import TrainingData, corrupt
from carat.explain import Judge
from carat.explain.calibration import expected_calibration_error
from carat.explain.lessons import Corruption
from carat.metrics import roc_auc
from carat.protocols import Detector
from carat.results.clearing import Clearing
from carat.results.gate import QUANTILE, Cuts, Gate
from carat.results.scale import Threshold
from carat.training import Run

SHARES = (0.5, 0.75, 0.9, 0.95, 1.0)
"""What the alarm's part of the listed records is chosen from."""
TRIED = 1_000
"""Corrupted records of each kind, at most."""
LOST = 0.01
"""Share of the corrupted records with an alarm that may be cleared unjudged."""
KINDS = {"one": 1, "two": 2}
"""Wrong entities of the corrupted records that `fit` tells of."""
FALSE_ALARMS = {0.01: 1, 0.001: 20}
"""Shares of normal records listed at which `fit` says how many are caught, and how many that must be at least."""


@dataclass(frozen=True)
class Looked:
    """Records as the gate sees them: ids [n, m], and score and alarm, float32 [n, 2]."""

    ids: Tensor
    pairs: Tensor

    def listed(self, cuts: Cuts) -> Tensor:
        """Which of them are anomalous, bool [n]."""
        return (self.pairs[:, 0] < cuts.score) | self.alarmed(cuts)

    def alarmed(self, cuts: Cuts) -> Tensor:
        """Which of them the alarm alone lists, bool [n]."""
        return self.pairs[:, 1] >= cuts.alarm

    def __len__(self) -> int:
        return len(self.ids)


def set_gate(
    detector: Detector, judge: Judge, data: TrainingData, run: Run
) -> tuple[Gate | None, dict[str, Any] | None]:
    """A gate for a fitted detector and judge, and facts on how well it does; None where nothing was held out.

    Which part of the list the alarm gets, and what needs no judge, follows from the first half of the held-out records,
    with entities replaced. The cuts are those of the second half, and so are the facts.
    """
    if len(data.held_out) < 2:
        return None, None
    stage = run.observer.stage("setting the threshold", 8)

    def look(ids: Tensor) -> Looked:
        found = Looked(ids, torch.stack([detector.score(ids).float().cpu(), judge.alarm(ids).float().cpu()], dim=1))
        stage.advance()
        return found

    first, second = data.first_half.to(torch.int64), data.second_half.to(torch.int64)
    normal, wrong = look(first), [look(ids) for ids in _corrupted(first, data, run, "choice").values()]
    mixed, _ = _as_judged(first, data, run, "choice")
    wrong.append(look(mixed))
    by_alarm = _share(normal, wrong)
    clearing = Clearing(data.pairs, data.vocabulary)
    clears_above = _clearing_cut(clearing, wrong, Gate(normal.pairs, by_alarm).cuts(Threshold(quantile=QUANTILE)))
    measured = look(second)
    gate = Gate(measured.pairs, by_alarm, clears_above)
    facts = _facts(gate, measured, clearing, _corrupted(second, data, run, "measure"), look)
    facts["calibration_error"] = _calibration(judge, second, data, run)
    stage.finish()
    return gate, facts


def _corrupted(ids: Tensor, data: TrainingData, run: Run, purpose: str) -> dict[str, Tensor]:
    """Some of the records ids [n, m] with one and with two entities out of context, as far as they have so many."""
    return {
        kind: corrupt(
            ids[:TRIED], data.vocabulary, data.pairs, changes=(changes,), seed=run.seed_of("gate", purpose, kind)
        ).ids
        for kind, changes in KINDS.items()
        if changes < ids.shape[1]
    }


def _as_judged(ids: Tensor, data: TrainingData, run: Run, purpose: str) -> tuple[Tensor, Tensor]:
    """Records as the judge learns from, but none untouched: new entities, blanks and frequent ones among them."""
    generator = torch.Generator().manual_seed(run.seed_of("gate", purpose))
    return Corruption(untouched=0.0).corrupt(ids[:TRIED], data, generator)


def _share(normal: Looked, wrong: Iterable[Looked]) -> float:
    """The part of the list that the alarm gets: the one with which most corrupted records are listed."""
    strange = Looked(*(torch.cat(parts) for parts in zip(*((one.ids, one.pairs) for one in wrong), strict=True)))

    def caught(share: float) -> tuple[int, float]:
        cuts = Gate(normal.pairs, share).cuts(Threshold(quantile=QUANTILE))
        return int(strange.listed(cuts).sum()), share

    return max(SHARES, key=caught)


def _clearing_cut(clearing: Clearing, wrong: Iterable[Looked], cuts: Cuts) -> float:
    """The support above which hardly any corrupted record with an alarm lies; ∞ where none has one."""
    alarmed = torch.cat([clearing.support(one.ids[one.alarmed(cuts)]) for one in wrong]).sort(descending=True).values
    return float(alarmed[math.floor(LOST * len(alarmed))]) if len(alarmed) else math.inf


def _facts(
    gate: Gate, normal: Looked, clearing: Clearing, corrupted: dict[str, Tensor], look: Callable[[Tensor], Looked]
) -> dict[str, Any]:
    """What the gate and the score alone catch, and what clearing loses, in shares."""
    wrong = {kind: look(ids) for kind, ids in corrupted.items() if len(ids)}
    usual = gate.cuts(Threshold(quantile=QUANTILE))
    facts: dict[str, Any] = {"records": len(normal), "by_alarm": gate.by_alarm, "caught": []}
    for share, least in FALSE_ALARMS.items():
        if share * len(normal) + 1e-9 < least:
            continue
        both = gate.cuts(Threshold(quantile=share))
        alone = Cuts(float(normal.pairs[:, 0].sort().values[math.floor(share * len(normal) + 1e-9)]), math.inf)
        facts["caught"].append(
            {
                "false_alarms": share,
                **{
                    kind: {"records": len(one), "gate": _mean(one.listed(both)), "score": _mean(one.listed(alone))}
                    for kind, one in wrong.items()
                },
            }
        )
    if wrong:
        pairs = torch.cat([one.pairs for one in wrong.values()])
        facts["roc_auc"] = {
            "gate": roc_auc(*_ranks(normal.pairs, pairs)),
            "score": roc_auc(normal.pairs[:, 0], pairs[:, 0]),
        }
        alarmed = torch.cat([one.ids[one.alarmed(usual)] for one in wrong.values()])
        facts["cleared"] = {
            "share": _mean(clearing.support(normal.ids) > gate.clears_above),
            "lost": _mean(clearing.support(alarmed) > gate.clears_above),
        }
    return facts


def _ranks(*pairs: Tensor) -> list[Tensor]:
    """Scores and alarms [n, 2] as places in the order of lists: the higher, the less strange."""
    both = torch.cat(pairs)
    order = torch.unique(torch.stack([-both[:, 1], both[:, 0]], dim=1), dim=0, return_inverse=True)[1]
    return list(order.split([len(part) for part in pairs]))


def _calibration(judge: Judge, ids: Tensor, data: TrainingData, run: Run) -> float:
    """Expected calibration error of the judge, on records corrupted as those that it learned from."""
    generator = torch.Generator().manual_seed(run.seed_of("gate", "calibration"))
    changed, wrong = Corruption().corrupt(ids[:TRIED], data, generator)
    return expected_calibration_error(1 - judge.wrong(changed).flatten().cpu(), ~wrong.flatten())


def _mean(mask: Tensor) -> float:
    return float(mask.double().mean()) if len(mask) else 0.0
