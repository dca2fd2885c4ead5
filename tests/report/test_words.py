"""The page and the notebook speak of rows, columns, values and fixes, in whatever a person can read or hear there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from carat.report import explanation_html, result_html
from tests.report import results
from tests.report.acting import click
from tests.report.browser import Tab
from tests.report.reading import strange_words

SAID = """
[document.title, document.body.innerText, ...[...document.querySelectorAll('*')].flatMap((element) =>
  ['aria-label', 'title', 'placeholder', 'data-label'].map((name) => element.getAttribute(name) ?? ''))].join(' ')
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["costly", "blameless", "hasty", "unscored"])
@pytest.mark.parametrize("width", [360, 1280])
def test_page(tab: Tab, folder: Path, name: str, width: int) -> None:
    tab.screen(width)
    tab.open(folder / f"{name}.html")
    click(tab, "all")
    click(tab, "best")
    said = tab.run(SAID)
    assert re.search(r"\d+ rows.*\d+ suggested fix(es)?", said, re.DOTALL)
    assert strange_words(said) == set()
    # The word that a reader may know from elsewhere is said once, where the page explains itself.
    tab.run("document.querySelector('.reading').open = true")
    said = tab.run(SAID)
    assert strange_words(said) == {"counterfactual"}
    assert said.count("counterfactual") == 1
    assert "Researchers call a fix a counterfactual." in said


def test_notebook() -> None:
    for found in (results.costly(), results.blameless(), results.hasty()):
        texts = [result_html(found), *(explanation_html(one) for one in found.explanations())]
        assert strange_words(re.sub("<[^>]*>", " ", " ".join(texts))) == set()
