"""A table and its changes become a new table, in the format of the old one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from carat.auditing.applying.content import Splice, checksum, copying, packed
from carat.auditing.applying.csv import patch_csv
from carat.auditing.applying.edits import Edit
from carat.auditing.applying.jsonl import kinds_of, patch_jsonl
from carat.auditing.applying.parquet import patch_parquet
from carat.data.sources import open_source
from carat.data.sources.csv import CsvSource
from carat.data.writers import check_output
from carat.errors import InputError
from carat.observing import Observer

TEXT = ("csv", "jsonl")
"""Formats of which every byte that is not changed stays."""


@dataclass(frozen=True)
class Patched:
    """What became of a table.

    Args:
        checksums: of the old table and the new one; of a .gz file, those of its unpacked content.
        before: what stood in each cell, so exactly that it can be put back.
        after: what stands there now.
        splices: the bytes of each cell before and after, in formats of text.
    """

    checksums: tuple[str, str]
    before: Sequence[str | None]
    after: Sequence[str | None]
    splices: Sequence[Splice] | None = None


def format_of(path: Path) -> str:
    """`csv`, `jsonl`, `parquet` or `xlsx`, packed or not, by the ending of a name."""
    name = path.name.lower().removesuffix(".gz")
    return "xlsx" if ".xlsx" in name else name.rpartition(".")[2]


def check_pair(table: Path, out: Path, *, force: bool) -> None:
    """Refuse, before any work, a new file that could not take the changed table."""
    check_output(out, force=force)
    if format_of(table) != format_of(out):
        kind = format_of(table)
        raise InputError(f"{out}: the changed table stays {kind}; choose a name that ends in .{kind}")
    if out.exists() and table.exists() and out.samefile(table):
        raise InputError(f"{out}: is the table itself; write to another file, so that the original stays")


def patch(
    table: Path,
    target: Path,
    edits: Sequence[Edit],
    names: Sequence[str],
    *,
    pack: bool,
    encoding: str | None,
    observer: Observer,
) -> Patched:
    """Write a copy of a table with some cells changed.

    Args:
        table: is read, and never changed.
        target: is written.
        edits: by row and column, each cell at most once.
        names: the columns of the table.
        pack: whether a text is gzipped.
        encoding: of a CSV file; None is UTF-8.
        observer: is told how far it is.
    """
    kind = format_of(table)
    before, after = [edit.before for edit in edits], [edit.after for edit in edits]
    if kind not in TEXT:
        if kind == "parquet":
            rows = open_source(table).about_rows()
            stage = observer.stage("writing the table", rows)
            made = patch_parquet(table, target, edits, str(table), stage)
            before, after = [old for old, _ in made], [new for _, new in made]
            stage.finish()
        else:
            import_module("carat.auditing.applying.workbook").patch_workbook(table, target, edits)
        return Patched((checksum(table), checksum(target)), before, after)
    stage = observer.stage("writing the table", None if packed(table) else table.stat().st_size)
    with copying(table, target, pack=pack, stage=stage) as copy:
        if kind == "csv":
            source = CsvSource(str(table), encoding=encoding, by_place=True)
            splices = patch_csv(copy, source, edits, encoding)
        else:
            blank = {names[edit.column] for edit in edits if edit.before is None}
            splices = patch_jsonl(copy, names, str(table), edits, kinds_of(table, blank))
    stage.finish()
    return Patched(copy.checksums, before, after, splices)
