"""The files that the documents speak of, small, with the very columns and entities that the snippets name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from carat.datasets import shipments

ROWS = 1_000
"""Few enough that even a fit with the default profile takes seconds."""
NEW_ROWS = 100
NAMED = {"Carrier": ("MAEU", "MSCU"), "PortOfLading": ("Callao", "Felixstowe")}
"""Entities that the snippets name: the most frequent of their domain get these names."""


def write_samples(folder: Path) -> None:
    """Every sample file: shipments under the names the pages give them, and some invoices."""
    table = bills_of_lading()
    for name in ("shipments.csv", "imports.csv", "my.csv"):
        pyarrow.csv.write_csv(table, folder / name)
    pyarrow.csv.write_csv(table.slice(ROWS - NEW_ROWS), folder / "today.csv")
    pyarrow.csv.write_csv(table.slice(ROWS - NEW_ROWS), folder / "new.csv")
    pyarrow.csv.write_csv(table.slice(ROWS - NEW_ROWS), folder / "june.csv")
    pyarrow.parquet.write_table(table, folder / "shipments.parquet")
    lines = (json.dumps(row, default=str) + "\n" for row in table.slice(ROWS - NEW_ROWS).to_pylist())
    (folder / "new.jsonl").write_text("".join(lines), encoding="utf-8")
    pyarrow.csv.write_csv(invoices(), folder / "invoices.csv")
    pyarrow.csv.write_csv(decided(table), folder / "my-cells.csv")


def decided(table: pa.Table) -> pa.Table:
    """What somebody downloads from the page of an audit, two cells of it."""
    carriers = table["Carrier"].to_pylist()
    return pa.table(
        {"record": [0, 1], "column": ["Carrier"] * 2, "value": carriers[:2], "decision": ["reject", "=MAEU"]}
    )


def bills_of_lading() -> pa.Table:
    """Synthetic US imports with an id, a date and a weight beside the domains."""
    table = shipments("us_import", rows=ROWS).table
    table = table.rename_columns(["date" if name == "Date" else name for name in table.column_names])
    for domain, names in NAMED.items():
        counts = table[domain].value_counts().to_pylist()
        frequent = [pair["values"] for pair in sorted(counts, key=lambda pair: -pair["counts"])]
        new = dict(zip(frequent, names, strict=False))
        column = pa.array([new.get(entity, entity) for entity in table[domain].to_pylist()])
        table = table.set_column(table.column_names.index(domain), domain, column)
    draw = np.random.default_rng(0)
    extra = {
        "bill_of_lading": pa.array([f"BL-{number:06d}" for number in range(ROWS)]),
        "Weight": pa.array(np.round(draw.lognormal(3, 1, ROWS), 1)),
    }
    for name, values in extra.items():
        table = table.append_column(name, values)
    return table


def invoices() -> pa.Table:
    """Every supplier has its account, cost centre and approver."""
    supplier = np.random.default_rng(0).integers(0, 40, ROWS)
    return pa.table(
        {
            "invoice": [f"INV-{number:05d}" for number in range(ROWS)],
            "Supplier": [f"Supplier {each:02d}" for each in supplier],
            "Account": [f"{4000 + each % 7}" for each in supplier],
            "CostCentre": [f"CC-{each % 5}" for each in supplier],
            "Approver": [f"Approver {each % 4}" for each in supplier],
        }
    )
