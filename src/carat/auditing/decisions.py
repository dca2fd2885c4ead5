"""A list of suspicious cells with what was decided about them, as a person or a program hands it back.

The list is what `carat audit --out` writes. It may have been through a spreadsheet or a text editor, lost columns that
nobody needs, and gained rows for cells that no audit listed. What is done about the decisions is not settled here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from carat.data.sources import Source, open_source
from carat.data.sources.base import NotUtf8Error
from carat.data.sources.csv import CsvSource
from carat.data.sources.frames import arrow_table, frame_of
from carat.data.text import to_text
from carat.errors import InputError
from carat.files import sidecar_of

BLANK = "<blank>"
"""How files write a proposal to leave a cell empty."""
Word = Literal["accept", "reject", "wrong", "text"]
WORDS: dict[str, Word] = {"accept": "accept", "reject": "reject", "wrong": "wrong"}
LABEL = "the list"
"""How messages call a list that is in no file."""
NEEDED = ("record", "column")
KNOWN = ("record", "column", "value", "kind", "error", "proposal", "confidence", "reason", "group", "decision")
FORMULA = re.compile(r"#(NAME|REF|VALUE|N/A|NULL!|DIV/0|NUM)", re.IGNORECASE)
"""What a spreadsheet shows where it took `=text` for a formula."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about a cell.

    Args:
        word: `accept` the proposal; `reject`: the value is right; `wrong`: it is wrong and the right value unknown;
            `text`: another value is right.
        text: that other value; "" for an empty cell.
    """

    word: Word
    text: str = ""


@dataclass(frozen=True, slots=True)
class ListedCell:
    """One row of a list.

    Args:
        line: which row of the list it is, as a spreadsheet or an editor counts.
        record: what names the row of the table, as text.
        column: of the table.
        value: what stands there; None where the cell is blank, or where the list does not say.
        checked: whether the list says what stands there.
        kind: what is wrong; "" for a cell that no audit listed.
        error: the probability that the cell is wrong; None where the list does not say.
        proposal: what should stand there; None where nothing is proposed, "" for an empty cell.
        confidence: the probability that the proposal is right; None where the list does not say.
        reason: in words.
        group: cells that are fixed together share it; None for a cell by itself.
        decision: None while undecided.
    """

    line: int
    record: str
    column: str
    value: str | None = None
    checked: bool = False
    kind: str = ""
    error: float | None = None
    proposal: str | None = None
    confidence: float | None = None
    reason: str = ""
    group: str | None = None
    decision: Decision | None = None


@dataclass(frozen=True)
class CellList:
    """The rows of a list, every cell of the table at most once.

    Args:
        cells: in the order of the list.
        label: how messages call the list.
        about: what the file beside the list says about the audit; empty where there is none.
        lacks: columns that it takes to change undecided cells, and that the list does not have.
        own: whether a result made it itself, so that nobody can have changed or mixed it up on the way.
    """

    cells: tuple[ListedCell, ...]
    label: str = LABEL
    about: Mapping[str, Any] = field(default_factory=dict)
    lacks: tuple[str, ...] = ()
    own: bool = False

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[ListedCell]:
        return iter(self.cells)

    @property
    def id(self) -> str | None:
        """The column that named the rows in the audit; None for row numbers, or where nobody knows."""
        found = self.about.get("options", {}).get("id")
        return found if isinstance(found, str) else None

    def where(self, cell: ListedCell) -> str:
        """How messages call a row of the list."""
        return f"{self.label}, {self.unit} {cell.line}"

    @property
    def unit(self) -> str:
        """What messages call a row of the list: `line` or `row`."""
        return unit_of(self.label)


WEIGHED = ("proposal", "confidence")
"""What an undecided cell is changed by."""


def read_cells(path: str | Path) -> CellList:
    """A list from a file: csv, csv.gz, parquet or jsonl by its ending, or the findings of an .xlsx workbook.

    Raises:
        InputError: where the file is no such list, or a row of it can't be understood; the message names the row.
    """
    path = Path(path)
    if path.name.lower().endswith(".changes.jsonl"):
        raise InputError(
            f"{path}: this is the log of changes that were made, not a list of cells; undo them with `revert`"
        )
    about = _about(path)
    if path.suffix.lower() == ".jsonl" and path.is_file() and not path.stat().st_size:
        return CellList((), str(path), about)  # an audit that found nothing writes no line
    if path.suffix.lower() == ".xlsx":
        table, first = import_module("carat.auditing.workbook").read_findings(path), 2
    else:
        table, first = _table(path), 2 if path.name.lower().endswith((".csv", ".csv.gz")) else 1
    return replace(list_of(table, label=str(path), first=first), about=about)


def list_of(frame: Any, *, label: str = LABEL, first: int = 1, blank: str | None = None) -> CellList:
    """A list from a frame with the columns of `AuditResult.to_frame()`, as many of them as are needed.

    Args:
        frame: of pandas, polars or pyarrow, a dictionary of columns, or a list of dictionaries.
        label: how messages call it.
        first: the number of its first row, for messages.
        blank: what in `proposal` stands for an empty cell besides `<blank>`; in frames of Python it is "".
    """
    table = arrow_table(frame_of(frame), label)
    names = {name.strip().casefold(): place for place, name in reversed(list(enumerate(table.column_names)))}
    _check_columns(names, label)
    columns = {
        name: _texts(table.column(names[name]), name, keep_empty=blank == "" and name == "proposal")
        if name in names
        else [None] * table.num_rows
        for name in KNOWN
    }
    rows = zip(*columns.values(), strict=True)
    cells = [
        _cell(dict(zip(KNOWN, row, strict=True)), line, label)
        for line, row in enumerate(rows, start=first)
        if any(part is not None for part in row)  # a spreadsheet may leave rows of nothing behind
    ]
    found = CellList(_once(cells, label), label, lacks=tuple(name for name in WEIGHED if name not in names))
    for cell in found:
        if cell.decision is not None and cell.decision.word == "accept" and cell.proposal is None:
            raise InputError(
                f"{found.where(cell)}: there is no suggested fix to accept; write =text with the right value, or wrong"
            )
    return found


def decided(text: str | None) -> Decision | None:
    """What a cell of the column `decision` says; None for nothing.

    >>> decided(" Accept "), decided("=Leith"), decided("="), decided("")
    (Decision(word='accept', text=''), Decision(word='text', text='Leith'), Decision(word='text', text=''), None)

    Raises:
        ValueError: for anything else.
    """
    said = (text or "").strip()
    if not said:
        return None
    if said.startswith(("=", "'=")):  # the apostrophe keeps a spreadsheet from taking it for a formula
        other = said.removeprefix("'").removeprefix("=").strip()
        return Decision("text", "" if other == BLANK else other)
    word = WORDS.get(said.casefold())
    if word is None:
        raise ValueError(said)
    return Decision(word)


def plain_record(text: str) -> str:
    """What names a row, without the `.0` that a spreadsheet or pandas adds to a whole number.

    >>> plain_record(" 17.0"), plain_record("N-017")
    ('17', 'N-017')
    """
    return re.sub(r"^(\d+)[.,]0+$", r"\1", text.strip())


def unit_of(label: str) -> str:
    """What messages call a row of a list: in a text `line`, as rows of the table count from 0 and are other ones."""
    return "line" if label.lower().endswith((".csv", ".csv.gz", ".jsonl")) else "row"


def _about(path: Path) -> dict[str, Any]:
    """What the file beside a list says; nothing where there is none that can be read as such."""
    try:
        found = json.loads(sidecar_of(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and found.get("job") == "audit" else {}


def _table(path: Path) -> pa.Table:
    """The columns of a list that are needed, as they stand in the file."""
    try:
        if not path.name.lower().endswith((".csv", ".csv.gz")) or not path.is_file() or not path.stat().st_size:
            return _read(open_source(path))
        source = CsvSource(str(path), encoding=_utf16(path), by_place=True)
        places = [place for place, name in enumerate(source.names) if name.strip().casefold() in KNOWN]
        if not places:
            _check_columns({name.strip().casefold(): place for place, name in enumerate(source.names)}, str(path))
        batches = list(source.cells(places))
        names = [source.names[place].strip().casefold() for place in places]
        return pa.Table.from_batches(batches).rename_columns(names)
    except NotUtf8Error as error:
        raise InputError(f"{path}: not UTF-8 text; save the list as 'CSV UTF-8' in your spreadsheet") from error


def _read(source: Source) -> pa.Table:
    names = [name for name in source.names if name.strip().casefold() in KNOWN]
    if not names:
        _check_columns({name.strip().casefold(): 0 for name in source.names}, source.label)
    batches = list(source.batches(names))
    return pa.Table.from_batches(batches) if batches else pa.table({name: pa.nulls(0) for name in names})


def _utf16(path: Path) -> str | None:
    """Some spreadsheets write text as UTF-16; it says so in its first two bytes."""
    if path.suffix.lower() == ".gz":
        return None
    with path.open("rb") as file:
        return "utf-16" if file.read(2) in (b"\xff\xfe", b"\xfe\xff") else None


def _check_columns(names: Mapping[str, int], label: str) -> None:
    for name in NEEDED:
        if name not in names:
            way = "like the to_frame() of an audit" if label == LABEL else "as carat audit writes it"
            raise InputError(f"{label}: no column '{name}'; give a list of cells {way}")
    if "decision" not in names and "proposal" not in names:
        raise InputError(f"{label}: neither a column 'decision' nor a column 'proposal', so there is nothing to do")
    if "proposal" in names and "value" not in names:
        raise InputError(f"{label}: no column 'value', which tells whether the list fits the table; put it back")


def _texts(column: pa.ChunkedArray, name: str, *, keep_empty: bool) -> list[str | None]:
    if pa.types.is_list(column.type) or pa.types.is_struct(column.type):
        raise InputError(f"column '{name}' of the list holds lists; keep it as carat audit wrote it")
    texts: list[str | None] = []
    for chunk in column.chunks:
        read: list[str | None] = to_text(chunk, name).to_pylist()
        if keep_empty and not pa.types.is_null(chunk.type):
            read = ["" if old == "" else new for old, new in zip(chunk.to_pylist(), read, strict=True)]
        texts += read
    return texts


def _cell(row: Mapping[str, str | None], line: int, label: str) -> ListedCell:
    def fault(what: str) -> InputError:
        return InputError(f"{label}, {unit_of(label)} {line}: {what}")

    record, column = row["record"], row["column"]
    if record is None or column is None:
        raise fault(f"`{'record' if record is None else 'column'}` is empty, so it can't be told which cell is meant")
    try:
        decision = decided(row["decision"])
    except ValueError as error:
        hint = "write accept, reject, wrong, or =text for another value"
        if FORMULA.match(str(error)):
            hint = "your spreadsheet took =text for a formula; type an apostrophe before it: '=text"
        raise fault(f"the decision '{error}' is not known; {hint}") from None
    kind = (row["kind"] or "").strip()
    proposal = row["proposal"]
    return ListedCell(
        line,
        record,
        column,
        row["value"],
        # A cell that an audit listed without a value is blank; in a row that a person added nothing is said of it.
        row["value"] is not None or bool(kind),
        kind,
        _probability(row["error"], "error", fault),
        "" if proposal == BLANK else proposal,
        _probability(row["confidence"], "confidence", fault),
        row["reason"] or "",
        None if row["group"] is None else plain_record(row["group"]) or None,
        decision,
    )


def _probability(text: str | None, name: str, fault: Any) -> float | None:
    """A share as spreadsheets write it: 0.93, 0,93 or 93%."""
    if text is None or not text.strip():
        return None
    plain = text.strip().replace(",", ".")
    try:
        number = float(plain.removesuffix("%")) / (100 if plain.endswith("%") else 1)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise fault(f"`{name}` is '{text}', not a probability from 0 to 1")
    return number


def _once(cells: Sequence[ListedCell], label: str) -> tuple[ListedCell, ...]:
    """Every cell once: rows about the same cell are joined, and must not contradict each other."""
    together: dict[tuple[str, str], list[ListedCell]] = {}
    for cell in cells:
        together.setdefault((plain_record(cell.record), cell.column), []).append(cell)
    if len(together) == len(cells):
        return tuple(cells)
    return tuple(cell for same in together.values() for cell in _joined(same, label))


def _joined(same: Sequence[ListedCell], label: str) -> Sequence[ListedCell]:
    """Rows with one name for row and column; values that differ tell apart columns of the same name."""
    if len(same) == 1 or len({cell.value for cell in same if cell.checked}) > 1:
        return same
    made = [cell for cell in same if cell.decision is not None]
    for other in made[1:]:
        if other.decision != made[0].decision:
            raise InputError(
                f"{label}: {unit_of(label)}s {made[0].line} and {other.line} decide differently about the same cell; "
                "keep one"
            )
    base = next((cell for cell in same if cell.kind or cell.proposal is not None), same[0])
    value = next((cell for cell in same if cell.checked), base)
    return [replace(base, value=value.value, checked=value.checked, decision=made[0].decision if made else None)]
