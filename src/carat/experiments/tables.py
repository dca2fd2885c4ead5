"""Results as Markdown tables: mean ± standard deviation over anomalies, the best in bold, the paper's beside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from carat.experiments.cells import Cell, Kind
from carat.experiments.paper import PAPER_DATASETS, printed
from carat.metrics import summary
from carat.registry import DETECTORS, methods

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
        cells: as `Bench.cells` gives them.
    """

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.cells = list(cells)
        self.data = list(dict.fromkeys(cell.key.data for cell in cells))
        found = {cell.key.method for cell in cells if cell.key.kind == "method"}
        self.methods = [name for name in methods() if name in found]
        self.dial = sorted({cell.key.prefer for cell in cells if cell.key.kind == "dial"})

    def of(self, data: str, method: str = "", *, kind: Kind = "method", prefer: float = 0.5) -> list[Cell]:
        """The cells of a dataset and method, one per seed."""
        wanted = (data, kind, method, prefer)
        return [
            each for each in self.cells if (each.key.data, each.key.kind, each.key.method, each.key.prefer) == wanted
        ]

    def along(self, data: str, prefer: float) -> list[Cell]:
        """`carat-plus` at a place of its dial; in the middle it is the method itself."""
        return self.of(data, "carat-plus", kind="method" if prefer == 0.5 else "dial", prefer=prefer)

    def figure(self, cells: Sequence[Cell], metric: str) -> Figure:
        """Mean and spread of a metric over the anomalies of all seeds."""
        return figure([v for each in cells if each.measured for v in each.measured.values.get(metric, [])])

    def recovery(self, cells: Sequence[Cell], k: int) -> float:
        """Share of anomalies whose original is among the first k."""
        ranks = [rank for each in cells if each.measured for rank in each.measured.rank]
        return sum(0 < rank <= k for rank in ranks) / len(ranks) if ranks else math.nan

    def scalar(self, cells: Sequence[Cell], name: str) -> float:
        """Mean over seeds of a number that a cell has once."""
        return figure([getattr(each.measured, name) for each in cells if each.measured]).mean

    def device(self, cells: Sequence[Cell]) -> str:
        """Where a method ran: `cpu` or `cuda`."""
        return next((each.setting.device for each in cells), "cpu")

    def summary(self, methods: Sequence[str]) -> dict[str, float]:
        """The paper's Summary over these methods."""
        values = {
            metric: {
                data: {name: self.figure(self.of(data, name), metric).mean for name in methods} for data in self.data
            }
            for metric in METRICS
        }
        return summary(values)


def digest(cell: Cell) -> dict[str, Any]:
    """A cell without its anomalies: means and spreads instead of lists."""
    whole = cell.to_json()
    kept: dict[str, Any] = {**whole["key"], **whole["setting"]}
    kept |= {name: whole[name] for name in ("stability", "detection", "case", "error") if whole[name] is not None}
    if cell.measured is None:
        return kept
    lists = ("values", "rank", "corruptions")
    kept |= {name: value for name, value in whole["measured"].items() if name not in lists and value is not None}
    found = {name: figure(values) for name, values in cell.measured.values.items()}
    kept["metrics"] = {
        name: None if math.isnan(each.mean) else [round(each.mean, 6), round(each.spread, 6)]
        for name, each in found.items()
    }
    ranks = cell.measured.rank
    kept["answered"] = len(ranks)
    kept["recovery"] = {str(k): sum(0 < rank <= k for rank in ranks) / max(len(ranks), 1) for k in RECOVERY}
    return kept


def tables(cells: Sequence[Cell]) -> str:
    """Everything as one Markdown page."""
    results = Results(cells)
    parts = [_datasets(results)]
    parts += [_metric(results, metric, title) for metric, title in METRICS.items()]
    parts += [_recovery(results), _summary(results), _detection(results), _time(results)]
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
        mine = [cell for cell in results.cells if cell.key.data == data]
        setting = mine[0].setting
        seeds = sorted({cell.key.seed for cell in mine})
        kind = "synthetic" if setting.synthetic else "real"
        count = max((len(cell.measured.rank) for cell in mine if cell.measured), default=0)
        rows.append(
            [
                data,
                kind,
                f"{setting.entities:,}",
                str(setting.domains),
                f"{setting.train:,}",
                f"{count}",
                ", ".join(map(str, seeds)),
            ]
        )
    return _markdown("Datasets", ["data", "", "entities", "domains", "training records", "anomalies", "seeds"], rows)


def _metric(results: Results, metric: str, title: str, *, bold: bool = True) -> str:
    """One metric: a row per dataset, with the paper's printed means in brackets."""
    rows = []
    for data in results.data:
        figures = {name: results.figure(results.of(data, name), metric) for name in results.methods}
        best = max((f.mean for f in figures.values() if not math.isnan(f.mean)), default=math.nan)
        row = [data]
        for name, value in figures.items():
            text = value.text()
            if bold and value.mean == best:
                text = f"**{text}**"
            beside = printed(metric, data, name)
            share = results.scalar(results.of(data, name), "coverage")
            text += f" [{beside:.4f}]" if beside is not None else ""
            text += f" (of {100 * share:.0f} %)" if share < 1 else ""
            row.append(text)
        rows.append(row)
    known = any(data in PAPER_DATASETS for data in results.data) and metric in METRICS
    note = "In square brackets: what the paper prints for the dataset this schema imitates." if known else ""
    return _markdown(title, ["data", *results.methods], rows, note)


def _recovery(results: Results) -> str:
    rows = []
    for data in results.data:
        for k in RECOVERY:
            shares = {name: results.recovery(results.of(data, name), k) for name in results.methods}
            best = max((s for s in shares.values() if not math.isnan(s)), default=math.nan)
            rows.append([f"{data}, @{k}", *(f"**{s:.3f}**" if s == best else f"{s:.3f}" for s in shares.values())])
    note = "Share of anomalies whose original record, before corruption, is among the first k counterfactuals."
    return _markdown("Recovery", ["data, k", *results.methods], rows, note)


def _summary(results: Results) -> str:
    groups: dict[str, list[str]] = {
        "the paper's five": [m for m in ("replace-m", "fimap", "rceaa", "xformer-r", "carat") if m in results.methods],
        "all": [m for m, entry in methods().items() if entry.in_all and m in results.methods],
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
    return _markdown("Seconds per anomaly, after all training", ["data", *results.methods], rows)


def _seconds(results: Results, data: str, name: str) -> str:
    cells = results.of(data, name)
    value = results.scalar(cells, "seconds")
    if math.isnan(value):
        return "–"
    return f"{value:.4f}" + (" (GPU)" if results.device(cells) == "cuda" else "")


def _dial(results: Results) -> str:
    rows = [
        [
            data,
            f"{prefer:g}",
            *(f"{results.figure(cells, m).mean:.4f}" for m in ("conditional_correctness", "coherence")),
            f"{results.recovery(cells, 1):.3f}",
            f"{results.scalar(cells, 'counterfactuals'):.1f}",
        ]
        for data in results.data
        for prefer in sorted({*results.dial, 0.5})
        for cells in [results.along(data, prefer)]
        if results.dial
    ]
    head = ["data", "prefer", "Conditional Correctness", "Coherence", "Recovery@1", "counterfactuals"]
    return _markdown("Along the dial of carat-plus", head, rows) if rows else ""


def _detection(results: Results) -> str:
    """ROC-AUC and what is caught, of every detector and of the gate; means over seeds."""
    rows = []
    names: dict[str, None] = {}
    for data in results.data:
        found = [cell.detection for cell in results.of(data, kind="detection") if cell.detection]
        names |= dict.fromkeys(name for one in found for name in one)
        for measure in dict.fromkeys(key for one in found for told in one.values() for key in told):
            means = [figure([one.get(name, {}).get(measure) for one in found]).mean for name in names]
            texts = ["–" if math.isnan(mean) else f"{mean:.3f}" for mean in means]
            rows.append([f"{data}, {_measure(measure)}", *texts])
    note = (
        "ROC-AUC on later records, untouched and with one or two wrong entities; caught: of those with one, the share "
        "listed where so many of the untouched ones are."
    )
    head = ["data", *(DETECTORS[name].label if name in DETECTORS else name for name in names)]
    return _markdown("What detectors and the gate find", head, rows, note) if rows else ""


def _measure(name: str) -> str:
    """ROC-AUC, or a share of false alarms."""
    return "ROC-AUC" if name == "roc_auc" else f"caught at {100 * float(name.partition('_')[2]):g} % false alarms"


def _stability(results: Results) -> str:
    compared: dict[str, None] = {}
    rows = []
    for cell in (cell for data in results.data for cell in results.of(data, kind="stability")):
        found = cell.stability or {}
        compared |= dict.fromkeys(found)
        for metric in ("sparsity_index", "conditional_correctness", "coherence"):
            texts = [Figure(*by_metric[metric]).text() for by_metric in found.values()]
            rows.append([f"{cell.key.data}, seed {cell.key.seed}", METRICS[metric], *texts])
    note = "`carat` on the lowest 1 % of the test set, by each detector."
    head = ["data", "metric", *(DETECTORS[name].label for name in compared)]
    return _markdown("Stability", head, rows, note) if rows else ""


def _failures(results: Results) -> str:
    told = [(cell, cell.error or (cell.measured.note if cell.measured else None)) for cell in results.cells]
    rows = [[cell.key.data, cell.key.title, why] for cell, why in told if why]
    return _markdown("What did not run to its end", ["data", "method", "why"], rows) if rows else ""
