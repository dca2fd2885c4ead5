"""What a notebook shows of an audit: the most suspicious cells, and what became of the columns."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from carat.auditing.telling import share
from carat.data.text import visible
from carat.report.notebook import _BOX, _CELL, _MUTED, _NUMBER, _row_of

if TYPE_CHECKING:
    from carat.auditing.findings import ColumnReport
    from carat.auditing.result import AuditResult, Cell

ROWS = 20
"""Cells that a notebook shows."""


def audit_html(result: AuditResult) -> str:
    """The most suspicious cells with their fixes and reasons, and below them the columns."""
    cells = "".join(_row(cell) for cell in result.cells(ROWS))
    titles = _titles("row", "column", "value", "suggested fix", "kind", "likely wrong", "fix likely right", "why")
    table = f"<table style='border-collapse: collapse;'>{titles}{cells}</table>" if cells else ""
    rest = len(result) - ROWS
    more = f"<p style='{_MUTED}'>{rest:,} more; to_frame() has all cells.</p>" if rest > 0 else ""
    return f"<div style='{_BOX}'><p><b>{escape(result.headline())}</b></p>{table}{more}{_columns(result)}</div>"


def _row(cell: Cell) -> str:
    together = "" if cell.group is None else f"<br><small>together with group {cell.group}</small>"
    return _row_of(
        "td",
        (
            (escape(str(cell.record)), _CELL),
            (f"<bdi>{escape(cell.column)}</bdi>", _CELL),
            (f"<s>{_text(cell.value)}</s>", _CELL),
            ("none" if cell.proposal is None else f"<b>{_text(cell.proposal)}</b>{together}", _CELL),
            (escape(cell.kind), _CELL),
            (escape(share(cell.error)), _NUMBER),
            ("" if cell.proposal is None else escape(share(cell.confidence)), _NUMBER),
            (f"<bdi>{escape(cell.reason)}</bdi>", _CELL),
        ),
    )


def _columns(result: AuditResult) -> str:
    """What became of the columns, folded away."""
    titles = _titles("column", "suspicious", "blank", "values", "checked by")
    rows = "".join(_column(report) for report in result.columns)
    table = f"<table style='border-collapse: collapse;'>{titles}{rows}</table>"
    return f"<details><summary style='{_MUTED}'>{len(result.columns):,} columns</summary>{table}</details>"


def _column(report: ColumnReport) -> str:
    checked = {"voted": "similar rows and text", "text": f"text ({report.why})"}
    return _row_of(
        "td",
        (
            (f"<bdi>{escape(report.name)}</bdi>", _CELL),
            (f"{report.suspicious:,}", _NUMBER),
            (f"{report.blank:,}", _NUMBER),
            (f"{report.values:,}", _NUMBER),
            (escape(checked.get(report.role, f"left out ({report.why})")), _CELL),
        ),
    )


def _titles(*names: str) -> str:
    numbers = {"likely wrong", "fix likely right", "suspicious", "blank", "values"}
    return _row_of("th", tuple((name, _NUMBER if name in numbers else _CELL) for name in names))


def _text(text: str | None) -> str:
    """Text of the table; it may run from right to left without turning the rest of the line round."""
    return f"<bdi>{escape(visible(text))}</bdi>" if text else "<i>blank</i>"
