"""Decisions teach an audit."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

import carat
from carat.auditing.decisions import list_of
from carat.auditing.options import AuditOptions
from carat.auditing.reading import read_table
from carat.auditing.teaching import taught
from carat.errors import InputError

PLACES = [("Callao", "Peru", "12 oz"), ("Leith", "Scotland", "16 oz"), ("Bergen", "Norway", "8 oz")]


def planted(rows: int = 240) -> pa.Table:
    """Cities and their countries, a size with a unit in every row, and one wrong country."""
    cells = [list(PLACES[row % 3]) for row in range(rows)]
    cells[30][1] = "Norway"
    return pa.table({name: [row[place] for row in cells] for place, name in enumerate(("City", "Country", "Size"))})


def decided(*cells: tuple[int, str, str | None, str]) -> pa.Table:
    lines = [dict(zip(("record", "column", "value", "decision"), cell, strict=True)) for cell in cells]
    return pa.Table.from_pylist(lines)


def cells_of(result: carat.AuditResult) -> dict[tuple[int, str], tuple[str | None, str]]:
    return {(row["record"], row["column"]): (row["proposal"], row["decision"]) for row in result.to_arrow().to_pylist()}


def test_a_decided_rewrite_reaches_every_cell_like_it() -> None:
    table = planted()
    assert not any(column == "Size" for _, column in cells_of(carat.audit(table)))
    given = decided((0, "Size", "12 oz", "=12"), (1, "Size", "16 oz", "=16"), (2, "Size", "8 oz", "=8"))
    result = carat.audit(table, decisions=given)
    found = cells_of(result)
    assert sum(column == "Size" for _, column in found) == table.num_rows
    assert found[100, "Size"] == ("16", "")
    assert found[0, "Size"] == ("12", "=12")
    first = result.findings.patterns[0]
    assert (first.column, first.decided, first.cells) == ("Size", 3, 240)
    off = cells_of(carat.audit(table, decisions=given, patterns=False))
    assert {cell for cell in off if cell[1] == "Size"} >= {(0, "Size"), (1, "Size"), (2, "Size")}
    assert (100, "Size") not in off


OUNCES = decided((0, "Size", "12 oz", "=12"), (1, "Size", "16 oz", "=16"), (30, "Country", "Norway", "=Peru"))
CITIES = decided((3, "City", "Callao", "=CALLAO"), (6, "City", "Callao", "=CALLAO"))


def test_each_pattern_can_be_left_out_by_itself() -> None:
    table, given = planted(), pa.concat_tables([OUNCES, CITIES])
    whole = carat.audit(table, decisions=given)
    assert [one.number for one in whole.patterns] == sorted({one.number for one in whole.patterns})
    by_name = {one.name: one for one in whole.patterns}
    size, city = by_name["Size: keep the number alone"], by_name["City: change to upper case"]
    assert whole.to_json()["patterns"][0]["name"] == whole.patterns[0].name
    both: list[list[str | int]] = [
        [size.name, "Size: drop ' oz' at the end"],
        [size.number, "Size: drop ' oz' at the end"],
    ]
    for without in both:
        some = carat.audit(table, decisions=given, without_patterns=without)
        assert (100, "Size") not in cells_of(some)
        assert cells_of(some)[100, "City"] == ("LEITH", "")
        assert city in some.patterns, "its number stays, too"
    other = carat.audit(table, decisions=given, without_patterns=[city.number])
    assert cells_of(other)[100, "Size"] == ("16", "")
    assert cells_of(other).get((100, "City")) is None or cells_of(other)[100, "City"][0] != "LEITH"


def test_a_pattern_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(InputError, match=r"no pattern 'oz'; there are: 1 Size: keep the number alone, 2 Size: drop"):
        carat.audit(planted(), decisions=OUNCES, without_patterns=["oz"])
    with pytest.raises(InputError, match="no pattern '9'; there are: 1 Size"):
        carat.audit(planted(), decisions=OUNCES, without_patterns=[9])
    with pytest.raises(InputError, match="the decisions ask for none"):
        carat.audit(planted(), decisions=decided((0, "Size", "12 oz", "reject")), without_patterns=["1"])
    with pytest.raises(InputError, match="must be a list of names"):
        carat.audit(planted(), decisions=OUNCES, without_patterns="1")
    with pytest.raises(InputError, match="leaves out what `decisions` would teach"):
        carat.audit(planted(), without_patterns=["1"])
    with pytest.raises(InputError, match="leaves out what `patterns` would teach"):
        carat.audit(planted(), decisions=OUNCES, patterns=False, without_patterns=["1"])


def test_a_rejected_cell_is_not_shown_again_here_nor_next_month() -> None:
    table = planted()
    assert (30, "Country") in cells_of(carat.audit(table))
    first = carat.audit(table).to_arrow().to_pylist()
    for row in first:
        row["decision"] = "reject"
    assert (30, "Country") not in cells_of(carat.audit(table, decisions=pa.Table.from_pylist(first)))
    moved = pa.concat_tables([table.slice(100), table.slice(0, 100)])  # row 30 is now row 170
    assert (170, "Country") in cells_of(carat.audit(moved))
    assert (170, "Country") not in cells_of(carat.audit(moved, decisions=pa.Table.from_pylist(first)))


def test_what_is_wrong_stays_listed_without_a_sure_fix() -> None:
    result = carat.audit(planted(), decisions=decided((5, "Country", "Norway", "wrong")))
    (row,) = [row for row in result.to_arrow().to_pylist() if row["record"] == 5]
    assert row["error"] > 0.99
    assert row["confidence"] <= 0.5
    assert row["decision"] == "wrong"


def test_cells_are_found_by_row_and_value() -> None:
    reading = read_table(planted(), AuditOptions())
    undecided = [(row, "City", PLACES[row % 3][0], "") for row in range(4)]
    cells = decided((30, "Country", "Norway", "reject"), (31, "Country", "nowhere", "=Peru"), *undecided)
    found = taught(list_of(cells), reading)
    assert (found.row.tolist(), found.column.tolist(), found.wrong.tolist()) == ([30], [1], [False])
    assert found.rewrites == (("Country", "nowhere", "Peru"),)
    assert found.fingerprint() != taught(list_of(decided((30, "Country", "Norway", "wrong"))), reading).fingerprint()


def test_row_numbers_of_another_table_mean_nothing() -> None:
    may, june = planted(), pa.concat_tables([planted().slice(1), planted().slice(0, 1)])
    # Of the cells decided in May, two happen to stand in June where they stood.
    accepted = [(row, "City", PLACES[row % 3][0], "=Bergen") for row in range(2, 12)]
    by_chance = [(0, "Country", "Scotland", "=Norway"), (1, "Country", "Norway", "=Peru")]
    cells = list_of(decided(*accepted, *by_chance))
    options = AuditOptions()
    assert len(taught(cells, read_table(may, options))) == 10
    elsewhere = taught(cells, read_table(june, options))
    assert len(elsewhere) == 0
    assert len(elsewhere.rewrites) == 12, "what was changed still teaches by its content"
    assert len(taught(cells, read_table(june.append_column("more", june["City"]), options))) == 0
    # A list that is known to be of another table must fit better than a value of every third row does by chance.
    alone = list_of(decided((0, "Country", "Scotland", "=Norway")))
    assert len(taught(alone, read_table(june, options))) == 1
    assert len(taught(replace(alone, about={"origin": {"fingerprint": "another"}}), read_table(june, options))) == 0


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="no column 'Countri'.*Country"):
        carat.audit(planted(), decisions=decided((0, "Countri", "Peru", "reject")))


def test_a_pattern_makes_no_fix_less_sure() -> None:
    table = planted()
    sizes = ["16 oz" if row % 20 == 1 else text.split()[0] for row, text in enumerate(table["Size"].to_pylist())]
    table = table.set_column(2, "Size", pa.array(sizes))
    given = decided((1, "Size", "16 oz", "=16"), (21, "Size", "16 oz", "=16"), (41, "Size", "16 oz", "=16"))
    taught_it, alone = carat.audit(table, decisions=given), carat.audit(table, decisions=given, patterns=False)

    def sure(result: carat.AuditResult) -> dict[tuple[int, str, str], float]:
        lines = result.to_arrow().to_pylist()
        return {(one["record"], one["column"], one["proposal"]): one["confidence"] for one in lines}

    with_it, without = sure(taught_it), sure(alone)
    agreed = with_it.keys() & without.keys()
    assert len(agreed) > 3
    assert all(with_it[cell] >= without[cell] for cell in agreed)


def test_what_is_done_already_is_not_asked_for_again() -> None:
    table = planted()
    given = decided((30, "Country", "Norway", "=Peru"), (3, "City", "Callao ", "=Callao"))
    fixed = table.set_column(1, "Country", pa.array([PLACES[row % 3][1] for row in range(table.num_rows)]))
    assert not {(30, "Country"), (3, "City")} & set(cells_of(carat.audit(fixed, decisions=given)))


def test_one_rejected_blank_leaves_the_others_listed() -> None:
    table = planted()
    cells = table["Country"].to_pylist()
    for row in range(12, 60, 6):
        cells[row] = None
    table = table.set_column(1, "Country", pa.array(cells))
    before = {cell for cell in cells_of(carat.audit(table)) if cell[1] == "Country" and cells[cell[0]] is None}
    assert len(before) == 8
    given = pa.table({"record": [12], "column": ["Country"], "value": pa.nulls(1, pa.string()), "decision": ["reject"]})
    after = {cell for cell in cells_of(carat.audit(table, decisions=given)) if cell in before}
    assert after == before - {(12, "Country")}
