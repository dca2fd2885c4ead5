"""A detector of your own: scikit-learn's IsolationForest decides what is anomalous, carat says what to change.

Run it with: python examples/black_box.py (needs scikit-learn)
"""

from __future__ import annotations

from sklearn.ensemble import IsolationForest

import carat


def main() -> None:
    """Fit around the forest, then ask for repairs that the forest likes."""
    flights = carat.datasets.flights()
    forest = IsolationForest(n_estimators=50, random_state=0)
    model = carat.fit(flights.table.slice(0, 5_000), domains=flights.schema.domains, profile="instant", detector=forest)
    result = model.recourse(flights.table.slice(5_000, 1_000), top=3, k=3, prefer=0.8, budget=300)
    for record in result.records:
        print(result.explain(record["record"]))


if __name__ == "__main__":
    main()
