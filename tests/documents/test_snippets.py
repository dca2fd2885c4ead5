"""Every block of code that the documents show does what it says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.documents.pages import SHOWN, Block, blocks, blocks_of, name_of
from tests.documents.running import Reader
from tests.documents.samples import write_samples

CODE = [path for path in SHOWN if blocks_of(path)]


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample files, made once."""
    folder = tmp_path_factory.mktemp("samples")
    write_samples(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("path", CODE, ids=name_of)
def test_page_runs(path: Path, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "page"
    shutil.copytree(samples, folder)
    monkeypatch.chdir(folder)
    reader = Reader(folder)
    for block in blocks_of(path):
        if block.reason is None:
            reader.follow(block)
        else:
            print(f"not run: {block}: {block.reason}")


def test_what_is_not_run_says_why() -> None:
    left_out = [block for path in SHOWN for block in blocks_of(path) if block.reason is not None]
    assert [str(block) for block in left_out if not block.reason] == []
    assert {block.language for block in left_out} <= {"sh", "python"}


@pytest.mark.parametrize(
    ("language", "text", "complaint"),
    [
        ("python", "import carat\n\ncarat.ftt()", "ftt"),
        ("sh", "carat fit nothing.csv --out model", "exit code 2"),
        ("sh", "carat fit shipments.csv --no-such-option", "exit code 2"),
        ("sh", "cat nothing.jsonl | carat score model - --out -", "exit code"),
        ("sh", "make nothing", "the Makefile has"),
        ("sh", "python benchmarks/nothing.py", "is not there"),
        ("sh", "rm -r /", "not a command"),
        ("toml", "[table]\ndomain = ['A', 'B']", "did you mean 'domains'"),
        ("toml", "immutabel = ['A']", "did you mean 'immutable'"),
        ("toml", "immutable = [", "TOML"),
        ("text", "other", "printed"),
        ("mermaid", "graph TD", "a block is"),
    ],
)
def test_a_broken_block_is_found(
    language: str, text: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = {"title": "output"} if language == "text" else {}
    with pytest.raises(AssertionError, match=complaint):
        Reader(tmp_path).follow(Block("page.md", 1, language, text, options))


def test_blocks_are_found() -> None:
    page = """
- in a list:

  ```python
  a = 1
  if a:
      a = 2
  ```

<!-- not run: -->

```sh title="x"
make demo
```
"""
    first, second = blocks("page.md", page)
    assert (first.language, first.text, first.line) == ("python", "a = 1\nif a:\n    a = 2\n", 5)
    assert (second.reason, second.options) == ("", {"title": "x"})
