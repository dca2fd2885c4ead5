"""Counts: a record is normal when its entities occurred together; pairwise naive Bayes, nothing to train."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.training_data import TrainingData
from carat.data.vocabulary import Vocabulary
from carat.detectors.base import GridFittedDetector
from carat.protocols import Terms
from carat.training import Run


class Counts(GridFittedDetector):
    """Sum over all pairs of how much more or less likely the two entities are together than apart.

    For entities a and b the evidence is log P(b | a) / P(b), averaged with the same seen from b. P(b | a) is
    smoothed with `smoothing` pseudo-records that follow P(b): a pair that never occurred is damning when both
    entities are frequent, and says nothing when one of them is new.

    Evidence that two entities fit counts for less than evidence that they do not: among rare entities every pair that
    occurred at all looks like a strong bond, and must not outweigh a pair that is out of place.

    Args:
        smoothing: weight of the prior, in records.
        credit: weight of evidence that two entities fit.
    """

    name = "counts"

    pairs_: Pairs
    offsets_: Tensor

    def __init__(self, *, smoothing: float = 0.1, credit: float = 0.1) -> None:
        self.smoothing = smoothing
        self.credit = credit

    def _fit(self, data: TrainingData, run: Run) -> None:
        self._attach(data.vocabulary, data.pairs)
        self.to(run.device)

    def _attach(self, vocabulary: Vocabulary, pairs: Pairs) -> None:
        self.pairs_, self.offsets_ = pairs, vocabulary.offsets

    def _raw(self, ids: Tensor, known: Tensor, present: Tensor) -> Tensor:
        domains = ids.shape[1]
        low, high = torch.triu_indices(domains, domains, 1, device=ids.device)
        rows = ids + self.offsets_
        total = (self._weighed(rows[:, low], rows[:, high]) * (known[:, low] & known[:, high])).sum(dim=1)
        return total * (domains * (domains - 1)) / (present * (present - 1))

    def _terms(self, ids: Tensor, known: Tensor, domains: Tensor, entities: Tensor, present: Tensor) -> Terms:
        count = ids.shape[1]
        rows, new = ids + self.offsets_, entities + self.offsets_[domains].unsqueeze(-1)
        scale = (count * (count - 1)) / (present * (present - 1)).double()
        low, high = torch.triu_indices(count, count, 1, device=ids.device)
        kept = (self._weighed(rows[:, low], rows[:, high]) * (known[:, low] & known[:, high])).sum(dim=1)
        # A candidate and an entity of its own domain never meet: that domain is not among the known.
        unary = torch.zeros(new.shape, dtype=torch.float64, device=ids.device)
        for domain in range(count):
            unary += self._weighed(new, rows[:, domain, None, None]) * known[:, domain, None, None]

        def pair(i: int, j: int, part: slice) -> Tensor:
            return self._weighed(new[part, i, :, None], new[part, j, None, :]) * scale[part, None, None]

        return Terms(kept * scale, unary * scale[:, None, None], pair)

    def _weighed(self, left: Tensor, right: Tensor) -> Tensor:
        """Evidence, with what speaks for a record counting for less."""
        evidence = self.evidence(left, right)
        return torch.where(evidence > 0, self.credit * evidence, evidence)

    def evidence(self, left: Tensor, right: Tensor) -> Tensor:
        """Log ratio for entities at these rows of the vocabulary's layout, float64, in their broadcast shape."""
        together = self.pairs_.count(left, right).double()
        left_count, right_count = (self.pairs_.singles[rows].double() for rows in (left, right))
        return (self._lift(together, left_count, right_count) + self._lift(together, right_count, left_count)) / 2

    def _lift(self, together: Tensor, given: Tensor, other: Tensor) -> Tensor:
        """log of smoothed P(other | given) / P(other); an entity without a count gets half a record."""
        share = other.clamp(min=0.5) / max(self.pairs_.records, 1)
        return torch.log((together / share + self.smoothing) / (given + self.smoothing))

    def tensors(self) -> dict[str, Tensor]:
        """Nothing of its own: the pair counts are stored with every model."""
        return {}

    def restore(self, tensors: Mapping[str, Tensor], vocabulary: Vocabulary, pairs: Pairs) -> None:
        """Attach the model's pair counts."""
        self._attach(vocabulary, pairs)

    def to(self, device: torch.device | str) -> Self:
        """Move to a device, in place."""
        self.device_ = torch.device(device)
        self.pairs_, self.offsets_ = self.pairs_.to(self.device_), self.offsets_.to(self.device_)
        return self
