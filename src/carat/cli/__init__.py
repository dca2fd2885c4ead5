"""The command line; `carat --help` lists the commands."""

from carat.cli import demo, explain, fit, inspect, score
from carat.cli.app import app, main, run

__all__ = ["app", "main", "run", "demo", "explain", "fit", "inspect", "score"]
