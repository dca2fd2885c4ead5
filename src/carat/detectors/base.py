"""What carat's own detectors share: scoring in parts, missing entities, the neutral score."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import torch
from torch import Tensor

from carat.data.training_data import TrainingData
from carat.data.vocabulary import FIRST, UNSEEN
from carat.protocols import Terms
from carat.training import Run
from carat.training.fitted import Fitted

PART_ROWS = 16_384


class FittedDetector(Fitted):
    """A detector that carat fits, stores and loads. Higher = more normal.

    Subclasses define `_fit` and `_raw`; missing entities, parts and the neutral score are handled here.
    """

    neutral_: float
    """Score of a record with fewer than two known entities: the median of the held-out records."""

    def fit(self, data: TrainingData, run: Run | None = None) -> Self:
        """Learn from normal records."""
        run = run or Run()
        self.device_ = run.device
        self.neutral_ = 0.0
        self._fit(data, run)
        return self.settled(data.held_out if len(data.held_out) else data.train)

    def settled(self, reference: Tensor) -> Self:
        """With the neutral score of normal records ids [r, m], in place."""
        known = (reference >= FIRST).sum(dim=1) >= 2
        if known.any():
            self.neutral_ = float(self.score(reference[known]).median())
        return self

    def score(self, ids: Tensor) -> Tensor:
        """Scores float32 [n] of records ids [n, m], on the device of the ids."""
        return self._in_parts(self._score_part, ids, PART_ROWS)

    def _score_part(self, ids: Tensor) -> Tensor:
        known = ids >= FIRST
        present = known.sum(dim=1)
        raw = self._raw(ids.to(torch.int64), known, present.clamp(min=2))
        return torch.where(present >= 2, raw, self.neutral_).float()

    @abstractmethod
    def _fit(self, data: TrainingData, run: Run) -> None:
        """Learn; `device_` is set."""

    @abstractmethod
    def _raw(self, ids: Tensor, known: Tensor, present: Tensor) -> Tensor:
        """Scores [n] of ids int64 [n, m]; `known` is bool [n, m], `present` the number of known entities, at least 2.

        Missing and unseen entities must be skipped and the score rescaled to a full record.
        """

    def facts(self) -> dict[str, Any]:
        """Also the neutral score."""
        return {**super().facts(), "neutral": self.neutral_}

    def restore_facts(self, facts: Mapping[str, Any]) -> None:
        """Take up what `facts` gave."""
        super().restore_facts(facts)
        self.neutral_ = float(facts["neutral"])


class GridFittedDetector(FittedDetector):
    """A detector whose score is a sum over entities and pairs; see `carat.protocols.GridDetector`."""

    def terms(self, ids: Tensor, domains: Tensor, entities: Tensor) -> Terms:
        """Scores of all replacements, taken apart, on the detector's device."""
        ids, domains, entities = (part.to(self.device_, torch.int64) for part in (ids, domains, entities))
        later = None if self.beyond_ is None else self.later(entities, domains[..., None])
        if later is not None:
            ids, entities = self.legible(ids), entities.masked_fill(later, UNSEEN)
        known = (ids >= FIRST).scatter(1, domains, False)
        present = known.sum(dim=1) + domains.shape[1]
        found = self._terms(ids, known, domains, entities, present.clamp(min=2))
        if later is not None:
            without = self._raw(ids, known, (present - 1).clamp(min=2))
            found = _skipping(found, later, without)
        # With fewer than two known entities every combination has the neutral score.
        enough = present >= 2
        return Terms(
            torch.where(enough, found.constant, self.neutral_),
            torch.where(enough[:, None, None], found.unary, 0.0),
            found.pair,
        )

    @abstractmethod
    def _terms(self, ids: Tensor, known: Tensor, domains: Tensor, entities: Tensor, present: Tensor) -> Terms:
        """As `terms`; `known` bool [n, m] excludes the replaced domains, `present` int [n] counts them, at least 2."""


def _skipping(terms: Terms, later: Tensor, without: Tensor) -> Terms:
    """Terms in which replacements that the detector does not know are skipped, as its score skips them.

    Of a single target this is the score itself; of several the rescaling is that of one, for a sum of terms has no
    other.

    Args:
        terms: with something meaningless for them.
        later: which replacements it does not know, bool [n, t, L].
        without: the score of what is kept, rescaled to a full record, [n].
    """
    skipped = (without - terms.constant)[:, None, None].to(terms.unary.dtype)
    pair = terms.pair

    def both_known(i: int, j: int, part: slice) -> Tensor:
        assert pair is not None
        return pair(i, j, part).masked_fill(later[part, i, :, None] | later[part, j, None, :], 0.0)

    return Terms(terms.constant, torch.where(later, skipped, terms.unary), None if pair is None else both_known)
