"""The documents and the blocks of code in them."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHOWN = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
"""What a user reads: every block in it is run."""
ALL = sorted({*SHOWN, *ROOT.glob("*.md")})

FENCE = re.compile(
    r"(?:^[ ]*<!--[ ]*not run:(?P<reason>[^\n]*?)-->[ ]*\n\s*)?"
    r"^(?P<indent>[ ]*)```(?P<language>[\w+-]*)(?P<options>[^\n]*)\n(?P<text>.*?)^(?P=indent)```[ ]*$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A block of code in a page.

    Args:
        page: its path from the root of the repository.
        line: where its code begins.
        language: as the fence names it.
        text: the code.
        options: what follows the language; `title="…"` names a file or says that this is the output of the last block.
        reason: why it is not run; None where it is.
    """

    page: str
    line: int
    language: str
    text: str
    options: dict[str, str] = field(default_factory=dict)
    reason: str | None = None

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: str, text: str) -> list[Block]:
    """Every fenced block of a page, in order.

    >>> blocks("a.md", "<!-- not run: slow -->\\n```sh\\nmake demo\\n```\\n")
    [Block(page='a.md', line=3, language='sh', text='make demo\\n', options={}, reason='slow')]
    """
    return [
        Block(
            page,
            text[: found.start("text")].count("\n") + 1,
            found["language"],
            textwrap.dedent(found["text"]),
            dict(re.findall(r'(\w+)="([^"]*)"', found["options"])),
            None if found["reason"] is None else found["reason"].strip(),
        )
        for found in FENCE.finditer(text)
    ]


def name_of(path: Path) -> str:
    """A document's path from the root of the repository."""
    return path.relative_to(ROOT).as_posix()


def blocks_of(path: Path) -> list[Block]:
    """Every block of a document."""
    return blocks(name_of(path), path.read_text(encoding="utf-8"))
