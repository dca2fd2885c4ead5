"""From a result to one HTML file that needs nothing else: no network, no folder beside it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from carat._version import __version__
from carat.explain.choice import CUT
from carat.files import replacing
from carat.report.assembling import assemble, check_page, environment
from carat.report.charts import histogram_svg, load_altair
from carat.report.collect import Collector
from carat.report.content import COUNTERFACTUALS, as_script, content
from carat.report.overview import Overview
from carat.results.recourse import RecourseResult

STYLES = ("page.css", "list.css", "record.css", "print.css")
SCRIPTS = (
    "data.js",
    "dom.js",
    "csv.js",
    "kept.js",
    "colours.js",
    "record.js",
    "precedents.js",
    "changes.js",
    "export.js",
    "list.js",
    "find.js",
    "page.js",
)
FINGERPRINT = 12
"""Signs of the data's fingerprint that the page shows."""
MOST = 8
"""Columns and values named as flagged most often."""


def check_extras() -> None:
    """Refuse early, before a long run, where what the page is drawn with is not installed."""
    environment()
    load_altair()


def write_report(
    result: RecourseResult, path: str | Path, *, title: str | None = None, overview: Overview | None = None
) -> None:
    """Write a result as one self-contained HTML page.

    Args:
        result: what `model.recourse` gave.
        path: the file; an existing one is replaced.
        title: the heading; None is "Flagged rows".
        overview: of all scored records; None makes one from what the result knows of them.
    """
    if overview is None and result.scored is not None and len(result.scored):
        scale = result.scale
        overview = Overview.of(result.scored, scale.threshold, scale.reference, anomalous=result.anomalous)
    write_collected(Collector.of(result), path, title=title, overview=overview)


def write_collected(
    collected: Collector,
    path: str | Path,
    *,
    title: str | None = None,
    overview: Overview | None = None,
    advance: Callable[[int], None] | None = None,
) -> None:
    """The same from a `Collector`, for a result that is too long to hold; `advance` is told of records done."""
    target = check_page(path)
    text = render(collected, title=title, overview=overview, advance=advance)
    with replacing(target) as temporary:
        temporary.write_text(text, encoding="utf-8")


def render(
    collected: Collector,
    *,
    title: str | None = None,
    overview: Overview | None = None,
    advance: Callable[[int], None] | None = None,
) -> str:
    """The page as text."""
    scale, scores = collected.scale, collected.scores
    if overview is None:
        anomalous = collected.anomalous
        shown, given = Overview.of_result(scores, scale.reference, scale.threshold, anomalous=anomalous), False
    else:
        shown, given = overview, True
    data = content(collected, shown, advance)
    return assemble(
        "page.html.j2",
        STYLES,
        SCRIPTS,
        title=title or "Flagged rows",
        overview=shown,
        given=given,
        total=len(scores),
        listed=len(data["records"]),
        flagged_records=collected.anomalous,
        alarm=scale.alarm,
        repaired=collected.repaired,
        domains=_most(collected.domains.most_common(MOST)),
        entities=_most(collected.entities.most_common(MOST)),
        names=data["columns"],
        cut=CUT,
        counterfactuals=COUNTERFACTUALS,
        footer=footer(collected),
        wide=histogram_svg(shown, 560, 170),
        narrow=histogram_svg(shown, 236, 130),
        data=as_script(data),
    )


def footer(collected: Collector) -> list[str]:
    """What made the page, and of what, as far as it is known; enough to know the result again."""
    origin, method = collected.origin, f"method {collected.method}"
    if origin is None:
        return [f"carat {__version__}", method]
    holds = ["the model holds its training rows"] if origin.holds_records else []
    made = datetime.fromisoformat(origin.made).astimezone(UTC)
    return [
        f"carat {origin.carat}",
        method,
        f"made {made:%Y-%m-%d %H:%M} UTC",
        f"model {origin.model}",
        *holds,
        # Where the file lay is nobody's business whom the page is sent to.
        f"from {Path(origin.data).name}, fingerprint {origin.fingerprint[:FINGERPRINT]}",
        *([collected.aged] if collected.aged else []),
    ]


def _most(counted: list[tuple[Any, int]]) -> list[dict[str, Any]]:
    """Names and counts with the length of their bars, in percent of the longest."""
    longest = max((count for _, count in counted), default=0)
    return [{"what": what, "count": count, "share": 100 * count / longest} for what, count in counted if count]
