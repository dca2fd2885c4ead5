"""Audits against the truth: dirty tables with a clean twin, and tables that are spoiled here.

    python benchmarks/audit.py --twin DIRTY.csv CLEAN.csv [--reletter] [--decided 20] [--profile fast]
    python benchmarks/audit.py --spoil flights|FILE… [--rows N] [--share 0.05] [--seed 0]
    python benchmarks/audit.py --spoil flights --never each|KIND…
    python benchmarks/audit.py --untouched flights|FILE… [--look 20]

An error is a cell where dirty and clean differ. Detection: flagged cells (error ≥ 0.5) against errors. Repair:
precision is the share of proposals that are right, recall the share of errors that they put right. `--reletter`
replaces each character that differs, in texts of the same length, by a random one of its class. One JSON line per
table: both with precision, recall and F1, the share of proposals with confidence ≥ 0.9 that are right and which share
of all right proposals they are, what `--fixed` would do to the errors (remove them, make new ones, or change them to
another wrong value), expected calibration errors, and for spoiled tables recall by kind of slip.

`--never` audits once more for each kind of slip with a judge that was never taught that kind, and prints what it finds
and puts right of it, beside the same for a judge that was. `--look` prints some of the flagged cells of an untouched
table, drawn at random, with their rows. `--said FILE` appends what was said of every listed cell and whether it was
right: `benchmarks/reliability.py` draws it.
"""

from __future__ import annotations

import argparse
import json
import string
import time
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import torch

import carat
from carat.auditing.judging import Lessons
from carat.data.slips import KINDS, Spoiled, slip
from carat.data.text import to_text
from carat.experiments.bench import read_dataset
from carat.explain.calibration import expected_calibration_error

CERTAIN = 0.9

Planted = tuple[int, str, str, str | None]
"""One wrong cell: its row, from 0, its column, the kind of error, and what stood there before; None is blank."""


def read_csv(path: str) -> pa.Table:
    """A CSV file as text; empty cells are blank."""
    names = pacsv.open_csv(path).schema.names
    options = pacsv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True, null_values=[""]
    )
    return pacsv.read_csv(path, convert_options=options)


def relettered(dirty: pa.Table, clean: pa.Table, seed: int = 0) -> pa.Table:
    """Every character that differs replaced by a random one of the class of the right one."""
    generator = np.random.default_rng(seed)

    def another(right: str) -> str:
        letters = string.digits if right.isdigit() else string.ascii_lowercase
        return str(generator.choice([each for each in letters if each != right]))

    columns = []
    for wrong, right in zip(dirty.columns, clean.columns, strict=True):
        cells = [
            "".join(another(y) if x != y else x for x, y in zip(a, b, strict=True))
            if a and b and len(a) == len(b)
            else a
            for a, b in zip(wrong.to_pylist(), right.to_pylist(), strict=True)
        ]
        columns.append(pa.array(cells, pa.string()))
    return pa.table(columns, names=dirty.column_names)


def as_text(name: str, rows: int | None) -> pa.Table:
    """A table by name or file, every column as text; some rows of it, drawn at random."""
    table = read_dataset(name).table
    if rows is not None and rows < table.num_rows:
        table = table.take(pa.array(np.sort(np.random.default_rng(0).permutation(table.num_rows)[:rows])))
    return pa.table({column: to_text(table[column].combine_chunks(), column) for column in table.column_names})


def f1(precision: float, recall: float) -> float:
    """Their harmonic mean."""
    return 2 * precision * recall / max(precision + recall, 1e-12)


def decided_rows(dirty: pa.Table, clean: pa.Table, rows: int, seed: int) -> pa.Table | None:
    """What somebody who knows the truth would decide about every cell of some rows, drawn by the seed."""
    if not rows:
        return None
    chosen = np.random.default_rng(seed).permutation(dirty.num_rows)[:rows].tolist()
    lines = []
    for place, name in enumerate(dirty.column_names):
        held, truth = dirty.column(place).to_pylist(), clean.column(place).to_pylist()
        for row in chosen:
            right = (held[row] or None) == (truth[row] or None)
            decision = "reject" if right else f"={truth[row] or ''}"
            lines.append({"record": row, "column": name, "value": held[row], "decision": decision})
    return pa.Table.from_pylist(lines)


def measured(
    dirty: pa.Table,
    clean: pa.Table,
    planted: Sequence[Planted] | None,
    seed: int,
    decided: int = 0,
    profile: str = "instant",
    said: tuple[Path | None, str] = (None, ""),
) -> dict[str, Any]:
    """An audit of the dirty table, measured, by kind of error if the planted ones are known.

    What it said of the listed cells goes to the file `said`, by a name.
    """
    truth = [column.to_pylist() for column in clean.columns]
    held = [column.to_pylist() for column in dirty.columns]
    wrong = {
        (row, place)
        for place, (before, after) in enumerate(zip(held, truth, strict=True))
        for row, (a, b) in enumerate(zip(before, after, strict=True))
        if (a or None) != (b or None)
    }
    began = time.perf_counter()
    decisions = decided_rows(dirty, clean, decided, seed)
    result = carat.audit(dirty, seed=seed, decisions=decisions, profile=profile)
    seconds = time.perf_counter() - began
    rows = result.to_arrow().to_pylist()
    place_of = {name: place for place, name in enumerate(dirty.column_names)}
    found, right, certain, spoilt = set(), 0, [0, 0], 0
    errors, sure = [], []
    for row in rows:
        cell = (row["record"], place_of[row["column"]])
        found.add(cell)
        errors.append((row["error"], cell in wrong))
        if row["proposal"] is None:
            continue
        made = None if row["proposal"] in ("", "<blank>") else row["proposal"]
        good = cell in wrong and made == (truth[cell[1]][cell[0]] or None)
        right += good
        sure.append((row["confidence"], good))
        if row["confidence"] >= CERTAIN:
            certain[0] += 1
            certain[1] += good
            spoilt += cell not in wrong
    hit = len(found & wrong)
    changed = sum(row["proposal"] is not None for row in rows)
    precision, recall = hit / max(len(found), 1), hit / max(len(wrong), 1)
    repaired, restored = right / max(changed, 1), right / max(len(wrong), 1)
    line: dict[str, Any] = {
        "rows": dirty.num_rows,
        "columns": dirty.num_columns,
        "errors": len(wrong),
        "seconds": round(seconds, 1),
        "flagged_share": round(len(found) / (dirty.num_rows * dirty.num_columns), 5),
        "detection": [round(value, 3) for value in (precision, recall, f1(precision, recall))],
        "repair": [round(value, 3) for value in (repaired, restored, f1(repaired, restored))],
        "certain": [round(certain[1] / max(certain[0], 1), 3), round(certain[1] / max(right, 1), 3)],
        "fixed": {
            "errors": len(wrong),
            "removed": certain[1],
            "new": spoilt,
            "other": certain[0] - certain[1] - spoilt,
        },
        "calibration_of_error": _calibration(errors),
        "calibration_of_confidence": _calibration(sure),
    }
    if said[0] is not None:
        with said[0].open("a", encoding="utf-8") as file:
            file.write(json.dumps({"table": said[1], "error": errors, "confidence": sure}) + "\n")
    if planted is not None:
        line["by_kind"] = _by_kind(planted, found, rows, place_of)
    return line


def _calibration(said: list[tuple[float, bool]]) -> float | None:
    """Expected calibration error of probabilities of listed cells."""
    if not said:
        return None
    probability, truth = zip(*said, strict=True)
    return round(expected_calibration_error(torch.tensor(probability), torch.tensor(truth)), 3)


def _by_kind(
    planted: Sequence[Planted], found: set[tuple[int, int]], rows: list[dict[str, Any]], place_of: dict[str, int]
) -> dict[str, list[float]]:
    """Of every kind of error, the share that was found, and the share that was put right."""
    proposal = {(row["record"], place_of[row["column"]]): row["proposal"] for row in rows}
    count: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for row, column, kind, before in planted:
        cell = (row, place_of[column])
        tally = count[kind]
        tally[0] += 1
        tally[1] += cell in found
        made = proposal.get(cell)
        tally[2] += made is not None and (None if made in ("", "<blank>") else made) == (before or None)
    return {kind: [round(hit / all_, 3), round(fixed / all_, 3)] for kind, (all_, hit, fixed) in sorted(count.items())}


def slips_of(spoiled: Spoiled) -> list[Planted]:
    """The slips in a spoiled table, as `measured` takes them."""
    return [(each.row, each.column, each.kind, each.before) for each in spoiled.slips]


def never_taught(
    name: str, clean: pa.Table, made: Spoiled, kinds: list[str], seed: int, taught: dict[str, Any]
) -> None:
    """A line for each kind: what is found and put right of it with and without having been taught it."""
    for kind in kinds:
        # An audit has no such option: only this question needs it.
        others = [each for each in KINDS if each != kind]
        with patch("carat.auditing.audit.Lessons", partial(Lessons, kinds=others)):
            found = measured(made.table, clean, slips_of(made), seed)
        line = {"table": name, "never": kind, "found_and_right": found["by_kind"].get(kind)}
        whole = {key: found[key] for key in ("detection", "repair")}
        print(json.dumps(line | {"taught": taught["by_kind"].get(kind)} | whole), flush=True)


def look_at(table: pa.Table, cells: int, seed: int) -> None:
    """Print some flagged cells of a table, drawn by the seed, each with its row."""
    found = carat.audit(table, seed=seed).to_arrow().to_pylist()
    chosen = np.random.default_rng(seed).permutation(len(found))[:cells]
    for row in (found[number] for number in sorted(chosen.tolist())):
        about = {key: row[key] for key in ("record", "column", "value", "kind", "proposal", "reason")}
        about |= {"error": round(row["error"], 2), "confidence": round(row["confidence"], 2)}
        print(json.dumps(about | {"row": table.slice(row["record"], 1).to_pylist()[0]}, ensure_ascii=False))


def main() -> None:
    """Print one line per table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--twin", nargs=2, action="append", default=[])
    parser.add_argument("--reletter", action="store_true")
    parser.add_argument("--spoil", nargs="+", default=[])
    parser.add_argument("--never", nargs="+", default=[])
    parser.add_argument("--untouched", nargs="+", default=[])
    parser.add_argument("--look", type=int, default=0)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--decided", type=int, default=0)
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--profile", default="instant", choices=["instant", "fast"])
    parser.add_argument("--said", type=Path)
    arguments = parser.parse_args()
    for dirty_path, clean_path in arguments.twin:
        dirty, clean = read_csv(dirty_path), read_csv(clean_path)
        variants = [("", dirty), *([(" re-lettered", relettered(dirty, clean))] if arguments.reletter else [])]
        for label, table in variants:
            said = (arguments.said, Path(dirty_path).parent.name + label)
            found = measured(table, clean, None, arguments.seed, arguments.decided, arguments.profile, said)
            print(json.dumps({"table": dirty_path + label} | found), flush=True)
    for name in arguments.spoil:
        clean = as_text(name, arguments.rows)
        made = slip(clean, share=arguments.share, seed=1_000 + arguments.seed)
        said = (arguments.said, f"{Path(name).stem} spoiled")
        found = measured(made.table, clean, slips_of(made), arguments.seed, profile=arguments.profile, said=said)
        print(json.dumps({"table": name} | found), flush=True)
        kinds = list(KINDS) if arguments.never == ["each"] else arguments.never
        never_taught(name, clean, made, kinds, arguments.seed, found)
    for name in arguments.untouched:
        clean = as_text(name, arguments.rows)
        found = measured(clean, clean, None, arguments.seed, profile=arguments.profile)
        print(json.dumps({"table": f"{name} untouched"} | found), flush=True)
        if arguments.look:
            look_at(clean, arguments.look, arguments.seed)


if __name__ == "__main__":
    main()
