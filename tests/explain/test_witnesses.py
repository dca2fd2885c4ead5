"""What an entity's own records say, against counting by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from carat.data import FIRST, MISSING, UNSEEN, Pairs, TrainingData
from carat.explain.witnesses import SEEN, TOLD, Witnesses
from tests.memory.test_vote import WORDS
from tests.support.small import training_data

M = len(WORDS)
EVERYONE = torch.tensor([[1, 2], [0, 2], [0, 1]])
records_of_ids = st.lists(st.lists(st.integers(0, 5), min_size=M, max_size=M), min_size=2, max_size=20)


def heard(stored: torch.Tensor, table: torch.Tensor) -> Witnesses:
    return Witnesses(EVERYONE, table, Pairs.of(stored, WORDS), WORDS.offsets)


def test_a_record_left_out_is_a_record_never_counted() -> None:
    """With itself left out, a record hears what it would hear of the others alone, were it not for N."""
    table = torch.randn((M, 2, len(SEEN), 5, 3), generator=torch.Generator().manual_seed(0))

    @given(records_of_ids, st.data())
    @settings(max_examples=100, deadline=None)
    def holds(stored: list[list[int]], data: st.DataObject) -> None:
        ids = torch.tensor(stored)
        gone = data.draw(st.integers(0, len(ids) - 1))
        asked = ids[gone : gone + 1]
        rest = torch.cat([ids[:gone], ids[gone + 1 :]])
        own = torch.ones_like(asked, dtype=torch.bool)
        with_it, without = heard(ids, table), heard(rest, table)
        place, said = with_it._classes(asked, own)
        other, told = without._classes(asked, ~own)
        assert torch.equal(said, told), "who has something to say depends on the other records alone"
        # The class of chance follows N and the neighbour's own count, from which nothing is taken; level and times do.
        seen, level = ((each // 15 % len(SEEN))[said] for each in (place, other)), (place % 3 == 0)[said]
        first, second = seen
        assert torch.equal(first, second)
        assert torch.equal(level, (other % 3 == 0)[said]), "never together, with or without chance"

    holds()


def rare_table() -> pa.Table:
    """Groups that always go together; of the rare carriers, each seen thrice, half stay in one group, half do not."""
    rows = []
    for number in range(1_500):
        group = number % 6
        rows.append((f"C{group}", f"O{group}", f"D{group}"))
    for rare in range(60):
        for time in range(3):
            group = rare % 6 if rare % 2 else (rare + time) % 6
            rows.append((f"rare{rare}", f"O{group}", f"D{group}"))
    return pa.table({name: list(column) for name, column in zip("CDE", zip(*rows, strict=True), strict=True)})


@pytest.fixture(scope="module")
def data() -> TrainingData:
    return training_data(rare_table())


@pytest.fixture(scope="module")
def witnesses(data: TrainingData) -> Witnesses:
    ids = data.train.long()
    generator = torch.Generator().manual_seed(3)
    replaced, where = ids.clone(), torch.zeros(ids.shape, dtype=torch.bool)
    rows = torch.arange(len(ids))
    domain = torch.randint(3, (len(ids),), generator=generator)
    drawn = ids[torch.randperm(len(ids), generator=generator)]
    replaced[rows, domain] = drawn[rows, domain]
    where[rows, domain] = True
    return Witnesses.of(ids, replaced, where & (ids != replaced), EVERYONE, data.pairs, data.vocabulary)


def test_a_rare_entity_whose_records_agree_is_favoured(data: TrainingData, witnesses: Witnesses) -> None:
    words = data.vocabulary

    def said(carrier: str, group: int) -> float:
        ids = words.encode([{"C": carrier, "D": f"O{group}", "E": f"D{group}"}]).long()
        return float(witnesses.tell(ids, torch.zeros_like(ids, dtype=torch.bool))[0, 0, TOLD.index("sum")])

    held = [rare for rare in range(1, 60, 2) if data.pairs.singles[words.encode([{"C": f"rare{rare}"}])[0, 0]] >= 2]
    assert held, "some rare carriers are in the training part more than once"
    for rare in held:
        at_home, abroad = said(f"rare{rare}", rare % 6), said(f"rare{rare}", (rare + 1) % 6)
        assert at_home > abroad, "three records that agree outweigh none that do"
    assert sum(said(f"rare{rare}", rare % 6) > 0 for rare in held) >= 0.9 * len(held), "rare alone is not wrong"


@pytest.mark.parametrize("reserved", [MISSING, UNSEEN])
def test_missing_and_unseen_say_nothing(data: TrainingData, witnesses: Witnesses, reserved: int) -> None:
    ids = data.train[:50].long()
    ids[:, 1] = reserved
    nobody = torch.zeros_like(ids, dtype=torch.bool)
    told = witnesses.tell(ids, nobody)
    assert torch.equal(told[:, 1], torch.zeros_like(told[:, 1])), "nothing is known of it"
    alone = witnesses.tell(ids.clone().index_fill_(1, torch.tensor([2]), reserved), nobody)
    assert torch.equal(alone, torch.zeros_like(alone)), "and nobody is left to ask"
    assert (told[:, 0, 0] != 0).any(), "the third domain still speaks of the first"


@pytest.mark.parametrize("domains", [2, 40])
def test_two_domains_and_forty(domains: int) -> None:
    generator = torch.Generator().manual_seed(0)
    group = torch.randint(4, (300,), generator=generator)
    columns = {f"c{number}": [f"{value}" for value in (group + number % 2).tolist()] for number in range(domains)}
    data = training_data(pa.table(columns))
    ids = data.train.long()
    replaced = ids.clone()
    replaced[:, 0] = ids[torch.randperm(len(ids), generator=generator), 0]
    where = torch.zeros(ids.shape, dtype=torch.bool)
    where[:, 0] = replaced[:, 0] != ids[:, 0]
    others = torch.tensor([[other for other in range(domains) if other != mine] for mine in range(domains)])
    found = Witnesses.of(ids, replaced, where, others[:, :16], data.pairs, data.vocabulary)
    told = found.tell(ids, torch.ones_like(ids, dtype=torch.bool))
    assert told.shape == (len(ids), domains, len(TOLD))
    wrong = found.tell(replaced[where[:, 0]], (replaced == ids)[where[:, 0]])
    assert float(told[:, 0, 0].median()) > 0 > float(wrong[:, 0, 0].median())
    empty = found.tell(torch.empty((0, domains), dtype=torch.int64), torch.empty((0, domains), dtype=torch.bool))
    assert empty.shape == (0, domains, len(TOLD))
    assert int(ids.min()) >= FIRST


def test_asked_about_some_entities_they_say_what_they_say_of_all() -> None:
    generator = torch.Generator().manual_seed(0)
    table = torch.randn((M, 2, len(SEEN), 5, 3), generator=generator)
    witnesses = heard(torch.randint(0, 6, (60, M), generator=generator), table)
    ids = torch.randint(0, 6, (50, M), generator=generator)
    chosen = torch.rand(ids.shape, generator=generator) < 0.4
    whole = witnesses.tell(ids, torch.zeros_like(chosen))[..., 0]
    assert whole[chosen].any()
    assert torch.equal(witnesses.told_of(ids, chosen), whole * chosen)
