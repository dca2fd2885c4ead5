"""One browser for all tests of the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from carat.report import write_report
from tests.report import results
from tests.report.acting import open_fresh
from tests.report.browser import Tab, browser
from tests.support import audit_pages


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="package")
def tab(folder: Path) -> Iterator[Tab]:
    """One browser for all tests."""
    with browser(folder) as opened:
        write_report(results.costly(), folder / "costly.html")
        write_report(results.hostile(), folder / "hostile.html")
        write_report(results.barren(), folder / "barren.html")
        write_report(results.long(), folder / "long.html")
        write_report(results.blameless(), folder / "blameless.html")
        write_report(results.unscored(), folder / "unscored.html")
        write_report(results.hasty(), folder / "hasty.html")
        write_report(results.blank(), folder / "blank.html")
        yield opened


@pytest.fixture(autouse=True)
def _forgetful(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """What one test decided is nothing to the next."""
    if "tab" in request.fixturenames:
        blank = tmp_path / "blank.html"
        blank.write_text("<title>nothing</title>", encoding="utf-8")
        open_fresh(request.getfixturevalue("tab"), blank)


@pytest.fixture
def page(tab: Tab, folder: Path) -> Iterator[Tab]:
    """The page with costs, fresh; at the end nothing must have gone wrong."""
    tab.screen(1280)
    tab.requests.clear()
    tab.open(folder / "costly.html")
    yield tab
    assert tab.errors == []


@pytest.fixture(scope="package")
def pages(folder: Path) -> Path:
    for name in ("small", "hostile", "many"):
        getattr(audit_pages, name)().report(folder / f"audit-{name}.html")
    return folder


@pytest.fixture
def audit(tab: Tab, pages: Path) -> Iterator[Tab]:
    """The small page, fresh; at the end nothing must have gone wrong."""
    tab.screen(1280)
    tab.requests.clear()
    tab.open(pages / "audit-small.html")
    yield tab
    assert tab.errors == []
