"""Networks beside the votes of an audit: who reads which row, what they say of slips, and that nothing leaks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

import carat
from carat.auditing.audit import as_text, audit_table
from carat.auditing.contained import Relations
from carat.auditing.judging import Lessons
from carat.auditing.options import AuditOptions
from carat.auditing.pages import Pages
from carat.auditing.proposals import propose
from carat.auditing.readers import FOLDS, SAID, Readers, folds, known
from carat.auditing.shelf import Shelf
from carat.auditing.signals import NAMES, Eyes, Plan
from carat.auditing.table import AuditTable
from carat.auditing.votes import encoded, learn_votes
from carat.data.vocabulary import FIRST, UNSEEN
from carat.errors import InputError
from carat.explain import TransformerExplainer
from carat.observing import Remark, Silent
from carat.training import Run
from carat.training.box import Box

PLACES = [
    ("Callao", "Peru", "PE"),
    ("Leith", "Scotland", "SC"),
    ("Bergen", "Norway", "NO"),
    ("Porto", "Portugal", "PT"),
]
VOTED = (0, 1, 2)
STEPS = 600


def rows(count: int = 240) -> list[list[str]]:
    return [list(PLACES[n % len(PLACES)]) for n in range(count)]


def table(cells: list[list[str]]) -> AuditTable:
    return AuditTable.of(frame(cells))


def frame(cells: list[list[str]]) -> pa.Table:
    return pa.table({name: [row[k] for row in cells] for k, name in enumerate(("City", "Country", "Land"))})


@pytest.fixture(scope="module")
def spoiled() -> list[list[str]]:
    cells = rows()
    cells[42][1] = "Peru" if cells[42][1] != "Peru" else "Norway"
    cells[99][0] = "Atlantis"
    return cells


@pytest.fixture(scope="module")
def eyes(spoiled: list[list[str]]) -> Eyes:
    whole = table(spoiled)
    run = Run(seed=0)
    ids, vocabulary = encoded(whole.columns)
    learned = Readers.learn(ids, vocabulary, Box(steps=STEPS), run, Shelf(None))
    pages = Pages.of(learned, ids, Silent(), Shelf(None))
    return Eyes(whole, Plan(VOTED, (), learn_votes(whole, VOTED, run), Relations(()), 0, pages))


def pages_of(eyes: Eyes) -> Pages:
    assert eyes.pages is not None
    return eyes.pages


def test_folds_are_even_and_follow_from_the_seed() -> None:
    assert torch.equal(folds(100, 1), folds(100, 1))
    assert not torch.equal(folds(100, 1), folds(100, 2))
    assert folds(100, 1).bincount().tolist() == [34, 33, 33]
    assert len(folds(0, 1)) == 0


def test_no_network_learns_from_the_rows_it_reads(eyes: Eyes, spoiled: list[list[str]]) -> None:
    readers, run = pages_of(eyes).readers, Run(seed=0)
    ids = torch.arange(len(spoiled))[:, None].expand(-1, 3) + FIRST  # row numbers as entities
    for fold in range(FOLDS):
        legible = replace(readers, met=torch.ones((FOLDS, 10_000), dtype=torch.bool))
        data = legible.data(ids, fold, run)
        seen = torch.cat([data.train, data.held_out])[:, 0].to(torch.int64) - FIRST
        assert set(seen.tolist()) == set((readers.fold != fold).nonzero().flatten().tolist())


def test_a_value_that_only_the_fold_holds_is_unseen(eyes: Eyes) -> None:
    pages = pages_of(eyes)
    fold = int(pages.readers.fold[99])
    ids = pages.ids[[99]]
    assert int(ids[0, 0]) >= FIRST, "the table does hold Atlantis"
    assert pages.readers.legible(ids, fold)[0].tolist() == [UNSEEN, *ids[0, 1:].tolist()]
    told = dict(zip(SAID, pages.tell(torch.tensor([99]))[0, 0].tolist(), strict=True))
    assert (told["network, belongs"], told["network, margin"]) == (0, 0)
    assert told["network, best"] > np.log(0.5), "the rest of the row still says what belongs there"


def test_known_values_come_twice() -> None:
    ids, vocabulary = encoded(table([["a", "x", "u"], ["a", "y", "u"], ["b", "y", "u"]]).columns)
    met = known(ids, vocabulary)
    assert met[ids + vocabulary.offsets].tolist() == [[True, False, True], [True, True, True], [False, True, True]]


def test_networks_tell_wrong_from_right(eyes: Eyes) -> None:
    belongs, margin = (pages_of(eyes).tell(torch.arange(240))[:, 1, k] for k in (0, 1))
    others = torch.arange(240) != 42
    others[99] = False
    assert float(belongs[42]) < float(belongs[others].min())
    assert float(margin[42]) > 2 > float(margin[others].max())


def test_a_copy_is_read_as_the_table_is(eyes: Eyes, spoiled: list[list[str]]) -> None:
    """Untouched rows word for word; a slip that the table does not hold is unseen."""
    cells = [list(row) for row in spoiled]
    cells[5][0], cells[6][1] = "Liethh", "Peru"
    copy = Eyes(table(cells), eyes.plan, eyes)
    every = torch.arange(240)
    one, other = eyes.look(every).told, copy.look(every).told
    said = slice(len(NAMES), None)
    same = (one[..., said] == other[..., said]).flatten(1).all(dim=1)
    assert (~same).nonzero().flatten().tolist() == [5, 6]
    assert int(pages_of(copy).ids[5, 0]) == UNSEEN
    assert other[5, 0, len(NAMES) :].tolist()[0] == 0
    assert other[6, 1, len(NAMES) + 1] > 2
    # Read anew, an untouched row says the same.
    again = pages_of(eyes).readers.tell(pages_of(copy).ids[:4], every[:4])
    assert torch.allclose(again, pages_of(eyes).said[:4], atol=1e-4)


def test_networks_propose(eyes: Eyes) -> None:
    flagged = torch.zeros((2, 3), dtype=torch.bool)
    flagged[0, 1] = flagged[1, 0] = True
    found = propose(eyes, np.array([42, 99]), np.array([1, 0]), flagged, np.array([0.9, 0.9]))
    assert found.text == [PLACES[42 % 4][1], PLACES[99 % 4][0]]
    fitting = pages_of(eyes).fitting(torch.tensor([42]), flagged[:1], 1)
    values = eyes.table.columns[1].values
    assert fitting.shape == (1, len(values))
    assert values[int(fitting[0].argmax())] == PLACES[42 % 4][1]
    assert abs(float(fitting.sum()) - 1) < 1e-4


def test_lessons_reach_the_judge(eyes: Eyes) -> None:
    lessons = Lessons(eyes, as_text(eyes.table), Run(seed=0))
    told = lessons.copies[0].sight.told
    assert told.shape[2] == len(NAMES) + len(SAID)
    assert bool(told.isfinite().all())


def options(**given: Any) -> AuditOptions:
    return AuditOptions(profile="fast", **({"steps": 60} | given))


def same(one: Any, other: Any) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("row", "column", "error")) and (
        one.proposal == other.proposal and np.array_equal(one.confidence, other.confidence)
    )


def test_a_killed_audit_goes_on_with_the_next_fit(
    spoiled: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = audit_table(table(spoiled), options(), Run(seed=0))
    assert {(42, 1), (99, 0)} <= set(zip(first.row.tolist(), first.column.tolist(), strict=True))
    fit, fits = TransformerExplainer.fit, []

    def dies(self: Any, data: Any, run: Run) -> Any:
        fits.append(run.seed)
        if len(fits) == 2:
            raise KeyboardInterrupt
        return fit(self, data, run)

    monkeypatch.setattr(TransformerExplainer, "fit", dies)
    kept = Run(seed=0, checkpoints=tmp_path / "partial")
    with pytest.raises(KeyboardInterrupt):
        audit_table(table(spoiled), options(), kept)
    assert (tmp_path / "partial" / "network-0.safetensors").exists()
    again = audit_table(table(spoiled), options(), kept)
    assert fits[1] == fits[2], "the second fit begins again"
    assert len(fits) == 4, "the first does not"
    assert same(first, again)


def test_a_resumed_audit_keeps_its_steps(spoiled: list[list[str]], tmp_path: Path) -> None:
    """However fast the machine is the second time."""
    ids, vocabulary = encoded(table(spoiled).columns)
    watch = iter(range(10**6))
    slow = Run(seed=0, clock=lambda: float(next(watch)))
    one = Readers.learn(ids, vocabulary, Box(minutes=0.5), slow, Shelf(tmp_path))
    for file in tmp_path.glob("network-*"):
        file.unlink()
    other = Readers.learn(ids, vocabulary, Box(minutes=0.5), Run(seed=0), Shelf(tmp_path))
    assert torch.equal(one.tell(ids, torch.arange(240)), other.tell(ids, torch.arange(240)))


def test_the_estimate_is_told(spoiled: list[list[str]]) -> None:
    told: list[Remark] = []

    class Listening(Silent):
        def remark(self, remark: Remark) -> None:
            told.append(remark)

    ids, vocabulary = encoded(table(spoiled).columns)
    Readers.learn(ids, vocabulary, Box(steps=30), Run(observer=Listening()), Shelf(None))
    (remark,) = told
    assert remark.code == "training-time"
    assert "30 of" in remark.text


def test_instant_is_told_nothing_new(spoiled: list[list[str]]) -> None:
    whole = table(spoiled)
    plan = Plan(VOTED, (), learn_votes(whole, VOTED, Run(seed=0)), Relations(()))
    assert plan.names == NAMES
    assert Eyes(whole, plan).look(torch.arange(3)).told.shape[2] == len(NAMES)


def test_without_columns_to_relate_there_is_no_network() -> None:
    result = carat.audit({"only": ["a", "a", "b"] * 12}, profile="fast")
    assert [remark.code for remark in result.remarks].count("no-network") == 1


@pytest.mark.parametrize(
    "cells", [rows(8), [["x" if n % 5 else "", *row[1:]] for n, row in enumerate(rows(40))]], ids=["few rows", "blanks"]
)
def test_odd_tables(cells: list[list[str]]) -> None:
    found = audit_table(table(cells), options(steps=9), Run(seed=0))
    assert np.isfinite(found.error).all()


def test_a_box_is_for_networks() -> None:
    with pytest.raises(InputError, match="`minutes` is for networks"):
        AuditOptions(minutes=1)
    with pytest.raises(InputError, match="not both"):
        AuditOptions(profile="fast", minutes=1, steps=3)
    assert "steps" not in AuditOptions().facts()
    assert AuditOptions(profile="fast", steps=9).facts()["steps"] == 9
