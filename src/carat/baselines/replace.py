"""Replace-m: every replacement of exactly m entities, scored by the detector; what brute force is worth."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from carat.baselines._outcome import assemble, respects
from carat.data.pairs import Pairs
from carat.data.vocabulary import FIRST, MISSING, Vocabulary
from carat.errors import InputError
from carat.protocols import Detector, GridDetector
from carat.recourse.constraints import ResolvedConstraints
from carat.recourse.engine import Method
from carat.recourse.outcome import Outcome
from carat.recourse.parts import ModelParts
from carat.recourse.search import CELLS, Clock, SearchLimits, top
from carat.recourse.settings import BLACK_BOX_BUDGET, Settings

SIDE = {1: (64, 4096), 2: (64, 512)}
"""Least and most entities of a domain in one block of the grid, for each m."""
VECTOR = 32
"""Cells that an embedding detector needs for each candidate besides the grid."""


@dataclass(frozen=True, kw_only=True)
class Replace:
    """The K best of all records that differ from the given one in m domains.

    A detector with a closed form is searched exhaustively, block by block; another one scores as many combinations as
    the budget permits, drawn at random where there are more. Missing entities stay missing. Costs are reported and
    have no say.

    Args:
        vocabulary: what the ids mean.
        pairs: co-occurrence counts, for constraints that ask for support.
        detector: gives the scores.
        m: how many domains change, 1 or 2.
        seed: of the draw.
    """

    vocabulary: Vocabulary
    pairs: Pairs
    detector: Detector
    m: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.m not in SIDE:
            raise InputError(f"m of Replace must be 1 or 2, got {self.m}")

    @property
    def name(self) -> str:
        """As the command line calls it."""
        return "replace-m" if self.m == 1 else f"replace-{self.m}"

    def find(self, ids: Tensor, settings: Settings, score: Tensor | None = None) -> Outcome:
        """The best K replacements of m entities of every record ids [n, m]; among equals the first domains win."""
        ids = ids.to(torch.int64)
        search = _Search(self, ids, settings)
        note = None
        if search.constraints.max_changes is not None and search.constraints.max_changes < self.m:
            note = f"{self.name} changes {self.m} domains, more than max_changes permits"
        elif isinstance(self.detector, GridDetector):
            search.grid(self.detector, SearchLimits(seconds=settings.seconds).clock())
            note = None if search.complete else "time was up before every replacement was scored"
        else:
            search.sample(settings.budget or BLACK_BOX_BUDGET)
        mask = search.value > -torch.inf
        found = torch.where(mask[..., None], search.records(ids, search.key), ids[:, None])
        exhausted = torch.full((len(ids),), search.complete, device=ids.device)
        return assemble(
            ids, found, mask, self.detector, self.vocabulary, search.constraints, exhausted=exhausted, note=note
        )


class _Search:
    """The best so far of a batch. A combination is one number: which domains, then the entity of each."""

    def __init__(self, method: Replace, ids: Tensor, settings: Settings) -> None:
        self.method, self.ids = method, ids
        self.constraints: ResolvedConstraints = settings.constraints_for(method.vocabulary, ids.device)
        self.offsets = method.vocabulary.offsets.to(ids.device)
        self.sizes = method.vocabulary.sizes.tolist()
        self.base = max(self.sizes, default=1)
        self.sets = list(itertools.combinations(range(ids.shape[1]), method.m))
        self.value = torch.full((len(ids), settings.k), -torch.inf, device=ids.device)
        self.key = torch.zeros((len(ids), settings.k), dtype=torch.int64, device=ids.device)
        self.complete = True

    def records(self, ids: Tensor, key: Tensor) -> Tensor:
        """Whole records [n, C, m]: records ids [n, m] with combinations [n, C] in them."""
        result = ids[:, None].repeat(1, key.shape[1], 1)
        if self.sets:
            places = [self.base**power for power in reversed(range(self.method.m))]
            domains = torch.tensor(self.sets, device=key.device)[key // self.base**self.method.m]
            entities = torch.stack([key // place % self.base for place in places], dim=2)
            result.scatter_(2, domains, entities)
        return result

    # All combinations

    def grid(self, detector: GridDetector, clock: Clock) -> None:
        """Every combination, a block of some domains' entities at a time; stops when time is up."""
        for number, domains in enumerate(self.sets):
            for entities, there in self._blocks(domains):
                if clock.over():
                    self.complete = False
                    return
                side = entities.shape[1]
                rows = max(CELLS // (side**self.method.m + VECTOR * self.method.m * side), 1)
                for start in range(0, len(self.ids), rows):
                    self._block(detector, slice(start, start + rows), number, entities, there)

    def _blocks(self, domains: tuple[int, ...]) -> Iterator[tuple[Tensor, Tensor]]:
        """Parts of the domains' entities, int64 [t, side], and which are no padding, bool [t, side].

        Blocks are square, so small ones beside a small domain waste less on padding.
        """
        counts = [self.sizes[domain] - FIRST for domain in domains]
        least, most = SIDE[self.method.m]
        side = max(min([*counts, most]), least)
        for starts in itertools.product(*(range(0, count, side) for count in counts)):
            place = torch.tensor(starts)[:, None] + torch.arange(side)
            there = place < torch.tensor(counts)[:, None]
            yield (place + FIRST).masked_fill(~there, MISSING).to(self.ids.device), there.to(self.ids.device)

    def _block(self, detector: GridDetector, part: slice, number: int, entities: Tensor, there: Tensor) -> None:
        """Scores of a block for a part of the records, merged into the best so far."""
        ids, device = self.ids[part], self.ids.device
        domains = torch.tensor(self.sets[number], device=device)
        good = self._permitted(ids, domains, entities, there)  # [r, t, side]
        terms = detector.terms(ids, domains.expand(len(ids), -1), entities.expand(len(ids), -1, -1))
        unary = terms.unary.to(device).masked_fill(~good, -torch.inf)
        value = terms.constant.to(device)[:, None] + unary[:, 0]
        key = number * self.base + entities[0]
        if self.method.m > 1:
            value = value[:, :, None] + unary[:, 1, None]
            if terms.pair is not None:
                value += terms.pair(0, 1, slice(None)).to(device)
            if len(self.constraints.pairs):
                left, right = (entities + self.offsets[domains, None]).unbind()
                value.masked_fill_(self.constraints.forbids(left[:, None], right), -torch.inf)
            key = (key[:, None] * self.base + entities[1]).flatten()
        self._merge(part, value.flatten(1).float(), key)

    def _permitted(self, ids: Tensor, domains: Tensor, entities: Tensor, there: Tensor) -> Tensor:
        """Which entities [t, side] may be put into records ids [r, m], bool [r, t, side]."""
        present = ids[:, domains, None]
        good = there & (present != MISSING) & (present != entities) & self.constraints.mutable[domains, None]
        kept = torch.ones(ids.shape[1], dtype=torch.bool, device=ids.device)
        kept[domains] = False
        known = (ids >= FIRST) & kept
        for target, domain in enumerate(domains):
            rows = (entities[target] + self.offsets[domain]).expand(len(ids), -1)
            good[:, target] &= self.constraints.permits(rows, ids + self.offsets, known, self.method.pairs)
        return good

    def _merge(self, part: slice, value: Tensor, key: Tensor) -> None:
        """Values [r, C] of combinations [C] join the best so far, behind those of the same value."""
        best, place = top(value, self.value.shape[1])
        keys = torch.cat([self.key[part], key[place]], dim=1)
        self.value[part], place = top(torch.cat([self.value[part], best], dim=1), self.value.shape[1])
        self.key[part] = keys.gather(1, place)

    # Some combinations

    def sample(self, budget: int) -> None:
        """As many combinations as the budget permits, the same for every record, scored one by one."""
        chosen = self._sampled(budget)
        rows = max(CELLS // max(len(chosen) * self.ids.shape[1], 1), 1)
        for start in range(0, len(self.ids) if len(chosen) else 0, rows):
            part = slice(start, start + rows)
            ids, method = self.ids[part], self.method
            found = self.records(ids, chosen.expand(len(ids), -1))
            changed = found != ids[:, None]
            good = (changed.sum(dim=2) == method.m) & ~(changed & (ids == MISSING)[:, None]).any(dim=2)
            good &= respects(self.constraints, method.vocabulary, method.pairs, ids, found)
            value = torch.full(good.shape, -torch.inf, device=ids.device)
            value[good] = method.detector.score(found[good]).to(ids.device, value.dtype)
            self._merge(part, value, chosen)

    def _sampled(self, budget: int) -> Tensor:
        """Combinations, at most `budget`, in ascending order, int64 [C]."""
        counts = [[self.sizes[domain] - FIRST for domain in domains] for domains in self.sets]
        ends = list(itertools.accumulate(math.prod(each) for each in counts))
        total = ends[-1] if ends else 0
        self.complete = total <= budget
        flat = torch.arange(total) if self.complete else _draw(total, budget, self.method.seed)
        number = torch.searchsorted(torch.tensor(ends, dtype=torch.int64), flat, right=True)
        rest = flat - torch.tensor([0, *ends], dtype=torch.int64)[number]
        key = number
        if self.method.m == 1:
            key = key * self.base + rest + FIRST
        elif len(flat):
            second = torch.tensor(counts)[number, 1]
            key = (key * self.base + rest // second + FIRST) * self.base + rest % second + FIRST
        return key.to(self.ids.device)


def _draw(total: int, count: int, seed: int) -> Tensor:
    """`count` different numbers below `total`, ascending, int64; memory follows the count."""
    generator = torch.Generator().manual_seed(seed)
    chosen = torch.empty(0, dtype=torch.int64)
    while len(chosen) < count:
        chosen = torch.cat([chosen, torch.randint(total, (2 * count,), generator=generator)]).unique()
    return chosen[torch.randperm(len(chosen), generator=generator)[:count]].sort().values


def replace_one(parts: ModelParts) -> Method:
    """Replace-1, the paper's, of a model's parts."""
    return _replace(parts, 1)


def replace_two(parts: ModelParts) -> Method:
    """Replace-2 of a model's parts."""
    return _replace(parts, 2)


def _replace(parts: ModelParts, m: int) -> Method:
    return Replace(vocabulary=parts.vocabulary, pairs=parts.pairs, detector=parts.detector, m=m, seed=parts.run.seed)
