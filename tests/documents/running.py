"""Runs the blocks of a page one after the other, as a reader would, in one folder and one Python."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from carat import Constraints
from carat.cli import run
from carat.config import read_config
from tests.documents.pages import ROOT, Block

SHELL = frozenset("|<>")
BESIDE = "cat"
"""What a pipe may have in it beside carat."""


class Reader:
    """Follows a page.

    Args:
        folder: where it works; the sample files are there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.printed = ""

    def follow(self, block: Block) -> None:
        """Do what a block says; an error names the page and the line."""
        follow: dict[str, Callable[[Block], None]] = {
            "python": self._python,
            "sh": self._sh,
            "toml": self._toml,
            "text": self._text,
            "json": lambda block: None,
        }
        if block.language not in follow:
            raise AssertionError(f"{block}: a block is {', '.join(follow)}; got '{block.language}'")
        try:
            follow[block.language](block)
        except Exception as error:
            raise AssertionError(f"{block}: {type(error).__name__}: {error}") from error

    def _python(self, block: Block) -> None:
        # Blank lines in front, so that a traceback has the page's own line numbers.
        code = compile("\n" * (block.line - 1) + block.text, block.page, "exec")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, self.names)
        self.printed = out.getvalue()

    def _text(self, block: Block) -> None:
        """What the last Python block printed, where the block says that it is that."""
        if block.options.get("title") == "output":
            shown, printed = (_lines(text) for text in (block.text, self.printed))
            assert shown == printed, f"shown {shown}, printed {printed}"

    def _toml(self, block: Block) -> None:
        data = tomllib.loads(block.text)
        config = "table" in data
        path = self.folder / block.options.get("title", "carat.toml" if config else "constraints.toml")
        path.write_text(block.text, encoding="utf-8")
        if config:
            read_config(path)
        else:
            Constraints.read(path)

    def _sh(self, block: Block) -> None:
        for line in block.text.replace("\\\n", " ").split("\n"):
            words = shlex.split(line, comments=True)
            if not words:
                continue
            if words[0] == "carat" or SHELL & set(line):
                self._carat(line, words)
            else:
                _check_other(words)

    def _carat(self, line: str, words: list[str]) -> None:
        if not SHELL & set(line):
            code = run(words[1:])
            assert code == 0, f"{line}: exit code {code}"
            return
        for part in line.split("|"):
            first = shlex.split(part, comments=True)[0]
            assert first in ("carat", BESIDE), f"{line}: a pipe is made of carat and {BESIDE}; not {first}"
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=self.folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{line}: exit code {done.returncode}: {done.stderr}"


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").split("\n")]


def _check_other(words: list[str]) -> None:
    """A command that is not run: one of a few, and what it names must be there."""
    match words:
        case ["pip", "install", *_] | ["mkdocs", ("build" | "serve"), *_]:
            pass
        case ["make", *targets]:
            known = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
            assert set(targets) <= set(known), f"make {' '.join(targets)}: the Makefile has {', '.join(known)}"
        case ["python", script, *_]:
            assert script.startswith(("benchmarks/", "examples/", "tools/")), f"{script}: not of this repository"
            assert (ROOT / script).is_file(), f"{script}: is not there"
        case _:
            raise AssertionError(f"{shlex.join(words)}: not a command that the documents may show")
