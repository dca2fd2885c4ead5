"""Naive Bayes from pair counts against a slow, obvious loop."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
import torch

from carat.data import FIRST, MISSING, UNSEEN, Pairs
from carat.explain.naive_bayes import NaiveBayes
from tests.support.small import training_data


def test_against_a_loop(planted: pa.Table) -> None:
    data = training_data(planted)
    words, pairs = data.vocabulary, data.pairs
    ids = data.held_out[:6].long()
    ids[1, 0], ids[2, 1], ids[3, :3] = MISSING, UNSEEN, MISSING
    ids[4, 2] = FIRST
    fitted = NaiveBayes(pairs, words, smoothing=0.3).fit(ids)
    offsets = words.offsets.tolist()
    for record, row in enumerate(ids.tolist()):
        for domain, size in enumerate(words.sizes.tolist()):
            slow = []
            for entity in range(FIRST, size):
                at = offsets[domain] + entity
                count = int(pairs.singles[at])
                total = math.log(max(count, 0.5) / pairs.records)
                for other, id in enumerate(row):
                    if other == domain or id < FIRST:
                        continue
                    context = offsets[other] + id
                    share = max(int(pairs.singles[context]), 0.5) / pairs.records
                    together = int(pairs.count(torch.tensor(at), torch.tensor(context)))
                    # Without the part that is the same for every entity of the domain, log κ P(x).
                    total += math.log((together + 0.3 * share) / (count + 0.3)) - math.log(0.3 * share)
                slow.append(total)
            mine = fitted[record, offsets[domain] : offsets[domain] + size]
            assert mine[:FIRST].isneginf().all()
            assert mine[FIRST:].tolist() == pytest.approx(slow, rel=1e-4, abs=1e-4)


def test_adjacency_lists_every_pair_both_ways() -> None:
    data = training_data(pa.table({"A": list("aab"), "B": list("xyy"), "C": list("pqp")}))
    pairs = Pairs.of(torch.cat([data.train, data.held_out]), data.vocabulary)
    starts, partners, counts = pairs.adjacency()
    assert len(partners) == 2 * len(pairs.keys)
    for row in range(pairs.total):
        mine = partners[starts[row] : starts[row + 1]]
        assert mine.tolist() == sorted(mine.tolist())
        for partner, count in zip(mine, counts[starts[row] : starts[row + 1]], strict=True):
            assert int(pairs.count(torch.tensor(row), partner)) == int(count)
