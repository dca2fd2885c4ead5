"""A short fit alone and two at once, with threads that spin while they wait as torch has them, and briefly, as carat.

    python benchmarks/busy.py

Prints seconds and, as ratios, what the second fit costs the first.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

FIT = """
import carat, torch
from carat.explain import TransformerExplainer

flights = carat.datasets.flights()
carat.fit(
    flights.table.slice(0, 30_000), domains=flights.schema.domains, metapaths=flights.schema.metapaths,
    explainer=TransformerExplainer(epochs=(2, 1, 1)), detector="counts", graph=False,
)
"""


def seconds(together: int, fit: str) -> float:
    """Of so many fits at once, until the last has ended."""
    kept = {key: value for key, value in os.environ.items() if key not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    began = time.monotonic()
    fits = [subprocess.Popen([sys.executable, "-c", fit], env=kept) for _ in range(together)]
    codes = [fit.wait() for fit in fits]
    if any(codes):
        sys.exit("a fit failed")
    return time.monotonic() - began


def main() -> None:
    """Both ways of waiting."""
    for name, fit in (("torch imported first", f"import torch\n{FIT}"), ("carat imported first", FIT)):
        alone, two = seconds(1, fit), seconds(2, fit)
        print(f"{name}: alone {alone:.1f} s, two at once {two:.1f} s, {two / alone:.2f} times as long", flush=True)


if __name__ == "__main__":
    main()
