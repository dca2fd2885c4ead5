"""Take changes back: from a changed table and its log to the table as it was."""

from __future__ import annotations

from pathlib import Path

from carat.auditing.applying.changes import Changes
from carat.auditing.applying.content import Copy, Splice, checksum, copying
from carat.auditing.applying.edits import Edit
from carat.auditing.applying.patching import patch
from carat.errors import InputError
from carat.observing import Observer


def revert(table: Path, target: Path, changes: Changes, *, pack: bool, observer: Observer) -> None:
    """Write the table as it was before the changes: text byte for byte, other formats value by value.

    Args:
        table: with the changes.
        target: is written.
        changes: their log.
        pack: whether a text is gzipped.
        observer: is told how far it is.

    Raises:
        InputError: where the table has been edited since, or the log does not lead back to the original.
    """
    if checksum(table) != changes.about.get("after"):
        given = changes.about.get("file", "the corrected table")
        raise InputError(
            f"{table}: is not the table that these changes made; give {given} as carat apply wrote it (if it has been "
            "edited since, they can't be undone)"
        )
    if changes.splices is None:
        edits = [Edit(edit.row, edit.column, edit.after, edit.before) for edit in changes.edits]
        patch(table, target, edits, (), pack=pack, encoding=None, observer=observer)
        return
    stage = observer.stage("writing the table", None)
    with copying(table, target, pack=pack, stage=stage) as copy:
        _put_back(copy, sorted(changes.splices, key=lambda splice: splice.offset))
    stage.finish()
    if copy.checksums[1] != changes.about.get("before"):
        raise InputError(f"{table}: the log does not lead back to the original; it was damaged or edited")


def _put_back(copy: Copy, splices: list[Splice]) -> None:
    """Replace the bytes of all splices, which may reach from one piece into the next."""
    held, start, final = b"", 0, False
    rest = list(reversed(splices))
    while not final:
        piece = copy.read()
        final = not piece
        held += piece
        end = start + len(held)
        upto, changes = end, []
        while rest and rest[-1].offset < end + final:
            splice = rest[-1]
            stop = splice.offset + len(splice.after)
            if stop > end and not final:
                upto = splice.offset
                break
            rest.pop()
            changes.append((splice.offset - start, stop - start, splice.before))
        copy.splice(held, upto - start, changes)
        held, start = held[upto - start :], upto
