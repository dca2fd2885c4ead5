"""A made-up audit that is plain to see: it finds what a table marks as wrong, so the doors can be tested by themselves.

A value with a `?` in it is a typo of the value without, `!` at its end marks one of two swapped cells of a row, and a
blank cell of a voted column is missing its most frequent value.
"""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa

from carat.auditing.findings import ColumnReport, Findings
from carat.auditing.options import AuditOptions
from carat.auditing.roles import roles
from carat.auditing.table import AuditTable
from carat.training import Run

STEPS = 4
"""Stages that the made-up audit stores, one after the other."""


def cities(rows: int = 40) -> pa.Table:
    """A table with a typo in row 3, a blank in row 5, a swap in row 7, a constant and a unique column."""
    city = [["Callao", "Leith"][row % 2] for row in range(rows)]
    land: list[str | None] = [["Peru", "Scotland"][row % 2] for row in range(rows)]
    city[3] = "Le?ith"
    land[5] = None
    city[7], land[7] = "Scotland!", "Leith!"
    return pa.table(
        {
            "number": [f"N-{row:03d}" for row in range(rows)],
            "City": city,
            "Land": pa.array(land, pa.string()),
            "Kind": ["port"] * rows,
        }
    )


def fake_audit(table: AuditTable, options: AuditOptions, run: Run, *taught: object) -> Findings:
    """What `carat.auditing.audit.audit_table` promises, by marks in the text."""
    stage = run.observer.stage("auditing", STEPS)
    for step in range(STEPS):
        if run.checkpoints is not None:
            (run.checkpoints / f"stage-{step}.json").write_text(json.dumps(step), encoding="utf-8")
        stage.advance()
    stage.finish()
    given = roles(table, options)
    cells = []
    for place, (column, (role, _)) in enumerate(zip(table.columns, given, strict=True)):
        if role == "left out":
            continue
        for row, code in enumerate(column.codes.tolist()):
            value = None if code < 0 else column.values[code]
            if value is None and role == "voted" and column.values:
                cells.append((0.6, row, place, "missing", column.values[0], -1))
            elif value is not None and value.endswith("!"):
                cells.append((0.9, row, place, "misplaced", "Leith" if "Scot" in value else "Scotland", row))
            elif value is not None and "?" in value:
                cells.append((0.97, row, place, "typo", value.replace("?", ""), -1))
            elif value == "N/A":
                cells.append((0.8, row, place, "missing", "", -1))
    cells = sorted([cell for cell in cells if cell[0] >= options.cut], key=lambda cell: (-cell[0], cell[1], cell[2]))
    columns = np.array([cell[2] for cell in cells], dtype=np.int64)
    reports = tuple(
        ColumnReport(
            column.name,
            role,
            why,
            len(column.values),
            column.blank,
            int((columns == place).sum()),
            0.9 if role == "voted" else float("nan"),
        )
        for place, (column, (role, why)) in enumerate(zip(table.columns, given, strict=True))
    )
    return Findings(
        row=np.array([cell[1] for cell in cells], dtype=np.int64),
        column=columns,
        kind=[cell[3] for cell in cells],
        error=np.array([cell[0] for cell in cells], dtype=np.float64),
        proposal=[cell[4] for cell in cells],
        confidence=np.array([cell[0] - 0.05 for cell in cells], dtype=np.float64),
        alternatives=[["Lima"] if cell[3] == "typo" else [] for cell in cells],
        reason=[f"the reason of a {cell[3]}" for cell in cells],
        group=np.array([cell[5] for cell in cells], dtype=np.int64),
        columns=reports,
        rate=0.02,
    )
