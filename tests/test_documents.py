"""What the documents show runs, and what they point to exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from carat import Constraints

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


RUN = ("README.md", "docs/recourse.md")


@pytest.mark.slow
@pytest.mark.parametrize("name", RUN)
def test_python_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(compile(block, name, "exec"), {})
    assert list(tmp_path.iterdir()), "each of them writes something"


def test_constraints_of_the_documents_are_read() -> None:
    """The TOML in the text is a constraints file."""
    (block,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/recourse.md").read_text(encoding="utf-8"), re.DOTALL)
    constraints = Constraints.from_dict(tomllib.loads(block))
    assert constraints.cost is not None
    assert constraints.max_changes == 2


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), f"{document.name} points to {target}"
