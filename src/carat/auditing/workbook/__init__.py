"""Findings as an Excel workbook: the table with suspicious cells coloured, a list to decide on, and the way back."""

from carat.auditing.workbook.back import read_findings
from carat.auditing.workbook.making import check_reading, write_findings

__all__ = ["write_findings", "read_findings", "check_reading"]
