"""What a notebook shows of a result or an explanation: small HTML that takes the notebook's own colours.

Text keeps the colour around it and grounds are see-through, so the same lines read in a light and a dark notebook.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import torch

from carat.recourse.explanation import Change, EntityView, Explanation, explain_part
from carat.recourse.result import RecourseResult

ROWS = 10
"""Records that a notebook shows of a result."""
_LINE = "1px solid rgba(128, 128, 128, 0.4)"
_CELL = f"padding: 0.3em 1em 0.3em 0; text-align: left; vertical-align: top; border-bottom: {_LINE};"
_NUMBER = _CELL.replace("left", "right") + " font-variant-numeric: tabular-nums;"
_BOX = "font-family: system-ui, sans-serif; line-height: 1.5; overflow-x: auto; max-width: 70em;"
_MUTED = "opacity: 0.75; font-size: 0.9em;"


def result_html(result: RecourseResult) -> str:
    """The first records of a result: what is flagged in each, and its best counterfactual."""
    anomalous = sum(int((part.score < result.scale.threshold).sum()) for part in result.parts)
    found = sum(int(part.outcome.mask.sum()) for part in result.parts)
    head = (
        f"<b>{_many(len(result), 'record')}</b>, {anomalous:,} anomalous, "
        f"{_many(found, 'counterfactual')} by {escape(result.method)}"
    )
    rows = "".join(_row(explanation, count) for explanation, count in _first(result))
    titles = _titles("record", "score", "percentile", "out of place", "best counterfactual", "found")
    table = f"<table style='border-collapse: collapse;'>{titles}{rows}</table>" if rows else ""
    rest = len(result) - ROWS
    more = f"<p style='{_MUTED}'>{_many(rest, 'more record')}; to_frame() has all of them.</p>" if rest > 0 else ""
    return f"<div style='{_BOX}'><p>{head}</p>{table}{more}</div>"


def explanation_html(explanation: Explanation) -> str:
    """A record with its entities, why it was flagged, and what would have made it normal."""
    verdict = "anomalous" if explanation.anomalous else "normal"
    head = (
        f"<b>Record {escape(str(explanation.record))}</b>: {verdict}, "
        f"score {_score(explanation.score)}, percentile {explanation.percentile:.2f}"
    )
    cells = "".join(_entity(view) for view in explanation.entities)
    sentences = [escape(sentence) for sentence in explanation.in_words()]
    if explanation.reason:
        sentences.append(f"<span style='{_MUTED}'>Note: {escape(explanation.reason)}.</span>")
    return (
        f"<div style='{_BOX}'><p>{head}</p><div style='display: flex; flex-wrap: wrap; gap: 0.4em;'>{cells}</div>"
        f"<p>{'<br>'.join(sentences)}</p>{_changes(explanation)}</div>"
    )


def _first(result: RecourseResult) -> Iterator[tuple[Explanation, int]]:
    left = ROWS
    for part in result.parts:
        first = part.take(torch.arange(min(left, len(part.table))))
        explained = explain_part(first, result.scale, result.evidence, show=1)
        yield from zip(explained, first.outcome.mask.sum(dim=1).tolist(), strict=True)
        left -= len(explained)


def _row(explanation: Explanation, count: int) -> str:
    flagged = [f"⚑ {escape(v.domain)} <b>{escape(str(v.entity))}</b>" for v in explanation.entities if v.flagged]
    best = explanation.counterfactuals[0] if explanation.counterfactuals else None
    repair = "none" if best is None else f"{_change(best)} ({best.verdict()})"
    cells = (
        (escape(str(explanation.record)), _CELL),
        (_score(explanation.score), _NUMBER),
        (f"{explanation.percentile:.2f}", _NUMBER),
        ("<br>".join(flagged) or "no single entity", _CELL),
        (repair, _CELL),
        (f"{count:,}", _NUMBER),
    )
    return _row_of("td", cells)


def _titles(*names: str) -> str:
    numbers = {"score", "percentile", "found", "support", "cost"}
    return _row_of("th", tuple((name, _NUMBER if name in numbers else _CELL) for name in names))


def _row_of(tag: str, cells: tuple[tuple[str, str], ...]) -> str:
    return "<tr>" + "".join(f"<{tag} style='{style}'>{text}</{tag}>" for text, style in cells) + "</tr>"


def _entity(view: EntityView) -> str:
    """Flagged: a mark and a thick border; the ground is the stronger the less likely the entity."""
    doubt = 0.0 if view.likelihood is None else max(0.0, 1 - view.likelihood) * 0.35
    border = "2px solid #c4562c" if view.flagged else "1px dashed gray" if view.entity is None else _LINE
    style = f"border: {border}; border-radius: 5px; padding: 0.25em 0.6em; background: rgba(217, 106, 62, {doubt:.2f});"
    likelihood = "" if view.likelihood is None else f"<br><small>likelihood {view.likelihood:.2f}</small>"
    entity = "<i>missing</i>" if view.entity is None else f"<b>{escape(view.entity)}</b>"
    mark = "⚑ " if view.flagged else ""
    return f"<div style='{style}'><small>{mark}{escape(view.domain)}</small><br>{entity}{likelihood}</div>"


def _changes(explanation: Explanation) -> str:
    if not explanation.counterfactuals:
        return f"<p style='{_MUTED}'>No counterfactual was found.</p>"
    costs = any(change.cost is not None for change in explanation.counterfactuals)
    titles = _titles("#", "change", "score", "percentile", "normal", "support", *(["cost"] if costs else []))
    rows = []
    for change in explanation.counterfactuals:
        cells: tuple[tuple[str, str], ...] = (
            (str(change.rank), _CELL),
            (_change(change), _CELL),
            (f"{_score(explanation.score)} → {_score(change.score)}", _NUMBER),
            (f"{explanation.percentile:.1f} → {change.percentile:.1f}", _NUMBER),
            ("✓ yes" if change.valid else "✗ no", _CELL),
            (", ".join(f"{count:,}×" for count in change.support.values()), _NUMBER),
        )
        rows.append(_row_of("td", (*cells, (f"{change.cost:g}", _NUMBER)) if change.cost is not None else cells))
    return f"<table style='border-collapse: collapse;'>{titles}{''.join(rows)}</table>"


def _change(change: Change) -> str:
    return ", ".join(
        f"{escape(name)} <s>{escape('missing' if old is None else old)}</s> → <b>{escape(new)}</b>"
        for name, (old, new) in change.changes.items()
    )


def _score(value: float) -> str:
    digits = 1 if abs(value) >= 100 else 2 if abs(value) >= 1 else 4
    return f"{value:.{digits}f}".replace("-", "−")


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")
