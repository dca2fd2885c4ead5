"""The first pass: which columns become domains, and which ids their entities get."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from carat.data import FIRST, Columns, Scan, open_source, scan
from carat.data.sources import frames as frames_module
from carat.errors import InputError


def scanned(columns: dict[str, Any], **options: Any) -> Scan:
    return scan(open_source(columns), Columns(**options))


COLUMNS: dict[str, Any] = {
    "Port": ["A", "B", "A", "B"],
    "Good": ["x", "x", "y", None],
    "Amount": ["1", "2.5", "1", "-3"],
    "Weight": [1, 2, 3, 3],
    "Day": ["2024-01-01", "2024-01-02", "2024-01-02", "2024-01-03"],
    "Country": ["C", "C", None, "C"],
    "Note": ["n1", "n2", "n3", "n4"],
    "Empty": [None, None, "", None],
    "Tags": [["t"], ["t"], ["u"], ["u"]],
}


def test_text_columns_become_domains_and_the_others_say_why_not() -> None:
    found = scanned(COLUMNS)
    assert found.schema.domains == ("Port", "Good")
    assert found.rows == 4
    assert found.left_out == {
        "Amount": "numbers",
        "Weight": "numbers",
        "Day": "dates",
        "Country": "only one value",
        "Note": "a different value in every row",
        "Empty": "no values",
        "Tags": "lists or structs",
    }
    line = found.left_out_line()
    assert line is not None
    assert line.startswith("left out: Amount (numbers), Weight (numbers), Day (dates)")
    assert found.nameless
    assert found.domains_line() == "columns: Port (2 values), Good (2)"
    assert found.crowded_line() is None, "of four records that can't be said"
    assert not scanned({**COLUMNS, "Number": ["1a", "2a", "3a", "4a"]}, id="Number").nameless


def test_a_domain_named_like_an_output_column_is_refused_even_where_nobody_named_it() -> None:
    with pytest.raises(InputError, match=r"'score'.*output column; rename it"):
        scanned({**COLUMNS, "score": ["s", "s", "t", "t"]})
    assert scanned({**COLUMNS, "score": [1, 2, 3, 3]}).left_out["score"] == "numbers", "a score of theirs is fine"


def test_nothing_left_out_says_nothing() -> None:
    assert scanned({"Port": COLUMNS["Port"], "Good": COLUMNS["Good"]}).left_out_line() is None


def test_naming_a_column_takes_it_in() -> None:
    found = scanned(COLUMNS, domains=["Weight", "Note", "Day"])
    assert found.schema.domains == ("Weight", "Note", "Day")
    assert found.vocabulary.domains[0].entities.to_pylist() == ["3", "1", "2"]
    assert not found.left_out


def test_a_column_of_remarks_is_pointed_out_unless_it_was_asked_for() -> None:
    remarks = [f"remark {min(number, 80)}" for number in range(120)]
    columns = {"Port": list("ab") * 60, "Good": list("xxyy") * 30, "Remark": remarks}
    found = scanned(columns)
    assert found.crowded == ["Remark"]
    line = found.crowded_line()
    assert line is not None
    assert "Remark" in line
    assert scanned(columns, also=["Remark"]).crowded_line() is None
    twice = [f"remark {number // 2}" for number in range(120)]
    assert scanned({**columns, "Remark": twice}).crowded_line() is None
    longer = {name: [*cells, *cells] for name, cells in columns.items() if name != "Remark"}
    sparse = [*remarks, *[None] * 120]
    assert scanned({**longer, "Remark": sparse}).crowded == ["Remark"], "empty cells do not count"


@pytest.mark.parametrize(("rows", "twice"), [(400, 1), (400, 19), (20, 1)])
def test_an_id_that_a_few_rows_share_is_left_out(rows: int, twice: int) -> None:
    """A row that was entered twice has its ID twice; that makes no domain of the column."""
    bills = [*(f"BL{number:05d}" for number in range(rows - twice)), *(f"BL{number:05d}" for number in range(twice))]
    columns = {"Port": (list("ab") * rows)[:rows], "Good": (list("xxyy") * rows)[:rows], "Bill": bills}
    found = scanned(columns)
    assert found.left_out == {"Bill": "a different value in nearly every row"}
    assert found.remedies == ("also", "id")
    assert scanned(columns, id="Bill").remedies == ()
    assert scanned(columns, also=["Bill"]).schema.domains == ("Port", "Good", "Bill")


def test_names_that_repeat_are_kept_however_many_there_are() -> None:
    """Companies, flight numbers: most are seldom, but one row in five or more is not the only one."""
    rows = 500
    firms = [f"Firm {number if number < 400 else number - 400}" for number in range(rows)]
    columns = {"Port": list("ab") * (rows // 2), "Good": list("xxyy") * (rows // 4), "Firm": firms}
    assert "Firm" in scanned(columns).schema.domains
    few = {
        "Port": list("ab") * 6,
        "Good": list("xxyy") * 3,
        "Firm": [f"Firm {min(number, 10)}" for number in range(12)],
    }
    assert "Firm" in scanned(few).schema.domains, "twelve rows say little"


def column_of(texts: int, repeated: int, words: int, also: int = 0) -> dict[str, Any]:
    """A table with a column of texts of so many words that differ, some that repeat, and some longer ones."""
    cells = [" ".join([f"w{number}", *["and"] * (words - 1)]) for number in range(texts)]
    cells += [" ".join(["same"] * words)] * repeated
    cells += [" ".join([f"long{number}", *["and"] * 9]) for number in range(also)]
    rows = len(cells)
    return {"Port": (list("ab") * rows)[:rows], "Good": (list("xxyy") * rows)[:rows], "Remark": cells}


@pytest.mark.parametrize(
    ("table", "free"),
    [
        (column_of(70, 40, 5), True),
        (column_of(120, 0, 5), True),
        (column_of(65, 45, 5), False),  # too many repeat
        (column_of(120, 0, 4), False),  # too short
        (column_of(60, 0, 2, also=59), False),  # most are short
        (column_of(60, 0, 2, also=60), True),
        (column_of(90, 9, 5), False),  # too few to say
    ],
    ids=["most differ", "all differ", "many repeat", "short", "mostly short", "half is long", "few"],
)
def test_free_text_is_left_out_unless_somebody_names_it(table: dict[str, Any], free: bool) -> None:
    found = scanned(table)
    assert (found.left_out.get("Remark") == "free text") == free
    assert not (free and found.nameless), "free text names no record"
    for options in ({"also": ["Remark"]}, {"domains": ["Port", "Good", "Remark"]}):
        named = scanned(table, **options)
        assert named.schema.domains == ("Port", "Good", "Remark")
        assert not named.left_out


def test_what_was_left_out_can_be_taken_in() -> None:
    assert scanned(COLUMNS).remedies == ("also", "numeric", "id")
    assert scanned(COLUMNS, without=["Amount", "Weight"]).remedies == ("also", "id")
    assert scanned(COLUMNS, domains=["Port", "Good"]).remedies == ()


@pytest.mark.parametrize("numbers", [["795,64", "1.234,56", "3"], ["1,234.56", "12", "7.5"], ["-1.234", "+2,5", "0"]])
def test_numbers_as_people_write_them_are_numbers(numbers: list[str]) -> None:
    assert scanned({**COLUMNS, "Amount": [*numbers, "8"]}).left_out["Amount"] == "numbers"
    assert scanned({**COLUMNS, "Amount": ["1,2,3", *numbers]}).left_out["Amount"] != "numbers"


def test_also_and_without() -> None:
    """In the order of the table, beside what is taken by itself."""
    found = scanned(COLUMNS, also=["Weight", "Note"], without=["Good", "Tags"])
    assert found.schema.domains == tuple(name for name in COLUMNS if name in ("Port", "Weight", "Note"))
    assert {"Good", "Tags"}.isdisjoint(found.left_out), "what was asked for need not be said"
    assert scanned(COLUMNS, domains=["Port", "Good", "Day"], without=["Port"]).schema.domains == ("Good", "Day")
    assert scanned(COLUMNS, domains=["Port", "Good"], also=["Day"]).schema.domains == ("Port", "Good", "Day")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"domains": ["Port", "Prt"]}, "`columns`: the table has no column 'Prt'; did you mean 'Port'"),
        ({"also": ["Prt"]}, "`also`: the table has no column 'Prt'; did you mean 'Port'"),
        ({"without": ["Prt"]}, "`without`: the table has no column 'Prt'; did you mean 'Port'"),
        ({"numeric": {"Prt": 2}}, "`numeric`: the table has no column 'Prt'; did you mean 'Port'"),
        ({"id": "Prt"}, "`id`: the table has no column 'Prt'; did you mean 'Port'"),
        ({"time": "Prt"}, "`time`: the table has no column 'Prt'; did you mean 'Port'"),
        ({"also": ["Day"], "without": ["Day"]}, "'Day' is in both"),
        ({"numeric": {"Weight": 2}, "without": ["Weight"]}, "'Weight' is in both"),
        ({"also": ["Country"]}, "'Country' can't be used: only one value"),
        ({"without": ["Port"]}, "only one column can be used"),
    ],
)
def test_also_and_without_must_make_sense(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        scanned(COLUMNS, **options)


@pytest.mark.parametrize(
    ("named", "reason"), [("Country", "only one value"), ("Empty", "no value"), ("Tags", "lists or structs")]
)
def test_naming_what_can_not_be_a_domain_is_an_error(named: str, reason: str) -> None:
    with pytest.raises(InputError, match=f"'{named}'.*{reason}"):
        scanned(COLUMNS, domains=["Port", named])


def test_id_and_time_are_no_domains() -> None:
    found = scanned(
        {**COLUMNS, "Name": ["a", "a", "b", "b"]}, id="Name", time="Port", domains=None, numeric={"Weight": 2}
    )
    assert found.schema.domains == ("Good", "Weight")
    assert (found.schema.id, found.schema.time) == ("Name", "Port")
    assert "Name" not in found.left_out


def test_numeric_columns_become_ranges() -> None:
    found = scanned({"Port": ["A", "B"] * 10, "Weight": [str(i) for i in range(20)]}, numeric={"Weight": 4})
    weight = found.vocabulary.domains[1]
    assert weight.entities.to_pylist() == ["below 4.75", "4.75 to below 9.5", "9.5 to below 14.25", "14.25 or more"]
    assert weight.counts.tolist() == [5, 5, 5, 5]
    assert found.schema.numeric == {"Weight": 4}


def test_rare_entities_are_left_out_by_min_count() -> None:
    columns = {"Port": ["A", "A", "B", "B", "C"], "Good": ["x", "y", "x", "y", "x"]}
    assert scanned(columns).vocabulary.domains[0].entities.to_pylist() == ["A", "B", "C"]
    assert scanned(columns, min_count=2).vocabulary.domains[0].entities.to_pylist() == ["A", "B"]
    with pytest.raises(InputError, match="Port: fewer than two values reach min_count = 3"):
        scanned(columns, min_count=3)
    with pytest.raises(InputError, match="`min_count` must be at least 1"):
        scanned(columns, min_count=0)


def test_the_most_frequent_entity_comes_first_and_ties_go_by_text() -> None:
    domain = scanned({"Port": list("cbbaadddd"), "Good": list("xyxyxyxyx")}).vocabulary.domains[0]
    assert domain.entities.to_pylist() == ["d", "a", "b", "c"]
    assert domain.counts.tolist() == [4, 2, 2, 1]


def test_ids_do_not_depend_on_the_order_of_rows_nor_on_batches(
    planted: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = scan(open_source(planted)).vocabulary
    shuffled = planted.take(np.random.default_rng(1).permutation(len(planted)))
    monkeypatch.setattr(frames_module, "BATCH_ROWS", 7)
    assert scan(open_source(shuffled)).vocabulary.to_json() == plain.to_json()


def test_equal_text_in_two_domains_is_two_entities() -> None:
    vocabulary = scanned({"From": ["X", "Y", "X"], "To": ["Y", "X", "Y"]}).vocabulary
    assert vocabulary.entities == 4
    rows = vocabulary.encode([{"From": "X", "To": "X"}]) + vocabulary.offsets
    assert rows.tolist() == [[FIRST, 4 + FIRST + 1]]


@pytest.mark.parametrize(("rows", "said"), [(0, "no rows"), (1, "one row")])
def test_too_few_rows(rows: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        scan(open_source(pa.table({"Port": pa.array(["A"] * rows, pa.string()), "Good": ["B"] * rows})))


def test_one_usable_column_is_not_enough() -> None:
    with pytest.raises(InputError, match=r"only one column.*Amount: numbers.*ranges with `numeric`"):
        scanned({"Port": COLUMNS["Port"], "Amount": COLUMNS["Amount"]})


def test_an_id_with_a_null_is_still_an_id() -> None:
    columns = {"id": [None, *(f"r{i}" for i in range(9))], "Port": list("AB") * 5, "Good": list("xxyyz") * 2}
    found = scan(open_source(pa.table(columns)))
    assert found.schema.domains == ("Port", "Good")
    assert found.left_out["id"] == "a different value in every row"
