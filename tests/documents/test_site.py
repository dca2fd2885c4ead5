"""The parts of the site that are made of something else, and that it needs nothing from elsewhere."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from carat.cli import app
from tests.documents.pages import ROOT, blocks
from tests.report.browser import browser

TOOL = runpy.run_path(str(ROOT / "tools/docs_cli.py"))


def made(application: typer.Typer) -> str:
    """All that is made from an application."""
    return f"{TOOL['overview'](application)}\n{TOOL['reference'](application)}"


def test_every_command_and_option_is_there() -> None:
    text = made(app)
    group: Any = get_command(app)
    for name in group.list_commands(group.make_context("carat", [], resilient_parsing=True)):
        assert f"## carat {name}\n" in text
    assert re.search(r"\| `--k K` \| `50` \| .* \(at least 1\)\. \|", text)
    assert not re.search(r"\[/?bold\]", text)


def test_examples_in_the_help_are_commands() -> None:
    """They are parsed, not run; the pages run the same ones."""
    group: Any = get_command(app)
    above = group.make_context("carat", [], resilient_parsing=True)
    examples = [block for block in blocks("help", made(app)) if block.language == "sh"]
    assert examples
    for line in [line for block in examples for line in block.text.strip().split("\n")]:
        _, name, *rest = shlex.split(line, comments=True)
        group.get_command(above, name).make_context(name, rest, parent=above)


def test_any_application_will_do() -> None:
    small = typer.Typer(help="Says [bold]hello[/bold].\n\nFor example\n\ncarat hello\n\n- one  1\n- two  2")

    @small.callback()
    def main() -> None: ...

    @small.command(help="Greet\nsomebody, --loud or not.\n\nExample: [bold]carat hello you[/bold]")
    def hello(
        name: str = typer.Argument(help="Who [you]."),
        loud: bool = typer.Option(False, "--loud/--quiet", help="How."),
        share: float = typer.Option(0.5, min=0, max=1, help=r"Of it. \[see there]"),
    ) -> None: ...

    text = made(small)
    assert "Says **hello**." in text
    assert "```sh\ncarat hello\n```" in text
    assert "```text\n- one  1\n- two  2\n```" in text
    assert "Greet somebody, `--loud` or not." in text
    assert "Example:\n\n```sh\ncarat hello you\n```" in text
    assert "`--share <float>` | `0.5` | Of it. \\[see there\\] (0 to 1)." in text
    assert "required | Who \\[you\\]." in text


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
def test_site_needs_nothing_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 15
    for page in pages:
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|img|iframe|source)[^>]*\ssrc="([^"]+)"', text)
        loaded += re.findall(r'<link[^>]*\srel="(?:stylesheet|icon|preload)"[^>]*href="([^"]+)"', text)
        assert [url for url in loaded if re.match(r"(?:https?:)?//", url)] == [], page.name


@pytest.mark.slow
def test_search_works_from_the_disk(site: Path, tmp_path: Path) -> None:
    with browser(tmp_path) as tab:
        tab.open(site / "index.html")
        tab.run("document.querySelector('.md-search__input').focus()")
        for key in "forbidden_pairs":
            tab.press(key)
        tab.wait(
            "[...document.querySelectorAll('.md-search-result__link')].some(a => a.href.includes('recourse.html'))"
        )
        assert tab.errors == []
        assert [url for url in tab.requests if url.startswith("http")] == []
