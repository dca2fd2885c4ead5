"""Results as pictures, PNG and SVG: drawn with altair, without a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from carat.experiments.cells import Cell
from carat.experiments.tables import METRICS, Results
from carat.registry import methods
from carat.report.charts import load_altair


def figures(cells: Sequence[Cell], folder: Path) -> list[Path]:
    """Draw everything that the cells have data for; the files written."""
    alt = load_altair()
    results = Results(cells)
    charts = {
        "time": _time(alt, results),
        "metrics": _metrics(alt, results),
        "recovery": _recovery(alt, results),
        "dial": _dial(alt, results),
        "case": _case(alt, results),
    }
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, chart in charts.items():
        if chart is None:
            continue
        themed = chart.configure(font="Helvetica, Arial, sans-serif").configure_view(stroke=None)
        themed = themed.configure_axis(grid=True, gridColor="#eeeeee", labelFontSize=11, titleFontSize=12)
        themed = themed.configure_legend(labelFontSize=11, titleFontSize=12)
        themed = themed.configure_title(fontSize=13, anchor="start")
        for ending, options in (("svg", {}), ("png", {"scale_factor": 2})):
            path = folder / f"{name}.{ending}"
            themed.save(path, **options)
            written.append(path)
    return written


def _colour(alt: Any, names: Sequence[str], *, legend: bool = True) -> Any:
    labels, known = [_label(name) for name in names], methods()
    scale = alt.Scale(domain=labels, range=[known[name].colour for name in names])
    return alt.Color("method:N", scale=scale, sort=labels, legend=alt.Legend(title=None) if legend else None)


def _label(name: str) -> str:
    return methods()[name].label


def _time(alt: Any, results: Results) -> Any:
    rows = [
        {
            "data": data,
            "method": _label(name),
            "seconds": results.scalar(results.of(data, name), "seconds"),
            "on": "GPU" if results.device(results.of(data, name)) == "cuda" else "CPU",
        }
        for data in results.data
        for name in results.methods
        if results.scalar(results.of(data, name), "seconds") > 0
    ]
    if not rows:
        return None
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X(
            "seconds:Q",
            scale=alt.Scale(type="log"),
            title="seconds per anomaly (log)",
            axis=alt.Axis(values=[10.0**power for power in range(-5, 4)], format="~g"),
        ),
        y=alt.Y("method:N", sort=[_label(name) for name in results.methods], title=None),
    )
    points = base.mark_point(size=110, filled=True, opacity=0.9).encode(
        color=_colour(alt, results.methods, legend=False),
        shape=alt.Shape(
            "on:N",
            scale=alt.Scale(domain=["CPU", "GPU"], range=["circle", "diamond"]),
            legend=alt.Legend(title="ran on", orient="bottom"),
        ),
    )
    return points.properties(width=300, height=28 * len(results.methods)).facet(
        facet=alt.Facet("data:N", title=None, sort=results.data, header=alt.Header(labelFontSize=12)), columns=2
    )


def _metrics(alt: Any, results: Results) -> Any:
    rows = [
        {"data": data, "method": _label(name), "metric": title, "mean": mean}
        for data in results.data
        for name in results.methods
        for metric, title in METRICS.items()
        if (mean := results.figure(results.of(data, name), metric).mean) >= 0
    ]
    if not rows:
        return None
    bars = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("mean:Q", title=None),
            y=alt.Y("method:N", sort=[_label(name) for name in results.methods], title=None),
            color=_colour(alt, results.methods, legend=False),
        )
        .properties(width=150, height=18 * len(results.methods))
    )
    return bars.facet(
        column=alt.Column("metric:N", title=None, sort=list(METRICS.values()), header=alt.Header(labelFontSize=12)),
        row=alt.Row(
            "data:N",
            title=None,
            sort=results.data,
            header=alt.Header(labelFontSize=12, labelAngle=0, labelAlign="left"),
        ),
    ).resolve_scale(x="independent")


def _recovery(alt: Any, results: Results) -> Any:
    rows = [
        {"data": data, "method": _label(name), "k": k, "share": results.recovery(results.of(data, name), k)}
        for data in results.data
        for name in results.methods
        for k in (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
        if results.recovery(results.of(data, name), k) >= 0
    ]
    if not rows:
        return None
    lines = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True, strokeWidth=2)
        .encode(
            x=alt.X(
                "k:Q",
                scale=alt.Scale(type="log", domain=[1, 50], nice=False),
                title="k (log)",
                axis=alt.Axis(values=[1, 2, 5, 10, 20, 50]),
            ),
            y=alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), title="Recovery@k"),
            color=_colour(alt, results.methods),
        )
        .properties(width=280, height=220)
    )
    return lines.facet(
        facet=alt.Facet("data:N", title=None, sort=results.data, header=alt.Header(labelFontSize=12)), columns=2
    )


def _dial(alt: Any, results: Results) -> Any:
    """Validity against plausibility: Conditional Correctness and Recovery@1 along the dial, the others as points."""
    rows = []
    for prefer in sorted({*results.dial, 0.5}):
        label = {0.0: "plausible", 0.5: "carat-plus", 1.0: "valid"}.get(prefer, "")
        rows += [
            _spot(results, results.along(data, prefer), data, "carat-plus", label, prefer) for data in results.data
        ]
    rows = [row for row in rows if row["share"] >= 0]
    if len({row["prefer"] for row in rows}) < 2:
        return None
    others = [
        _spot(results, results.of(data, name), data, name, _label(name), -1.0)
        for data in results.data
        for name in ("carat", "instant", "xformer-r", "replace-m")
        if name in results.methods
    ]
    x = alt.X("correct:Q", title="valid: Conditional Correctness", scale=alt.Scale(domain=[0.3, 1.0]))
    y = alt.Y("share:Q", title="plausible: Recovery@1", scale=alt.Scale(domain=[0, 1]))
    colour = _colour(alt, results.methods, legend=False)
    layers = alt.layer(
        alt.Chart()
        .mark_line(strokeWidth=2)
        .encode(x=x, y=y, color=colour, order="prefer:Q")
        .transform_filter("datum.prefer >= 0"),
        alt.Chart().mark_circle(size=80, opacity=1).encode(x=x, y=y, color=colour),
        # Labels where the line does not pass: the dial's above and below its points, the other methods' to the left.
        alt.Chart()
        .mark_text(dy=-12, fontSize=11)
        .encode(x=x, y=y, text="label:N", color=colour)
        .transform_filter("datum.prefer >= 0 && datum.prefer < 1"),
        alt.Chart()
        .mark_text(dx=-9, align="right", fontSize=11)
        .encode(x=x, y=y, text="label:N", color=colour)
        .transform_filter("datum.prefer < 0"),
        alt.Chart()
        .mark_text(dy=14, dx=-4, fontSize=11)
        .encode(x=x, y=y, text="label:N", color=colour)
        .transform_filter("datum.prefer == 1"),
        data=alt.Data(values=rows + others),
    ).properties(width=300, height=240)
    return layers.facet(
        facet=alt.Facet("data:N", title=None, sort=results.data, header=alt.Header(labelFontSize=12)), columns=2
    )


def _spot(results: Results, cells: Sequence[Cell], data: str, method: str, label: str, prefer: float) -> dict[str, Any]:
    return {
        "data": data,
        "method": _label(method),
        "label": label,
        "prefer": prefer,
        "correct": results.figure(cells, "conditional_correctness").mean,
        "share": results.recovery(cells, 1),
    }


def _case(alt: Any, results: Results) -> Any:
    """One anomaly: its record, the truth, and the first counterfactuals of each method; what changed is filled."""
    cell = next((cell for cell in results.cells if cell.case is not None), None)
    if cell is None or cell.case is None:
        return None
    found = cell.case
    names, anomaly, original = found.domains, found.anomaly, found.original
    lines = [("anomaly", anomaly), ("before corruption", original)]
    lines += [
        (f"{method} {rank}", record)
        for method in results.methods
        for rank, record in enumerate(found.shown.get(method, []), start=1)
    ]
    rows = []
    for label, record in lines:
        for name, text, wrong, right in zip(names, record, anomaly, original, strict=True):
            if label == "anomaly":
                kind = "wrong" if wrong != right else "kept"
            else:
                kind = "kept" if text == wrong else "true again" if text == right else "changed"
            rows.append({"line": label, "domain": name, "text": text[:18], "kind": kind})
    kinds = {"kept": "#ffffff", "wrong": "#f3b5b5", "true again": "#b7e0b9", "changed": "#f4e0a5"}
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X(
            "domain:N",
            sort=names,
            title=None,
            axis=alt.Axis(orient="top", labelAngle=0, labelFontSize=12, grid=False, ticks=False),
        ),
        y=alt.Y("line:N", sort=[label for label, _ in lines], title=None, axis=alt.Axis(grid=False, ticks=False)),
    )
    cells = base.mark_rect(stroke="#e0e0e0").encode(
        color=alt.Color(
            "kind:N",
            scale=alt.Scale(domain=list(kinds), range=list(kinds.values())),
            legend=alt.Legend(title=None, orient="bottom", symbolStrokeColor="#999999"),
        )
    )
    texts = base.mark_text(fontSize=11).encode(text="text:N")
    return (cells + texts).properties(
        width=120 * len(names), height=24 * len(lines), title=f"One anomaly of {cell.key.data}"
    )
