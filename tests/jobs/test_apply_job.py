"""Applying as a job: nothing half-written, foreign tables refused, changes taken back only from what they made."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import carat
from carat.auditing.applying import content
from carat.auditing.applying.changes import write_changes
from carat.auditing.applying.content import checksum
from carat.errors import Cancelled, InputError
from carat.jobs import ApplyJob, Cancel, RevertJob, apply_job
from tests.auditing.applying.support import added, listed, row, write_list
from tests.support.audits import cities, fake_audit
from tests.support.commands import snapshot, write_csv
from tests.support.interrupts import Bomb, Interrupted

RAW = b'id,City\r\n01,"Lieth"\n02,Bergen'


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_bytes(RAW)
    write_list(Path("cells.csv"), row(0, "City", "Lieth", "Leith"), row(1, "City", "Bergen", "Oslo", confidence=0.3))
    return tmp_path


def record(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def test_the_record_of_changes(work: Path) -> None:
    done = ApplyJob("cells.csv", "t.csv", "o.csv").run()
    assert Path("o.csv").read_bytes() == RAW.replace(b"Lieth", b"Leith")
    about, change = record("o.csv.changes.jsonl")
    assert (about["schema"], about["version"], about["carat"]) == ("carat.changes", 1, carat.__version__)
    assert (about["table"], about["file"], about["list"]) == ("t.csv", "o.csv", "cells.csv")
    assert (about["before"], about["after"]) == (checksum(Path("t.csv")), checksum(Path("o.csv")))
    assert (about["changes"], about["certain"], about["left"]) == (1, 0.9, {"uncertain": 1})
    assert (change["record"], change["row"], change["column"]) == ("0", 0, "City")
    assert (change["before"], change["after"], change["by"]) == ("Lieth", "Leith", "carat")
    assert (change["kind"], change["error"], change["confidence"], change["reason"]) == ("typo", 0.97, 0.95, "why")
    assert done.facts() == {
        "out": "o.csv",
        "changes": 1,
        "kinds": {"typo": 1},
        "columns": {"City": 1},
        "by": {"you": 0, "carat": 1},
        "left": {"uncertain": 1},
        "log": "o.csv.changes.jsonl",
    }


def test_no_path_of_the_machine_is_recorded(work: Path) -> None:
    ApplyJob(work / "cells.csv", work / "t.csv", work / "o.csv").run()
    assert str(work) not in Path("o.csv.changes.jsonl").read_text()


def test_a_file_edited_since_is_not_taken_back(work: Path) -> None:
    ApplyJob("cells.csv", "t.csv", "o.csv").run()
    Path("o.csv").write_bytes(Path("o.csv").read_bytes() + b"\n03,Oslo\n")
    before = snapshot(work)
    with pytest.raises(InputError, match="has been edited since"):
        RevertJob("o.csv.changes.jsonl", "o.csv", "b.csv").run()
    assert snapshot(work) == before


def test_a_log_says_which_table_it_is_about(work: Path) -> None:
    ApplyJob("cells.csv", "t.csv", "o.csv").run()
    with pytest.raises(InputError, match=r"t\.csv: is not the table that these changes made; give o\.csv"):
        RevertJob("o.csv.changes.jsonl", "t.csv", "b.csv").run()


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda lines: lines[:1], "damaged or cut off"),
        (lambda lines: [lines[0], "{"], "damaged or cut off"),
        (lambda lines: [lines[0], "[]"], "damaged or cut off"),
        (lambda lines: [lines[0], lines[1].replace('"place"', '"pl"')], "damaged or cut off"),
        (lambda lines: [lines[0], lines[1].replace('"IkxpZXRoIg=="', '"IkxpZXRo"')], "does not lead back"),
        (lambda lines: [lines[0].replace('"version": 1', '"version": 2'), lines[1]], "newer version of carat"),
        (lambda lines: ["{}", lines[1]], "no log of changes"),
        (lambda lines: [], "no log of changes"),
    ],
)
def test_a_damaged_record(work: Path, harm: Any, message: str) -> None:
    ApplyJob("cells.csv", "t.csv", "o.csv").run()
    path = Path("o.csv.changes.jsonl")
    path.write_text("\n".join(harm(path.read_text().splitlines())))
    before = snapshot(work)
    with pytest.raises(InputError, match=message):
        RevertJob(path, "o.csv", "b.csv").run()
    assert snapshot(work) == before


@pytest.mark.parametrize(
    ("cells", "table", "out", "message"),
    [
        ("cells.csv", "none.csv", "o.csv", "none.csv: no such file"),
        ("cells.csv", "-", "o.csv", "name the file instead of -"),
        ("none.csv", "t.csv", "o.csv", "none.csv: no such file"),
        ("cells.csv", "t.csv", "t.csv", "is the table itself"),
        ("cells.csv", "t.csv", "cells.csv", "already exists"),
        ("cells.csv", "t.csv", "o.parquet", "keeps the format of the original; choose a name that ends in .csv"),
        ("cells.csv", "t.csv", "o.txt", "choose a name that ends in .csv"),
        ("cells.csv", "t.csv", "none/o.csv", "there is no folder"),
    ],
)
def test_what_is_refused_before_any_work(work: Path, cells: str, table: str, out: str, message: str) -> None:
    before = snapshot(work)
    with pytest.raises(InputError, match=message):
        ApplyJob(cells, table, out).run()
    assert snapshot(work) == before


def test_the_table_and_the_list_are_never_overwritten(work: Path) -> None:
    for out, message in (("t.csv", "is the table itself"), ("cells.csv", "is the list itself")):
        with pytest.raises(InputError, match=message):
            ApplyJob("cells.csv", "t.csv", out, force=True)
    ApplyJob("cells.csv", "t.csv", "o.csv").run()
    with pytest.raises(InputError, match="already exists"):
        ApplyJob("cells.csv", "t.csv", "o.csv")
    Path("o.csv").unlink()
    with pytest.raises(InputError, match="o.csv.changes.jsonl: already exists"):
        ApplyJob("cells.csv", "t.csv", "o.csv")
    assert ApplyJob("cells.csv", "t.csv", "o.csv", force=True).run().changes == 1


def test_nothing_to_change_gives_a_copy(work: Path) -> None:
    done = ApplyJob("cells.csv", "t.csv", "o.csv", rules=None).run()
    assert done.changes == 1
    write_list(Path("none.csv"))
    assert ApplyJob("none.csv", "t.csv", "p.csv").run().changes == 0
    assert Path("p.csv").read_bytes() == RAW
    RevertJob("p.csv.changes.jsonl", "p.csv", "b.csv").run()
    assert Path("b.csv").read_bytes() == RAW


@pytest.mark.parametrize("at", [0, 1, 3])
def test_a_failure_leaves_nothing(work: Path, at: int) -> None:
    before = snapshot(work)
    with pytest.raises(Interrupted):
        ApplyJob("cells.csv", "t.csv", "o.csv", observer=Bomb(at)).run()
    assert snapshot(work) == before


def test_a_job_can_be_cancelled(work: Path) -> None:
    before, cancel = snapshot(work), Cancel()
    cancel.set()
    with pytest.raises(Cancelled):
        ApplyJob("cells.csv", "t.csv", "o.csv", cancel=cancel).run()
    assert snapshot(work) == before


def test_two_at_once(work: Path) -> None:
    """One of them writes, the other says so; never a mixture."""
    failed: list[str] = []

    def one() -> None:
        try:
            ApplyJob("cells.csv", "t.csv", "o.csv", force=True).run()
        except InputError as error:
            failed.append(str(error))

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("another process is writing it" in text for text in failed)
    assert record("o.csv.changes.jsonl")[0]["after"] == checksum(Path("o.csv"))


def run_until_killed(where: str) -> None:
    """Apply the list in a process that ends itself, hard, at some moment."""

    def dead(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    renamed: list[Any] = []
    rename, write = os.replace, content.Copy.write

    def renaming(*given: Any) -> None:
        if where == ("second rename" if renamed else "first rename"):
            dead()
        renamed.append(given)
        rename(*given)

    def writing(copy: content.Copy, piece: bytes) -> None:
        write(copy, piece)
        if where == "copy" and copy.offset > 5:
            dead()

    def recording(path: Path, *given: Any) -> None:
        write_changes(path, *given)
        if where == "record":
            path.write_text("{")
            dead()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", renaming)
        patch.setattr(content.Copy, "write", writing)
        patch.setattr(apply_job, "write_changes", recording)
        ApplyJob("cells.csv", "t.csv", "o.csv", force=True).run()


@pytest.mark.parametrize("where", ["copy", "record", "first rename", "second rename", "never"])
@pytest.mark.parametrize("earlier", [False, True])
def test_killed_at_the_worst_moments(work: Path, where: str, earlier: bool) -> None:
    old = None
    if earlier:
        ApplyJob(listed(added(0, "City", "=Earlier")), "t.csv", "o.csv").run()
        old = Path("o.csv").read_bytes()
    process = multiprocessing.get_context("fork").Process(target=run_until_killed, args=(where,))
    process.start()
    process.join(60)
    assert process.exitcode == (0 if where == "never" else -signal.SIGKILL)
    new = RAW.replace(b"Lieth", b"Leith")
    assert Path("t.csv").read_bytes() == RAW
    if where == "never":
        assert Path("o.csv").read_bytes() == new
    else:
        assert (Path("o.csv").read_bytes() if Path("o.csv").exists() else None) == old
    if Path("o.csv.changes.jsonl").exists():
        assert len(record("o.csv.changes.jsonl")) == 2, "whole, whichever it is"
    if Path("o.csv").exists() and where != "second rename":
        assert record("o.csv.changes.jsonl")[0]["after"] == checksum(Path("o.csv"))
    # The same command again puts everything right.
    ApplyJob("cells.csv", "t.csv", "o.csv", force=True).run()
    assert Path("o.csv").read_bytes() == new
    assert record("o.csv.changes.jsonl")[0]["after"] == checksum(Path("o.csv"))


@pytest.fixture
def audited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from carat.cli import run

    monkeypatch.setattr("carat.auditing.audit.audit_table", fake_audit)
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "t.csv", cities())
    assert run(["audit", "t.csv", "--out", "cells.csv", "--quiet"]) == 0
    return tmp_path


def test_a_table_that_changed_since_the_audit_is_refused(audited: Path) -> None:
    text = Path("t.csv").read_text()
    Path("t.csv").write_text(text.replace("N-000", "N-999"))  # no cell of the list is touched
    with pytest.raises(InputError, match="or has changed since; audit it again, or, if only other cells"):
        ApplyJob("cells.csv", "t.csv", "o.csv").run()
    Path("cells.csv.about.json").unlink()
    assert ApplyJob("cells.csv", "t.csv", "o.csv").run().changes == 1


def test_the_same_cells_in_another_file_are_the_same_table(audited: Path) -> None:
    Path("again.csv").write_text(Path("t.csv").read_text().replace('"', ""))
    assert ApplyJob("cells.csv", "again.csv", "o.csv").run().changes == 1
    pq.write_table(cities(), "t.parquet")
    assert ApplyJob("cells.csv", "t.parquet", "o.parquet").run().changes == 1
    assert pq.read_table("o.parquet")["City"].to_pylist()[3] == "Leith"


def test_the_audit_remembers_id_and_encoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from carat.cli import run

    monkeypatch.setattr("carat.auditing.audit.audit_table", fake_audit)
    monkeypatch.chdir(tmp_path)
    lines = ["nr;Stadt", *(f"{n};{'Kö?ln' if n == 3 else 'Köln' if n % 2 else 'Ulm'}" for n in range(40))]
    Path("t.csv").write_bytes("\n".join(lines).encode("utf-16"))
    assert run(["audit", "t.csv", "--id", "nr", "--encoding", "utf-16", "--out", "cells.csv", "--quiet"]) == 0
    ApplyJob("cells.csv", "t.csv", "o.csv").run()
    assert Path("o.csv").read_bytes() == "\n".join(lines).replace("?", "").encode("utf-16")


def test_a_result_can_be_applied_without_a_list(audited: Path) -> None:
    result = carat.audit("t.csv")
    done = carat.apply(result, "t.csv", out="o.csv", certain=0.5)
    assert done.changes == 4
    assert carat.audit("o.csv").kinds() == {}
    with pytest.raises(InputError, match="`out` is for tables in files"):
        carat.apply(result, pa.table({"a": [1]}), out="p.csv")
