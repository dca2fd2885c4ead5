"""The work of `carat demo`: the bundled flights, from the table to suggested fixes."""

from __future__ import annotations

from pathlib import Path

import torch
from rich.console import Console
from torch import Tensor

from carat import jobs
from carat.cli.app import say
from carat.cli.terminal import terminal
from carat.cli.view import diff
from carat.data import Anomalies, Table, TableWriter, corrupt, open_source
from carat.data.table import Unseen
from carat.datasets import flights
from carat.errors import InputError, MissingExtraError
from carat.explain import CUT, Judge
from carat.fitting import Model
from carat.fitting import fit as fit_model
from carat.jobs.frames import recourse_result
from carat.jobs.sinks import PlainSink
from carat.metrics import recovered_at, recovery
from carat.recourse import Outcome, Settings
from carat.results import ExplainBatch, RecourseResult, ScoreBatch
from carat.results.gate import strangest_first

TRAIN_ROWS = 30_000
LATER_ROWS = 2_000
SPOILED = 200
THRESHOLD = 0.05
"""The default, 1 %, is for tables in which wrong records are rare; here one in ten is."""
TRANSFORMER = {"epochs": (9, 4, 5)}
"""The profile `fast` with fewer epochs: a demo should not outlast a coffee."""
CASES = 3
SHOWN = 3
"""Suggested fixes shown per case."""


def show_all(out: Path) -> None:
    """Everything that `carat demo` does, with what is made written to a folder."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: this is a file; name a folder")
    out.mkdir(parents=True, exist_ok=True)
    dataset = flights()
    say(f"{dataset.about} {dataset.table.num_rows:,} departures, eight columns.")
    say(f"1. Learning what is normal from the first {TRAIN_ROWS:,} departures …")
    model = _fit()
    model.save(out / "model", force=True)
    later, spoiled, anomalies = _spoil(model)
    say(
        f"2. In {len(anomalies)} of the next {len(later):,} departures, one or two values were replaced by others "
        "that do not belong. The model does not know which."
    )
    _write(out / "spoiled.csv", spoiled.decode())
    heard = _Heard()
    jobs.score(model, spoiled).into(jobs.TableSink(out / "scores.csv", ScoreBatch.rows, force=True), heard)
    jobs.explain(model, spoiled).into(jobs.TableSink(out / "likelihoods.csv", ExplainBatch.rows, force=True))
    caught = torch.isin(heard.order()[: len(anomalies)], anomalies.row).sum()
    listed = torch.cat([batch.anomalous for batch in heard.batches])
    right = int(listed[anomalies.row].sum())
    say(
        f"Found: {caught} of the {len(anomalies)} strangest departures are spoiled ones "
        f"(chance would give {len(anomalies) ** 2 // len(later)}). The threshold is set at the strangest "
        f"{100 * THRESHOLD:g}% of normal departures: {right} spoiled ones and {int(listed.sum()) - right} others "
        "are anomalous by it."
    )
    say("3. Explaining the spoiled departures and suggesting fixes, whether they were found or not …")
    result = _repair(model, spoiled.take(anomalies.row))
    _write(out / "fixes.csv", result.to_arrow())
    rank = _ranks(result, anomalies)
    _say_how_often(result, anomalies, rank)
    say(f"{CASES} examples. A value that does not belong has its likelihood in parentheses:")
    # A pipe has no width of its own; lines folded at 80 columns read badly in a file.
    terminal = Console()
    _show(result, anomalies, rank, terminal if terminal.is_terminal else Console(width=140))
    say("4. Writing a report. One departure in ten was spoiled on purpose, so carat takes the model for out of date:")
    written = "model, spoiled.csv, scores.csv, likelihoods.csv, fixes.csv"
    try:
        # What an analyst would get, who does not know which departures were spoiled.
        _page(model, out)
        written += ", report.html (open it in a browser)"
    except MissingExtraError as error:
        say(f"No report.html: {error}")
    say(f"Written to {out}: {written}")
    say(f"Look at more rows: carat recourse {out}/model {out}/spoiled.csv --top 20")
    say("Learn your own table: carat fit my.csv --out model")


class _Heard(PlainSink[ScoreBatch]):
    """Keeps the scores of all rows."""

    def __init__(self) -> None:
        self.batches: list[ScoreBatch] = []

    def take(self, batch: ScoreBatch) -> None:
        """One more."""
        self.batches.append(batch)

    def order(self) -> Tensor:
        """The rows, the strangest first, [n]."""
        told = [batch.alarm for batch in self.batches if batch.alarm is not None]
        return strangest_first(torch.cat([batch.score for batch in self.batches]), torch.cat(told) if told else None)


def _fit() -> Model:
    dataset = flights()
    with terminal() as observer:
        return fit_model(
            dataset.table.slice(0, TRAIN_ROWS),
            domains=dataset.schema.domains,
            metapaths=dataset.schema.metapaths,
            threshold=THRESHOLD,
            explainer=Judge(beside="transformer", beside_params=TRANSFORMER),
            progress=observer,
        )


def _spoil(model: Model) -> tuple[Table, Table, Anomalies]:
    """Later records whose entities are known, the same with some of them spoiled, and which and how."""
    table = Table.read(open_source(flights().table.slice(TRAIN_ROWS, 2 * LATER_ROWS)), model.schema, model.vocabulary)
    complete = torch.nonzero(table.complete()).flatten()[:LATER_ROWS]
    later = table.take(complete)
    chosen = torch.randperm(len(later), generator=torch.Generator().manual_seed(0))[:SPOILED].sort().values
    made = corrupt(later.ids[chosen], model.vocabulary, model.pairs, seed=0)
    anomalies = Anomalies(made.ids, made.original, made.corrupted, chosen[made.row])
    ids = later.ids.clone()
    ids[anomalies.row] = anomalies.ids
    return later, Table(ids, model.vocabulary, Unseen.join([])), anomalies


def _repair(model: Model, table: Table) -> RecourseResult:
    """By ids and not from a frame, so that a record keeps its number in spoiled.csv."""
    with terminal() as observer:
        return recourse_result(model, table, Settings(), all=True, progress=observer)


def _page(model: Model, out: Path) -> None:
    from carat.report import PageSink

    with terminal() as observer:
        job = jobs.recourse(model, str(out / "spoiled.csv"), top=SPOILED, observer=observer)
        job.into(PageSink(job, out / "report.html", force=True))


def _ranks(result: RecourseResult, anomalies: Anomalies) -> Tensor:
    """Where each true record is among its counterfactuals; 0 where it is not."""
    outcome = Outcome.join([batch.outcome for batch in result.batches])
    return recovery(anomalies.original.long(), outcome.counterfactuals, outcome.mask)


def _say_how_often(result: RecourseResult, anomalies: Anomalies, rank: Tensor) -> None:
    first, ten, fifty = (round(100 * float(recovered_at(rank, k).mean())) for k in (1, 10, 50))
    likelihood = torch.cat([batch.outcome.likelihood for batch in result.batches])
    right = ((likelihood < CUT) == anomalies.corrupted).all(dim=1)
    exact = round(100 * float(right.float().mean()))
    say(
        f"In {exact}% of them, exactly the wrong values are flagged. The original row is the first suggested fix in "
        f"{first}%, among the first ten in {ten}%, and among all fifty in {fifty}%."
    )


def _show(result: RecourseResult, anomalies: Anomalies, rank: Tensor, console: Console) -> None:
    """Cases in different domains, those first whose truth was found."""
    seen: set[tuple[bool, ...]] = set()
    for record in torch.argsort((rank == 0).int() * 1000 + rank, stable=True).tolist():
        kind = tuple(anomalies.corrupted[record].tolist())
        if kind in seen or len(seen) == CASES:
            continue
        seen.add(kind)
        name = int(anomalies.row[record])
        console.print(diff(result.explain(name, show=SHOWN), truth=int(rank[record])))
        console.print()


def _write(path: Path, table: object) -> None:
    with TableWriter(path, force=True) as writer:
        writer.write(table)
