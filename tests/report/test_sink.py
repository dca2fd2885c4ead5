"""The page as the end of a job: nothing is held but what it shows, and nothing is overwritten unasked."""

from __future__ import annotations

from pathlib import Path

import pytest

from carat.errors import InputError
from carat.jobs import recourse
from carat.jobs.recourse_job import RecourseJob
from carat.recourse import Settings
from carat.report import PageSink
from tests.report import results
from tests.report.reading import Page
from tests.support.planted import planted_table


def job(*, top: int | None = None, all: bool = False) -> RecourseJob:
    return recourse(results.model(), planted_table(1200, seed=1), Settings(k=3), top=top, all=all)


def test_page_of_a_job(tmp_path: Path) -> None:
    asked = job(top=3)
    sink = PageSink(asked, tmp_path / "page.html")
    summary = asked.into(sink)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    page = Page(text)
    assert "<h1>Strangest rows in the table</h1>" in text
    assert "<strong>1,200</strong> rows scored" in text
    assert sum(page.data["histogram"]["counts"]) == 1200
    assert len(page.data["records"]) == sink.listed == 3
    assert summary.origin is not None
    assert f"model {results.model().identity}" in page.footer
    assert f"from the table, fingerprint {summary.origin.fingerprint[:12]}" in page.footer


def test_title(tmp_path: Path) -> None:
    assert PageSink(job(), tmp_path / "page.html").title == "Anomalous rows in the table"
    assert PageSink(job(all=True), tmp_path / "page.html").title == "All rows in the table"
    assert PageSink(job(), tmp_path / "page.html", title="Mine").title == "Mine"


def test_refuses_before_the_job_runs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"end its name in \.html"):
        PageSink(job(), tmp_path / "page.pdf")
    (tmp_path / "page.html").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"page\.html"):
        PageSink(job(), tmp_path / "page.html")
    PageSink(job(), tmp_path / "page.html", force=True)
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == "mine"
