"""What a notebook shows of a result or an explanation: small HTML that takes the notebook's own colours.

Text keeps the colour around it and grounds are see-through, so the same lines read in a light and a dark notebook. All
of it is made from `Explanation.to_json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from itertools import islice
from typing import Any

from carat.results.explanation import Explanation, worse
from carat.results.recourse import RecourseResult

ROWS = 10
"""Rows that a notebook shows of a result."""
_LINE = "1px solid rgba(128, 128, 128, 0.4)"
_CELL = f"padding: 0.3em 1em 0.3em 0; text-align: left; vertical-align: top; border-bottom: {_LINE};"
_NUMBER = _CELL.replace("left", "right") + " font-variant-numeric: tabular-nums;"
_BOX = "font-family: system-ui, sans-serif; line-height: 1.5; overflow-x: auto; max-width: 70em;"
_MUTED = "opacity: 0.75; font-size: 0.9em;"

_Json = Mapping[str, Any]


def result_html(result: RecourseResult) -> str:
    """The first rows of a result: what is flagged in each, and its best suggested fix."""
    anomalous = sum(int(batch.anomalous.sum()) for batch in result.batches)
    found = sum(int(batch.outcome.mask.sum()) for batch in result.batches)
    head = (
        f"<b>{_many(len(result), 'row')}</b>, {anomalous:,} anomalous, "
        f"{_many(found, 'suggested fix', 'suggested fixes')} by {escape(result.method)}"
    )
    told = result.scale.alarm is not None
    rows = "".join(_row(one.to_json(), told) for one in islice(result.explanations(show=1), ROWS))
    titles = _titles("row", *(["alarm"] if told else []), "score", "percentile", "flagged values", "best fix", "fixes")
    table = f"<table style='border-collapse: collapse;'>{titles}{rows}</table>" if rows else ""
    rest = len(result) - ROWS
    more = f"<p style='{_MUTED}'>{_many(rest, 'more row')}; to_frame() has all fixes.</p>" if rest > 0 else ""
    return f"<div style='{_BOX}'><p>{head}</p>{table}{more}</div>"


def explanation_html(explanation: Explanation) -> str:
    """A row with its values, why it was flagged, and what would have made it normal."""
    record = explanation.to_json()
    verdict = record["verdict"]
    alarm = "" if record["alarm"] is None else f"alarm {record['alarm']:.2f}, "
    head = (
        f"<b>Row {escape(str(record['record']))}</b>: {verdict}, "
        f"{alarm}score {_score(record['score'])}, percentile {_share(record['percentile'], 2)}"
    )
    cells = "".join(_value(value) for value in record["values"])
    sentences = [escape(sentence) for sentence in record["words"]]
    if record["reason"]:
        sentences.append(f"<span style='{_MUTED}'>Note: {escape(record['reason'])}.</span>")
    return (
        f"<div style='{_BOX}'><p>{head}</p><div style='display: flex; flex-wrap: wrap; gap: 0.4em;'>{cells}</div>"
        f"<p>{'<br>'.join(sentences)}</p>{_precedents(record)}{_counterfactuals(record)}</div>"
    )


def _row(record: _Json, told: bool) -> str:
    flagged = [
        f"⚑ {escape(value['column'])} <b>{escape(value['value'])}</b>" for value in record["values"] if value["flagged"]
    ]
    best = record["counterfactuals"][0] if record["counterfactuals"] else None
    cells = (
        (escape(str(record["record"])), _CELL),
        *([(_share(record["alarm"], 2), _NUMBER)] if told else []),
        (_score(record["score"]), _NUMBER),
        (_share(record["percentile"], 2), _NUMBER),
        ("<br>".join(flagged) or "none", _CELL),
        ("none" if best is None else f"{_changes(best)} ({_verdict(best, record['anomalous'])})", _CELL),
        (f"{record['count']:,}", _NUMBER),
    )
    return _row_of("td", cells)


def _titles(*names: str) -> str:
    numbers = {"alarm", "score", "percentile", "fixes", "support", "cost"}
    return _row_of("th", tuple((name, _NUMBER if name in numbers else _CELL) for name in names))


def _row_of(tag: str, cells: tuple[tuple[str, str], ...]) -> str:
    return "<tr>" + "".join(f"<{tag} style='{style}'>{text}</{tag}>" for text, style in cells) + "</tr>"


def _value(value: _Json) -> str:
    """Flagged: a mark and a thick border; the ground is the stronger the less likely the value."""
    likelihood, text = value["likelihood"], value["value"]
    doubt = 0.0 if likelihood is None else max(0.0, 1 - likelihood) * 0.35
    border = "2px solid #c4562c" if value["flagged"] else "1px dashed gray" if text is None else _LINE
    style = f"border: {border}; border-radius: 5px; padding: 0.25em 0.6em; background: rgba(217, 106, 62, {doubt:.2f});"
    under = "" if likelihood is None else f"<br><small>likelihood {likelihood:.2f}</small>"
    shown = "<i>missing</i>" if text is None else f"<b>{escape(text)}</b>"
    mark = "⚑ " if value["flagged"] else ""
    return f"<div style='{style}'><small>{mark}{escape(value['column'])}</small><br>{shown}{under}</div>"


def _precedents(record: _Json) -> str:
    """The training rows most like this one, one column each beside it; differences are bold."""
    similar = record["precedents"]
    if not similar:
        return ""
    titles = _row_of(
        "th",
        tuple((title, _CELL) for title in ("column", "this row", *(_many(one["count"], "row") for one in similar))),
    )
    rows = []
    for place, value in enumerate(record["values"]):
        column = value["column"]
        mine = f"⚑ <b>{_text(value['value'])}</b>" if value["flagged"] else _text(value["value"])
        others = (
            f"<b>{_text(one['values'][place])}</b>"
            if column in one["differs"]
            else f"<span style='opacity: 0.6;'>{_text(one['values'][place])}</span>"
            for one in similar
        )
        rows.append(_row_of("td", tuple((text, _CELL) for text in (escape(column), mine, *others))))
    said = "Training rows most like this one, the flagged values aside; what differs is bold."
    table = f"<table style='border-collapse: collapse; margin-bottom: 1em;'>{titles}{''.join(rows)}</table>"
    return f"<p style='{_MUTED}'>{said}</p>{table}"


def _text(value: str | None) -> str:
    return "<i>missing</i>" if value is None else escape(value)


def _counterfactuals(record: _Json) -> str:
    found = record["counterfactuals"]
    if not found:
        return f"<p style='{_MUTED}'>No fix was found.</p>"
    costs = any(change["cost"] is not None for change in found)
    titles = _titles("#", "suggested fix", "score", "percentile", "normal", "support", *(["cost"] if costs else []))
    rows = []
    for change in found:
        cells: tuple[tuple[str, str], ...] = (
            (str(change["rank"]), _CELL),
            (_changes(change), _CELL),
            (f"{_score(record['score'])} → {_score(change['score'])}", _NUMBER),
            (f"{_share(record['percentile'], 1)} → {_share(change['percentile'], 1)}", _NUMBER),
            ("✓ yes" if change["valid"] else "✗ no", _CELL),
            (", ".join(f"{one['support']:,}×" for one in change["changes"]), _NUMBER),
        )
        rows.append(_row_of("td", (*cells, (_cost(change), _NUMBER)) if costs else cells))
    return f"<table style='border-collapse: collapse;'>{titles}{''.join(rows)}</table>"


def _changes(change: _Json) -> str:
    return ", ".join(
        f"{escape(one['column'])} <s>{escape('missing' if one['before'] is None else one['before'])}</s>"
        f" → <b>{escape(one['after'])}</b>"
        for one in change["changes"]
    )


def _verdict(change: _Json, anomalous: bool) -> str:
    """Where its score lies, what it costs, and whether it helps at all."""
    cost = "" if change["cost"] is None else f", cost {_cost(change)}"
    return f"percentile {_share(change['percentile'], 1)}{cost}{'' if change['valid'] else f', {worse(anomalous)}'}"


def _score(value: float | None) -> str:
    if value is None:
        return "none"
    digits = 1 if abs(value) >= 100 else 2 if abs(value) >= 1 else 4
    return f"{value:.{digits}f}".replace("-", "−")


def _share(value: float | None, digits: int) -> str:
    return "none" if value is None else f"{value:.{digits}f}"


def _cost(change: _Json) -> str:
    return "none" if change["cost"] is None else f"{change['cost']:g}"


def _many(count: int, one: str, more: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"
