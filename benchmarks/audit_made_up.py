"""Audits of six made-up dirty tables, in which every error is known.

    python benchmarks/audit_made_up.py [--tables rents,tax] [--seed 0] [--rows N] [--profile fast] [--said FILE]
    python benchmarks/audit_made_up.py --write DIR [--tables rents,tax] [--seed 0] [--rows N]

One JSON line per table, with what `benchmarks/audit.py` prints of a table with a clean twin: rows, errors, seconds,
detection and repair with precision, recall and F1, the share of proposals with confidence ≥ 0.9 that are right and
which share of all right proposals they are, and how many errors `--fixed` would remove, make anew (`new`), or change to
another wrong value (`other`). `by_kind` has the share found and the share put right of every kind of error, and
`planted` how many there are. `--write` writes each table to a folder of its own, as dirty.csv, clean.csv and kinds.csv,
and audits nothing.

What the tables imitate, with the rows they have unless `--rows` says otherwise:

- `sources` (2,400): trains at a station as 24 sites report them, most of them with errors, two copying from others.
- `bibliography` (1,000): articles exported from several databases, with journals, ISSNs, pages and dates.
- `rents` (8,000): county, state, bedrooms and rent, many values of which are rare.
- `tax` (6,000): people with addresses, exemptions and rates that follow from their state, status and salary.
- `products` (3,000): a shop's catalogue with sizes in units, colours, prices and article numbers.
- `clinical` (4,000): hospital visits in Greek letters, with codes, diagnoses, dates and free notes.

No real data is in them. Rows, numbers, and most names are drawn by the seed; only words that anyone may list are not:
common names, states, cities and their regions, fields of medicine and the codes of diseases.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
from audit import measured
from made_up import TABLES, Twin, make


def write(twin: Twin, folder: Path) -> None:
    """Write a table as dirty.csv and clean.csv, and the kind of every error as kinds.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    kinds = [{"row": each.row, "column": each.column, "kind": each.kind} for each in twin.planted]
    for name, table in {"dirty": twin.dirty, "clean": twin.clean, "kinds": pa.Table.from_pylist(kinds)}.items():
        pacsv.write_csv(table, folder / f"{name}.csv")


def main() -> None:
    """Print one line per table, or write them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--profile", default="instant", choices=["instant", "fast"])
    parser.add_argument("--said", type=Path)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    asked = arguments.tables.split(",")
    if unknown := set(asked) - set(TABLES):
        parser.error(f"unknown table {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
    for name in asked:
        twin = make(name, seed=arguments.seed, rows=arguments.rows)
        if arguments.write:
            write(twin, arguments.write / name)
            continue
        said = (arguments.said, f"{name} made up")
        line = measured(twin.dirty, twin.clean, twin.planted, arguments.seed, profile=arguments.profile, said=said)
        planted = dict(sorted(Counter(each.kind for each in twin.planted).items()))
        print(json.dumps({"table": name} | line | {"planted": planted}), flush=True)


if __name__ == "__main__":
    main()
