"""What detectors and the gate find: ROC-AUC, and what is caught at few false alarms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from carat.data import corrupt
from carat.experiments.contest import Contest
from carat.fitting.gating import FALSE_ALARMS
from carat.metrics import caught, roc_auc
from carat.registry import DETECTORS
from carat.results.gate import Gate, strangest_first
from carat.results.scale import Threshold

TESTED = 2_000
"""Later records that are asked about, untouched and corrupted."""
GATE = "gate"
"""How the gate is called among the detectors."""


@dataclass(frozen=True)
class Exam:
    """Untouched later records and the same ones corrupted.

    Args:
        normal: int [n, m].
        wrong: int [k, m].
        once: which of these have one wrong entity, bool [k].
    """

    normal: Tensor
    wrong: Tensor
    once: Tensor

    @classmethod
    def of(cls, contest: Contest, tested: int = TESTED) -> Exam:
        """The first later records of a trial, half of them with one wrong entity and half with two."""
        trial = contest.trial
        normal = trial.later[:tested]
        made = corrupt(normal, trial.data.vocabulary, trial.data.pairs, seed=contest.run.seed)
        return cls(normal, made.ids, made.corrupted.sum(dim=1) == 1)

    def by_score(self, detector: Any) -> dict[str, float]:
        """What a detector's scores find."""
        normal, wrong = (detector.score(ids).cpu() for ids in (self.normal, self.wrong))
        return self._told(normal, wrong, {share: caught(normal, wrong[self.once], share) for share in self._shares()})

    def by_gate(self, gate: Gate, detector: Any, judge: Any) -> dict[str, float]:
        """What a gate finds whose cuts are set on these untouched records."""
        normal, wrong = (
            torch.stack([detector.score(ids).float().cpu(), judge.alarm(ids).float().cpu()], dim=1)
            for ids in (self.normal, self.wrong)
        )
        listed = {}
        for share in self._shares():
            cuts = Gate(normal, gate.by_alarm).cuts(Threshold(quantile=share))
            once = wrong[self.once]
            listed[share] = float(((once[:, 0] < cuts.score) | (once[:, 1] >= cuts.alarm)).double().mean())
        both = torch.cat([normal, wrong])
        place = torch.empty(len(both))
        place[strangest_first(both[:, 0], both[:, 1])] = torch.arange(len(both)).float()
        return self._told(place[: len(normal)], place[len(normal) :], listed)

    def _shares(self) -> list[float]:
        """The shares of false alarms at which so few records still say something."""
        return [share for share, least in FALSE_ALARMS.items() if share * len(self.normal) + 1e-9 >= least]

    def _told(self, normal: Tensor, wrong: Tensor, found: Mapping[float, float]) -> dict[str, float]:
        shares = {f"caught_{share:g}": round(value, 4) for share, value in found.items()}
        return {"roc_auc": round(roc_auc(normal, wrong), 4), **shares}


def detection(contest: Contest) -> dict[str, dict[str, float]]:
    """By detector, and for the gate of a model that has one: ROC-AUC with one or two wrong entities, and what is caught
    of the records with one (`caught_0.01`: where 1 % of the untouched ones are listed)."""
    exam, model = Exam.of(contest), contest.model
    found = {}
    for name, entry in DETECTORS.items():
        if entry.needs:
            continue
        mine = getattr(model.detector, "name", None) == name
        found[name] = exam.by_score(model.detector if mine else entry.load()().fit(contest.trial.data, contest.run))
    if model.gate is not None:
        found[GATE] = exam.by_gate(model.gate, model.detector, model.explainer)
    return found
