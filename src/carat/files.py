"""Files that are there whole or not at all: written under another name, then renamed, by one process at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from carat.errors import InputError

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows has no such lock, and goes without
    fcntl = None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to, that takes the place of `path` when the block ends well, and goes when it does not.

    Raises:
        InputError: where another process is writing the same file.
    """
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; name a file")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with locked(path):
        try:
            yield temporary
            if temporary.exists():  # else nothing was written, and nothing is replaced
                os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Nobody else may write `path` meanwhile; the lock of a process that was killed goes with it."""
    check_folder(path)
    if fcntl is None:
        yield
        return
    place = path.with_name(f".{path.name}.lock")
    while True:
        try:
            handle = place.open("w")
        except OSError as error:
            raise InputError(f"{path}: can't write here ({error.strerror or error}); choose another folder") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            handle.close()
            raise InputError(f"{path}: another process is writing it; wait for it, or choose another name") from error
        # Between opening and locking, the former holder may have removed the file that was opened.
        try:
            if os.fstat(handle.fileno()).st_ino == place.stat().st_ino:
                break
        except FileNotFoundError:
            pass
        handle.close()
    try:
        yield
    finally:
        place.unlink(missing_ok=True)
        handle.close()


def write_text(path: Path, text: str) -> None:
    """A whole text as UTF-8."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_bytes(path: Path, blob: bytes) -> None:
    """A whole file."""
    with replacing(path) as temporary:
        temporary.write_bytes(blob)


def check_folder(path: Path) -> None:
    """Refuse a path whose folder is not there."""
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}; create it first")


def check_place(path: Path, *, force: bool) -> None:
    """Refuse, before any work, a place where a file can't be written, or where one is already."""
    check_folder(path)
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; name a file")
    if path.exists() and not force:
        raise InputError(f"{path}: already exists; use `force` to replace it")


def sidecar_of(path: str | Path) -> Path:
    """The file beside an output that says what made it."""
    return Path(f"{path}.about.json")
