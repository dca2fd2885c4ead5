"""`carat audit --report`: the page beside everything else, there whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from carat.cli import run
from tests.support.audits import cities, fake_audit
from tests.support.commands import snapshot, write_csv


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("carat.auditing.audit.audit_table", fake_audit)
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "t.csv", cities())
    return tmp_path


def test_the_last_line_names_the_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "t.csv", "--report", "page.html", "--out", "c.csv", "--id", "number"]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == "page.html: 4 cells to decide; open it in a browser"
    text = (folder / "page.html").read_text(encoding="utf-8")
    assert "carat apply t-cells.csv t.csv --out t-fixed.csv --id number" in text
    assert (folder / "c.csv").exists()


def test_the_page_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "t.csv", "--report", "page.html", "--out", "c.csv", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["report"] == "page.html"
    assert run(["audit", "t.csv", "--report", "two.html", "--encoding", "latin-1", "--quiet"]) == 0
    assert "--encoding latin-1" in (folder / "two.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("page.csv", "page.csv: the report is an HTML page; end its name in .html"),
        ("none/page.html", "there is no folder none"),
        ("there.html", "there.html: already exists; use --force to replace it"),
    ],
)
def test_refused_before_any_work(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, said: str
) -> None:
    (folder / "there.html").write_text("mine")
    monkeypatch.setattr("carat.auditing.audit.audit_table", None)
    before = snapshot(folder)
    assert run(["audit", "t.csv", "--report", name, "--out", "c.csv"]) == 2
    assert said in capsys.readouterr().err
    assert snapshot(folder) == before


def test_force_replaces_the_page(folder: Path) -> None:
    (folder / "page.html").write_text("old")
    assert run(["audit", "t.csv", "--report", "page.html", "--force", "--quiet"]) == 0
    assert (folder / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_an_audit_that_fails_leaves_no_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("carat.auditing.audit.audit_table", failing)
    assert run(["audit", "t.csv", "--report", "page.html", "--quiet"]) != 0
    assert not (folder / "page.html").exists()
