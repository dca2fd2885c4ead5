"""The audit of a table: which cells are wrong, and what should stand there."""

from __future__ import annotations

from carat.auditing.findings import Findings
from carat.auditing.options import AuditOptions
from carat.auditing.table import AuditTable
from carat.errors import CaratError
from carat.training import Run


def audit_table(table: AuditTable, options: AuditOptions, run: Run) -> Findings:
    """All cells of the table whose probability of being wrong reaches `options.cut`, the most suspicious first."""
    raise CaratError("this version of carat can't audit a table")
