"""carat: which values of a flagged row do not belong together, and what would have made the row normal.

Learn what is normal from a table, then ask about rows:

>>> import carat
>>> table = {
...     "Port": ["Callao", "Leith"] * 100,
...     "Goods": ["fish meal", "whisky"] * 100,
...     "Origin": ["Peru", "Scotland"] * 100,
... }
>>> model = carat.fit(table, profile="instant")
>>> row = {"Port": "Callao", "Goods": "whisky", "Origin": "Peru"}
>>> model.explain(row)["flagged"].to_pylist()
[['Goods']]
>>> print(model.recourse(row).explain(0))
Row 0: anomalous, alarm 1.00, percentile 0.00
  Goods whisky is unlikely here: never seen with Port Callao, which usually goes with fish meal.
  Of the 90 training rows most like this one, all have Goods fish meal.
  1. Goods whisky → fish meal (percentile 100.0)

Or audit a table as it is, without a clean history: `carat.audit(table)` lists the cells that are probably wrong, and
what should be there.

A table is a pandas, polars or Arrow frame, a dictionary of columns, or the path of a csv, parquet, jsonl or xlsx file.

Main calls:
    carat.audit(table): which cells of a table are probably wrong; returns an `AuditResult`.
    carat.apply(cells, table): the table with the cells fixed that you decided on, or that are certain enough.
    carat.fit(table): learn what is normal; returns a `Model`.
    model.score(table): how normal every row is.
    model.explain(table): how likely every value is, given the rest of its row.
    model.recourse(table): suggested fixes for the anomalous rows; returns a `RecourseResult`.
    result.explain(row): one row in words.
    result.to_frame(): all suggested fixes as a frame.
    result.report("page.html"): the same as a page.
    model.update(table): the model with new rows in it, without fitting again.
    model.save("folder"), carat.load("folder"): keep a model, and read it back.
    carat.datasets.flights(), carat.datasets.spoil(table): a real table to try things on, and errors to find in it.
    carat.sklearn.CaratDetector(): the same as a scikit-learn outlier detector.

`help(carat.audit)`, `help(carat.fit)`, `help(carat.Model)` and `help(carat.RecourseResult)` have the arguments.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from carat._version import __version__
from carat.errors import CaratError, InputError

if TYPE_CHECKING:
    from carat import data, datasets, detectors, explain, graph, jobs, metrics, recourse, results, testing
    from carat.auditing.result import AuditResult
    from carat.data import Columns, Schema
    from carat.fitting import Model, fit, fit_prepared, load, prepare
    from carat.jobs.apply_frame import apply, revert
    from carat.jobs.audit_frame import audit
    from carat.recourse import Constraints, Costs
    from carat.results import Explanation, RecourseResult, Threshold

# torch's threads wait for each other by spinning. On a machine with other work that takes its cores from the very
# thread that is waited for: two fits at once took three times as long as one; `benchmarks/busy.py` measures it.
# Read once, when torch is imported; who has set it, or how to wait, knows better.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")

__all__ = [
    "AuditResult",
    "CaratError",
    "Columns",
    "Constraints",
    "Costs",
    "Explanation",
    "InputError",
    "Model",
    "RecourseResult",
    "Schema",
    "Threshold",
    "__version__",
    "apply",
    "audit",
    "data",
    "datasets",
    "detectors",
    "explain",
    "fit",
    "fit_prepared",
    "graph",
    "jobs",
    "load",
    "metrics",
    "prepare",
    "recourse",
    "results",
    "revert",
    "testing",
]

# Looked up when first asked for: torch takes seconds to import, and `carat --help` or a Tab should not wait for it.
_HOMES = {
    "AuditResult": "carat.auditing.result",
    "Columns": "carat.data",
    "Constraints": "carat.recourse",
    "Costs": "carat.recourse",
    "Explanation": "carat.results",
    "Model": "carat.fitting",
    "RecourseResult": "carat.results",
    "Schema": "carat.data",
    "Threshold": "carat.results",
    "apply": "carat.jobs.apply_frame",
    "audit": "carat.jobs.audit_frame",
    "fit": "carat.fitting",
    "fit_prepared": "carat.fitting",
    "load": "carat.fitting",
    "prepare": "carat.fitting",
    "revert": "carat.jobs.apply_frame",
}
_PACKAGES = (
    "data",
    "datasets",
    "detectors",
    "explain",
    "graph",
    "jobs",
    "metrics",
    "recourse",
    "results",
    "sklearn",
    "testing",
)


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"carat.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'carat' has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
