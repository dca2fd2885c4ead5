"""The bundled flights: which of the next departures are strange, why, and what would have made them normal.

Run it with: python examples/flights.py
"""

from __future__ import annotations

from pathlib import Path

import carat


def main(out: Path = Path("example-flights")) -> None:
    """Fit, repair the strangest departures, show one, write everything."""
    out.mkdir(exist_ok=True)
    flights = carat.datasets.flights()
    model = carat.fit(
        flights.table.slice(0, 30_000),
        domains=flights.schema.domains,
        profile="instant",  # counts only, seconds; "fast" trains a transformer, minutes, and repairs better
    )
    result = model.recourse(flights.table.slice(30_000, 5_000), top=20, k=10)
    print(result.explain(result.records[0]["record"]))
    result.report(out / "report.html", title="The strangest departures")
    model.save(out / "model", force=True)
    print(f"written: {out}/report.html, {out}/model")


if __name__ == "__main__":
    main()
