"""Histograms as inline SVG whose colours are the page's own variables, so that they follow dark and light."""

from __future__ import annotations

import io
import re
from itertools import count
from typing import Any

from carat.errors import MissingExtraError
from carat.report.overview import Overview

TICKS = 5
"""Labels of the count axis above its 0, at most."""


def ticks(tallest: int) -> list[int]:
    """Where an axis of counts is labelled: whole numbers from 0, evenly apart, none twice.

    >>> ticks(2), ticks(4), ticks(37), ticks(1_200)
    ([0, 1, 2], [0, 1, 2, 3, 4], [0, 10, 20, 30], [0, 500, 1000])
    """
    steps = (leading * 10**power for power in count() for leading in (1, 2, 5))
    step = next(step for step in steps if tallest <= TICKS * step)
    return list(range(0, tallest + 1, step))


def histogram_svg(overview: Overview, width: int, height: int) -> str:
    """All scores, those below the threshold marked, as an `<svg>` element."""
    alt = load_altair()
    # A single row beside a hundred thousand must still be seen: no bar that holds one is lower than two pixels.
    tallest = max(1, *overview.counts)
    lowest = tallest * (2 / height) ** 2
    rows = [
        {
            "from": start,
            "to": end,
            "records": max(number, lowest) if number else 0,
            "side": "anomalous" if end <= overview.threshold else "normal",
        }
        for start, end, number in zip(overview.edges, overview.edges[1:], overview.counts, strict=False)
    ]
    scale = alt.Scale(domain=[overview.edges[0], overview.edges[-1]], nice=False)
    bars = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(binSpacing=1)
        .encode(
            x=alt.X("from:Q", bin="binned", scale=scale, title="score", axis=alt.Axis(tickCount=max(width // 90, 4))),
            x2="to:Q",
            # A root scale: the few anomalous rows would be invisible beside the many normal ones.
            y=alt.Y(
                "records:Q",
                scale=alt.Scale(type="sqrt", domain=[0, tallest]),
                title="rows (square root scale)",
                axis=alt.Axis(values=ticks(tallest), format=",d"),
            ),
            color=alt.Color(
                "side:N",
                scale=alt.Scale(domain=["anomalous", "normal"], range=["var(--flag)", "var(--bar)"]),
                legend=None,
            ),
        )
    )
    line = alt.Chart(alt.Data(values=[{"at": overview.threshold}])).encode(x=alt.X("at:Q", scale=scale))
    rule = line.mark_rule(color="var(--ink)", strokeWidth=1.5, strokeDash=[4, 3])
    # The label stands where there is more room.
    middle = (overview.edges[0] + overview.edges[-1]) / 2
    left = overview.threshold <= middle
    label = line.mark_text(
        align="left" if left else "right", dx=6 if left else -6, dy=-2, baseline="bottom", color="var(--ink)"
    ).encode(y=alt.value(0), text=alt.value(f"threshold {overview.threshold:.4g}".replace("-", "−")))
    chart = (bars + rule + label).properties(width=width, height=height)
    chart = chart.configure(
        font="inherit", background="transparent", padding={"left": 2, "right": 8, "top": 4, "bottom": 2}
    )
    chart = chart.configure_view(stroke=None).configure_text(fontSize=12)
    chart = chart.configure_axis(
        domainColor="var(--line)",
        tickColor="var(--line)",
        gridColor="var(--line)",
        labelColor="var(--muted)",
        titleColor="var(--muted)",
        titleFontWeight="normal",
        labelFontSize=11,
        titleFontSize=12,
    )
    return _inline(chart.configure_axisX(grid=False))


def _inline(chart: Any) -> str:
    """The chart as an element of an HTML page."""
    out = io.StringIO()
    chart.save(out, format="svg")
    # An element inside HTML needs no namespaces; a reader meets the words around the picture, not its parts.
    return re.sub(r"<svg [^>]*?(width=[^>]*)>", r'<svg aria-hidden="true" \1>', out.getvalue(), count=1)


def load_altair() -> Any:
    """altair, or an error that names the extra."""
    try:
        import altair  # noqa: PLC0415 - optional
        import vl_convert  # noqa: F401, PLC0415 - what altair saves with
    except ImportError as error:
        raise MissingExtraError("altair", "report", "the report") from error
    return altair
