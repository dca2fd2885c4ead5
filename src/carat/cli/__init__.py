"""The command line; `carat --help` lists the commands in this order."""

from carat.cli import demo, audit, apply, fit, update, score, explain, recourse, inspect, bench  # isort: skip
from carat.cli.app import app, main, run

__all__ = ["app", "main", "run"]
__all__ += ["demo", "audit", "apply", "fit", "update", "score", "explain", "recourse", "inspect", "bench"]
