"""Detectors that are wrong in one way each."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from carat.data import FIRST, MISSING, Pairs, TrainingData, Vocabulary
from carat.detectors import Counts
from carat.protocols import Terms
from carat.testing import detector_checks
from carat.training import Run
from tests.testing.broken.case import Case, pause

TURNS = itertools.count()


class Base(Counts):
    """Right in every way; a broken one changes one thing."""

    name = "broken"


class Nameless(Base):
    name = ""


class Column(Base):
    def score(self, ids: Tensor) -> Tensor:
        return super().score(ids)[:, None]


class Double(Base):
    def score(self, ids: Tensor) -> Tensor:
        return super().score(ids).double()


class NoNumber(Base):
    def score(self, ids: Tensor) -> Tensor:
        return super().score(ids) / (len(ids) > 1)


class NoEmptyBatch(Base):
    def score(self, ids: Tensor) -> Tensor:
        return super().score(ids) if len(ids) else torch.zeros(1)


class Upside(Base):
    def score(self, ids: Tensor) -> Tensor:
        return -super().score(ids)


class OfBatch(Base):
    def score(self, ids: Tensor) -> Tensor:
        found = super().score(ids)
        return found - found.mean()


class OfOrder(Base):
    def score(self, ids: Tensor) -> Tensor:
        return super().score(ids) + torch.arange(len(ids)) / 100


class Fragile(Base):
    def score(self, ids: Tensor) -> Tensor:
        if (ids < FIRST).any():
            raise KeyError("no such entity")
        return super().score(ids)


class Unscaled(Base):
    """A missing entity costs as much as it likes."""

    def _raw(self, ids: Tensor, known: Tensor, present: Tensor) -> Tensor:
        return super()._raw(ids, known, present) + 100 * present


class Opinionated(Base):
    """Judges by a single entity, too."""

    def score(self, ids: Tensor) -> Tensor:
        return super().score(ids) + (ids[:, 0] / 100) * ((ids >= FIRST).sum(dim=1) < 2)


class Low(Base):
    """What it knows nothing of is an anomaly."""

    def score(self, ids: Tensor) -> Tensor:
        return super().score(ids) - 1_000 * ((ids >= FIRST).sum(dim=1) < 2)


class Untermed(Base):
    def _terms(self, ids: Tensor, known: Tensor, domains: Tensor, entities: Tensor, present: Tensor) -> Terms:
        found = super()._terms(ids, known, domains, entities, present)
        return Terms(found.constant, found.unary)


class Meddler(Base):
    def score(self, ids: Tensor) -> Tensor:
        found = super().score(ids)
        ids[:, 0] = MISSING
        return found


class Forgetful(Base):
    """Does not store all that it has learned."""

    bonus_: float = 0.0

    def _fit(self, data: TrainingData, run: Run) -> None:
        super()._fit(data, run)
        self.bonus_ = 1.0

    def _raw(self, ids: Tensor, known: Tensor, present: Tensor) -> Tensor:
        return super()._raw(ids, known, present) + self.bonus_


class Impostor(Base):
    name = "mead"


class Unrestored(Base):
    def restore(self, tensors: Mapping[str, Tensor], vocabulary: Vocabulary, pairs: Pairs) -> None:
        raise NotImplementedError("later")


class Rooted(Base):
    def to(self, device: torch.device | str) -> Self:
        super().to(device)
        return None  # type: ignore[return-value]


class Random(Forgetful):
    def _fit(self, data: TrainingData, run: Run) -> None:
        super()._fit(data, run)
        self.bonus_ = float(next(TURNS))


class Holed(Forgetful):
    """Learns nothing sensible where cells are missing."""

    def _fit(self, data: TrainingData, run: Run) -> None:
        super()._fit(data, run)
        self.bonus_ = torch.nan if (data.train == MISSING).any() else 0.0


class Confused(Base):
    """Takes fright at missing cells, and learns the wrong way round."""

    def _fit(self, data: TrainingData, run: Run) -> None:
        super()._fit(data, run)
        self.credit = -10.0 if (data.train == MISSING).any() else self.credit


class OneAndOnly(Base):
    def clone(self, **changes: Any) -> Self:
        return self


class Communal(Base):
    """Keeps what it has learned where all of its kind can see it."""

    shared: ClassVar[dict[str, Pairs]] = {}

    def _attach(self, vocabulary: Vocabulary, pairs: Pairs) -> None:
        super()._attach(vocabulary, pairs)
        self.shared["pairs"] = pairs

    def _raw(self, ids: Tensor, known: Tensor, present: Tensor) -> Tensor:
        self.pairs_ = self.shared["pairs"]
        return super()._raw(ids, known, present)


class Learned(Base):
    """Its clone knows everything already."""

    def clone(self, **changes: Any) -> Self:
        return copy.copy(self)


class Changeable(Base):
    def clone(self, **changes: Any) -> Self:
        return type(self)(smoothing=self.smoothing * 2)


class Bold(Base):
    """Answers without having learned anything."""

    def score(self, ids: Tensor) -> Tensor:
        return super().score(ids) if hasattr(self, "device_") else torch.zeros(len(ids))


class Shouting(Base):
    """Keeps the batch it works on where another thread can take it away."""

    batch_: Tensor

    def score(self, ids: Tensor) -> Tensor:
        self.batch_ = ids
        pause()
        return super().score(self.batch_)


class Estimator:
    """Of scikit-learn's kind, and without an opinion; it can't be cloned, for it does not keep what it is given."""

    def __init__(self, depth: int = 1) -> None:
        self.depth = depth + 1

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"depth": self.depth}

    def set_params(self, **params: Any) -> Self:
        return self

    def fit(self, features: Any) -> Self:
        self.fitted_ = True
        return self

    def score_samples(self, features: Any) -> np.ndarray:
        return np.zeros(features.shape[0])


def all_the_same(frame: pa.Table) -> np.ndarray:
    """A callable without an opinion."""
    return np.zeros(frame.num_rows)


def case(check: str, complaint: str, made: Any, *, context: bool = True) -> Case:
    """A broken detector; classes are made when the test runs."""
    what = getattr(made, "__name__", type(made).__name__)
    return Case(
        check,
        complaint,
        lambda: detector_checks(made() if isinstance(made, type) else made, context=context),
        what,
    )


CASES = [
    case("is_a_detector", "has no `name`", Nameless),
    case("is_a_detector", "modifies parameter depth", Estimator),
    case("one_score_per_record", r"shape \(0,\), got \(0, 1\)", Column),
    case("one_score_per_record", "must be float32, got torch.float64", Double),
    case("one_score_per_record", "not a finite number", NoNumber),
    case("one_score_per_record", r"0 records must give scores of shape \(0,\), got \(1,\)", NoEmptyBatch),
    case("higher_is_more_normal", "higher must mean more normal", Upside),
    case("higher_is_more_normal", "of another group score up to 0", all_the_same),
    case("rare_is_less_normal", "that hardly ever occur score up to 0", all_the_same, context=False),
    case("rows_are_independent", "a record alone has another score", OfBatch),
    case("rows_are_independent", "the order of the records", OfOrder),
    case("missing_and_unseen_entities_are_no_reason_to_fail", "KeyError: 'no such entity'", Fragile),
    case("missing_entities_leave_the_verdict", "as far as a strange one", Unscaled),
    case("too_little_known_is_neutral", "no reason to differ", Opinionated),
    case("too_little_known_is_neutral", "percentile 0.0", Low),
    case("terms_add_up_to_the_score", "do not add up", Untermed),
    case("records_are_left_alone", "has changed the ids", Meddler),
    case("scores_survive_saving", "gives other scores", Forgetful),
    case("scores_survive_saving", "is that of another detector, Mead", Impostor),
    case("scores_survive_saving", "NotImplementedError: later", Unrestored),
    case("moves_between_devices", "give the detector back", Rooted),
    case("same_seed_same_bits", "same seed", Random),
    case("trains_with_missing_entities_everywhere", "not finite", Holed),
    case("trains_with_missing_entities_everywhere", "after training with missing cells", Confused),
    case("fit_leaves_what_it_was_given", "scores of the first model", Communal),
    case("fit_leaves_what_it_was_given", "scores of the first model", OneAndOnly),
    case("clone_is_an_unfitted_twin", "learned something already: device_", Learned),
    case("clone_is_an_unfitted_twin", "other arguments", Changeable),
    case("clone_is_an_unfitted_twin", "must refuse to be used", Bold),
    case("threads_do_not_disturb_each_other", "several threads", Shouting),
]
