"""What every explainer must do."""

from __future__ import annotations

import copy
import tempfile
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import torch
from torch import Tensor

from carat.data import FIRST, MISSING, UNSEEN, TrainingData
from carat.errors import InputError
from carat.explain import FittedExplainer, expected_calibration_error, flagged, targets
from carat.explain.base import held_out_corruptions
from carat.fitting import Model, fit, load
from carat.protocols import Explainer
from carat.registry import EXPLAINERS
from carat.testing.check import THREADS, Check, Suite, at_once, check, close, require, run_all, snapshot
from carat.testing.fitted import registered, require_name, require_twin
from carat.testing.planted import DOMAINS, corrupted, normal_records, planted_table
from carat.training import Run

WORST = 0.1
"""The largest calibration error that is still a likelihood."""
SHORT = 200
"""Rows of a table of which nothing need be learned well."""


def check_explainer(explainer: str | FittedExplainer) -> None:
    """Run every check on an explainer; the first that fails raises an `AssertionError` with its name and the reason.

    Args:
        explainer: a name, or a `FittedExplainer` that is not fitted.
    """
    run_all(explainer_checks(explainer))


def explainer_checks(explainer: str | FittedExplainer) -> list[Check]:
    """The same checks one by one; the explainer is fitted when the first of them is called."""
    return ExplainerChecks(explainer).checks()


class ExplainerChecks(Suite):
    """The checks of one explainer.

    Args:
        explainer: as `check_explainer` takes it.
    """

    def __init__(self, explainer: str | FittedExplainer) -> None:
        self.given = EXPLAINERS.find(explainer).load()() if isinstance(explainer, str) else explainer
        if not isinstance(self.given, FittedExplainer):
            raise InputError(f"an explainer is a name or a FittedExplainer, got {type(self.given).__name__}")
        self.before = snapshot(self.given)

    @cached_property
    def model(self) -> Model:
        """Of the planted table; its detector is the explainer as well."""
        return self._fit(planted_table())

    def _fit(self, table: pa.Table) -> Model:
        return fit(table, explainer=self.given, detector="context", graph=False, device="cpu")

    @property
    def explainer(self) -> FittedExplainer:
        """The fitted one."""
        assert self.model.explainer is not None
        return self.model.explainer

    @property
    def normal(self) -> Tensor:
        """Six normal records, ids int32 [6, 4]."""
        return self.model.vocabulary.encode(normal_records())

    @property
    def wrong(self) -> Tensor:
        """Records with one entity each that does not belong, ids int32 [24, 4]."""
        return self.model.vocabulary.encode(corrupted()[0])

    @check
    def is_an_explainer(self) -> None:
        require(isinstance(self.explainer, Explainer), f"{self.explainer!r} has no method `likelihood`")
        require_name(self.given)

    @check
    def one_likelihood_per_entity(self) -> None:
        for count in (0, 1, 6):
            likelihood = self.explainer.likelihood(self.normal[:count])
            shape, kind = tuple(likelihood.shape), likelihood.dtype
            require(shape == (count, 4), f"{count} records of 4 domains must give shape ({count}, 4), got {shape}")
            require(kind == torch.float32, f"likelihoods must be float32, got {kind}")
            inside = ((likelihood >= 0) & (likelihood <= 1)).all()
            require(inside, f"a likelihood must lie between 0 and 1, got {likelihood.tolist()}")

    @check
    def finds_the_entity_that_does_not_belong(self) -> None:
        wanted = torch.tensor([[domain == name for name in DOMAINS] for domain in corrupted()[1]])
        right = (targets(self.explainer.likelihood(self.wrong)) == wanted).all(dim=1)
        require(
            right.all(),
            f"{len(right)} records have one entity of another group each; it is found, and it alone, in "
            f"{int(right.sum())} of them",
        )

    @check
    def flags_nothing_where_all_belongs(self) -> None:
        low = flagged(self.explainer.likelihood(self.normal))
        require(not low.any(), f"{int(low.sum())} entities of normal records are less likely than not")

    @check
    def missing_has_no_likelihood_and_unseen_a_low_one(self) -> None:
        ids = self.normal
        ids[:, 1], ids[:, 3] = MISSING, UNSEEN
        likelihood = self.explainer.likelihood(ids)
        require(likelihood[:, 1].isnan().all(), "the likelihood of a missing entity must be NaN")
        require((likelihood[:, 3] < 0.5).all(), "an entity that training never met must be less likely than not")
        require(likelihood[:, [0, 2]].isfinite().all(), "beside a missing entity, a known one has no likelihood")

    @check
    def nearly_everything_missing_is_no_reason_to_fail(self) -> None:
        ids = torch.full((2, 4), MISSING, dtype=torch.int32)
        ids[0, 0] = FIRST
        missing = self.explainer.likelihood(ids).isnan()
        require(torch.equal(missing, ids == MISSING), "NaN must be where an entity is missing, and nowhere else")

    @check
    def rows_are_independent(self) -> None:
        likelihood = self.explainer.likelihood(self.wrong)
        alone = torch.cat([self.explainer.likelihood(row[None]) for row in self.wrong])
        require(close(alone, likelihood, tolerance=1e-4), "a record alone has other likelihoods than among others")

    @check
    def likelihoods_are_calibrated(self) -> None:
        """Of the entities that are said to belong with 0.9, nine in ten do."""
        fresh = self.model.vocabulary.encode(planted_table(1000, seed=7).to_pylist())
        ids, replaced = held_out_corruptions(TrainingData(fresh, fresh, self.model.vocabulary), Run(seed=7))
        known = ids >= FIRST
        error = expected_calibration_error(self.explainer.likelihood(ids)[known], ~replaced[known])
        require(error < WORST, f"the expected calibration error is {error:.3f}; it must be below {WORST}")

    @check
    def records_are_left_alone(self) -> None:
        ids = self.wrong
        self.explainer.likelihood(ids)
        require(torch.equal(ids, self.wrong), "likelihood has changed the ids that it was given")

    @check
    def likelihoods_survive_saving(self) -> None:
        with tempfile.TemporaryDirectory() as folder, registered(EXPLAINERS, self.explainer):
            self.model.save(Path(folder) / "model")
            loaded = load(Path(folder) / "model")
        assert loaded.explainer is not None
        again = torch.equal(loaded.explainer.likelihood(self.wrong), self.explainer.likelihood(self.wrong))
        require(again, "a model that is saved and loaded gives other likelihoods")
        again = torch.equal(loaded.detector.score(self.wrong), self.model.detector.score(self.wrong))
        require(again, "the context detector of a model that is saved and loaded gives other scores")

    @check
    def moves_between_devices(self) -> None:
        before = self.explainer.likelihood(self.wrong)
        for device in ("cpu", "cuda", "cpu") if torch.cuda.is_available() else ("cpu",):
            # Moved in place, so not the one that the other checks use.
            moved = copy.deepcopy(self.explainer).to(device)
            require(moved is not None, "`to` must give the explainer back")
            likelihood = moved.likelihood(self.wrong.to(device))
            there = likelihood.device.type
            require(there == device, f"records on {device} got likelihoods on {there}")
            require(close(likelihood.cpu(), before, tolerance=1e-4), f"likelihoods on {device} are others")

    @check
    def log_likelihoods_are_those_of_the_likelihoods(self) -> None:
        """The context detector sums them, rescaled to a full record."""
        for missing in (0, 1):
            ids = self.wrong
            ids[:, :missing] = MISSING
            expected = self.explainer.likelihood(ids)[:, missing:].log().sum(dim=1) * 4 / (4 - missing)
            same = close(self.model.detector.score(ids), expected, tolerance=1e-3)
            require(same, "log_likelihood is not the logarithm of likelihood")

    @check
    def same_seed_same_bits(self) -> None:
        table = planted_table(SHORT)
        first, second = (self._fit(table).explainer for _ in range(2))
        assert first is not None
        assert second is not None
        same = torch.equal(first.likelihood(self.wrong), second.likelihood(self.wrong))
        require(same, "two fits with the same seed give other likelihoods")

    @check
    def fit_leaves_what_it_was_given(self) -> None:
        """One object, two tables: it learns nothing itself, and the second model does not disturb the first."""
        before = self.explainer.likelihood(self.wrong)
        self._fit(planted_table(SHORT, seed=1, shifted=True))
        same = torch.equal(self.explainer.likelihood(self.wrong), before)
        require(same, "a second fit with the same object has changed the likelihoods of the first model")
        require(snapshot(self.given) == self.before, "fit has changed the object that it was given; fit a clone of it")

    @check
    def clone_is_an_unfitted_twin(self) -> None:
        require_twin(self.explainer, lambda twin: twin.likelihood(self.normal))

    @check
    def threads_do_not_disturb_each_other(self) -> None:
        batches = [self.wrong.roll(shift, dims=0)[: 24 - shift] for shift in range(THREADS)]
        alone = [self.explainer.likelihood(batch) for batch in batches]
        together = at_once(self.explainer.likelihood, batches)
        require(
            all(close(*pair) for pair in zip(together, alone, strict=True)),
            "likelihoods of several threads at once are others than one after the other",
        )
