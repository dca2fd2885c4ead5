"""Results as Markdown tables: mean ± standard deviation over anomalies, the best in bold, the paper's beside."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from carat.experiments.contest import ALL_METHODS, BY_NAME_ONLY
from carat.experiments.paper import PAPER_DATASETS, printed
from carat.metrics import summary

METRICS = {
    "feature_accuracy": "Feature Accuracy",
    "heterogeneity": "Heterogeneity",
    "coherence": "Coherence",
    "sparsity_index": "Sparsity Index",
    "conditional_correctness": "Conditional Correctness",
}
"""The paper's five, as its tables are ordered; all of them: more is better."""
EXTRA = {"validity": "Validity", "raw_sparsity": "Domains changed", "count_diversity": "Count diversity"}
RECOVERY = (1, 10, 50)
ORDER = (*ALL_METHODS, *BY_NAME_ONLY)


@dataclass(frozen=True)
class Figure:
    """A mean with its spread over all anomalies of all seeds."""

    mean: float
    spread: float

    def text(self, digits: int = 4) -> str:
        """As the tables print it."""
        return "–" if math.isnan(self.mean) else f"{self.mean:.{digits}f} ± {self.spread:.{digits}f}"


def figure(values: Sequence[float | None]) -> Figure:
    """Of values with gaps."""
    kept = torch.tensor([value for value in values if value is not None], dtype=torch.float64)
    if not len(kept):
        return Figure(math.nan, math.nan)
    return Figure(float(kept.mean()), float(kept.std()) if len(kept) > 1 else 0.0)


class Results:
    """Cells of a bench, ready to be asked.

    Args:
        cells: as `carat.experiments.bench.read_cells` gives them.
    """

    def __init__(self, cells: Sequence[Mapping[str, Any]]) -> None:
        self.cells = list(cells)
        self.data = list(dict.fromkeys(cell["data"] for cell in cells))
        found = {cell["cell"] for cell in cells}
        self.methods = [name for name in ORDER if name in found]

    def of(self, data: str, cell: str) -> list[Mapping[str, Any]]:
        """The cells of a dataset and method, one a seed."""
        return [each for each in self.cells if each["data"] == data and each["cell"] == cell]

    def figure(self, data: str, cell: str, metric: str) -> Figure:
        """Mean and spread of a metric over the anomalies of all seeds."""
        return figure([v for each in self.of(data, cell) for v in each.get("values", {}).get(metric, [])])

    def recovery(self, data: str, cell: str, k: int) -> float:
        """Share of anomalies whose original is among the first k."""
        ranks = [rank for each in self.of(data, cell) for rank in each.get("rank", [])]
        return sum(0 < rank <= k for rank in ranks) / len(ranks) if ranks else math.nan

    def scalar(self, data: str, cell: str, key: str) -> float:
        """Mean over seeds of a number that a cell has once."""
        return figure([each.get(key) for each in self.of(data, cell)]).mean

    def device(self, data: str, cell: str) -> str:
        """Where a method ran: `cpu` or `cuda`."""
        return str(next((each.get("device", "cpu") for each in self.of(data, cell)), "cpu"))

    def summary(self, methods: Sequence[str]) -> dict[str, float]:
        """The paper's Summary over these methods."""
        values = {
            metric: {data: {name: self.figure(data, name, metric).mean for name in methods} for data in self.data}
            for metric in METRICS
        }
        return summary(values)


def digest(cell: Mapping[str, Any]) -> dict[str, Any]:
    """A cell without its anomalies: means and spreads instead of lists."""
    kept = {key: value for key, value in cell.items() if key not in ("values", "rank", "corruptions")}
    if "values" in cell:
        found = {name: figure(values) for name, values in cell["values"].items()}
        kept["metrics"] = {
            name: None if math.isnan(each.mean) else [round(each.mean, 6), round(each.spread, 6)]
            for name, each in found.items()
        }
        ranks = cell["rank"]
        kept["anomalies"] = len(ranks)
        kept["recovery"] = {str(k): sum(0 < rank <= k for rank in ranks) / max(len(ranks), 1) for k in RECOVERY}
    return kept


def tables(cells: Sequence[Mapping[str, Any]]) -> str:
    """Everything as one Markdown page."""
    results = Results(cells)
    parts = [_datasets(results)]
    parts += [_metric(results, metric, title) for metric, title in METRICS.items()]
    parts += [_recovery(results), _summary(results), _time(results)]
    parts += [_metric(results, metric, title, bold=False) for metric, title in EXTRA.items()]
    parts += [_dial(results), _stability(results), _failures(results)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _markdown(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> str:
    lines = [f"## {title}", ""]
    if note:
        lines += [note, ""]
    lines += ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def _datasets(results: Results) -> str:
    rows = []
    for data in results.data:
        first = next(cell for cell in results.cells if cell["data"] == data)
        seeds = sorted({cell["seed"] for cell in results.cells if cell["data"] == data})
        kind = "synthetic" if first["synthetic"] else "real"
        count = max((len(cell.get("rank", [])) for cell in results.cells if cell["data"] == data), default=0)
        rows.append(
            [
                data,
                kind,
                f"{first['entities']:,}",
                str(first["domains"]),
                f"{first['train']:,}",
                f"{count}",
                ", ".join(map(str, seeds)),
            ]
        )
    return _markdown("Datasets", ["data", "", "entities", "domains", "training records", "anomalies", "seeds"], rows)


def _metric(results: Results, metric: str, title: str, *, bold: bool = True) -> str:
    """One metric: a row a dataset, with the paper's printed means in brackets."""
    rows = []
    for data in results.data:
        figures = {name: results.figure(data, name, metric) for name in results.methods}
        best = max((f.mean for f in figures.values() if not math.isnan(f.mean)), default=math.nan)
        row = [data]
        for name, value in figures.items():
            text = value.text()
            if bold and value.mean == best:
                text = f"**{text}**"
            beside = printed(metric, data, name)
            share = results.scalar(data, name, "coverage")
            text += f" [{beside:.4f}]" if beside is not None else ""
            text += f" (of {100 * share:.0f} %)" if share < 1 else ""
            row.append(text)
        rows.append(row)
    known = any(data in PAPER_DATASETS for data in results.data) and metric in METRICS
    note = "In square brackets what the paper prints for the data whose shape the schema has." if known else ""
    return _markdown(title, ["data", *results.methods], rows, note)


def _recovery(results: Results) -> str:
    rows = []
    for data in results.data:
        for k in RECOVERY:
            shares = {name: results.recovery(data, name, k) for name in results.methods}
            best = max((s for s in shares.values() if not math.isnan(s)), default=math.nan)
            rows.append([f"{data}, @{k}", *(f"**{s:.3f}**" if s == best else f"{s:.3f}" for s in shares.values())])
    note = "Share of anomalies whose original record, before corruption, is among the first k counterfactuals."
    return _markdown("Recovery", ["data, k", *results.methods], rows, note)


def _summary(results: Results) -> str:
    groups: dict[str, list[str]] = {
        "the paper's five": [m for m in ("replace-m", "fimap", "rceaa", "xformer-r", "carat") if m in results.methods],
        "all": [m for m in ALL_METHODS if m in results.methods],
    }
    rows = []
    for label, names in groups.items():
        if len(names) < 2:
            continue
        values = results.summary(names)
        best = max(values.values())
        rows.append(
            [label]
            + [
                ("–" if m not in values else f"**{values[m]:.4f}**" if values[m] == best else f"{values[m]:.4f}")
                for m in results.methods
            ]
        )
    note = "Each metric averaged over datasets, min-max normalised over methods, averaged over the five metrics."
    return _markdown("Summary", ["over", *results.methods], rows, note) if rows else ""


def _time(results: Results) -> str:
    rows = [[data, *(_seconds(results, data, name) for name in results.methods)] for data in results.data]
    return _markdown("Seconds an anomaly, after all training", ["data", *results.methods], rows)


def _seconds(results: Results, data: str, name: str) -> str:
    value = results.scalar(data, name, "seconds")
    if math.isnan(value):
        return "–"
    return f"{value:.4f}" + (" (GPU)" if results.device(data, name) == "cuda" else "")


def _dial(results: Results) -> str:
    found = sorted({cell["cell"] for cell in results.cells if cell["cell"].startswith("dial-")})
    rows = [
        [
            data,
            f"{_prefer(cell):g}",
            *(f"{results.figure(data, cell, m).mean:.4f}" for m in ("conditional_correctness", "coherence")),
            f"{results.recovery(data, cell, 1):.3f}",
            f"{results.scalar(data, cell, 'counterfactuals'):.1f}",
        ]
        for data in results.data
        for cell in sorted([*found, "carat-plus"], key=_prefer)
        if found
    ]
    head = ["data", "prefer", "Conditional Correctness", "Coherence", "Recovery@1", "counterfactuals"]
    return _markdown("Along the dial of carat-plus", head, rows) if rows else ""


def _prefer(cell: str) -> float:
    return 0.5 if cell == "carat-plus" else float(cell.removeprefix("dial-"))


def _stability(results: Results) -> str:
    rows = []
    for data in results.data:
        for each in results.of(data, "stability"):
            for metric in ("sparsity_index", "conditional_correctness", "coherence"):
                ape, mead = (each["stability"][name][metric] for name in ("ape", "mead"))
                rows.append(
                    [f"{data}, seed {each['seed']}", METRICS[metric], *(Figure(*f).text() for f in (ape, mead))]
                )
    note = "`carat` on the lowest 1 % of the test set, by each detector."
    return _markdown("Stability", ["data", "metric", "APE", "MEAD"], rows, note) if rows else ""


def _failures(results: Results) -> str:
    rows = [
        [cell["data"], cell["cell"], str(cell.get("error") or cell["note"])]
        for cell in results.cells
        if "error" in cell or "note" in cell
    ]
    return _markdown("What did not run to its end", ["data", "method", "why"], rows) if rows else ""
