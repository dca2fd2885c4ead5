"""How the parts of a page become one file: styles and scripts from the folder `templates`, filled in by jinja2."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from pathlib import Path
from typing import Any

from carat.arguments import check_path
from carat.errors import InputError, MissingExtraError
from carat.report.palette import DARK, LIGHT, declarations

EARLY = ("theme.js",)
"""Run before anything is painted."""


def check_page(path: Any) -> Path:
    """Where a page is written."""
    target = check_path("path", path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{target}: the report is an HTML page; end its name in .html")
    return target


def assemble(name: str, styles: tuple[str, ...], scripts: tuple[str, ...], **content: Any) -> str:
    """A page as text.

    Args:
        name: of its template.
        styles: the parts of its style sheet.
        scripts: the parts of its script.
        content: what else the template asks for.
    """
    early, script = _script(EARLY), _script(scripts)
    page: str = (
        environment()
        .get_template(name)
        .render(
            light=declarations(LIGHT),
            dark=declarations(DARK),
            style="\n".join(_template(part) for part in styles),
            early=early,
            script=script,
            hashes=[_hash(early), _hash(script)],
            **content,
        )
    )
    return page


def environment() -> Any:
    """What fills in templates, or an error that names the extra."""
    try:
        import jinja2  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtraError("jinja2", "report", "the report") from error
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("carat.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["number"] = lambda value: f"{value:,}"
    made.filters["short"] = lambda value: f"{value:.4g}".replace("-", "−")
    return made


def _script(names: tuple[str, ...]) -> str:
    """Scripts as one function of their own."""
    return "\n(() => {\n'use strict';\n" + "\n".join(_template(name) for name in names) + "\n})();\n"


def _hash(script: str) -> str:
    """By which the page allows this script and no other."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _template(name: str) -> str:
    return (files("carat.report") / "templates" / name).read_text(encoding="utf-8")
