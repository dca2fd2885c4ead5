"""One vocabulary for people who look at their table: column, value, row, suggested fix."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pyarrow as pa
import pytest
from rich.console import Console
from typer.main import get_command

from carat.cli import app, run
from carat.cli.app import CONSOLE
from carat.cli.view import diff
from carat.results.explanation import EntityView, Explanation
from tests.cli.test_terminal import Terminal
from tests.report.reading import strange_words
from tests.support.commands import write_csv
from tests.support.planted import mixed_rows

FOR_RESEARCHERS = {"bench": {"counterfactuals"}}
"""What the paper's metrics are about."""


def commands() -> dict[str, str]:
    """Every command's help, its options' included."""
    group = get_command(app)
    found = {"carat": group.help or ""}
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        found[name] = "\n".join([command.help, *(getattr(each, "help", None) or "" for each in command.params)])
    return found


@pytest.mark.parametrize("name", commands())
def test_help_speaks_of_rows_columns_values_and_fixes(name: str) -> None:
    # An output column and an output file are called what they are called.
    text = commands()[name].replace("record (the row number or ID)", "").replace("FILE.records.jsonl", "")
    assert strange_words(text) == FOR_RESEARCHERS.get(name, set())


@pytest.mark.parametrize("name", sorted(commands().keys() - {"carat"}))
def test_help_is_wrapped_by_the_terminal(name: str) -> None:
    """A line break inside a paragraph would stay there, however wide the terminal is."""
    help = get_command(app).commands[name].help  # type: ignore[attr-defined]
    assert [part for part in help.split("\n\n") if "\n" in part] == []
    assert len(help.split("\n\n")) > 1


MORE = "--show N shows more, --out FILE saves all"
LAST = {
    ("score",): rf"4 rows, \d anomalous \(\d+\.00%\); 1 shown, {MORE}",
    ("explain",): rf"4 rows, 2 with a flagged value \(Port 1, Carrier 1, Buyer 1\); 1 shown, {MORE}",
    ("recourse", "--all"): (
        r"\d+ suggested fixes for 3 of 4 rows \(method instant\); 1 row has only blanks to fill: carat audit suggests "
        rf"values; 1 shown, {MORE}"
    ),
    ("recourse", "--top", "1", "--k", "1"): r"1 suggested fix for 1 row \(method instant\); --out FILE saves all",
    ("recourse", "--top", "1", "--constraints", "none.toml"): (
        r"0 suggested fixes for 0 of 1 row \(method instant\); 1 row has none; --out FILE saves all"
    ),
}


@pytest.mark.parametrize("command", LAST, ids=" ".join)
def test_last_line_on_a_terminal(work: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]) -> None:
    write_csv(work / "rows.csv", pa.Table.from_pylist(mixed_rows()))
    (work / "none.toml").write_text('immutable = ["Port", "Good", "Carrier", "Buyer"]\n')
    monkeypatch.setattr("sys.stdout", Terminal())
    said = io.StringIO()
    monkeypatch.setattr(CONSOLE, "_file", said)  # the property would keep what it is given
    assert run([command[0], "model", "rows.csv", "--show", "1", *command[1:]]) == 0
    assert re.fullmatch(LAST[command], said.getvalue().splitlines()[-1])


@pytest.mark.parametrize("width", [24, 40, 80, 120])
def test_a_line_of_values_breaks_between_two_of_them(width: int) -> None:
    entities = tuple(EntityView(f"Column {n}", f"value {n} of {n}", 0.1 if n % 3 else 0.9, 5) for n in range(9))
    console = Console(file=io.StringIO(), width=width)
    console.print(diff(Explanation("x", -1.0, 0.0, True, entities, (), None), words=False))
    assert isinstance(console.file, io.StringIO)
    strip = [line.rstrip() for line in console.file.getvalue().splitlines() if line.startswith("  ")]
    parts = [part for line in strip for part in line.removeprefix("  ").split(" · ")]
    whole = [f"Column {n} value {n} of {n}" + (" (0.10)" if n % 3 else "") for n in range(9)]
    if width > 30:
        assert parts == whole
    else:  # One that is longer than the line has to break.
        assert " ".join(parts) == " ".join(whole)
