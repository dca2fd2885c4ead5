"""The report: one self-contained HTML page, and what a notebook shows."""

from carat.report.audit_notebook import audit_html
from carat.report.audit_page import AuditPage, write_audit
from carat.report.collect import Collector
from carat.report.notebook import explanation_html, result_html
from carat.report.overview import Overview
from carat.report.page import check_extras, write_collected, write_report
from carat.report.sink import PageSink

__all__ = [
    "write_report",
    "PageSink",
    "write_audit",
    "AuditPage",
    "Overview",
    "Collector",
    "write_collected",
    "check_extras",
    "result_html",
    "explanation_html",
    "audit_html",
]
