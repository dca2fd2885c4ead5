"""Precedents: the training rows most like one that is in doubt, and what they say."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
import torch

import carat
from carat import jobs
from carat.data import MISSING, UNSEEN
from carat.explain import Judge
from carat.memory import Ballot, Memory
from carat.report import explanation_html
from carat.results.precedents import ASKED, SHOWN, Agreement, Precedents
from tests.support.fitted import frame
from tests.support.planted import DOMAINS, corrupted, planted_table


@pytest.fixture(scope="module")
def model() -> carat.Model:
    return carat.fit(planted_table(), profile="instant", device="cpu")


@pytest.fixture
def precedents(model: carat.Model) -> Precedents:
    found = model.evidence.precedents
    assert found is not None
    return found


def doubted(ids: torch.Tensor, *domains: int) -> torch.Tensor:
    mask = torch.zeros(ids.shape, dtype=torch.bool)
    mask[:, list(domains)] = True
    return mask


def reference(memory: Memory, x: list[int], hidden: list[int]) -> list[tuple[float, int, int, list[int]]]:
    """Every group with its exponent, averaged over the doubted domains, the most similar first; one by one."""
    records, weights = memory.records_, memory.weights_
    offsets = records.vocabulary.offsets.tolist()
    found = []
    for group, (held, count) in enumerate(zip(records.ids.tolist(), records.count.tolist(), strict=True)):
        total = 0.0
        for d in hidden:
            for j, entity in enumerate(x):
                if j not in hidden and entity >= 2 and held[j] == entity:
                    times = int(records.singles[entity + offsets[j]])
                    rarity = max(float(torch.tensor(records.total / times).log()), 0.0)
                    total += float(weights.match[d, j]) + float(weights.rarity[d, j]) * rarity
        found.append((round(total / len(hidden), 3), count, -group, held))
    return sorted(found, reverse=True)


def test_against_a_slow_search(model: carat.Model, precedents: Precedents) -> None:
    records, where = corrupted()
    for row, name in zip(records, where, strict=True):
        domain = DOMAINS.index(name)
        ids = model.vocabulary.encode([row])
        (found,) = precedents.find(ids, doubted(ids, domain))
        expected = reference(precedents.memory, ids[0].tolist(), [domain])
        assert len(found.precedents) == SHOWN
        best = [exponent for exponent, *_ in expected[:SHOWN]]
        held = {tuple(held): exponent for exponent, _, _, held in expected}
        mine = [held[tuple(model.vocabulary.encode([one.values])[0].tolist())] for one in found.precedents]
        assert mine == pytest.approx(best, abs=2e-3), "the most similar first"
        (agreement,) = found.agreements
        last = next(e for k, (e, *_) in enumerate(expected) if sum(c for _, c, *_ in expected[: k + 1]) >= ASKED)
        asked = [(count, group) for exponent, count, _, group in expected if exponent >= last - 1e-3]
        assert agreement.rows == sum(count for count, _ in asked) >= ASKED
        assert agreement.same == sum(count for count, group in asked if group[domain] == int(ids[0, domain]))
        assert agreement.value.startswith(f"{name}-"), "of the right column"


def test_they_name_the_group_that_the_row_belongs_to(model: carat.Model, precedents: Precedents) -> None:
    records, where = corrupted()
    ids = model.vocabulary.encode(records)
    mask = torch.tensor([[name == domain for name in DOMAINS] for domain in where])
    for number, (found, name) in enumerate(zip(precedents.find(ids, mask), where, strict=True)):
        (agreement,) = found.agreements
        assert agreement.value.startswith(f"{name}-{number // 4}")
        assert agreement.same == 0
        assert agreement.having > 0.15 * agreement.rows
        assert all(name in one.differs for one in found.precedents)
        assert all(one.values[other] == records[number][other] for one in found.precedents for other in DOMAINS
                   if other not in one.differs)  # fmt: skip


def test_whatever_the_batch(model: carat.Model, precedents: Precedents, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = model.vocabulary.encode([*corrupted()[0], *planted_table(80, seed=9).to_pylist()])
    ids[::9, 1], ids[::13, 2] = MISSING, UNSEEN
    mask = torch.rand(ids.shape, generator=torch.Generator().manual_seed(0)) < 0.3
    for exact in (4_096, 8):
        monkeypatch.setattr(precedents.memory, "exact", exact)
        whole = precedents.find(ids, mask)
        assert [
            one for row in range(len(ids)) for one in precedents.find(ids[row : row + 1], mask[row : row + 1])
        ] == whole
    assert precedents.find(ids[:0], mask[:0]) == []


def test_asked_once_for_a_batch(model: carat.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    result = model.recourse(frame(corrupted()[0]), all=True, k=1)
    asked = []
    ask = Memory.ask

    def counted(memory: Memory, ids: torch.Tensor, *rest: torch.Tensor) -> Ballot:
        asked.append(len(ids))
        return ask(memory, ids, *rest)

    monkeypatch.setattr(Memory, "ask", counted)
    explained = list(result.explanations())
    assert asked == [len(explained)]


def test_nothing_alike_and_nothing_doubted(model: carat.Model, precedents: Precedents) -> None:
    strange = torch.full((1, len(DOMAINS)), UNSEEN)
    (nobody,) = precedents.find(strange, doubted(strange, 0))
    assert nobody.precedents == ()
    assert nobody.agreements == ()
    ids = model.vocabulary.encode(planted_table(5, seed=9).to_pylist())
    for found in precedents.find(ids, doubted(ids)):
        assert found.precedents, "similar rows are shown all the same"
        assert found.agreements == (), "but nothing is asked of them"


def test_no_row_is_its_own_precedent() -> None:
    """A row that is in the table once is left out where the table was learned from; an identical one stays."""
    rows = planted_table(600).to_pylist()
    odd = {name: f"{name}-{number}a" for number, name in enumerate(DOMAINS)}
    table = pa.Table.from_pylist([*rows, odd])
    model = carat.fit(table, profile="instant", device="cpu")
    judge = model.explainer
    assert isinstance(judge, Judge)
    ids = model.vocabulary.encode([odd])
    held = (judge.memory_.records_.ids == ids).all(dim=1)
    found = model.evidence.precedents
    assert found is not None
    (new,), (known,) = (some.find(ids, doubted(ids, 0)) for some in (found, found.of_training()))
    itself = [one for one in new.precedents if one.differs == ()]
    assert len(itself) == int(held.any()), "a new row that is in training is a precedent"
    assert [one for one in known.precedents if one.differs == ()] == []
    learned = model.recourse(table, all=True, k=1)
    precedents = learned.evidence.precedents
    assert precedents is not None
    assert precedents.learned_from
    fresh = model.recourse(frame(corrupted()[0]), all=True, k=1).evidence.precedents
    assert fresh is not None
    assert not fresh.learned_from


def test_sentences() -> None:
    def said(*about: int | None) -> str:
        rows, having, same = about
        assert rows is not None
        assert having is not None
        return Agreement("Dest", rows, "LAX", having, same).in_words()

    assert said(12, 11, 0) == "Of the 12 training rows most like this one, 11 have Dest LAX; none has the value here."
    assert said(12, 12, 0) == "Of the 12 training rows most like this one, all have Dest LAX."
    assert said(12, 1, 1) == "Of the 12 training rows most like this one, 1 has Dest LAX; 1 has the value here."
    assert said(1_200, 900, 30) == (
        "Of the 1,200 training rows most like this one, 900 have Dest LAX; 30 have the value here."
    )
    assert said(12, 9, None) == "Of the 12 training rows most like this one, 9 have Dest LAX."
    assert said(1, 1, 0) == "The training row most like this one has Dest LAX."


def test_in_json_words_and_notebook(model: carat.Model) -> None:
    result = model.recourse(frame(corrupted()[0]), k=1)
    one = next(iter(result.explanations()))
    told = one.to_json()
    assert json.loads(json.dumps(told)) == told
    assert len(told["precedents"]) == SHOWN
    for shown, mine in zip(told["precedents"], one.precedents, strict=True):
        assert shown["values"] == [mine.values[value["column"]] for value in told["values"]]
        for place, value in enumerate(told["values"]):
            assert (value["column"] in shown["differs"]) == (shown["values"][place] != value["value"])
    assert [agreed["column"] for agreed in told["agreements"]] == [view.domain for view in one.entities if view.flagged]
    assert all(agreement.in_words() in told["words"] for agreement in one.agreements)
    page = explanation_html(one)
    assert "Training rows most like this one" in page
    assert f"<b>{one.precedents[0].values[one.blamed[0].domain]}</b>" in page


def test_without_memory_there_are_none() -> None:
    plain = carat.fit(planted_table(), profile="instant", memory=False, device="cpu")
    assert plain.evidence.precedents is None
    assert plain.evidence.of_training() is plain.evidence
    one = plain.recourse(frame(corrupted()[0]), k=1, all=True).explain(0)
    assert one.precedents == ()
    assert one.to_json()["precedents"] == []
    assert "Training rows most like" not in explanation_html(one)


def test_the_terminal_s_few_know_what_was_learned_from(model: carat.Model) -> None:
    job = jobs.recourse(model, planted_table(), all=True)
    strangest = jobs.Strangest(model, 3)
    job.into(strangest)
    assert len(strangest.explained) == 3
    assert job.learned_from is not None
    assert job.evidence.precedents is not None
    assert job.evidence.precedents.learned_from
