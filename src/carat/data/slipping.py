"""Where slips are made: cells drawn for every kind, none of them twice, some of them in groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from carat.data.slipper import KINDS, Slipper
from carat.errors import InputError

GROUP_SIZES = np.arange(2, 33)
"""Rows in which the same slip recurs; small groups are likelier, in proportion to 1/size."""
CAP = 4.0
"""A kind takes at most this many times the share of the cells that it applies to."""
ONCE = ("swap", "blank")
"""Kinds that do not recur."""


@dataclass(frozen=True)
class Coded:
    """A table of text as codes.

    Args:
        values: the unique values of every column, without blanks.
        codes: for every column the place of each cell in its values, int32 [n]; −1 is blank.
        counts: how often each value occurs, int64 [V], for every column.
    """

    values: list[pa.Array]
    codes: list[np.ndarray]
    counts: list[np.ndarray]

    @classmethod
    def of(cls, table: pa.Table) -> Coded:
        """Every column of a table, which must be text."""
        values, codes = [], []
        for name in table.column_names:
            kind = table[name].type
            text = kind.value_type if pa.types.is_dictionary(kind) else kind
            known = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null)
            if not any(check(text) for check in known):
                raise InputError(f"column '{name}' of type {kind} is not text; cast it to strings first")
            coded = table[name].cast(pa.string())
            coded = pc.if_else(pc.equal(coded, ""), pa.scalar(None, pa.string()), coded)
            coded = coded.dictionary_encode().unify_dictionaries()
            chunks = coded.chunks
            values.append(chunks[0].dictionary if chunks else pa.array([], pa.string()))
            parts = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in chunks]
            codes.append(np.concatenate([np.empty(0, dtype=np.int32), *parts]).astype(np.int32, copy=False))
        counts = [np.bincount(code[code >= 0], minlength=len(each)) for code, each in zip(codes, values, strict=True)]
        return cls(values, codes, counts)

    def texts(self, column: int, rows: np.ndarray) -> list[str | None]:
        """What stands in some rows of a column."""
        codes = self.codes[column][rows]
        texts: list[str | None] = self.values[column].take(pa.array(codes, mask=codes < 0)).to_pylist()
        return texts


@dataclass
class Found:
    """Slips as they are made: parallel columns."""

    row: np.ndarray
    column: np.ndarray
    kind: np.ndarray
    group: np.ndarray
    after: list[str | None]


@dataclass
class Spoiler:
    """Makes slips in a table until every kind has what was wanted of it, or can make no more.

    Args:
        coded: the table.
        slipper: makes the texts.
        places: the columns that take part.
        share: of the cells, that are to be spoiled.
        recurring: share of a kind's slips that are made in groups.
        seed: decides everything.
    """

    coded: Coded
    slipper: Slipper
    places: Sequence[int]
    share: float
    recurring: float
    seed: int
    _parts: list[Found] = field(default_factory=list)
    _groups: int = 0

    def __post_init__(self) -> None:
        self._filled = {place: self.coded.codes[place] >= 0 for place in self.places}
        self._free = {place: np.ones(len(filled), dtype=bool) for place, filled in self._filled.items()}
        self.wanted = round(self.share * sum(int(filled.sum()) for filled in self._filled.values()))
        self.made = 0
        self._rng = {kind: np.random.default_rng((self.seed, number)) for number, kind in enumerate(KINDS)}
        self._open = dict.fromkeys(KINDS, 0)
        self._room: dict[str, int] = {}
        self._applies: dict[tuple[int, str], np.ndarray] = {}
        self._sorted: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def want(self, kind: str, cells: int) -> None:
        """Ask for more slips of a kind."""
        self._open[kind] += cells
        if kind not in self._room:
            self._room[kind] = self._most(kind)

    def able(self, kind: str) -> bool:
        """Whether a kind made what was wanted of it and may make more."""
        return not self._open[kind] and self._room[kind] > 0

    def make(self) -> None:
        """Make what is wanted; what a kind can't place stays open."""
        # Swaps need two cells of a row; after them comes what has the fewest cells to go to.
        wanted = [kind for kind in KINDS if self._open[kind]]
        for kind in sorted(wanted, key=lambda kind: (kind != "swap", self._room[kind])):
            quota = min(self._open[kind], self._room[kind])
            before = self.made
            if kind == "swap":
                self._swap(quota)
            else:
                if kind not in ONCE:
                    self._recur(kind, round(quota * self.recurring))
                self._single(kind, quota - (self.made - before))
            done = self.made - before
            self._room[kind] -= done
            # Whoever fell short once would do so again.
            if done < self._open[kind]:
                self._room[kind] = 0
            else:
                self._open[kind] = 0

    def found(self) -> Found:
        """All that was made."""
        none = np.empty(0, dtype=np.int64)
        return Found(
            row=np.concatenate([none, *(part.row for part in self._parts)]),
            column=np.concatenate([none, *(part.column for part in self._parts)]),
            kind=np.concatenate([none, *(part.kind for part in self._parts)]),
            group=np.concatenate([none, *(part.group for part in self._parts)]),
            after=[text for part in self._parts for text in part.after],
        )

    def _most(self, kind: str) -> int:
        if kind == "swap":
            cells = sum(int(filled.sum()) for filled in self._filled.values())
        else:
            cells = sum(int(self.coded.counts[place][self._applying(place, kind)].sum()) for place in self.places)
        return int(np.ceil(min(1.0, CAP * self.share) * cells))

    def _applying(self, place: int, kind: str) -> np.ndarray:
        """Values of a column that a kind can change; bool [V]."""
        if (place, kind) not in self._applies:
            self._applies[place, kind] = self.slipper.applies(place, kind)
        return self._applies[place, kind]

    def _draw_cells(self, kind: str, cells: int, *, repeated: bool = False) -> dict[int, np.ndarray]:
        """Free cells that a kind can change, uniformly: rows by column, in random order."""
        rng = self._rng[kind]
        rows = {}
        for place in self.places:
            good = self._applying(place, kind)
            if repeated:
                good = good & (self.coded.counts[place] >= 3)
            if good.any():
                codes = self.coded.codes[place]
                rows[place] = np.flatnonzero(np.append(good, False)[codes] & self._free[place])
        ends = np.cumsum([len(each) for each in rows.values()])
        total = int(ends[-1]) if len(ends) else 0
        chosen = rng.choice(total, min(cells, total), replace=False) if total else np.empty(0, dtype=np.int64)
        column = np.searchsorted(ends, chosen, side="right")
        starts = np.append(0, ends)
        return {place: rows[place][chosen[column == number] - starts[number]] for number, place in enumerate(rows)}

    def _single(self, kind: str, cells: int) -> None:
        """Slips of one cell each."""
        for place, rows in self._draw_cells(kind, cells).items():
            texts = self.slipper.draw(place, self.coded.codes[place][rows], kind, self._rng[kind])
            before = self.coded.texts(place, rows)
            kept = np.array([old != new for old, new in zip(before, texts, strict=True)], dtype=bool)
            after = [new for old, new in zip(before, texts, strict=True) if old != new]
            self._note(place, rows[kept], kind, np.arange(len(after)), after)

    def _recur(self, kind: str, cells: int) -> None:
        """Slips that are made in the same way in several rows with the same value."""
        if cells < 2:
            return
        rng = self._rng[kind]
        weights = 1 / GROUP_SIZES
        sizes = rng.choice(GROUP_SIZES, size=cells // 2 + 1, p=weights / weights.sum())
        sizes = sizes[np.cumsum(sizes) <= cells]
        sizes = sizes if len(sizes) else GROUP_SIZES[:1]
        wanted = iter(sizes.tolist())
        for place, rows in self._draw_cells(kind, len(sizes), repeated=True).items():
            codes = self.coded.codes[place][rows]
            texts = self.slipper.draw(place, codes, kind, rng)
            olds = self.coded.texts(place, rows)
            members: list[np.ndarray] = []
            afters: list[str | None] = []
            for row, code, old, new in zip(rows.tolist(), codes.tolist(), olds, texts, strict=True):
                size = next(wanted)
                group = self._members(place, row, code, size, rng) if new != old else None
                if group is not None:
                    members.append(group)
                    afters += [new] * len(group)
                    self._free[place][group] = False
            if members:
                numbers = np.repeat(np.arange(len(members)), [len(group) for group in members])
                self._note(place, np.concatenate(members), kind, numbers, afters)

    def _members(self, place: int, row: int, code: int, size: int, rng: np.random.Generator) -> np.ndarray | None:
        """Free rows with the same value as a free row, that one among them; None where there are not two."""
        if place not in self._sorted:
            order = np.argsort(self.coded.codes[place], kind="stable").astype(np.int32)
            blanks = len(order) - int(self.coded.counts[place].sum())
            self._sorted[place] = (order, blanks + np.append(0, np.cumsum(self.coded.counts[place])))
        order, starts = self._sorted[place]
        start, end = int(starts[code]), int(starts[code + 1])
        free = self._free[place]
        if not free[row]:
            return None
        size = min(size, max(2, (end - start) // 2))
        tried = order[rng.integers(start, end, size=3 * size)]
        others = [other for other in dict.fromkeys(tried.tolist()) if other != row and free[other]][: size - 1]
        return np.array([row, *others], dtype=np.int64) if others else None

    def _swap(self, cells: int) -> None:
        """Two cells of a row exchanged, beside each other or not; one swap for a row."""
        rng = self._rng["swap"]
        size = len(self.places)
        if size < 2 or cells < 2:
            return
        places = np.array(self.places)
        rows = rng.permutation(len(self._filled[self.places[0]]))
        first = rng.integers(size, size=len(rows))
        apart = np.where(rng.random(len(rows)) < 0.5, 1, rng.integers(1, size, size=len(rows)))
        pairs = np.stack([places[first], places[(first + apart) % size]], axis=1)
        for start in range(0, len(rows), max(cells, 64)):
            pairs_left = cells // 2
            if pairs_left <= 0:
                break
            part = slice(start, start + max(cells, 64))
            cells -= 2 * self._swap_rows(rows[part], pairs[part], pairs_left)

    def _swap_rows(self, rows: np.ndarray, pairs: np.ndarray, most: int) -> int:
        """Exchange cells in some of these rows; how many rows."""
        texts = np.full(pairs.shape, None, dtype=object)
        good = np.ones(len(rows), dtype=bool)
        for side in (0, 1):
            for place in self.places:
                here = pairs[:, side] == place
                texts[here, side] = np.array([*self.coded.texts(place, rows[here]), None], dtype=object)[:-1]
                good[here] &= self._free[place][rows[here]]
        kept = np.flatnonzero(good & (texts[:, 0] != texts[:, 1]))[:most]
        for side in (0, 1):
            for place in self.places:
                here = kept[pairs[kept, side] == place]
                groups = np.searchsorted(kept, here)
                self._note(place, rows[here], "swap", groups, texts[here, 1 - side].tolist(), same_groups=True)
        self._groups += len(kept)
        return len(kept)

    def _note(
        self,
        place: int,
        rows: np.ndarray,
        kind: str,
        groups: np.ndarray,
        after: list[str | None],
        *,
        same_groups: bool = False,
    ) -> None:
        """Keep slips of one column and kind; group numbers count from 0 here, [k]."""
        self._free[place][rows] = False
        column, number = np.full(len(rows), place), np.full(len(rows), KINDS.index(kind))
        self._parts.append(Found(rows.astype(np.int64), column, number, groups + self._groups, after))
        self.made += len(rows)
        if not same_groups and len(groups):
            self._groups += int(groups.max()) + 1
