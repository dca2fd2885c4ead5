"""Bad input is exit code 2 and one clear line: no traceback, no half-written file."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from carat.cli import run
from tests.support.commands import INSTANT, snapshot

GOOD = b"Port,Good,Weight\nA,x,1\nA,y,2\nB,x,3\nB,y,4\n"
FIT = ("--out", "new", *INSTANT)


@dataclass(frozen=True)
class Case:
    """What is typed, what is expected to be said, and the files that are there (None: a folder)."""

    arguments: str
    hint: str
    files: Mapping[str, bytes | None] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.arguments


def parquet(columns: Mapping[str, Any]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def fit(data: str, hint: str, content: bytes | None = None, options: str = "", config: str | None = None) -> Case:
    """A `fit` of one file into a new folder."""
    files: dict[str, bytes | None] = {} if content is None else {data: content}
    if config is not None:
        files["carat.toml"] = config.encode()
        options += " --config carat.toml"
    return Case(" ".join(["fit", data, *FIT, *options.split()]), hint, files)


def score(arguments: str, hint: str, **files: bytes | None) -> Case:
    """A `score`; the name of a file is given with _ for its dot."""
    return Case(f"score {arguments}", hint, {name.replace("_", "."): content for name, content in files.items()})


COLUMNS = "--columns Port,Good"
READING = [
    fit("nothing.csv", "nothing.csv: no such file"),
    fit("sheet.ods", "save it as .xlsx", b"PK"),
    fit("sheet.xlsx", "not an Excel workbook, or a damaged one", b"PK"),
    fit("text.xlsx", "not an Excel workbook; if it is text, rename it to .csv", GOOD),
    fit("sheet.csv", "is a spreadsheet under another name; rename it to .xlsx", b"PK\x03\x04\x14\x00\n"),
    fit("table.txt", "a table ends in .csv", GOOD),
    Case(" ".join(["fit", "folder", *FIT]), "is a folder, not a table", {"folder": None}),
    fit("text.parquet", "not a Parquet file", GOOD),
    fit("empty.parquet", "empty (0 bytes)", b""),
    fit("cut.parquet", "not a Parquet file, or a damaged one", parquet({"Port": ["A", "B"] * 50})[:-40]),
    fit("empty.csv", "empty (0 bytes)", b""),
    fit("header.csv", "no rows", b"Port,Good\n"),
    fit("one.csv", "one row", b"Port,Good\nA,x\n"),
    fit("twice.csv", "2 columns named 'Port'", b"Port,Port\nA,x\nB,y\n"),
    fit(
        "latin.csv", "not UTF-8 text; say how it is written with --encoding", "Port,Good\nÄ,x\nB,y\n".encode("latin-1")
    ),
    fit("utf16.csv", "save it as UTF-8 (in Excel: Save As, CSV UTF-8)", GOOD.decode().encode("utf-16")),
    fit("ragged.csv", "ragged.csv, line 3: 3 cells instead of 2 (B,y,z); quote", b"Port,Good\nA,x\nB,y,z\n"),
    fit("mixed.jsonl", "line 2: column 'Port' mixes types", b'{"Port": "A", "Good": "x"}\n{"Port": 1, "Good": "y"}\n'),
    fit("broken.jsonl", "line 1: not JSON", b"{\n"),
    fit("one-column.csv", "a model needs two (Weight: numbers)", b"Port,Weight\nA,1\nA,2\nB,2\n"),
    fit("shipments:us_imports", "did you mean 'shipments:us_import'?"),
]
CHOOSING = [
    fit("t.csv", "no column 'Prt'; did you mean 'Port'?", GOOD, "--columns Prt,Good"),
    fit("t.csv", "no column 'Goods'; did you mean 'Good'?", GOOD, config="[table]\ndomains = ['Port', 'Goods']\n"),
    fit("t.csv", "no column 'nmae'", GOOD, config="[table]\nid = 'nmae'\n"),
    fit("t.csv", "at least two columns", GOOD, "--columns Port"),
    fit("t.csv", "--minutes must be a number above 0, got 0.0", GOOD, "--minutes 0"),
    fit("t.csv", "--steps must be a whole number of at least 1, got -5", GOOD, "--steps -5"),
    fit("t.csv", "use --minutes or --steps, not both", GOOD, "--minutes 1 --steps 100"),
    fit("t.csv", "named twice", GOOD, "--columns Port,Port"),
    fit("t.csv", "'Good' can't be used: only one value", b"Port,Good\nA,x\nB,x\n", COLUMNS),
    fit("t.csv", "output column; rename", b"Port,score\nA,x\nB,y\n", "--columns Port,score"),
    fit("t.csv", "output column; rename", b"Port,Good,score\nA,x,u\nB,x,v\nA,y,u\n"),
    fit(
        "t.csv",
        "'Weight' is declared numeric but holds 'ten'",
        GOOD + b"A,x,ten\n",
        config="[table.numeric]\nWeight = 2",
    ),
    fit(
        "t.csv",
        "holds '795,64'; write it with a decimal point",
        b"Port;Good;Amount\nA;x;795,64\nB;y;1,5\n",
        config="[table.numeric]\nAmount = 2",
    ),
    fit("t.csv", "no column 'Name'", GOOD, "--id Name"),
    fit("t.csv", "between 2 and 1000 bins, got 1", GOOD, COLUMNS, config="[table.numeric]\nWeight = 1"),
    fit("t.csv", "no column 'Prt'; did you mean 'Port'?", GOOD, COLUMNS, "[table]\nmetapaths = [['Prt', 'Good']]\n"),
    fit("t.csv", "reach min_count = 3", GOOD, COLUMNS, config="[table]\nmin_count = 3\n"),
    fit("t.csv", "unknown key 'table.domain'; did you mean 'domains'?", GOOD, config="[table]\ndomain = ['Port']\n"),
    fit("t.csv", "not TOML", GOOD, config="[table"),
    fit("t.csv", "is every text in quotes?", GOOD, config="[table]\nid = Port"),
    fit("t.csv", "nothing.toml: no such file", GOOD, "--config nothing.toml"),
    fit("t.csv", "unknown --detector 'mad'; did you mean 'mead'?", GOOD, "--detector mad"),
    fit("t.csv", "unknown --profile 'fats'; did you mean 'fast'?", GOOD, "--profile fats"),
    fit("t.csv", "device must be auto, cpu or cuda, got 'gpu'", GOOD, "--device gpu"),
    fit("t.csv", "seed", GOOD, f"--seed {2**70}"),
    fit("t.csv", "--seed needs a whole number such as 0; got 'x'", GOOD, "--seed x"),
    fit("t.csv", "--minutes needs a number such as 0.5; got 'soon'", GOOD, "--minutes=soon"),
    fit("t.csv", "No such option: --colums", GOOD, "--colums Port"),
    Case("fit planted.csv --profile instant", "Missing option '--out'"),
    Case("fits planted.csv", "No such command 'fits'"),
]
FITTING_INTO = [
    Case("fit planted.csv --out model --profile instant", "model: already exists; use --force"),
    Case("fit planted.csv --out folder --force", "not a model folder, so it is not replaced", {"folder": None}),
    Case("fit planted.csv --out nowhere/new", "there is no folder nowhere"),
    Case(
        "fit planted.csv --out new",
        "new.partial: holds an unfinished fit; continue with --resume",
        {"new.partial": None},
    ),
]
NAMES = b"Port,Good,Carrier,Buyer\n"
LISTS = parquet({name: [["a"]] for name in NAMES.decode().strip().split(",")})
SCORING = [
    score("nothing planted.csv --out s.csv", "nothing: no such model folder"),
    score("planted.csv model --out s.csv", "planted.csv: this is a file, not a model folder; name the model first"),
    score("folder planted.csv --out s.csv", "manifest.json is missing", folder=None),
    score("model nothing.csv --out s.csv", "nothing.csv: no such file"),
    score("model t.csv --out s.csv", "no column 'Carrier'", t_csv=b"Port,Good,Buyer\nA,x,y\n"),
    score("model t.csv --out s.csv", "line 3: 1 cell instead of 4 (x); add", t_csv=NAMES + b"a,b,c,d\nx\n"),
    score(
        "model t.csv --out s.csv",
        "t.csv: the model needs the columns Port, Good, Carrier, Buyer; this table has A, B",
        t_csv=b"A,B\nx,y\n",
    ),
    score("model t.parquet --out s.csv", "'Port' holds lists", t_parquet=LISTS),
    score("model planted.csv --out s.csv --threshold x", "--threshold needs a number such as 0.5; got 'x'"),
    score("model planted.csv --out s.csv --show -1", "--show must be at least 0; got '-1'"),
    Case("recourse model planted.csv --prefer 2", "--prefer must be at most 1; got '2'"),
    Case("audit planted.csv --cut abc", "--cut needs a number such as 0.5; got 'abc'"),
    Case("audit planted.csv --top x", "--top needs a whole number such as 10; got 'x'"),
    Case("audit planted.csv --certain 0.95 --out c.csv", "--certain is for --fixed; add that, or leave out --certain"),
    score("model planted.csv --out s.csv --threshold 2", "between 0 and 1, got 2"),
    score("model planted.csv --out s.csv --threshold 0.1 --threshold-score 1", "not both"),
    score("model planted.csv --out s.csv --device gpu", "got 'gpu'"),
    score("model planted.csv --out s.xls", "a table ends in .csv"),
    score("model planted.csv --out s", "a table ends in .csv"),
    score("model planted.csv --out nowhere/s.csv", "there is no folder nowhere"),
    score("model planted.csv --out s.csv", "s.csv: already exists; use --force", s_csv=b"before"),
    score("model planted.csv --out s.csv --force", "is a folder", s_csv=None),
    Case("inspect nothing", "nothing: no such model folder"),
    # What was typed is shown as it was typed.
    Case("inspect a:b:c", "a:b:c: no such model folder"),
    Case("inspect [b]c", "[b]c: no such model folder"),
]


@pytest.mark.parametrize("case", [*READING, *CHOOSING, *FITTING_INTO, *SCORING], ids=str)
def test_bad_input(case: Case, work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, content in case.files.items():
        if content is None:
            (work / name).mkdir()
        else:
            (work / name).write_bytes(content)
    before = snapshot(work)
    code = run(case.arguments.split())
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    assert len(lines) == 1, said.err
    assert lines[0].startswith("carat: ")
    assert case.hint in lines[0]
    assert code == 2
    assert snapshot(work) == before


def test_a_file_name_can_be_too_long(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["score", "model", "x" * 300 + ".csv", "--out", "s.csv"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
