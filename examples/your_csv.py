"""A CSV of your own: invoices with a few that were booked wrongly.

Run it with: python examples/your_csv.py
"""

from __future__ import annotations

import csv
import random
from pathlib import Path

import carat

SUPPLIERS = {f"Supplier {i:02d}": (f"{4000 + i % 7}", f"CC-{i % 5}", f"Approver {i % 4}") for i in range(40)}


def write_invoices(path: Path, rows: int = 4_000) -> None:
    """Every supplier has its account, cost centre and approver; three invoices do not keep to it."""
    draw = random.Random(0)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["invoice", "Supplier", "Account", "CostCentre", "Approver"])
        for number in range(rows):
            supplier = draw.choice(list(SUPPLIERS))
            account, centre, approver = SUPPLIERS[supplier]
            if number in (1_200, 2_400, 3_600):
                account = draw.choice([other for other in ("4000", "4003", "4006") if other != account])
            table.writerow([f"INV-{number:05d}", supplier, account, centre, approver])


def main(out: Path = Path("example-invoices")) -> None:
    """From the file to repairs that leave the supplier alone."""
    out.mkdir(exist_ok=True)
    write_invoices(out / "invoices.csv")
    model = carat.fit(
        str(out / "invoices.csv"),
        id="invoice",
        domains=["Supplier", "Account", "CostCentre", "Approver"],  # a column of numbers takes part only if it is named
        profile="instant",
    )
    result = model.recourse(str(out / "invoices.csv"), top=3, k=5, constraints={"immutable": ["Supplier"]})
    for record in result.records:
        print(result.explain(record["record"], show=1))
    result.report(out / "report.html", title="Invoices to look at")


if __name__ == "__main__":
    main()
