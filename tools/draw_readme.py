"""The pictures of the README: a terminal and the report page, from what `carat demo` wrote, and the page of an audit.

    carat demo
    python tools/draw_readme.py --demo carat-demo --out docs/assets

Needs Chromium. `--only audit` draws the last one alone, which needs no demo. The terminal's picture is what the command
below really prints, colours and all.
"""

from __future__ import annotations

import argparse
import io
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pyarrow.csv import write_csv
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from carat.data.slips import slip
from carat.datasets import flights

COLUMNS = 108
SHOWN = 2
"""Rows in the terminal's picture."""
ROWS = 3_000
SLIPS = 0.02
"""Departures that are audited, and the share of their cells that is spoiled."""
OPENING = "document.querySelector('.item button').click()"
"""The strangest row of a report is opened."""
DECIDING = "for (let n = 0; n < 3; n++) document.querySelector('[data-action=accept]').click()"
"""The first cells of an audit are decided."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
THEME = TerminalTheme(
    (252, 252, 251),
    (32, 34, 38),
    [
        (32, 34, 38),
        (176, 58, 30),
        (0, 112, 70),
        (140, 96, 0),
        (38, 84, 160),
        (120, 60, 140),
        (0, 110, 120),
        (90, 94, 102),
    ],
)
"""Of the report's light page: signs on a light ground, readable on a light and on a dark README."""
SVG = """<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>carat recourse in a terminal</title>
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
<rect fill="#fcfcfb" x="0" y="0" width="{width}" height="{height}"/>
<rect fill="none" stroke="#c9ccd1" stroke-width="4" x="0" y="0" width="{width}" height="{height}"/>
<g transform="translate(16, 8)" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""rich's own would load a font from the network; this one takes what the reader has."""


def main() -> None:
    """Draw them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--demo", type=Path, default=Path("carat-demo"), help="folder that `carat demo` wrote")
    parser.add_argument("--out", type=Path, default=Path("docs/assets"))
    parser.add_argument("--only", choices=("demo", "audit"), help="draw only these; default: all")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.only != "audit":
        draw_terminal(options.demo, options.out / "terminal.svg")
        draw_page(options.demo / "report.html", options.out / "report.png", OPENING, 1_240)
    if options.only != "demo":
        draw_audit(options.out / "audit.png")


def draw_terminal(demo: Path, target: Path) -> None:
    """What `carat recourse` shows, as SVG."""
    # The demo's folder by the name that a reader has for it.
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "carat-demo").symlink_to(demo.resolve())
        words = ["carat", "recourse", "carat-demo/model", "carat-demo/spoiled.csv", "--top", "20", "--show", str(SHOWN)]
        shown = in_terminal(words[1:], Path(folder))
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.assemble(("$ ", "dim"), (" ".join(words), "bold")), end="\n\n")
    console.print(Text.from_ansi(without_bars(shown)))
    drawn = console.export_svg(title="", theme=THEME, code_format=SVG, unique_id="carat")
    target.write_text("\n".join(line.rstrip() for line in drawn.splitlines()) + "\n", encoding="utf-8")


def in_terminal(arguments: list[str], folder: Path) -> str:
    """Everything that carat prints on a pseudo-terminal."""
    parent, child = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    command = [sys.executable, "-c", "from carat.cli import main; main()", *arguments]
    with subprocess.Popen(command, stdout=child, stderr=child, cwd=folder, env=environment) as process:
        os.close(child)
        seen = b""
        while part := read(parent):
            seen += part
    os.close(parent)
    if process.returncode:
        sys.exit(seen.decode())
    return seen.decode()


def read(terminal: int) -> bytes:
    """The next bytes; none when the other end has gone."""
    try:
        return os.read(terminal, 65_536)
    except OSError:
        return b""


def without_bars(shown: str) -> str:
    """A bar is redrawn in place; a picture shows how it ended, which is nothing to look at."""
    after = shown.replace("\r\n", "\n").rpartition("\x1b[?25h")[2]
    return re.sub(r"\x1b\[\?\d+[hl]", "", after).strip("\n")


def draw_audit(target: Path) -> None:
    """The page of an audit of some bundled departures in which slips were made, three of its cells decided."""
    departures = flights().table.slice(0, ROWS).drop_columns(["Date", "TailNum"])
    with tempfile.TemporaryDirectory() as folder:
        write_csv(slip(departures, share=SLIPS, seed=3).table, Path(folder) / "departures.csv")
        in_terminal(["audit", "departures.csv", "--report", "page.html"], Path(folder))
        draw_page(Path(folder) / "page.html", target, DECIDING, 1_500)


def draw_page(page: Path, target: Path, doing: str, height: int) -> None:
    """The top of a page as a browser shows it, after a person did something on it."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        sys.exit("no Chromium found; install it to draw the page")
    text = page.read_text(encoding="utf-8")
    # The page allows its own scripts alone. This copy is allowed one more, which does what a person would.
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    text += "<style>html { border: 2px solid #c9ccd1 }</style>"
    text += f"<script>addEventListener('load', () => {{ {doing} }})</script>"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1"]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / page.name
        copy.write_text(text, encoding="utf-8")
        size = [f"--window-size=1180,{height}", "--virtual-time-budget=5000", f"--screenshot={target.resolve()}"]
        size.append(f"--user-data-dir={folder}/profile")  # of its own, with no decisions in it
        done = subprocess.run([browser, *flags, *size, copy.as_uri()], capture_output=True, text=True, check=False)
    if done.returncode or not target.exists():
        sys.exit(done.stderr)


if __name__ == "__main__":
    main()
