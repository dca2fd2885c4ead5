"""What an audit gives back: the contract's columns, in the user's own library, in words and in JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import carat
from carat.auditing.findings import Findings
from carat.errors import InputError
from tests.support.audits import cities, fake_audit

COLUMNS = [
    "record",
    "column",
    "value",
    "kind",
    "error",
    "proposal",
    "confidence",
    "alternatives",
    "reason",
    "group",
    "decision",
]


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carat.auditing.audit.audit_table", fake_audit)


def test_the_columns_of_the_contract() -> None:
    found = carat.audit(cities()).to_arrow()
    assert found.column_names == COLUMNS
    assert found.schema.field("record").type == pa.int64()
    assert found.schema.field("group").type == pa.int64()
    assert found.schema.field("alternatives").type == pa.list_(pa.string())
    assert found.to_pylist() == [
        row(3, "City", "Le?ith", "typo", 0.97, "Leith", ["Lima"], None),
        row(7, "City", "Scotland!", "misplaced", 0.9, "Leith", [], 7),
        row(7, "Land", "Leith!", "misplaced", 0.9, "Scotland", [], 7),
        row(5, "Land", None, "missing", 0.6, "Peru", [], None),
    ]


def row(
    record: int, column: str, value: str | None, kind: str, error: float, proposal: str, others: list[str], group: Any
) -> dict[str, Any]:
    confidence = pytest.approx(error - 0.05)
    reason = f"the reason of a {kind}"
    return dict(
        zip(COLUMNS, [record, column, value, kind, error, proposal, confidence, others, reason, group, ""], strict=True)
    )


def test_frames_come_back_in_their_library() -> None:
    pandas = carat.audit(cities().to_pandas()).to_frame()
    assert isinstance(pandas, pd.DataFrame)
    assert pandas["group"].dtype == "Int64"
    assert pandas["group"].isna().tolist() == [True, False, False, True]
    assert pandas["alternatives"][0] == ["Lima"]
    assert isinstance(carat.audit(pl.from_arrow(cities())).to_frame(), pl.DataFrame)
    assert isinstance(carat.audit(cities()).to_frame(), pa.Table)
    assert isinstance(carat.audit(cities().to_pydict()).to_frame(), pa.Table)


def test_rows_go_by_index_label_or_id() -> None:
    frame = cities().to_pandas().set_index(pd.Index([f"label {n}" for n in range(40)]))
    assert carat.audit(frame).to_frame()["record"].tolist() == ["label 3", "label 7", "label 7", "label 5"]
    named = carat.audit(frame, id="number")
    assert named.to_frame()["record"].tolist() == ["N-003", "N-007", "N-007", "N-005"]
    assert named.explain("N-003").startswith("Row N-003, City: Le?ith → Leith (typo")


def test_an_empty_cell_as_proposal_is_marked_in_files_alone() -> None:
    result = carat.audit({"a": ["1", "2", "N/A"] * 9, "b": ["x", "y", "z"] * 9}, top=1)
    assert result.to_arrow()["proposal"].to_pylist() == [""]
    assert result.to_file()["proposal"].to_pylist() == ["<blank>"]
    assert result.to_arrow()["decision"].to_pylist() == [""]
    assert result.to_file()["decision"].to_pylist() == [None]
    assert "N/A → blank" in str(result)


def test_top_takes_the_most_suspicious_and_keeps_a_swap_whole() -> None:
    assert len(carat.audit(cities(), top=1)) == 1
    assert len(carat.audit(cities(), top=2)) == 3
    assert len(carat.audit(cities(), top=9)) == 4
    assert carat.audit(cities(), top=1).to_arrow()["kind"].to_pylist() == ["typo"]


def test_the_cut_is_the_sciences() -> None:
    assert carat.audit(cities(), cut=0.95).kinds() == {"typo": 1}
    assert len(carat.audit(cities(), cut=1)) == 0


def test_nothing_found_has_its_columns_all_the_same() -> None:
    none = carat.audit(cities(), cut=1)
    assert none.to_arrow().schema == carat.audit(cities()).to_arrow().schema
    assert none.to_frame().num_rows == 0
    assert str(none) == "0 suspicious cells in 0 of 40 rows"
    assert none._repr_html_().count("<tr>") == 5, "the columns alone"


def test_columns_say_what_became_of_them() -> None:
    table = cities().append_column("tags", pa.array([["a"]] * 40))
    told = {each.name: each for each in carat.audit(table).columns}
    assert list(told) == ["number", "City", "Land", "Kind", "tags"]
    assert told["City"].role == "voted"
    assert (told["Land"].suspicious, told["Land"].blank, told["Land"].values) == (2, 1, 3)
    assert (told["Kind"].role, told["Kind"].why) == ("left out", "only one value")
    assert (told["tags"].role, told["tags"].why) == ("left out", "lists or structs")


def test_print_is_a_few_lines() -> None:
    text = str(carat.audit(cities()))
    assert text.splitlines() == [
        "4 suspicious cells in 3 of 40 rows: 1 typo, 2 misplaced, 1 missing",
        "  row 3, City: Le?ith → Leith (typo, 97%)",
        "  row 7, City: Scotland! → Leith (misplaced, 90%)",
        "  row 7, Land: Leith! → Scotland (misplaced, 90%)",
        "  row 5, Land: blank → Peru (missing, 60%)",
    ]
    many = carat.audit({"a": [*["a?"] * 9, *["b"] * 31], "b": ["x", "y"] * 20})
    assert str(many).splitlines()[-1] == "  … and 4 more; to_frame() has all of them"
    assert repr(many) == f"<AuditResult: {many.headline()}>"
    assert "\n" not in repr(many.kinds), "a method that was not called shows one line"


def test_a_cell_without_a_proposal(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(*given: Any) -> Findings:
        found = fake_audit(*given).top(1)
        found.proposal[0], found.confidence[0] = None, 0.0
        return found

    monkeypatch.setattr("carat.auditing.audit.audit_table", without)
    result = carat.audit(cities())
    assert result.to_arrow()["proposal"].to_pylist() == [None]
    assert str(result).splitlines()[1] == "  row 3, City: Le?ith (typo, 97%)"
    assert result.explain(3).startswith("Row 3, City: Le?ith (typo, 97% likely wrong)\n")
    assert "<td" in result._repr_html_()


def test_explain_puts_a_row_into_words() -> None:
    result = carat.audit(cities())
    assert result.explain(3) == (
        "Row 3, City: Le?ith → Leith (typo, 97% likely wrong, fix 92% likely right)\n  the reason of a typo. Or: Lima."
    )
    assert len(result.explain(7).splitlines()) == 4
    assert len(result.explain(7, "Land").splitlines()) == 2
    assert result.explain(np.int64(7)) == result.explain(7)
    assert result.explain(0) == "Row 0: no cell of it is among the 4 suspicious cells of this result."
    assert result.explain(3, "Kind") == "Row 3, Kind: not looked at, the column was left out (only one value)."
    first = result.to_arrow().to_pandas().iloc[0]
    assert result.explain(first) == result.explain(first["record"], first["column"])
    assert result.explain(cities().to_pandas().iloc[7]) == result.explain(7)
    with pytest.raises(InputError, match="there is no row 40 in this table; it has 40 rows, counted from 0"):
        result.explain(40)
    with pytest.raises(InputError, match="there is no column 'Cty' in this table; did you mean 'City'"):
        result.explain(3, "Cty")


def test_json_is_plain_and_whole() -> None:
    result = carat.audit(cities(), top=2, seed=5)
    told = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert (told["schema"], told["version"], told["rows"], told["rate"]) == ("carat.audit", 1, 40, 0.02)
    assert told["cells"] == result.to_file().to_pylist()
    assert told["kinds"] == {"typo": 1, "misplaced": 2}
    assert told["origin"]["options"]["seed"] == 5
    assert told["origin"]["fingerprint"] == result.reading.fingerprint
    assert [each["foretold"] for each in told["columns"]] == [None, 0.9, 0.9, None]


def test_a_notebook_shows_text_and_not_markup() -> None:
    result = carat.audit({"<b>": [*["<script>?"] * 2, *["b"] * 38], "b": ["x", "y"] * 20})
    html = result._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;?" in html
    assert "&lt;b&gt;" in html
    assert "likely wrong" in html


@pytest.mark.parametrize("name", ["record", "column", "value", "kind", "error", "score", "decision", "group", ""])
def test_no_name_is_reserved(name: str) -> None:
    frame = pd.DataFrame({name: [*["a?"] * 2, *["b"] * 38], "other": ["x", "y"] * 20})
    found = carat.audit(frame).to_frame()
    assert list(found.columns) == COLUMNS
    assert found["column"].tolist() == [name] * 2
    assert found["value"].tolist() == ["a?"] * 2


def test_what_is_named_is_looked_at() -> None:
    assert carat.audit(cities(), columns=["City"]).to_arrow()["column"].to_pylist() == ["City"] * 2
    assert "City" not in carat.audit(cities(), without=["City"]).to_arrow()["column"].to_pylist()


def test_cells_can_be_gone_through() -> None:
    first = next(iter(carat.audit(cities())))
    assert (first.record, first.column, first.value, first.proposal) == (3, "City", "Le?ith", "Leith")
    assert first.alternatives == ("Lima",)
