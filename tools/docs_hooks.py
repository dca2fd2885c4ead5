"""What mkdocs is told while it builds the site: pages that are made of something else, and links out of docs/."""

from __future__ import annotations

import posixpath
import re
import runpy
from collections.abc import Callable
from pathlib import Path

from docs_cli import overview, reference
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PAGES = {"CHANGELOG.md": "changes.md", "CONTRIBUTING.md": "contributing.md"}
"""Files of the repository that are pages of the site too."""
EXAMPLES = {f"examples/{path.name}": f"examples/{path.name}" for path in sorted(ROOT.glob("examples/*.py"))}
"""Files that pages link to; they go into the site as they are."""
LINKS = {"README.md": "index.md", **PAGES, **EXAMPLES}
MADE = {"<!-- overview -->": overview, "<!-- commands -->": reference}
"""What the command line says of itself, by its place in a page."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what does not lie in docs/."""
    for source, target in {**PAGES, **EXAMPLES}.items():
        files.append(File.generated(config, target, abs_src_path=str(ROOT / source)))
    files.append(File.generated(config, "assets/palette.css", content=palette()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fill in the commands; turn links to the rest of the repository into links of the site."""
    for place, make in MADE.items():
        if place in markdown:
            from carat.cli import app  # noqa: PLC0415 - one page alone needs it

            markdown = markdown.replace(place, make(app))
    here = posixpath.dirname(page.file.src_uri)
    lies = "." if page.file.src_uri in PAGES.values() else posixpath.join("docs", here)
    return re.sub(r"\]\(([^)#\s]+)(#[^)\s]*)?\)", _relink(lies, here), markdown)


def _relink(lies: str, here: str) -> Callable[[re.Match[str]], str]:
    """From where a page lies in the repository to where its target lies in the site."""

    def relinked(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(lies, found[1]))
        if lies == "." and target.startswith("docs/"):
            placed = target.removeprefix("docs/")
        elif target in LINKS:
            placed = LINKS[target]
        else:
            return found[0]
        return f"]({posixpath.relpath(placed, here or '.')}{found[2] or ''})"

    return relinked


def palette() -> str:
    """The report page's colours, for both schemes."""
    # The file alone: to import its package takes longer than to build the site.
    found = runpy.run_path(str(ROOT / "src/carat/report/palette.py"))
    schemes = {"default": found["LIGHT"], "slate": found["DARK"]}
    return "".join(
        f'[data-md-color-scheme="{name}"] {{ {found["declarations"](colours)} }}\n' for name, colours in schemes.items()
    )
