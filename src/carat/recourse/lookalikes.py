"""Values that are another spelling, most likely a slip, of a much more common value of their column.

Text alone can't tell: `Iceland` is one letter from `Ireland`. So a near spelling must also keep the common value's
company: a slip stands in the rows where the right value would stand.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.spelling import key, nearest
from carat.data.vocabulary import FIRST, Domain, Vocabulary

VARIANT_RATIO = 3.0
"""How many times as common the right form of a variant must be (other capitals, spaces, punctuation, accents)."""
SLIP_RATIO = 20.0
"""The same for a near spelling, which may well be another word."""
SHORTEST = 5
"""Letters of a word from which on a near spelling may be a slip; shorter ones are codes and names of their own."""
LONG = 9
"""Letters of a value from which on a slip may be two characters off, not one."""
ALIKE = 0.8
"""A column in which so many values have the same length holds codes."""
TELLING, KEPT = 0.9, 0.5
"""Where a common value's rows hold this share of values that it was seen with before, those of its slip hold at least
that share of them."""


def lookalikes(vocabulary: Vocabulary, pairs: Pairs) -> Tensor:
    """Entities that look like slips of much more common ones, and those: rows of the layout, int64 [k, 2].

    Args:
        vocabulary: the texts.
        pairs: how often entities occur, alone and together.
    """
    found = []
    pairs = pairs.to("cpu")
    for domain, offset in zip(vocabulary.domains, vocabulary.offsets.tolist(), strict=True):
        if domain.bins is not None or len(domain.entities) < 2:
            continue
        counts = pairs.singles[offset + FIRST : offset + domain.size].numpy()
        # What was forgotten has no text, and looks like nothing.
        texts = [f"\0{place}" if text is None else text for place, text in enumerate(domain.entities.to_pylist())]
        variants = _variants(texts, counts)
        slips = np.empty((0, 2), dtype=np.int64) if _holds_codes(domain) else _slips(texts, counts)
        slips = slips[~np.isin(slips[:, 0], variants[:, 0])]
        rows = torch.from_numpy(slips) + offset + FIRST
        found += [torch.from_numpy(variants) + offset + FIRST, rows[_in_company(rows, vocabulary, pairs)]]
    return torch.cat(found) if found else torch.empty((0, 2), dtype=torch.int64)


def _variants(texts: list[str], counts: np.ndarray) -> np.ndarray:
    """Values and the most common one with the same key, where it is much more common, int64 [k, 2]."""
    code: dict[str, int] = {}
    group = np.fromiter((code.setdefault(key(text), len(code)) for text in texts), dtype=np.int64, count=len(texts))
    order = np.lexsort((-counts, group))
    first = order[np.unique(group[order], return_index=True)[1]][group]
    less = np.flatnonzero((counts * VARIANT_RATIO <= counts[first]) & (first != np.arange(len(texts))))
    return np.stack([less, first[less]], axis=1)


def _slips(texts: list[str], counts: np.ndarray) -> np.ndarray:
    """Values and the nearest much more common spelling, in words that may be misspelt, int64 [k, 2]."""
    near = nearest(texts, np.maximum(counts, 1), ratio=SLIP_RATIO)
    length = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    close = np.flatnonzero((near.index >= 0) & (near.distance <= np.where(length < LONG, 1, 2)))
    right = near.index[close]
    may_be = [
        _misspelt(texts[value], texts[other]) for value, other in zip(close.tolist(), right.tolist(), strict=True)
    ]
    kept = np.array(may_be, dtype=bool)
    return np.stack([close[kept], right[kept]], axis=1)


def _misspelt(value: str, other: str) -> bool:
    """Whether all that differs between two texts are words of letters long enough to be misspelt."""
    here, there = (Counter(re.findall(r"\w+", text)) for text in (value, other))
    words = [*(here - there), *(there - here)]
    return bool(words) and all(word.isalpha() for word in words) and max(map(len, words)) >= SHORTEST


def _holds_codes(domain: Domain) -> bool:
    """Whether most values are equally long."""
    lengths = np.array([len(text) for text in domain.entities.to_pylist() if text is not None], dtype=np.int64)
    return bool(len(lengths)) and bool(np.bincount(lengths).max() >= ALIKE * len(lengths))


def _in_company(slips: Tensor, vocabulary: Vocabulary, pairs: Pairs) -> Tensor:
    """Which of some rows and what they may stand for, int64 [k, 2], are seen with the same entities, bool [k]."""
    starts, partner, count = pairs.adjacency()
    domain_of = torch.repeat_interleave(torch.arange(len(vocabulary)), vocabulary.sizes)
    kept = torch.ones(len(slips), dtype=torch.bool)
    for place, (slip, right) in enumerate(slips.tolist()):
        usual = slice(int(starts[right]), int(starts[right + 1]))
        here = slice(int(starts[slip]), int(starts[slip + 1]))
        domain, often = domain_of[partner[usual]], count[usual].double()
        expected = _share(domain, often, count[usual] > 1, len(vocabulary))
        known = pairs.count(partner[here], torch.full_like(partner[here], right)) > 0
        met = _share(domain_of[partner[here]], count[here].double(), known, len(vocabulary))
        kept[place] = not bool(((expected >= TELLING) & (met < KEPT)).any())
    return kept


def _share(domain: Tensor, count: Tensor, among: Tensor, domains: int) -> Tensor:
    """By domain, the share of what is counted that is among something; NaN where nothing is counted, [m]."""
    whole = torch.zeros(domains, dtype=torch.float64).scatter_add_(0, domain, count)
    part = torch.zeros(domains, dtype=torch.float64).scatter_add_(0, domain, count * among)
    return part / whole
