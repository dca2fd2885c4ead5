"""What every detector must do, carat's own and those from outside."""

from __future__ import annotations

import copy
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import torch
from torch import Tensor

from carat.data import FIRST, MISSING, UNSEEN
from carat.detectors import FittedDetector, OutsideDetector, outside_detector
from carat.detectors.adapters import EstimatorDetector, is_fitted
from carat.errors import InputError
from carat.explain import ContextDetector
from carat.fitting import Model, fit, load
from carat.protocols import Detector, GridDetector
from carat.registry import DETECTORS
from carat.testing.check import THREADS, Check, Suite, at_once, check, check_where, close, require, run_all, snapshot
from carat.testing.fitted import registered, require_name, require_twin
from carat.testing.planted import DOMAINS, normal_records, planted_table, strange_records, with_holes

SHORT = 200
"""Rows of a table of which nothing need be learned well."""


def check_detector(detector: Any, *, context: bool = True) -> None:
    """Run every check on a detector; the first that fails raises an `AssertionError` with its name and the reason.

    Args:
        detector: a name, a `FittedDetector`, a scikit-learn or PyOD estimator, a callable, or an adapter; not fitted.
        context: False for a detector that looks at one column at a time: then rare entities must make a record less
            normal, not entities that do not belong together.
    """
    run_all(detector_checks(detector, context=context))


def detector_checks(detector: Any, *, context: bool = True) -> list[Check]:
    """The same checks one by one; the detector is fitted when the first of them is called."""
    return DetectorChecks(detector, context=context).checks()


class DetectorChecks(Suite):
    """The checks of one detector.

    Args:
        detector: as `check_detector` takes it.
        context: whether it can tell which entities belong together.
    """

    def __init__(self, detector: Any, *, context: bool = True) -> None:
        self.given = DETECTORS.find(detector).load()() if isinstance(detector, str) else detector
        self.before = snapshot(self.given)
        self.context = context
        self.inside = isinstance(self.given, FittedDetector)
        self.grid = isinstance(self.given, GridDetector)
        if not self.inside:
            adapter = outside_detector(self.given)
            if isinstance(adapter, EstimatorDetector) and is_fitted(adapter.estimator):
                raise InputError(f"{adapter.describe()} is fitted already; give it unfitted, for the checks fit it")

    def fit(self, table: pa.Table) -> Model:
        """A model with the detector in it; the context detector needs an explainer, and counts are quick."""
        explainer: Literal["counts", False] = "counts" if isinstance(self.given, ContextDetector) else False
        return fit(table, detector=self.given, explainer=explainer, device="cpu")

    @cached_property
    def model(self) -> Model:
        """Of the planted table."""
        return self.fit(planted_table())

    @property
    def detector(self) -> FittedDetector | OutsideDetector:
        """The fitted one."""
        return self.model.detector

    @property
    def normal(self) -> Tensor:
        """Six normal records, ids int32 [6, 4]."""
        return self.model.vocabulary.encode(normal_records())

    @property
    def strange(self) -> Tensor:
        """Six records whose entities do not belong together, ids int32 [6, 4]."""
        return self.model.vocabulary.encode(strange_records())

    @property
    def all(self) -> Tensor:
        """All of them, ids int32 [12, 4]."""
        return torch.cat([self.normal, self.strange])

    @check
    def is_a_detector(self) -> None:
        require(isinstance(self.detector, Detector), f"{self.detector!r} has no method `score`")
        if self.inside:
            require_name(self.given)

    @check
    def one_score_per_record(self) -> None:
        for count in (0, 1, 6):
            scores = self.detector.score(self.normal[:count])
            shape, kind = tuple(scores.shape), scores.dtype
            require(shape == (count,), f"{count} records must give scores of shape ({count},), got {shape}")
            require(kind == torch.float32, f"scores must be float32, got {kind}")
            require(scores.isfinite().all(), f"a score is not a finite number: {scores.tolist()}")

    @check_where(lambda suite: suite.context)
    def higher_is_more_normal(self) -> None:
        _above(self.detector.score(self.normal), self.detector.score(self.strange), "of another group")

    @check_where(lambda suite: not suite.context)
    def rare_is_less_normal(self) -> None:
        """What a detector without a sense of context can tell: five records of entities that hardly ever occur."""
        table = pa.table(dict.fromkeys(DOMAINS, ["x-1", "x-2"] * 300 + ["x-9"] * 5))
        model = self.fit(table)
        scores = model.detector.score(model.vocabulary.encode(table.to_pylist()))
        _above(scores[:-5], scores[-5:], "that hardly ever occur")

    @check
    def rows_are_independent(self) -> None:
        ids = self.all
        order = torch.randperm(len(ids), generator=torch.Generator().manual_seed(0))
        scores = self.detector.score(ids)
        require(close(self.detector.score(ids[order]), scores[order]), "scores change with the order of the records")
        alone = torch.cat([self.detector.score(row[None]) for row in ids])
        require(close(alone, scores), "a record alone has another score than the same record among others")

    @check
    def missing_and_unseen_entities_are_no_reason_to_fail(self) -> None:
        for reserved, what in ((MISSING, "missing"), (UNSEEN, "unseen")):
            for known in range(len(DOMAINS) + 1):
                part = self.normal
                part[:, known:] = reserved
                scores = self.detector.score(part)
                require(scores.isfinite().all(), f"{known} entities known, the rest {what}: a score is not finite")

    @check_where(lambda suite: suite.inside and suite.context)
    def missing_entities_leave_the_verdict(self) -> None:
        """With the Buyer gone, normal records still score above strange ones, and on the same scale."""
        full, gap = (
            self.detector.score(self.normal),
            self.detector.score(self.normal) - self.detector.score(self.strange),
        )
        normal, strange = self.normal, self.strange
        normal[:, 3] = strange[:, 3] = MISSING
        high, low = self.detector.score(normal), self.detector.score(strange)
        _above(high, low, "of another group and without a Buyer")
        moved = (high - full).abs().mean() < gap.mean()
        require(moved, "a missing entity moves the score of a normal record as far as a strange one; rescale it")

    @check_where(lambda suite: suite.inside)
    def too_little_known_is_neutral(self) -> None:
        ids = self.normal
        ids[:, 1:] = MISSING
        scores = self.detector.score(ids)
        share = float(self.model.percentile(scores)[0])
        require(scores.unique().numel() == 1, f"one known entity is no reason to differ, got {scores.tolist()}")
        require(40 <= share <= 60, f"one known entity must score like the median record, got percentile {share:.1f}")

    @check_where(lambda suite: suite.grid)
    def terms_add_up_to_the_score(self) -> None:
        ids, detector = self.all.long(), self.detector
        assert isinstance(detector, GridDetector)
        domains = torch.tensor([1, 2]).expand(len(ids), -1)
        entities = torch.arange(FIRST, FIRST + 3).expand(len(ids), 2, -1)
        terms = detector.terms(ids, domains, entities)
        for left in range(3):
            for right in range(3):
                made = ids.clone()
                made[:, 1], made[:, 2] = entities[:, 0, left], entities[:, 1, right]
                total = terms.constant + terms.unary[:, 0, left] + terms.unary[:, 1, right]
                if terms.pair is not None:
                    total = total + terms.pair(0, 1, slice(None))[:, left, right]
                same = close(total.float(), detector.score(made), tolerance=1e-4)
                require(same, "the terms of a combination do not add up to the score of the record written out")

    @check
    def records_are_left_alone(self) -> None:
        ids = self.all
        self.detector.score(ids)
        require(torch.equal(ids, self.all), "score has changed the ids that it was given")

    @check
    def scores_survive_saving(self) -> None:
        with tempfile.TemporaryDirectory() as folder, registered(DETECTORS, self.detector):
            self.model.save(Path(folder) / "model")
            loaded = load(Path(folder) / "model", detector=None if self.inside else self.detector)
        again = torch.equal(loaded.detector.score(self.all), self.detector.score(self.all))
        require(again, "a model that is saved and loaded gives other scores")
        require(torch.equal(loaded.reference, self.model.reference), "a model that is loaded has another reference")

    @check
    def moves_between_devices(self) -> None:
        before = self.detector.score(self.all)
        for device in ("cpu", "cuda", "cpu") if torch.cuda.is_available() else ("cpu",):
            # Moved in place, so not the one that the other checks use.
            moved = (copy.deepcopy(self.detector) if self.inside else self.detector).to(device)
            require(moved is not None, "`to` must give the detector back")
            scores = moved.score(self.all.to(device))
            require(scores.device.type == device, f"records on {device} got scores on {scores.device.type}")
            require(close(scores.cpu(), before, tolerance=1e-4), f"scores on {device} are other scores")

    @check_where(lambda suite: suite.inside)
    def same_seed_same_bits(self) -> None:
        first, second = (self.fit(planted_table(SHORT)).detector.score(self.all) for _ in range(2))
        require(torch.equal(first, second), "two fits with the same seed give other scores")

    @check_where(lambda suite: suite.inside)
    def trains_with_missing_entities_everywhere(self) -> None:
        """Half of the Ports and a third of the Goods are null; the verdict stays right and null is no entity."""
        model = self.fit(with_holes(planted_table()))
        known = sum(len(planted_table()[name].unique()) for name in DOMAINS)
        require(model.vocabulary.entities == known, "a missing cell became an entity")
        high, low = (model.detector.score(model.vocabulary.encode(r)) for r in (normal_records(), strange_records()))
        require(high.isfinite().all() and low.isfinite().all(), "trained with missing cells, a score is not finite")
        if self.context:
            _above(high, low, "of another group, after training with missing cells,")

    @check
    def fit_leaves_what_it_was_given(self) -> None:
        """One object, two tables: it learns nothing itself, and the second model does not disturb the first."""
        before = self.detector.score(self.all)
        self.fit(planted_table(SHORT, seed=1, shifted=True))
        same = torch.equal(self.detector.score(self.all), before)
        require(same, "a second fit with the same object has changed the scores of the first model")
        require(snapshot(self.given) == self.before, "fit has changed the object that it was given; fit a clone of it")

    @check
    def clone_is_an_unfitted_twin(self) -> None:
        require_twin(self.detector, lambda twin: twin.score(self.normal))

    @check
    def threads_do_not_disturb_each_other(self) -> None:
        batches = [self.all.roll(shift, dims=0)[: 12 - shift] for shift in range(THREADS)]
        alone = [self.detector.score(batch) for batch in batches]
        together = at_once(self.detector.score, batches)
        require(
            all(close(*pair) for pair in zip(together, alone, strict=True)),
            "scores of several threads at once are other scores than one after the other",
        )


def _above(high: Tensor, low: Tensor, why: str) -> None:
    least, most = float(high.min()), float(low.max())
    require(
        least > most,
        f"higher must mean more normal: records with entities {why} score up to {most:.4g}, "
        f"normal ones from {least:.4g}",
    )
