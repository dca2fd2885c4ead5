"""The command line; `carat --help` lists the commands."""

from carat.cli import bench, demo, explain, fit, inspect, recourse, score
from carat.cli.app import app, main, run

__all__ = ["app", "main", "run", "bench", "demo", "explain", "fit", "inspect", "recourse", "score"]
