"""In which order counterfactuals are given: by the detector's score, or by a blend of plausible and valid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor

from carat.errors import InputError
from carat.protocols import Found, Terms
from carat.recourse.search import Finish, top


class SearchRanking(Protocol):
    """A ranking that also says what a search should look for."""

    def objective(
        self, base_score: Tensor, score: Terms | None, weight: Terms, cost: Tensor
    ) -> tuple[list[Terms], Finish | None]:
        """What to search by: terms, and what turns their totals into a value.

        Args:
            base_score: of the records themselves, [n].
            score: the detector's, where it can be taken apart.
            weight: the replacements' log-weights.
            cost: of each candidate, [n, t, L].
        """
        ...

    def pool(self, k: int) -> int:
        """How many combinations the search should bring for k in the end."""
        ...

    def order(self, base: Tensor, found: Found, k: int) -> tuple[Tensor, Tensor]:
        """Of what was found for records base [n, m], the places int64 [n, k'] of the best, and which count, bool.

        Best first, those that count before those that do not; k' is at most k. Ties are broken the same way every
        time.
        """
        ...


class Opinion(Protocol):
    """Looks at whole counterfactuals."""

    def read(self, base: Tensor, records: Tensor) -> Tensor:
        """How well whole records fit, in nats: versions [n, C, m] of records [n, m] → [n, C]."""
        ...


@dataclass(frozen=True)
class Blend:
    """Weights of the opinions that make a counterfactual plausible.

    Args:
        sources: of the log-weights that each source gives a replacement, by name.
        opinions: of what looks at whole counterfactuals, by name.
        sets: of what is told of sets of domains to change, by name; see `carat.recourse.suspects`. Without any, the
            explainer's own choice stands.
        learned_from: corrupted records that the weights were learned from; 0 where they are as they began.
    """

    sources: Mapping[str, float] = field(default_factory=dict)
    opinions: Mapping[str, float] = field(default_factory=dict)
    learned_from: int = 0
    sets: Mapping[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary: `Blend(**blend.to_json())` gives it back."""
        known = {"sources": dict(self.sources), "opinions": dict(self.opinions), "learned_from": self.learned_from}
        # Models from before there were any keep their identity.
        return known | ({"sets": dict(self.sets)} if self.sets else {})


class DetectorRanking:
    """By the detector's score alone, the paper's way; a cost counts in standard deviations of normal scores.

    Args:
        reference: scores of normal records, ascending, [r].
        cost_weight: standard deviations a unit of cost.
    """

    def __init__(self, reference: Tensor, cost_weight: float = 0.0) -> None:
        spread = float(reference.double().std()) if len(reference) > 1 else 1.0
        self.unit = cost_weight * (spread or 1.0)

    def objective(
        self, base_score: Tensor, score: Terms | None, weight: Terms, cost: Tensor
    ) -> tuple[list[Terms], Finish | None]:
        """By the score where it can be taken apart, else by what the sources like best."""
        return [_less(weight, cost) if score is None else _less(score, self.unit * cost)], None

    def pool(self, k: int) -> int:
        """No more than wanted."""
        return k

    def order(self, base: Tensor, found: Found, k: int) -> tuple[Tensor, Tensor]:
        """The highest scores first."""
        value = (found.score - self.unit * found.cost).masked_fill(~found.mask, -torch.inf)
        value, place = top(value, k)
        return place, value > -torch.inf


READING = 2.0
"""Weight of the explainer's reading of the whole record against the replacements' own log-weight, where none was
learned."""
SLOW = "reading"
"""The opinion that is asked about a shortlist alone."""
IMPROVES = 12.0
"""Nats for being more normal than the record: what the detector likes no better is no counterfactual of it."""


SHORTLIST = 8
"""What the explainer reads of each record; most of the time of `carat-plus` goes there."""
POOL = 50
"""Combinations that the search brings at least, for the quick opinions to choose among."""


GAP = 10.0
"""Nats below the best at which what does not improve on the record is left out."""


class BlendRanking:
    """Plausible and valid together, with one dial between them.

    plausible = log-weight of the replacements + the weighted opinions on the whole new record
    valid = log of the share of normal records that score no higher + `IMPROVES` if above the record's own score

    The search goes by the log-weight and the detector. Opinions are then heard on what it found; the explainer's
    `reading`, where most of the time goes, on a shortlist.

    Args:
        reference: scores of normal records, ascending, [r].
        opinions: on whole counterfactuals, by name.
        blend: the opinions' weights; the sources' are in the log-weights already.
        prefer: the dial, from 0 (plausible) to 1 (valid).
        shortlist: how many the explainer reads.
        cost_weight: nats a unit of cost.
    """

    def __init__(
        self,
        reference: Tensor,
        opinions: Mapping[str, Opinion] | None = None,
        *,
        blend: Blend | None = None,
        prefer: float = 0.5,
        shortlist: int = SHORTLIST,
        cost_weight: float = 0.0,
    ) -> None:
        if not 0 <= prefer <= 1:
            raise InputError(f"`prefer` must lie between 0 (plausible) and 1 (valid), got {prefer}")
        self.reference, self.validity = reference, Validity(reference)
        self.opinions = dict(opinions or {})
        self.blend = blend or Blend(opinions=dict.fromkeys(self.opinions, READING))
        self.prefer = prefer
        self.shortlist = shortlist
        self.cost_weight = cost_weight

    def objective(
        self, base_score: Tensor, score: Terms | None, weight: Terms, cost: Tensor
    ) -> tuple[list[Terms], Finish | None]:
        """The blend without opinions; by the log-weight alone where the detector can't be taken apart."""
        weight = _less(weight, self.cost_weight * cost)
        if score is None:
            return [weight], None

        def finish(rows: slice, totals: list[Tensor]) -> Tensor:
            return self._blend(totals[0], totals[1], base_score[rows])

        return [weight, score], finish

    def pool(self, k: int) -> int:
        """Enough for the quick opinions to choose the shortlist from."""
        return max(k, self.shortlist, POOL)

    def order(self, base: Tensor, found: Found, k: int) -> tuple[Tensor, Tensor]:
        """The shortlist by the whole blend, what follows it as the search left it.

        What is neither valid nor plausible (no better to the detector than the record, and `GAP` nats below the best)
        does not count: a list padded with it serves nobody.
        """
        plausible = found.log_weight - self.cost_weight * found.cost
        for name, opinion in self.opinions.items():
            if name != SLOW:
                plausible = plausible + self.blend.opinions[name] * opinion.read(base, found.counterfactuals)
        cheap = self._blend(plausible, found.score, found.base_score).masked_fill(~found.mask, -torch.inf)
        if self.prefer:
            idle = (found.score <= found.base_score[:, None]) & (cheap < cheap.amax(dim=1, keepdim=True) - GAP)
            cheap = cheap.masked_fill(idle, -torch.inf)
        value, place = top(cheap, cheap.shape[1])
        counts = value > -torch.inf
        if SLOW not in self.opinions:
            return place[:, :k], counts[:, :k]
        first, there = place[:, : self.shortlist], counts[:, : self.shortlist]
        records = found.counterfactuals.gather(1, first[..., None].expand(-1, -1, base.shape[1]))
        reading = self.opinions[SLOW].read(base, records)
        read = plausible.gather(1, first) + self.blend.opinions[SLOW] * reading
        value = self._blend(read, found.score.gather(1, first), found.base_score)
        _, order = top(value.masked_fill(~there, -torch.inf), first.shape[1])
        # Those that count still come first, and in the same number: `counts` need not be reordered.
        return torch.cat([first.gather(1, order), place[:, self.shortlist :]], dim=1)[:, :k], counts[:, :k]

    def valid(self, score: Tensor, base_score: Tensor) -> Tensor:
        """The detector's side: scores [n, C] of versions of records whose own are [n]."""
        return self.validity(score).add_(score > base_score[:, None], alpha=IMPROVES)

    def _blend(self, plausible: Tensor, score: Tensor, base_score: Tensor) -> Tensor:
        """All [n, C] but the records' own scores, [n]."""
        if not self.prefer:
            return plausible
        # Wholly on the valid side, plausibility still decides among equals.
        return self.valid(score, base_score).mul_(self.prefer).add_(plausible, alpha=max(1 - self.prefer, 1e-6))


def _less(terms: Terms, cost: Tensor) -> Terms:
    """Terms less what each candidate costs."""
    return Terms(terms.constant, terms.unary - cost, terms.pair)


class Validity:
    """log of the share of the reference at or below a score; below all of it, linear in the distance.

    Read from a table over equal steps of the score, for it is asked millions of times a second.

    Args:
        reference: scores of normal records, ascending, [r].
    """

    STEPS = 8_192
    DEPTH = 10.0
    """How far below the reference the table reaches, in its standard deviations."""

    def __init__(self, reference: Tensor) -> None:
        reference = reference.double().cpu()
        spread = float(reference.std()) if len(reference) > 1 else 1.0
        spread = spread or 1.0
        lowest, highest = float(reference[0]), float(reference[-1])
        low = lowest - self.DEPTH * spread
        self.per_step = self.STEPS / max(highest - low, 1e-12)
        self.shift = -low * self.per_step
        edges = low + torch.arange(self.STEPS + 1, dtype=torch.float64) / self.per_step
        share = torch.searchsorted(reference, edges, right=True).clamp(min=1).double() / len(reference)
        share[-1] = 1.0
        self.table = (share.log() + ((edges - lowest) / spread).clamp(max=0)).float()

    def __call__(self, score: Tensor) -> Tensor:
        """In the shape of the scores; what is not finite counts as the lowest."""
        place = (score * self.per_step).add_(self.shift).clamp_(0, self.STEPS)
        return self.table.to(score.device)[place.nan_to_num_(nan=0.0).to(torch.int32)]
