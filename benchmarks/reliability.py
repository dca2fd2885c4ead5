"""Draw how far the probabilities of audits can be believed.

    python benchmarks/audit.py … --said said.jsonl
    python benchmarks/reliability.py said.jsonl --out docs/results/figures

For each table, what was said of the listed cells, in ten classes: the mean of `error` and of `confidence` beside the
share of cells that were wrong, and of fixes that were right. On the diagonal, the probabilities are honest; the size of
a dot is the number of cells.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from carat.report.charts import load_altair

CLASSES = 10
FEWEST = 5
"""A class with fewer cells says nothing."""


def points(table: str, name: str, said: list[tuple[float, bool]]) -> list[dict[str, Any]]:
    """One for each class that has cells enough."""
    probability, truth = (np.array(values, dtype=np.float64) for values in zip(*said, strict=True))
    place = np.minimum((probability * CLASSES).astype(int), CLASSES - 1)
    found = []
    for number in range(CLASSES):
        mine = place == number
        if mine.sum() >= FEWEST:
            about = {"said": probability[mine].mean(), "true": truth[mine].mean(), "cells": int(mine.sum())}
            found.append({"table": table, "what": name, **about})
    return found


def main() -> None:
    """Write reliability.png and .svg."""
    parser = argparse.ArgumentParser()
    parser.add_argument("said", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for line in arguments.said.read_text(encoding="utf-8").splitlines():
        held = json.loads(line)
        for name in ("error", "confidence"):
            if held[name]:
                rows += points(held["table"], name, held[name])
    alt = load_altair()
    scale = alt.Scale(domain=[0, 1])
    dots = (
        alt.Chart()
        .mark_circle(opacity=0.8)
        .encode(
            x=alt.X("said:Q", scale=scale, title="probability that carat gave"),
            y=alt.Y("true:Q", scale=scale, title="share that was so"),
            size=alt.Size("cells:Q", scale=alt.Scale(type="log", range=[15, 250]), title="cells"),
            color=alt.Color(
                "what:N", scale=alt.Scale(domain=["error", "confidence"], range=["#b3261e", "#1f6f8b"]), title=None
            ),
        )
    )
    line = (
        alt.Chart()
        .transform_calculate(one="datum.said")
        .mark_line(color="#999999", strokeDash=[4, 3])
        .encode(x=alt.X("said:Q", scale=scale), y=alt.Y("said:Q", scale=scale))
    )
    chart = alt.layer(line, dots, data=alt.Data(values=rows)).properties(width=190, height=190)
    chart = chart.facet(facet=alt.Facet("table:N", title=None), columns=3).configure_view(stroke="#dddddd")
    arguments.out.mkdir(parents=True, exist_ok=True)
    chart.save(arguments.out / "reliability.svg")
    chart.save(arguments.out / "reliability.png", scale_factor=2)


if __name__ == "__main__":
    main()
