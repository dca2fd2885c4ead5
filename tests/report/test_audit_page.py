"""The audit's page as a file: whole, silent on the network, compact, and no text of a user's is ever markup."""

from __future__ import annotations

import builtins
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import carat
from carat.auditing.result import AuditResult
from carat.errors import InputError, MissingExtraError
from carat.report import audit_content as module
from carat.report.audit_content import audit_content, key_of
from carat.report.audit_page import FileNames, write_audit
from tests.report.reading import Page, strange_words
from tests.support import audit_pages
from tests.support.audit_pages import EVIL, result_of
from tests.support.audits import cities, fake_audit


def written(result: AuditResult, folder: Path, **options: Any) -> str:
    result.report(folder / "page.html", **options)
    return (folder / "page.html").read_text(encoding="utf-8")


def seen(text: str) -> str:
    """What a person reads of a page before its script runs."""
    body = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", body).split())


def test_says_how_much_is_suspicious(tmp_path: Path) -> None:
    text = written(audit_pages.small(), tmp_path)
    assert text.startswith("<!doctype html>")
    assert "<h1>Suspicious cells in ports.csv</h1>" in text
    said = seen(text)
    assert "13 suspicious cells" in said
    assert "12 of 60 rows have one" in said
    assert "2.1% of the checked cells are wrong (estimate)" in said
    assert "Nothing predicts Goods" in said
    assert "City 6 10.0%" in said
    assert "Lieth → Leith 3×" in said
    assert "from ports.csv with 60 rows" in said
    assert "/home/somebody" not in text, "where the table lay is nobody's business"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_speaks_of_rows_and_columns(tmp_path: Path) -> None:
    said = seen(written(audit_pages.small(), tmp_path))
    assert strange_words(said.replace("carat apply", "")) == set()


def test_no_network(tmp_path: Path) -> None:
    text = written(audit_pages.small(), tmp_path)
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", text)
    page = Page(text)
    assert not [tag for tag, attrs in page.elements if attrs.get("src") is not None]
    assert {attrs["href"] for _, attrs in page.elements if "href" in attrs} == {"data:,", "#queue", "#apply"}
    assert "default-src 'none'" in text


def test_texts_are_never_markup(tmp_path: Path) -> None:
    text = written(audit_pages.hostile(), tmp_path, title=EVIL)
    page = Page(text)
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == 3
    assert "img" not in tags
    assert EVIL not in text
    assert page.data["columns"][1] == EVIL


def test_content_is_that_of_the_cells() -> None:
    result = audit_pages.small()
    data = audit_content(result)
    texts, cells = data["texts"], data["cells"]
    assert "record" not in cells, "rows go by number"
    for k, cell in enumerate(result.cells()):
        assert (cells["row"][k], data["columns"][cells["column"][k]]) == (cell.record, cell.column)
        assert data["kinds"][cells["kind"][k]] == cell.kind
        for name in ("value", "proposal", "reason"):
            place = cells[name][k]
            assert (None if place < 0 else texts[place]) == getattr(cell, name)
        assert [texts[place] for place in cells["alternatives"][k]] == list(cell.alternatives)
        assert cells["error"][k] / 1e6 == pytest.approx(cell.error, abs=1e-6)
        assert cells["group"][k] == (-1 if cell.group is None else cell.group)
    assert len(texts) == len(set(texts))
    patterns = {texts[place] for place in cells["pattern"] if place >= 0}
    assert patterns == {"drop ' kg' at the end", "drop spaces at the ends", "leave '15' blank"}


def test_rows_are_held_once_and_whole() -> None:
    result = audit_pages.small()
    data = audit_content(result)
    rows = data["rows"]
    assert len(set(rows["row"])) == len(rows["row"])
    table = audit_pages.ports().to_pydict()
    for place, row in enumerate(rows["row"]):
        for column, name in enumerate(data["columns"]):
            text = rows["values"][column][place]
            assert (None if text < 0 else data["texts"][text]) == table[name][row]
    for k, similar in enumerate(data["similar"]):
        assert data["cells"]["row"][k] not in [rows["row"][place] for place in similar]
        assert len(similar) == 5


def test_probabilities_are_cut_not_rounded() -> None:
    """A cell just below a cut must not be applied because a page rounded it up."""
    cells = [
        {"row": row, "column": "City", "fix": "x", "sure": sure} for row, sure in enumerate((0.8999999, 0.9, 0.57))
    ]
    assert audit_content(result_of(audit_pages.ports(), cells))["cells"]["confidence"] == [899_999, 900_000, 570_000]


def test_rows_go_by_their_names() -> None:
    data = audit_content(audit_pages.hostile())
    names = [data["texts"][place] for place in data["cells"]["record"]]
    assert names[:3] == ["</script>", "=1+1", "B2"]
    days = pa.table({"day": pa.array([0, 400], pa.date32()), "City": ["a", "b"]})
    data = audit_content(result_of(days, [{"row": 1, "column": "City", "fix": "a"}], id="day"))
    assert [data["texts"][place] for place in data["cells"]["record"]] == ["1971-02-05"], "as a file would have it"


def test_the_key_is_that_of_table_and_findings() -> None:
    one = audit_pages.small()
    assert key_of(one) == key_of(audit_pages.small())
    other = [*one.findings.proposal]
    other[0] = "Lima"
    assert key_of(one) != key_of(replace(one, findings=replace(one.findings, proposal=other)))
    assert key_of(one) != key_of(replace(one, reading=replace(one.reading, fingerprint="other")))
    assert key_of(one) != key_of(replace(one, findings=one.findings.take(np.arange(5))))


@pytest.mark.parametrize(
    ("name", "id", "command"),
    [
        ("my.csv", None, "carat apply my-cells.csv my.csv --out my-fixed.csv"),
        ("my.csv.gz", None, "carat apply my-cells.csv my.csv.gz --out my-fixed.csv.gz"),
        ("a b.parquet", None, "carat apply 'a b-cells.csv' 'a b.parquet' --out 'a b-fixed.parquet'"),
        ("my.csv", "City", "carat apply my-cells.csv my.csv --out my-fixed.csv --id City"),
        ("the table", None, "carat apply cells.csv TABLE --out FILE"),
    ],
)
def test_the_command(name: str, id: str | None, command: str) -> None:
    result = result_of(audit_pages.ports(), [], name=name)
    found = replace(result, options=replace(result.options, id=id))
    assert FileNames.of(found).command == command
    latin = replace(result, reading=replace(result.reading, encoding="latin-1"))
    assert FileNames.of(latin).command.endswith("--encoding latin-1")


def test_nothing_found_and_hardly_anything(tmp_path: Path) -> None:
    text = written(result_of(pa.table({"A": ["x"], "B": ["y"]}), []), tmp_path)
    assert "No cell of this table is suspicious." in seen(text)
    assert "0 suspicious cells" in seen(text)
    one = result_of(pa.table({"A": ["x"], "B": ["y"]}), [{"row": 0, "column": "A", "fix": "z"}])
    said = seen(written(replace(one, findings=replace(one.findings, rate=float("nan")), origin=None), tmp_path))
    assert "1 suspicious cell " in said
    assert "1 of 1 row has one" in said
    assert "estimate" not in said


def test_a_page_of_ten_thousand_is_small_and_quick(tmp_path: Path) -> None:
    result = audit_pages.many()
    begun = time.perf_counter()
    text = written(result, tmp_path)
    assert time.perf_counter() - begun < 15
    assert len(text.encode()) < 4_000_000
    data = Page(text).data
    assert len(data["cells"]["row"]) == 10_000
    assert len(data["similar"]) == 2_000
    assert "The 2,000 most suspicious cells have them." in seen(text)


def test_the_list_is_capped_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LISTED", 8)
    monkeypatch.setattr(module, "DETAILED", 3)
    text = written(audit_pages.small(), tmp_path)
    assert "This list has the 9 most suspicious of 13 cells" in seen(text), "a swap stays whole"
    assert len(Page(text).data["similar"]) == 3


def test_a_wide_table_has_fewer_rows_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "VALUES", 48)
    data = audit_content(audit_pages.small())
    assert len(data["similar"]) == 3
    assert sum(len(column) for column in data["rows"]["values"]) <= 3 * 6 * 4


def test_long_values_are_whole_only_where_they_are_suspicious() -> None:
    table = pa.table({"A": ["x" * 1_000, "y"], "B": ["z" * 1_000, "z"]})
    data = audit_content(result_of(table, [{"row": 0, "column": "A", "fix": "y"}]))
    assert data["texts"][data["cells"]["value"][0]] == "x" * 1_000
    assert data["texts"][data["rows"]["values"][1][0]] == "z" * 299 + "…"


def test_an_existing_page_is_replaced_and_a_wrong_name_refused(tmp_path: Path) -> None:
    result = audit_pages.small()
    (tmp_path / "page.html").write_text("old")
    assert "old" not in written(result, tmp_path)[:10]
    with pytest.raises(InputError, match=r"end its name in \.html"):
        result.report(tmp_path / "page.csv")
    assert not (tmp_path / "page.csv").exists()


def test_without_jinja(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **options: Any) -> Any:
        if name == "jinja2":
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match="report"):
        write_audit(audit_pages.small(), tmp_path / "page.html")


def test_from_an_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carat.auditing.audit.audit_table", fake_audit)
    said = seen(written(carat.audit(cities(), id="number"), tmp_path))
    assert "4 suspicious cells" in said
    assert "number (used as the row ID)" in said
    assert "Kind (only one value)" in said
