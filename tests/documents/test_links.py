"""What the documents point to exists; the site's own links are checked when it is built."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.documents.pages import ALL, name_of


@pytest.mark.parametrize("document", ALL, ids=name_of)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), f"{document.name} points to {target}"
