"""Tables going out: every format, and whole or not at all."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from carat.data import TableWriter, open_source
from carat.errors import InputError
from tests.support.sources import columns_of

TABLE = pa.table({"record": ["r1", 'say "hi"', "a,b\nc"], "score": [1.5, None, -2.0], "flagged": [["Port"], [], None]})
ENDINGS = [".csv", ".csv.gz", ".parquet", ".jsonl", ".xlsx"]


def write(path: Path, *parts: pa.Table, force: bool = False) -> None:
    with TableWriter(path, force=force) as writer:
        for part in parts:
            writer.write(part)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".xlsx"])
def test_csv_holds_lists_as_json(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"out{ending}"
    write(path, TABLE[:1], TABLE[1:])
    assert columns_of(open_source(path)) == {
        "record": ["r1", 'say "hi"', "a,b\nc"],
        "score": ["1.5", None, "-2"],
        "flagged": ['["Port"]', "[]", None],
    }


def test_parquet(tmp_path: Path) -> None:
    write(tmp_path / "out.parquet", TABLE[:1], TABLE[1:])
    assert pq.read_table(tmp_path / "out.parquet") == TABLE


def test_json_lines(tmp_path: Path) -> None:
    write(tmp_path / "out.jsonl", TABLE[:1], TABLE[1:])
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == TABLE.to_pylist()


def test_standard_output_is_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with TableWriter("-") as writer:
        writer.write(TABLE[:1])
        assert capsys.readouterr().out == '{"record": "r1", "score": 1.5, "flagged": ["Port"]}\n', "at once"
        writer.write(TABLE[1:])
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == TABLE[1:].to_pylist()


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_rows_still_name_the_columns(ending: str, tmp_path: Path) -> None:
    write(tmp_path / f"out{ending}", TABLE[:0])
    if ending == ".jsonl":
        assert (tmp_path / "out.jsonl").read_text() == ""
        return
    source = open_source(tmp_path / f"out{ending}")
    assert source.names == ["record", "score", "flagged"]
    if ending == ".parquet":
        assert columns_of(source) == {"record": [], "score": [], "flagged": []}
    else:
        with pytest.raises(InputError, match="there is a header but no rows"):
            columns_of(source)


def write_and_fail(path: Path, *, force: bool) -> None:
    with TableWriter(path, force=force) as writer:
        writer.write(TABLE)
        assert [entry.name for entry in path.parent.iterdir() if entry != path], "written beside its place"
        raise KeyError("stop")


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_error_on_the_way_leaves_nothing(ending: str, tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="stop"):
        write_and_fail(tmp_path / f"out{ending}", force=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_error_on_the_way_keeps_what_was_there(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"out{ending}"
    path.write_text("before")
    with pytest.raises(KeyError, match="stop"):
        write_and_fail(path, force=True)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_an_existing_file_is_replaced_by_force_alone(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("before")
    with pytest.raises(InputError, match=r"already exists.*`force`"):
        TableWriter(path)
    assert path.read_text() == "before"
    write(path, TABLE, force=True)
    assert columns_of(open_source(path), ["score"]) == {"score": ["1.5", None, "-2"]}
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_not_replaced_even_by_force(tmp_path: Path) -> None:
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(InputError, match="folder"):
        TableWriter(tmp_path / "out.csv", force=True)


@pytest.mark.parametrize(("name", "hint"), [("out.xls", "choose one of them"), ("out", "a table ends in .csv")])
def test_the_ending_names_the_format(name: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(hint)):
        TableWriter(tmp_path / name)


def test_the_folder_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        TableWriter(tmp_path / "nowhere" / "out.csv")
