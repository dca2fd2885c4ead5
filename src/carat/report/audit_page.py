"""From an audit to one HTML file in which its cells are decided: no network, no folder beside it."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from carat._version import __version__
from carat.auditing.findings import KINDS
from carat.auditing.result import AuditResult
from carat.auditing.telling import many, sentence
from carat.files import check_place, replacing
from carat.jobs.audit_job import AuditJob
from carat.jobs.sinks import PlainSink
from carat.report.assembling import assemble, check_page, environment
from carat.report.audit_content import audit_content
from carat.report.content import as_script

STYLES = ("page.css", "audit/queue.css", "audit/cell.css", "audit/columns.css", "audit/print.css")
SCRIPTS = (
    "dom.js",
    "csv.js",
    "kept.js",
    "colours.js",
    "audit/data.js",
    "audit/text.js",
    "audit/decisions.js",
    "audit/patterns.js",
    "audit/queue.js",
    "audit/beside.js",
    "audit/cell.js",
    "audit/files.js",
    "audit/page.js",
)
EXAMPLES = 3
"""Values and fixes shown of a column."""
COLUMNS = 12
"""Columns shown before the rest is folded away."""
FINGERPRINT = 12
"""Signs of the table's fingerprint that the page shows."""
ENDINGS = (".csv.gz", ".csv", ".parquet", ".jsonl", ".xlsx")
"""Of tables that `carat apply` can write."""


def write_audit(
    result: AuditResult,
    path: str | Path,
    *,
    title: str | None = None,
    advance: Callable[[int], None] | None = None,
) -> None:
    """Write an audit as one self-contained HTML page.

    Args:
        result: what `carat.audit` gave.
        path: the file; an existing one is replaced.
        title: the heading; None names the table.
        advance: is told of cells done.
    """
    target = check_page(path)
    text = render_audit(result, title=title, advance=advance)
    with replacing(target) as temporary:
        temporary.write_text(text, encoding="utf-8")


def render_audit(result: AuditResult, *, title: str | None = None, advance: Callable[[int], None] | None = None) -> str:
    """The page as text."""
    files = FileNames.of(result)
    data = {**audit_content(result, advance), "table": files.table, "download": files.cells, "command": files.command}
    glance = _glance(result)
    return assemble(
        "audit/page.html.j2",
        STYLES,
        SCRIPTS,
        title=title or (f"Suspicious cells in {files.table}" if files.table else "Suspicious cells"),
        cells=len(result),
        listed=len(data["cells"]["row"]),
        detailed=len(data["similar"]),
        wrong_rows=len(set(result.findings.row.tolist())),
        rows=result.rows,
        rate=None if math.isnan(result.rate) else result.rate,
        kinds=result.kinds(),
        named=sorted(glance, key=lambda column: column["place"]),
        glance=glance,
        unfolded=COLUMNS,
        by_text=[report for report in result.columns if report.role == "text"],
        left_out=[report for report in result.columns if report.role == "left out"],
        remarks=[_sentence(remark.text) for remark in result.remarks if remark.code not in SAID],
        footer=_footer(result, files),
        files=files,
        data=as_script(data),
    )


SAID = ("audited", "text-alone", "left-out")
"""Remarks that the page makes by its list of columns."""


@dataclass(frozen=True)
class FileNames:
    """The names under which decisions are taken to the table.

    Args:
        table: the table's own; empty where it was no file.
        cells: of the downloaded decisions.
        command: that applies them.
    """

    table: str
    cells: str
    command: str

    @classmethod
    def of(cls, result: AuditResult) -> FileNames:
        """As they follow from the name of the table; where it lay is nobody's business whom the page is sent to."""
        label = result.reading.label if result.origin is None else result.origin.data
        name = Path(label).name
        ending = next((ending for ending in ENDINGS if name.lower().endswith(ending)), "")
        stem = name[: len(name) - len(ending)] if ending else ""
        cells = f"{stem}-cells.csv" if stem else "cells.csv"
        words = [
            "carat",
            "apply",
            cells,
            name if stem else "TABLE",
            "--out",
            f"{stem}-fixed{ending}" if stem else "FILE",
        ]
        for flag, given in (("--id", result.options.id), ("--encoding", result.reading.encoding)):
            words += [] if given is None else [flag, given]
        return cls(name if stem else "", cells, shlex.join(words))


class AuditPage(PlainSink[AuditResult]):
    """The page as a sink of an audit.

    Args:
        path: the page.
        title: the heading; None names the table.
        force: whether an existing page is replaced.
    """

    def __init__(self, path: str | Path, *, title: str | None = None, force: bool = False) -> None:
        environment()
        self.path, self.title = check_page(path), title
        check_place(self.path, force=force)
        self.result: AuditResult | None = None

    def take(self, batch: AuditResult) -> None:
        """Keep it until all is well."""
        self.result = batch

    def finish(self, job: AuditJob) -> None:
        """Write the page."""
        assert self.result is not None
        stage = job.observer.stage("writing the page", len(self.result))
        write_audit(self.result, self.path, title=self.title, advance=stage.advance)
        stage.finish()


def _glance(result: AuditResult) -> list[dict[str, Any]]:
    """The columns with suspicious cells, those with the most first: how many, of which kinds, and what recurs."""
    found, values = result.findings, result.to_arrow()["value"].to_pylist()
    columns = []
    for place, report in enumerate(found.columns):
        at = np.flatnonzero(found.column == place).tolist()
        if not at:
            continue
        kinds = Counter(found.kind[k] for k in at)
        often = Counter((values[k], found.proposal[k]) for k in at)
        columns.append(
            {
                "place": place,
                "name": report.name,
                "count": len(at),
                "share": len(at) / max(result.rows, 1),
                "kinds": [(kind, kinds[kind], 100 * kinds[kind] / len(at)) for kind in KINDS if kinds[kind]],
                "examples": [(value, fix, count) for (value, fix), count in often.most_common(EXAMPLES)],
                "by_text": report.role == "text",
            }
        )
    return sorted(columns, key=lambda column: -column["count"])


def _sentence(remark: str) -> str:
    """A remark as it stands on a page: by itself, while on a terminal it is one of several lines."""
    return sentence(remark[:1].upper() + remark[1:])


def _footer(result: AuditResult, files: FileNames) -> list[str]:
    """What made the page, and of what; enough to know the result again."""
    origin = result.origin
    if origin is None:
        return [f"carat {__version__}"]
    made = datetime.fromisoformat(origin.made).astimezone(UTC)
    table = f"{files.table or 'a table'} with {many(origin.rows, 'row')}"
    return [
        f"carat {origin.carat}",
        f"made {made:%Y-%m-%d %H:%M} UTC",
        f"from {table}, fingerprint {origin.fingerprint[:FINGERPRINT]}",
        "this page holds rows of the table",
    ]
