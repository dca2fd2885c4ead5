"""The bytes of a text file, unpacked where it is packed: read, spliced, summed up and written, a piece at a time."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from carat.data.sources.base import first_line
from carat.data.workbooks.package import split_sheet
from carat.errors import InputError
from carat.observing import Stage

PIECE = 1 << 22
"""Bytes that are held at once."""
LEVEL = 6
"""How hard a .gz file is packed: gzip's own default."""


@dataclass(frozen=True, slots=True)
class Splice:
    """Bytes that took the place of others.

    Args:
        offset: where they begin in the new file.
        before: what stood there.
        after: what stands there now.
    """

    offset: int
    before: bytes
    after: bytes


def packed(path: Path) -> bool:
    """Whether a file is gzipped, by its ending."""
    return path.suffix.lower() == ".gz"


def checksum(path: Path) -> str:
    """SHA-256 of a file, of a .gz file that of its unpacked content, in hexadecimal signs."""
    found = hashlib.sha256()
    with opened(path) as file:
        while piece := file.read(PIECE):
            found.update(piece)
    return found.hexdigest()


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The content of a file, to be read; of a workbook with the name of a sheet behind it, that of the workbook."""
    if ".xlsx#" in path.name.lower():
        path = split_sheet(path)[0]
    with gzip.open(path) if packed(path) else path.open("rb") as file:
        try:
            yield cast("IO[bytes]", file)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InputError(f"{path}: can't be read ({first_line(error)})") from error


class Copy:
    """A file on its way to a new one, with the checksums of both.

    Args:
        source: is read.
        target: is written.
        stage: is told how many bytes were read.
    """

    def __init__(self, source: IO[bytes], target: IO[bytes], stage: Stage | None = None) -> None:
        self._source, self._target, self._stage = source, target, stage
        self._before, self._after = hashlib.sha256(), hashlib.sha256()
        self.offset = 0
        """Bytes written so far."""

    def read(self) -> bytes:
        """The next piece; empty at the end."""
        piece = self._source.read(PIECE)
        self._before.update(piece)
        if self._stage is not None:
            self._stage.advance(len(piece))
        return piece

    def write(self, piece: bytes | memoryview) -> None:
        """Append bytes."""
        self._after.update(piece)
        self._target.write(piece)
        self.offset += len(piece)

    def splice(self, piece: bytes, upto: int, changes: list[tuple[int, int, bytes]]) -> list[Splice]:
        """Write a piece up to a place, with some of its bytes replaced.

        Args:
            piece: as it was read.
            upto: how much of it is written.
            changes: start, end and new bytes of each, in order, without overlap.
        """
        made, at, view = [], 0, memoryview(piece)
        for start, end, new in changes:
            self.write(view[at:start])
            made.append(Splice(self.offset, piece[start:end], new))
            self.write(new)
            at = end
        self.write(view[at:upto])
        return made

    @property
    def checksums(self) -> tuple[str, str]:
        """SHA-256 of what was read and of what was written, in hexadecimal signs."""
        return self._before.hexdigest(), self._after.hexdigest()


@contextmanager
def copying(source: Path, target: Path, *, pack: bool, stage: Stage | None = None) -> Iterator[Copy]:
    """Copy the content of one file into another."""
    with opened(source) as reading, target.open("wb") as plain:
        if pack:
            # No name and no time inside: the same content gives the same file.
            with gzip.GzipFile("", "wb", LEVEL, plain, mtime=0) as writing:
                yield Copy(reading, writing, stage)  # type: ignore[arg-type] # a file all the same
        else:
            yield Copy(reading, plain, stage)
