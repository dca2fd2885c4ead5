"""The tally of a large domain says what the ballot says, without a number for every entity."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import cast

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from carat.data import FIRST, Vocabulary
from carat.memory import Ballot, Records, Tally, Weights
from tests.memory.test_vote import WEIGHTS, WORDS, M, record_of_ids, records_of_ids


def asked(stored: list[list[int]], x: list[int], gone: int | None) -> Ballot:
    records = Records.of(torch.tensor(stored), WORDS)
    left_out = None if gone is None else records.group[gone : gone + 1].to(torch.int64)
    return Ballot(records, WEIGHTS, torch.tensor([x]), torch.zeros((1, M, M), dtype=torch.bool), left_out=left_out)


@given(records_of_ids, record_of_ids, st.booleans(), st.data())
@settings(max_examples=150, deadline=None)
def test_against_the_ballot(stored: list[list[int]], x: list[int], leave: bool, data: st.DataObject) -> None:
    gone = data.draw(st.integers(0, len(stored) - 1)) if leave else None
    ballot = asked(stored, x, gone)
    for domain in range(M):
        known = [row[domain] for number, row in enumerate(stored) if number != gone and row[domain] >= FIRST]
        if not known:
            continue  # nobody votes: the ballot then has no share to give, the tally neither
        whole, tally = ballot.probability(domain), Tally.of(ballot, domain)
        every = torch.arange(FIRST, FIRST + whole.shape[1])[None]
        torch.testing.assert_close(tally.at(every), whole, rtol=1e-4, atol=1e-6)
        torch.testing.assert_close(tally.at(torch.tensor([[1]]))[0], ballot.unseen_probability(domain))
        torch.testing.assert_close(tally.best(), whole.amax(dim=1), rtol=1e-4, atol=1e-6)
        entropy = -(whole.clamp(min=1e-12) * whole.clamp(min=1e-12).log()).sum(dim=1)
        torch.testing.assert_close(tally.entropy(), entropy, rtol=1e-3, atol=1e-4)
        for limit in (1, 3, 10):
            entity, share = tally.top(limit)
            width = min(limit, whole.shape[1])
            assert entity.shape[1] <= width
            best = whole.topk(width, dim=1).values[:, : entity.shape[1]]
            torch.testing.assert_close(share, best, rtol=1e-4, atol=1e-6)
            torch.testing.assert_close(whole.gather(1, entity - FIRST), share, rtol=1e-4, atol=1e-6)
            assert entity.shape[1] >= min(limit, len(set(known))), "whoever was voted for is listed"


def layout(*sizes: int) -> Vocabulary:
    """The sizes and offsets of a vocabulary whose texts nobody asks for."""
    whole = torch.tensor(sizes) + FIRST
    offsets = whole.cumsum(0) - whole
    return cast(Vocabulary, SimpleNamespace(sizes=whole, offsets=offsets, total=int(whole.sum())))


@pytest.mark.parametrize("limit", [None, 64])
def test_a_million_entities_in_one_domain(limit: int | None) -> None:
    words = layout(1_000_000, 50, 50)
    generator = torch.Generator().manual_seed(0)
    group = torch.randint(50, (4_000,), generator=generator)
    column = FIRST + group * 20_000 + torch.randint(3, (4_000,), generator=generator)
    ids = torch.stack([column, FIRST + group, FIRST + group], dim=1)
    records = Records.of(ids, words)
    weights = Weights(torch.ones(3, 3), torch.ones(3, 3), torch.full((3,), 0.02))
    ballot = Ballot(records, weights, ids[:64], torch.zeros((64, 3, 3), dtype=torch.bool), limit=limit)
    Tally.of(ballot, 0)
    began = time.process_time()
    tally = Tally.of(ballot, 0)
    entity, share = tally.top(3)
    best = tally.best()
    seconds = time.process_time() - began
    assert seconds < 2, f"64 questions took {seconds:.1f} s"
    assert tally.entities.shape[1] <= len(records)
    assert torch.equal((entity - FIRST) // 20_000, group[:64, None].expand(-1, 3)), "the three of the record's group"
    torch.testing.assert_close(share[:, 0], best)
    first = Ballot(records, weights, ids[:1], torch.zeros((1, 3, 3), dtype=torch.bool), limit=limit).probability(0)
    torch.testing.assert_close(tally.at(entity)[:1], first.gather(1, entity[:1] - FIRST), rtol=1e-4, atol=1e-7)
