"""Texts as hashes with characters left out: how spellings that are a few characters apart find each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

BASE = np.uint64(0x9E3779B97F4A7C15)
"""Of the polynomial hash, odd and with many bits; arithmetic is modulo 2^64."""
CHUNK = 1_000_000
"""Candidates or characters that are handled at a time."""
WHOLE = 64
"""Halves longer than this meet only where they are equal: a hash for each of their characters would be too many."""
CUTS = (0.5, 0.45, 0.55, 0.4, 0.6, 0.35, 0.65, 0.3, 0.7, 0.25, 0.75)
"""Where texts may be cut in two, as a share of their length."""
_BUCKETS = 32

Pairs = Iterator[tuple[np.ndarray, np.ndarray]]


class Letters:
    """The characters of texts, by length, and what is computed from them.

    Args:
        texts: [V].
        length: of each, int64 [V].
    """

    def __init__(self, texts: np.ndarray, length: np.ndarray) -> None:
        self._texts, self._length = texts, length
        self._bags = self._count()

    def groups(self, index: np.ndarray, *, backwards: bool = False) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Texts of one length at a time, in the order given: which, and their characters as uint64 [k, length]."""
        length = self._length[index]
        order = np.argsort(length, kind="stable")
        for same in np.split(index[order], np.flatnonzero(np.diff(length[order])) + 1):
            size = int(self._length[same[0]]) if len(same) else 1
            for group in np.array_split(same, 1 + len(same) * size // CHUNK) if len(same) else ():
                joined = "".join(self._texts[group].tolist()).encode("utf-32-le", "surrogatepass")
                chars = np.frombuffer(joined, dtype=np.uint32).reshape(len(group), size).astype(np.uint64)
                # Spread over all bits, so that sums of neighbouring letters do not meet by chance.
                chars = (chars + np.uint64(1)) * np.uint64(0xD6E8FEB86659FD93)
                chars ^= chars >> np.uint64(32)
                yield group, chars[:, ::-1] if backwards else chars

    def _count(self) -> np.ndarray:
        """How often characters occur, each of 32 buckets up to 4 in as many bits; uint64 [V, 2].

        One edit changes at most two bits.
        """
        bags = np.zeros((len(self._texts), 2), dtype=np.uint64)
        for group, chars in self.groups(np.flatnonzero(self._length > 0)):
            bucket = ((chars >> np.uint64(40)) % np.uint64(_BUCKETS)).astype(np.uint8)
            for number in range(_BUCKETS):
                often = np.minimum((bucket == number).sum(axis=1), 4).astype(np.uint64)
                bits = (np.uint64(1) << often) - np.uint64(1)
                bags[group, number // 16] |= bits << np.uint64(4 * (number % 16))
        return bags

    def may_be_near(self, one: np.ndarray, other: np.ndarray, distance: np.ndarray) -> np.ndarray:
        """Whether pairs can be so near, by their lengths and by which characters they have; bool [k]."""
        good: np.ndarray = np.abs(self._length[one] - self._length[other]) <= distance
        for half in (0, 1):
            bags = self._bags[:, half]
            differ = np.bitwise_count(bags[one] ^ bags[other])
            good &= differ <= 2 * distance
        return good

    def left_out(self, index: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Hashes of texts with 0 to `most` (1 or 2) characters left out: keys uint64 [k], and whose, int64 [k]."""
        keys, owner = [np.empty(0, dtype=np.uint64)], [np.empty(0, dtype=np.int64)]
        for group, chars in self.groups(index):
            made = [prefixes(chars)[:, -1:], without(prefixes(chars), chars.shape[1])]
            if most > 1:
                # Leave one out, then another before it: every pair once.
                for last in range(1, chars.shape[1]):
                    rest = prefixes(np.delete(chars, last, axis=1))
                    made.append(without(rest, rest.shape[1] - 1)[:, :last])
            found = np.concatenate(made, axis=1)
            keys.append(found.ravel())
            owner.append(np.repeat(group, found.shape[1]))
        return np.concatenate(keys), np.concatenate(owner)


def prefixes(chars: np.ndarray) -> np.ndarray:
    """Hashes of the first 0, 1, 2… characters; uint64 [k, length + 1]."""
    found = np.zeros((len(chars), chars.shape[1] + 1), dtype=np.uint64)
    for place in range(chars.shape[1]):
        found[:, place + 1] = found[:, place] * BASE + chars[:, place]
    return found


def without(prefix: np.ndarray, size: int) -> np.ndarray:
    """Hashes of the first `size` characters with each of them left out; uint64 [k, size]."""
    powers = np.cumprod(np.append(np.uint64(1), np.full(size - 1, BASE)), dtype=np.uint64)
    # Taking out character i: what is before it moves one place down, and it goes itself.
    return np.asarray(prefix[:, size, None] + (prefix[:, :size] - prefix[:, 1 : size + 1]) * powers[::-1])


def join(asked: np.ndarray, asker: np.ndarray, keys: np.ndarray, owner: np.ndarray, most: int | None = None) -> Pairs:
    """Pairs (asker, owner) that share a key, a chunk at a time.

    Args:
        asked: keys that are looked for, uint64 [k].
        asker: who looks for each, int64 [k].
        keys: sorted, uint64 [l].
        owner: whose each is, int64 [l]; where a key has several, the most wanted first.
        most: how many pairs there may be; where there would be more, every key gives up its least wanted owners.
    """
    order = np.argsort(asked)  # a search in order stays in the cache
    asked, asker = asked[order], asker[order]
    first = np.searchsorted(keys, asked, side="left")
    count = np.searchsorted(keys, asked, side="right") - first
    yield from expand(asker, first, count if most is None else cut_down(count, most), owner)


def distinct(numbers: np.ndarray) -> np.ndarray:
    """Each number once, in order; numpy's own `unique` hashes, which takes several times as long here."""
    ordered = np.sort(numbers)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def cut_down(count: np.ndarray, most: int) -> np.ndarray:
    """Counts cut to the largest common height at which they add up to no more than `most`."""
    total = int(count.sum())
    if total <= most:
        return count
    ordered = np.sort(count)
    # With height h = ordered[i], what is below adds up as it is, and the rest to h each.
    below = np.append(0, np.cumsum(ordered)[:-1])
    sums = below + ordered * np.arange(len(ordered), 0, -1)
    place = int(np.searchsorted(sums, most, side="right"))
    return np.asarray(np.minimum(count, (most - int(below[place])) // (len(ordered) - place)))


def expand(asker: np.ndarray, first: np.ndarray, count: np.ndarray, owner: np.ndarray) -> Pairs:
    """Pairs of each asker with `count` owners from `first` on, a chunk at a time."""
    some = count > 0
    asker, first, count = asker[some], first[some], count[some]
    ends = np.cumsum(count)
    start = 0
    while start < len(asker):
        done = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + CHUNK, side="right")))
        number = count[start:stop]
        place = np.arange(int(number.sum())) - np.repeat(ends[start:stop] - number - done, number)
        yield np.repeat(asker[start:stop], number), owner[np.repeat(first[start:stop], number) + place]
        start = stop


def half_of(length: int, cut: float, backwards: bool) -> int:
    """How long the first half of a text is; the last one takes the rest."""
    first = int(length * cut)
    return length - first if backwards else first


def best_cut(texts: list[str]) -> float:
    """Where to cut texts in two so that the fewest share a half: what most have in common belongs to neither alone."""

    def crowd(cut: float) -> int:
        sides = (
            Counter(text[: int(len(text) * cut)] for text in texts),
            Counter(text[int(len(text) * cut) :] for text in texts),
        )
        return sum(count * count for side in sides for count in side.values())

    return min(CUTS, key=crowd)


@dataclass(frozen=True)
class Halves:
    """The different first halves of texts, and who has them; backwards, the last halves read from the end.

    Args:
        letters: the texts.
        cut: where the first half ends, as a share of the length.
        backwards: whether these are last halves.
        hashes: of the different halves, sorted, uint64 [h].
        starts: where the texts of each begin in `owner`, int64 [h + 1].
        owner: texts by their half, the most wanted first, int64 [t].
        left: hashes of the halves with a character left out, sorted, uint64 [l].
        item: the half of each of those, int64 [l].
    """

    letters: Letters
    cut: float
    backwards: bool
    hashes: np.ndarray
    starts: np.ndarray
    owner: np.ndarray
    left: np.ndarray
    item: np.ndarray

    @classmethod
    def of(cls, letters: Letters, texts: np.ndarray, cut: float, *, backwards: bool) -> Halves:
        """Of some texts, int64 [t], the most wanted first."""
        rank = np.empty(int(texts.max(initial=-1)) + 1, dtype=np.int64)
        rank[texts] = np.arange(len(texts))
        halves, owners = [np.empty(0, dtype=np.uint64)], [np.empty(0, dtype=np.int64)]
        left, source = [np.empty(0, dtype=np.uint64)], [np.empty(0, dtype=np.uint64)]
        for group, chars in letters.groups(texts, backwards=backwards):
            size = half_of(chars.shape[1], cut, backwards)
            prefix = prefixes(chars[:, :size])
            halves.append(prefix[:, size])
            owners.append(group)
            if size <= WHOLE:
                different, one = np.unique(prefix[:, size], return_index=True)
                left.append(without(prefix[one], size).ravel())
                source.append(np.repeat(different, size))
        half, owner = np.concatenate(halves), np.concatenate(owners)
        order = np.lexsort((rank[owner], half))
        hashes, starts = np.unique(half[order], return_index=True)
        keys, item = np.concatenate(left), np.searchsorted(hashes, np.concatenate(source))
        by_key = np.argsort(keys)
        starts = np.append(starts, len(owner))
        return cls(letters, cut, backwards, hashes, starts, owner[order], keys[by_key], item[by_key])

    def meet(self, texts: np.ndarray, apart: int, most: int) -> Pairs:
        """Pairs of texts that may be up to `apart` edits apart: a half of theirs is at most one character off.

        Args:
            texts: who looks for others, int64 [k].
            apart: how far those may be.
            most: how many pairs there may be, roughly; where there would be more, the most wanted are taken.
        """
        for group, chars in self.letters.groups(texts, backwards=self.backwards):
            length = chars.shape[1]
            prefix = prefixes(chars)
            items: list[np.ndarray] = []
            sizes = {half_of(length + more, self.cut, self.backwards) for more in range(-apart, apart + 1)}
            for size in sorted(size for size in sizes if 0 < size <= length):
                items += self._items(prefix, size, most)
            if not items:
                continue
            met = distinct(np.concatenate(items))
            asker, item = met // len(self.hashes), met % len(self.hashes)
            first = self.starts[item]
            count = cut_down(self.starts[item + 1] - first, most * len(group) // len(texts))
            yield from expand(group[asker], first, count, self.owner)

    def _items(self, prefix: np.ndarray, size: int, most: int) -> list[np.ndarray]:
        """Halves of one size that may be near the beginnings of texts, as row × halves + half."""
        if size > WHOLE:
            pairs = join(prefix[:, size], np.arange(len(prefix)), self.hashes, np.arange(len(self.hashes)))
            return [row * len(self.hashes) + item for row, item in pairs]
        # With a character left out of each, two beginnings of this size meet that differ by one replaced, and also by
        # one too many or too few: then the last one is left out of the other. Each different one is looked up once.
        _, one, which = np.unique(prefix[:, size], return_index=True, return_inverse=True)
        asked = without(prefix[one], size)
        met = [np.empty(0, dtype=np.int64)]
        for asker, item in join(asked.ravel(), np.repeat(np.arange(len(one)), size), self.left, self.item, most):
            met.append(distinct(asker * len(self.hashes) + item))
        pairs_met = distinct(np.concatenate(met))
        asker, item = pairs_met // len(self.hashes), pairs_met % len(self.hashes)
        # Back to every text with that beginning.
        order = np.argsort(which, kind="stable")
        starts = np.searchsorted(which[order], np.arange(len(one) + 1))
        return [
            row * len(self.hashes) + its
            for its, row in expand(item, starts[asker], starts[asker + 1] - starts[asker], order)
        ]
