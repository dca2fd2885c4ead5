"""Made-up audits for the page: every kind of cell, texts that try to break out, and ten thousand findings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from carat.auditing.findings import KINDS, ColumnReport, Findings
from carat.auditing.options import AuditOptions
from carat.auditing.reading import read_table
from carat.auditing.result import AuditOrigin, AuditResult
from carat.observing import Remark

EVIL = "<script>alert(1)</script>"
CLOSING = "</script><img src=x onerror=alert(2)> \"double\" 'single' &amp; \u2028"
ARABIC = "الرياض"


def result_of(
    table: pa.Table, cells: list[dict[str, Any]], *, name: str = "ports.csv", id: str | None = None
) -> AuditResult:
    """An audit that found these cells: `row`, `column`, `fix`, and what else is not as usual."""
    reading = replace(read_table(table, AuditOptions(id=id)), label=name)
    places = [column.name for column in reading.table.columns]
    columns = np.array([places.index(cell["column"]) for cell in cells], dtype=np.int64)
    error = np.array([cell.get("error", 0.99 - 0.01 * k % 0.4) for k, cell in enumerate(cells)])
    findings = Findings(
        row=np.array([cell["row"] for cell in cells], dtype=np.int64),
        column=columns,
        kind=[cell.get("kind", "typo") for cell in cells],
        error=error,
        proposal=[cell["fix"] for cell in cells],
        confidence=np.array(
            [0.0 if cell["fix"] is None else cell.get("sure", 0.9) for cell in cells], dtype=np.float64
        ),
        alternatives=[cell.get("others", []) for cell in cells],
        reason=[cell.get("reason", "12 of the 13 other rows say so") for cell in cells],
        group=np.array([cell.get("group", -1) for cell in cells], dtype=np.int64),
        columns=tuple(
            ColumnReport(
                column.name,
                "left out" if column.name == id else "voted",
                "used as the row ID" * (column.name == id),
                len(column.values),
                column.blank,
                int((columns == place).sum()),
                0.9,
            )
            for place, column in enumerate(reading.table.columns)
        ),
        rate=0.021,
    )
    origin = AuditOrigin(
        "0.1.0", {}, f"/home/somebody/{name}", reading.fingerprint, len(table), "2024-05-01T10:00:00+00:00"
    )
    remarks = (
        Remark("unforetold", "nothing predicts Goods: a wrong value there is found only if its text is unusual"),
    )
    return AuditResult(findings, reading, AuditOptions(id=id), origin, remarks)


def ports(rows: int = 60) -> pa.Table:
    """Cities and countries, with the wrong cells that `small` lists."""
    city = [["Callao", "Leith", "Bergen", "Porto"][row % 4] for row in range(rows)]
    country: list[str | None] = [["Peru", "Scotland", "Norway", "Portugal"][row % 4] for row in range(rows)]
    weight = [f"{10 + row % 7}" for row in range(rows)]
    for row in (5, 9, 13):
        city[row] = "Lieth"
    for row in (2, 6, 10, 14):
        weight[row] = f"{weight[row]} kg"
    city[20], country[20] = "Peru", "Callao"
    country[30] = None
    city[31] = " Porto "
    city[32] = "Calla0"
    return pa.table(
        {"City": city, "Country": pa.array(country, pa.string()), "Weight": weight, "Goods": ["fish"] * rows}
    )


def small(**options: Any) -> AuditResult:
    """Thirteen cells: three of one typo, four of one unit, a swap, a blank, spaces, one without a fix, one to blank."""
    typos = [{"row": row, "column": "City", "fix": "Leith", "others": ["Lima", ""]} for row in (5, 9, 13)]
    units = [
        {"row": row, "column": "Weight", "fix": str(10 + row % 7), "kind": "format", "sure": 0.95}
        for row in (2, 6, 10, 14)
    ]
    rest = [
        {"row": 20, "column": "City", "fix": "Callao", "kind": "misplaced", "group": 3},
        {"row": 20, "column": "Country", "fix": "Peru", "kind": "misplaced", "group": 3},
        {"row": 30, "column": "Country", "fix": "Norway", "kind": "missing"},
        {"row": 31, "column": "City", "fix": "Porto", "kind": "variant", "sure": 0.4},
        {"row": 32, "column": "City", "fix": None, "kind": "mismatch"},
        {"row": 33, "column": "Weight", "fix": "", "kind": "missing"},
    ]
    return result_of(ports(), [*typos, *units, *rest], **options)


def hostile() -> AuditResult:
    """Markup, formulas, right-to-left and long texts as columns, values, fixes, reasons and names of rows."""
    rows = 12
    table = pa.table(
        {
            "bill": ["</script>", "=1+1", *(f"B{row}" for row in range(2, rows))],
            EVIL: [CLOSING, EVIL, '=HYPERLINK("x")', "a\nb", "a;b", "W" * 400, ARABIC, "\u202eevil", *["fine"] * 4],
            'Ci"ty, old': ["  two  ", "\tx", "-1+2", *["Leith"] * 9],
        }
    )
    cells = [
        {
            "row": row,
            "column": EVIL,
            "fix": [EVIL, CLOSING, 'a,"b"', ARABIC][row % 4],
            "others": [CLOSING],
            "reason": CLOSING,
        }
        for row in range(8)
    ]
    cells += [{"row": row, "column": 'Ci"ty, old', "fix": "Leith", "kind": "variant"} for row in range(3)]
    return result_of(table, cells, name=f"{EVIL.replace('/', '')} it's {'W' * 60}.csv", id="bill")


def many(count: int = 10_000, columns: int = 8) -> AuditResult:
    """So many findings in a table of as many rows."""
    rng = np.random.default_rng(0)
    made = {f"Column {k}": [f"value {k}.{n:03d}" for n in rng.integers(0, 300, count)] for k in range(columns)}
    for row in range(count):
        name = f"Column {row % columns}"
        made[name][row] = f"{made[name][row]} oz" if row % 3 == 0 else made[name][row].replace("al", "la")
    cells = [
        {
            "row": row,
            "column": f"Column {row % columns}",
            "fix": made[f"Column {row % columns}"][row].removesuffix(" oz").replace("la", "al"),
            "kind": KINDS[row % len(KINDS)],
            "reason": f"{row % 40} of the 41 other rows with Column 0 {made['Column 0'][row]} say so",
            "others": [f"value 0.{row % 300:03d}"],
        }
        for row in range(count)
    ]
    return result_of(pa.table(made), cells, name="many.csv")
