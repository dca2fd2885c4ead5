"""`carat update`: rows in and out of a model folder, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import carat
from carat.cli import run
from tests.support.commands import snapshot, write_csv
from tests.support.planted import planted_table


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table = planted_table(600)
    write_csv(tmp_path / "new.csv", planted_table(200, seed=4))
    write_csv(
        tmp_path / "some.csv",
        pa.concat_tables([table.slice(0, 5), planted_table(1, seed=4).set_column(0, "Port", pa.array(["?"]))]),
    )
    carat.fit(table, profile="instant", device="cpu").save(tmp_path / "m")
    return tmp_path


def test_add_forget_and_inspect(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = carat.load(folder / "m").identity
    arguments = ["update", str(folder / "m"), str(folder / "new.csv"), "--out", str(folder / "m2")]
    assert run([*arguments, "--forget", str(folder / "some.csv"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["from"] == before
    assert told["added"] + told["skipped"] == 200
    assert (told["forgotten"], told["not_found"]) == (5, 1)
    assert any("1 row was not forgotten" in remark for remark in told["remarks"])
    assert carat.load(folder / "m2").identity == told["identity"]
    assert carat.load(folder / "m").identity == before
    assert run(["inspect", str(folder / "m2")]) == 0
    shown = capsys.readouterr().out
    assert before in shown
    assert f"{told['added']:,} rows added" in shown
    assert "have a missing value" in shown


def test_the_same_folder_needs_force(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["update", str(folder / "m"), str(folder / "new.csv"), "--out", str(folder / "m")]
    before = snapshot(folder)
    assert run(arguments) == 2
    assert "use --force" in capsys.readouterr().err
    assert snapshot(folder) == before
    assert run([*arguments, "--force", "--all"]) == 0
    assert "200 rows added" in capsys.readouterr().err
    assert len(carat.load(folder / "m").training["history"]) == 1


def test_bad_input_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = snapshot(folder)
    for arguments, message in {
        (): "with --forget",
        (str(folder / "none.csv"),): "none.csv",
        ("--forget", str(folder / "none.csv")): "none.csv",
        ("--decisions", str(folder / "new.csv")): "rows to add",
        (str(folder / "new.csv"), "--decisions", str(folder / "new.csv")): "no column 'record'",
    }.items():
        assert run(["update", str(folder / "m"), *arguments, "--out", str(folder / "m2")]) == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1, error
    assert snapshot(folder) == before


def test_decided_cells_join_as_decided(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        *planted_table(40, seed=9).to_pylist(),
        {"Port": "Port-3a", "Good": "Good-0a", "Carrier": "Carrier-0a", "Buyer": "Buyer-2a"},
    ]
    write_csv(folder / "rows.csv", pa.Table.from_pylist(rows))
    cells = pa.table(
        {
            "record": ["40", "40", "0", "1", "2"],
            "column": ["Port", "Buyer", "Port", "Port", "Good"],
            "proposal": ["Port-0a", None, None, "Port-5a", "x"],
            "decision": ["accept", "=Buyer-0z", "wrong", "reject", ""],
        }
    )
    write_csv(folder / "cells.csv", cells)
    arguments = ["update", str(folder / "m"), str(folder / "rows.csv"), "--out", str(folder / "m2")]
    assert run([*arguments, "--decisions", str(folder / "cells.csv")]) == 0
    assert "3 rows added as decided" in capsys.readouterr().err
    updated = carat.load(folder / "m2")
    held = updated.held_out
    assert held is not None
    last = {name: column[len(held) - 1].as_py() for name, column in updated.vocabulary.decode(held).items()}
    assert last == {"Port": "Port-0a", "Good": "Good-0a", "Carrier": "Carrier-0a", "Buyer": "Buyer-0z"}
    write_csv(folder / "cells.csv", cells.set_column(3, "decision", pa.array(["perhaps"] * 5)))
    assert run([*arguments, "--force", "--decisions", str(folder / "cells.csv")]) == 2
    assert "accept, reject, wrong or =VALUE" in capsys.readouterr().err


def test_fit_from_a_model_without_networks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["fit", str(folder / "new.csv"), "--profile", "instant", "--from", str(folder / "m")]
    assert run([*arguments, "--out", str(folder / "m2")]) == 2
    assert "--from has no network" in capsys.readouterr().err


def test_rows_that_are_not_there_leave_the_model_as_it_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_csv(folder / "gone.csv", pa.table({name: ["nowhere"] for name in ("Port", "Good", "Carrier", "Buyer")}))
    arguments = ["update", str(folder / "m"), "--forget", str(folder / "gone.csv"), "--out", str(folder / "m2")]
    assert run([*arguments, "--json"]) == 0
    told = capsys.readouterr()
    assert "no row was added or forgotten, so the model stays as it is" in told.err
    facts = json.loads(told.out)
    assert facts["identity"] == facts["from"] == carat.load(folder / "m2").identity
