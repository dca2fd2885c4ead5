"""Files are there whole or not at all, and one process at a time writes them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from carat.data import TableWriter
from carat.errors import InputError
from carat.files import locked, replacing, write_text


def test_replaces_at_the_end(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("before")
    with replacing(target) as temporary:
        temporary.write_text("after")
        assert target.read_text() == "before"
    assert target.read_text() == "after"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    write_text(target, "before")
    with pytest.raises(RuntimeError), replacing(target) as temporary:  # noqa: PT012
        temporary.write_text("half")
        raise RuntimeError
    assert target.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_nothing_written_is_nothing_replaced(tmp_path: Path) -> None:
    with replacing(tmp_path / "a.txt"):
        pass
    assert not list(tmp_path.iterdir())


def hold(path: Path, ready: Any, go: Any) -> None:
    with locked(path):
        ready.set()
        go.wait(30)


def start(path: Path) -> tuple[Any, Any]:
    context = multiprocessing.get_context("fork")
    ready, go = context.Event(), context.Event()
    other = context.Process(target=hold, args=(path, ready, go), daemon=True)
    other.start()
    assert ready.wait(30)
    return other, go


def test_a_second_writer_is_refused_in_one_line(tmp_path: Path) -> None:
    """Two processes that wrote the same file both ended quietly, and one of the outputs was lost."""
    target = tmp_path / "scores.csv"
    other, go = start(target)
    try:
        with pytest.raises(InputError, match="scores.csv: another process is writing it; wait for it"):
            write_text(target, "mine")
        with (
            pytest.raises(InputError, match="another process is writing it"),
            TableWriter(target) as writer,
        ):
            writer.write(pa.table({"a": [1]}))
    finally:
        go.set()
        other.join()
    write_text(target, "mine")
    assert [path.name for path in tmp_path.iterdir()] == ["scores.csv"]


def test_the_lock_of_a_killed_process_goes_with_it(tmp_path: Path) -> None:
    target = tmp_path / "scores.csv"
    other, _ = start(target)
    os.kill(other.pid, signal.SIGKILL)
    other.join()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            write_text(target, "mine")
            break
        except InputError:
            time.sleep(0.05)
    assert target.read_text() == "mine"


def test_model_folders_are_locked_too(tmp_path: Path, planted: pa.Table) -> None:
    import carat

    model = carat.fit(planted, profile="instant", explainer=False)
    other, go = start(tmp_path / "model")
    try:
        with pytest.raises(InputError, match="model: another process is writing it"):
            model.save(tmp_path / "model")
    finally:
        go.set()
        other.join()
    model.save(tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this is a folder; name a file"), replacing(tmp_path):
        raise AssertionError("nothing may be written")
    assert not list(tmp_path.parent.glob(f".{tmp_path.name}*"))
