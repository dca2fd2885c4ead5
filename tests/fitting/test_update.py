"""A model that lives: records join it and leave it, ids never move, and what is counted is exact."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
import torch

import carat
from carat.data import FIRST, UNSEEN, Pairs
from carat.errors import InputError
from carat.explain import Judge, TransformerExplainer
from carat.fitting import store
from carat.fitting.joining import leaving
from carat.fitting.update import Stock
from tests.support.fitted import frame
from tests.support.planted import planted_table

FOLDERS = Path(__file__).parent / "folders"
NEW = {"Port": "Newcomer", "Good": "Good-0a", "Carrier": "Carrier-0a", "Buyer": "Buyer-0a"}


def instant(table: pa.Table, **options: object) -> carat.Model:
    return carat.fit(table, profile="instant", device="cpu", **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def whole() -> pa.Table:
    return planted_table(900)


@pytest.fixture(scope="module")
def model(whole: pa.Table) -> carat.Model:
    return instant(whole.slice(0, 600))


@pytest.fixture(scope="module")
def grown(model: carat.Model, whole: pa.Table) -> carat.Model:
    return model.update(whole.slice(600), all=True)


def texts(model: carat.Model, ids: torch.Tensor) -> Counter[tuple[str | None, ...]]:
    columns = [column.to_pylist() for column in model.vocabulary.decode(ids).values()]
    return Counter(zip(*columns, strict=True))


def rows(table: pa.Table, model: carat.Model) -> Counter[tuple[str | None, ...]]:
    return Counter(zip(*(table[name].to_pylist() for name in model.vocabulary.names), strict=True))


def everything(model: carat.Model) -> torch.Tensor:
    stock = Stock.of(model)
    return torch.cat([stock.train, stock.held_out])


def check_counts(model: carat.Model) -> None:
    """Memory, pair counts and vocabulary are those of the records that the model holds."""
    stock = Stock.of(model)
    counted = Pairs.of(stock.train, model.vocabulary)
    assert torch.equal(model.pairs.keys, counted.keys)
    assert torch.equal(model.pairs.counts, counted.counts)
    assert torch.equal(model.pairs.singles, counted.singles)
    assert model.pairs.records == len(stock.train) == model.training["records"]
    assert torch.equal(model.vocabulary.counts(), model.vocabulary.counted(everything(model)))
    assert isinstance(model.explainer, Judge)
    assert model.explainer.memory_.records_.total == len(stock.train)


def test_adding_equals_having_had(model: carat.Model, grown: carat.Model, whole: pa.Table) -> None:
    assert texts(grown, everything(grown)) == rows(whole, grown)
    check_counts(grown)
    assert grown.training["history"][-1]["added"] == 300
    assert grown.training["history"][-1]["from"] == model.identity


def test_the_old_model_is_untouched(model: carat.Model, grown: carat.Model, whole: pa.Table) -> None:
    again = instant(whole.slice(0, 600))
    assert again.identity == model.identity
    assert model.score(whole).equals(again.score(whole))
    assert grown.identity != model.identity


def test_ids_of_old_entities_never_move(model: carat.Model, whole: pa.Table) -> None:
    added = pa.concat_tables([whole.slice(600), frame([NEW] * 12)])
    new = model.update(added, all=True)
    for before, after in zip(model.vocabulary.domains, new.vocabulary.domains, strict=True):
        assert after.entities[: len(before.entities)].equals(before.entities)
    assert new.vocabulary.domains[0].entities[-1].as_py() == "Newcomer"
    assert int(new.vocabulary.encode([NEW])[0, 0]) == new.vocabulary.domains[0].size - 1
    check_counts(new)


def test_forgetting_equals_never_having_had(model: carat.Model, grown: carat.Model, whole: pa.Table) -> None:
    back = grown.update(forget=whole.slice(600))
    assert texts(back, everything(back)) == rows(whole.slice(0, 600), back)
    check_counts(back)
    assert back.training["history"][-1]["forgotten"] == 300


def test_forgetting_respects_how_many(model: carat.Model, whole: pa.Table) -> None:
    one = whole.slice(0, 1)
    times = rows(whole.slice(0, 600), model)[next(iter(rows(one, model)))]
    asked = pa.concat_tables([one] * (times + 3) + [frame([NEW])])
    left = model.update(forget=asked)
    assert left.training["history"][-1]["forgotten"] == times
    assert left.training["history"][-1]["not_found"] == 4
    assert rows(one, model).keys().isdisjoint(texts(left, everything(left)))


def test_leaving_takes_no_more_than_asked() -> None:
    pool = torch.tensor([[2, 2], [3, 3], [2, 2], [2, 2]], dtype=torch.int32)
    assert leaving(pool, pool[:2]).tolist() == [True, True, False, False]
    assert leaving(pool, pool[:0]).tolist() == [False] * 4
    assert leaving(pool[:0], pool).tolist() == []


def test_what_is_forgotten_leaves_no_text(tmp_path: Path, model: carat.Model) -> None:
    known = model.update(frame([NEW] * 12), all=True)
    known.save(tmp_path / "known")
    assert b"Newcomer" in (tmp_path / "known" / "vocabulary.json").read_bytes()
    gone = known.update(forget=frame([NEW] * 12))
    gone.save(tmp_path / "gone")
    for file in (tmp_path / "gone").iterdir():
        assert b"Newcomer" not in file.read_bytes(), file.name
    read = carat.load(tmp_path / "gone")
    assert int(read.vocabulary.encode([NEW])[0, 0]) == UNSEEN
    assert read.identity == gone.identity
    row = {**NEW, "Port": "Port-1a"}
    fixes = read.recourse(frame([row]), all=True, k=50).to_frame()
    assert None not in fixes["Port"].to_pylist(), "an entity without a text is never proposed"
    once_more = read.update(frame([NEW] * 3), all=True)
    assert int(once_more.vocabulary.encode([NEW])[0, 0]) == read.vocabulary.domains[0].size, "a new id, not the old one"


def test_what_the_gate_lists_is_skipped(model: carat.Model, whole: pa.Table) -> None:
    odd = frame([{**NEW, "Port": "Port-3a", "Buyer": "Buyer-2a"}])
    assert model.score(odd)["anomalous"].to_pylist() == [True]
    new = model.update(pa.concat_tables([odd, whole.slice(600, 50)]))
    entry = new.training["history"][-1]
    assert entry["skipped"] >= 1
    assert entry["added"] + entry["skipped"] == 51
    assert rows(odd, model).keys().isdisjoint(texts(new, everything(new)))
    every = model.update(odd, all=True)
    assert every.training["history"][-1]["added"] == 1


def test_held_out_are_the_newest_and_never_in_memory(whole: pa.Table) -> None:
    timed = whole.append_column("day", pa.array([f"{900 - row:04d}" for row in range(900)]))
    model = instant(timed.slice(300), time="day")
    new = model.update(timed.slice(0, 300), all=True)
    assert new.held_out is not None
    assert model.held_out is not None
    assert len(new.held_out) == len(model.held_out) + 30, "few are added, so the older ones stay held out"
    assert texts(new, new.held_out[-30:]) == rows(timed.slice(0, 30), new), "the newest by their day, not the last rows"
    assert len(Stock.of(new).train) + len(new.held_out) == 900


def test_saved_loaded_and_updated_again(tmp_path: Path, grown: carat.Model, whole: pa.Table) -> None:
    grown.save(tmp_path / "m")
    read = carat.load(tmp_path / "m")
    assert read.identity == grown.identity
    assert read.score(whole).equals(grown.score(whole))
    one, two = read.update(whole.slice(0, 40), all=True), grown.update(whole.slice(0, 40), all=True)
    assert one.identity == two.identity, "no times in it"
    assert len(one.training["history"]) == 2


def test_without_memory(whole: pa.Table) -> None:
    model = instant(whole.slice(0, 300), memory=False)
    assert model.held_out is None
    new = model.update(whole.slice(300), all=True)
    assert new.pairs.records == model.pairs.records + 600 - 60
    assert new.held_out is None
    assert len(new.score(whole.slice(0, 5))) == 5
    with pytest.raises(InputError, match="holds no rows"):
        model.update(forget=whole.slice(0, 3))


def test_nothing_to_do(model: carat.Model, whole: pa.Table) -> None:
    with pytest.raises(InputError, match="nothing to do"):
        model.update()
    one = model.update(whole.slice(0, 1), all=True)
    check_counts(one)
    with pytest.raises(InputError, match="no row is left"):
        model.update(forget=whole.slice(0, 600))


@pytest.mark.parametrize("name", ["instant", "small"])
def test_old_folders_can_be_updated(name: str) -> None:
    old = carat.load(FOLDERS / name)
    text = {domain.name: domain.entities[0].as_py() for domain in old.vocabulary.domains}
    new = old.update(pa.Table.from_pylist([{**text, old.vocabulary.names[0]: "Brand new"}]), all=True)
    assert int(new.vocabulary.encode([{**text, old.vocabulary.names[0]: "Brand new"}])[0, 0]) >= FIRST
    assert torch.equal(new.reference, old.reference), "too few to set anything again"


@pytest.mark.slow
def test_networks_take_later_entities_for_unseen(tmp_path: Path, whole: pa.Table) -> None:
    small = {"dim": 8, "layers": 1, "heads": 2, "epochs": (2, 2, 2)}
    judge = Judge(beside="transformer", beside_params=small)
    model = carat.fit(whole.slice(0, 600), detector="ape", explainer=judge, graph=True, device="cpu")
    new = model.update(pa.concat_tables([whole.slice(600), frame([NEW] * 12)]), all=True)
    new.save(tmp_path / "m")
    read = carat.load(tmp_path / "m")
    later, unseen = read.vocabulary.encode([NEW]), model.vocabulary.encode([NEW])
    assert int(unseen[0, 0]) == UNSEEN
    assert torch.equal(read.detector.score(later), read.detector.score(unseen))
    beside = read.explainer.beside_  # type: ignore[union-attr]
    assert isinstance(beside, TransformerExplainer)
    assert torch.equal(beside.likelihood(later), beside.likelihood(unseen))
    assert beside.later(later).tolist() == [[True, False, False, False]]
    row = frame([{**NEW, "Port": "Port-2a"}])
    for method in ("carat-plus", "carat", "instant", "xformer-r", "rceaa", "replace-m"):
        assert read.recourse(row, all=True, method=method, k=5) is not None
    with_new = read.recourse(frame([{**NEW, "Buyer": "Buyer-2a"}]), all=True).to_frame()
    assert len(with_new)
    terms = read.detector.terms(later, torch.tensor([[0]]), later[:, None, :1].long())  # type: ignore[union-attr]
    assert torch.allclose((terms.constant[:, None, None] + terms.unary).flatten().float(), read.detector.score(later))
    assert carat.fit(whole, detector="ape", explainer=judge, graph=True, start=read, device="cpu").training["start"]


SCRIPT = """
import os, sys, time
import carat
from carat.fitting import store
was = store._swap
def slow(*given):
    print("ready", flush=True)
    time.sleep(60)
    was(*given)
store._swap = slow
model = carat.load(sys.argv[1])
row = {name: [column[0].as_py()] for name, column in model.vocabulary.decode(model.held_out[:1]).items()}
model.update(forget=row).save(sys.argv[1], force=True)
"""


def test_a_kill_leaves_the_old_model(tmp_path: Path, model: carat.Model, whole: pa.Table) -> None:
    """A real SIGKILL when everything is written and nothing is renamed."""
    folder = tmp_path / "m"
    model.save(folder)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    assert carat.load(folder).identity == model.identity == store.stored_identity(folder)
    model.update(whole.slice(600), all=True).save(folder, force=True)
    assert carat.load(folder).training["history"], "and the next update finds no lock in its way"


def test_decisions_come_as_an_audit_or_as_rows(model: carat.Model, whole: pa.Table) -> None:
    new = whole.slice(600, 50)
    audit = carat.audit(new)
    decided = [
        {"record": 0, "column": "Port", "value": None, "proposal": None, "decision": "=Newcomer"},
        {"record": 1, "column": "Port", "value": None, "proposal": None, "decision": "reject"},
    ]
    assert "Newcomer" in model.update(new, decisions=decided).vocabulary.domains[0].entities.to_pylist()
    assert model.update(new, decisions=audit).identity == model.update(new).identity, "nothing is decided yet"
    for options in ({}, {"forget": new}):
        with pytest.raises(InputError, match="`decisions` are about rows to add; give those rows, too"):
            model.update(decisions=decided, **options)


def test_nothing_to_do_leaves_the_model_as_it_is(
    model: carat.Model, whole: pa.Table, caplog: pytest.LogCaptureFixture
) -> None:
    """No row to add, or none that may join and none that is there to forget."""
    strange = frame([NEW, {**NEW, "Buyer": "Nobody"}])
    assert model.update(whole.slice(0, 0)) is model
    assert model.update(whole.to_pandas().iloc[:0], all=True) is model
    assert model.update(forget=strange) is model
    assert caplog.messages.count("no row was added or forgotten, so the model stays as it is") == 3
