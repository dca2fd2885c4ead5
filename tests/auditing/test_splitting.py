"""Two values in one cell: split as the decisions split others."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import carat
from tests.auditing.test_teaching import cells_of, decided
from tests.support.commands import write_csv

PLACES = [("San Francisco", "CA"), ("Austin", "TX"), ("Las Cruces", "NM"), ("Reno", "NV"), ("Kansas City", "MO")]
BLANK, GIVEN, OTHER = (10, 21, 32, 43, 54), (60, 71, 82), 95
"""Rows whose city holds the state: with a blank state, with the state given too, and with another state."""


def planted(rows: int = 200) -> pa.Table:
    cells: list[list[str | None]] = [list(PLACES[row % 5]) for row in range(rows)]
    for row in (*BLANK, *GIVEN):
        city, state = PLACES[row % 5]
        cells[row] = [f"{city} {state}", None if row in BLANK else state]
    cells[OTHER] = ["San Francisco CA", "TX"]
    return pa.table({"City": [row[0] for row in cells], "State": [row[1] for row in cells]})


def heads(*rows: int) -> list[tuple[int, str, str | None, str]]:
    return [(row, "City", " ".join(PLACES[row % 5]), f"={PLACES[row % 5][0]}") for row in rows]


def tails(*rows: int) -> list[tuple[int, str, str | None, str]]:
    return [(row, "State", None, f"={PLACES[row % 5][1]}") for row in rows]


def patterns_of(result: carat.AuditResult) -> list[str]:
    return [one.name for one in result.patterns]


NAME = "City: split off 'State' at the end"


def test_heads_stay_and_tails_fill_what_is_blank() -> None:
    result = carat.audit(planted(), decisions=decided(*heads(10, 21), *tails(10, 21)))
    found = cells_of(result)
    (pattern,) = [one for one in result.patterns if one.name == NAME]
    assert (pattern.decided, pattern.cells) == (2, 2 * len(BLANK) + len(GIVEN))
    for row in BLANK[2:]:
        assert found[row, "City"] == (PLACES[row % 5][0], "")
        assert found[row, "State"] == (PLACES[row % 5][1], "")
    for row in GIVEN:
        assert found[row, "City"] == (PLACES[row % 5][0], "")
        assert (row, "State") not in found
    assert (4, "City") not in found, "Kansas City is one name"
    off = carat.audit(planted(), decisions=decided(*heads(10, 21), *tails(10, 21)), without_patterns=[NAME])
    assert NAME not in patterns_of(off)


def test_the_command_names_patterns_and_leaves_them_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from carat.cli import run

    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "t.csv", planted())
    write_csv(tmp_path / "cells.csv", decided(*heads(10, 21), *tails(10, 21)))
    command = ["audit", "t.csv", "--decisions", "cells.csv", "--out", "again.csv", "--force"]
    assert run([*command, "--report", "page.html"]) == 0
    said = f"pattern 1 from your decisions: {NAME} (2 decided, 13 cells in all)"
    assert f"{said}; leave it out with --without-pattern NAME" in capsys.readouterr().err.replace("\n", " ")
    assert "attern 1 from your decisions: City: split off" in Path("page.html").read_text(encoding="utf-8")
    assert run([*command, "--without-pattern", NAME]) == 0
    assert "split off" not in capsys.readouterr().err
    assert run([*command, "--without-pattern", "none"]) == 2
    told = capsys.readouterr().err.replace("\n", " ")
    assert f"--without-pattern: no pattern 'none'; there are: 1 {NAME}" in told


def test_another_state_speaks_against_it() -> None:
    table = planted()
    split = cells_of(carat.audit(table, decisions=decided(*heads(10, 21), *tails(10, 21))))
    plain = cells_of(carat.audit(table, decisions=decided(*heads(10, 21), *tails(10, 21)), patterns=False))
    assert split.get((OTHER, "City")) == plain.get((OTHER, "City"))


def test_nothing_is_cut_off_that_is_not_kept_elsewhere() -> None:
    """Decisions about rows whose state is given do not say what becomes of a blank one."""
    result = carat.audit(planted(), decisions=decided(*heads(60, 71)))
    (pattern,) = [one for one in result.patterns if one.name == NAME]
    assert pattern.cells == len(GIVEN)
    assert cells_of(result)[82, "City"] == ("Las Cruces", "")


def test_one_row_or_a_contradiction_is_no_pattern() -> None:
    assert NAME not in patterns_of(carat.audit(planted(), decisions=decided(*heads(10), *tails(10))))
    kept = (43, "City", "Reno NV", "reject")
    assert NAME not in patterns_of(carat.audit(planted(), decisions=decided(*heads(10, 21), *tails(10, 21), kept)))
    blank = (43, "State", None, "reject")
    assert NAME not in patterns_of(carat.audit(planted(), decisions=decided(*heads(10, 21), *tails(10, 21), blank)))


def test_an_end_that_belongs_nowhere_is_no_split() -> None:
    table = planted()
    cells = table["City"].to_pylist()
    for row in (0, 1):
        cells[row] += " XX"
    table = table.set_column(0, "City", pa.array(cells))
    given = decided((0, "City", cells[0], "=San Francisco"), (1, "City", cells[1], "=Austin"))
    assert NAME not in patterns_of(carat.audit(table, decisions=given))
