"""The work of `carat demo`: the bundled flights, from the table to repaired records."""

from __future__ import annotations

from pathlib import Path

import torch
from rich.console import Console
from torch import Tensor

from carat.cli.app import CONSOLE, say
from carat.cli.recourse_job import Job
from carat.cli.stream import Output
from carat.cli.view import diff
from carat.data import Anomalies, Table, TableWriter, corrupt, open_source
from carat.data.table import Unseen
from carat.datasets import flights
from carat.errors import InputError, MissingExtraError
from carat.explain import CUT, TransformerExplainer
from carat.fitting import fit as fit_model
from carat.metrics import recovered_at, recovery
from carat.model import Model
from carat.recourse import RecourseResult, Settings
from carat.recourse.evidence import Evidence
from carat.recourse.result import run
from carat.training import terminal_progress

TRAIN_ROWS = 30_000
LATER_ROWS = 2_000
SPOILED = 200
THRESHOLD = 0.05
"""The default, 1 %, is for tables in which wrong records are rare; here one in ten is."""
CASES = 3
SHOWN = 3
"""Counterfactuals shown of a case."""


def show_all(out: Path) -> None:
    """Everything that `carat demo` does, with what is made written to a folder."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: is a file; name a folder")
    out.mkdir(parents=True, exist_ok=True)
    dataset = flights()
    say(f"{dataset.about} {dataset.table.num_rows:,} departures, eight domains.")
    say(f"1. Learning what is normal from the first {TRAIN_ROWS:,} departures …")
    model = _fit()
    model.save(out / "model", force=True)
    later, spoiled, anomalies = _spoil(model)
    say(
        f"2. In {len(anomalies)} of the next {len(later):,} departures, one or two entities were replaced by others "
        "that do not belong. The model does not know which."
    )
    _write(out / "spoiled.csv", spoiled.decode())
    scores = model.detector.score(spoiled.ids).cpu()
    _write(out / "scores.csv", model.score_table(spoiled))
    _write(out / "likelihoods.csv", model.explain_table(spoiled))
    strangest = scores.argsort(stable=True)[: len(anomalies)]
    caught = torch.isin(strangest, anomalies.source).sum()
    below = scores < model.threshold_score
    right = int(below[anomalies.source].sum())
    say(
        f"   Found: of the {len(anomalies)} strangest departures, {caught} are spoiled ones "
        f"(by chance it would be {len(anomalies) ** 2 // len(later)}). Below the threshold, the strangest "
        f"{100 * THRESHOLD:g} % of normal departures, are {right} of the spoiled and {int(below.sum()) - right} others."
    )
    say("3. Explaining and repairing the spoiled ones, found or not …")
    result = _repair(model, spoiled.take(anomalies.source))
    _write(out / "recourse.csv", result.to_arrow())
    rank = _ranks(result, anomalies)
    _say_how_often(result, anomalies, rank)
    say(f"{CASES} of them, with the likelihood of what does not belong:")
    # A pipe has no width of its own; lines folded at 80 columns read badly in a file.
    terminal = Console()
    _show(result, anomalies, rank, terminal if terminal.is_terminal else Console(width=140))
    written = "model, spoiled.csv, scores.csv, likelihoods.csv, recourse.csv"
    try:
        # What an analyst would get, who does not know which departures were spoiled.
        nowhere = Output(file=None, shown=0, force=True, quiet=False)
        job = Job(model, model.method(), Settings(), nowhere, page=out / "report.html")
        job.run(str(out / "spoiled.csv"), top=SPOILED, every=False)
        written += ", report.html (open it in a browser)"
    except MissingExtraError as error:
        say(f"No report.html: {error}")
    say(f"Written to {out}: {written}")
    say(
        f"Next: carat recourse {out}/model {out}/spoiled.csv --top 20; carat inspect {out}/model; "
        "then your own table: carat fit my.csv --out model"
    )


def _fit() -> Model:
    dataset = flights()
    with terminal_progress(console=CONSOLE) as progress:
        return fit_model(
            dataset.table.slice(0, TRAIN_ROWS),
            domains=dataset.schema.domains,
            time=dataset.schema.time,
            metapaths=dataset.schema.metapaths,
            threshold=THRESHOLD,
            # The profile `fast` with fewer epochs: a demo should not outlast a coffee.
            explainer=TransformerExplainer(epochs=(9, 4, 5)),
            progress=progress,
        )


def _spoil(model: Model) -> tuple[Table, Table, Anomalies]:
    """Later records whose entities are known, the same with some of them spoiled, and which and how."""
    table = Table.read(open_source(flights().table.slice(TRAIN_ROWS, 2 * LATER_ROWS)), model.schema, model.vocabulary)
    complete = torch.nonzero(table.complete()).flatten()[:LATER_ROWS]
    later = table.take(complete)
    chosen = torch.randperm(len(later), generator=torch.Generator().manual_seed(0))[:SPOILED].sort().values
    made = corrupt(later.ids[chosen], model.vocabulary, model.pairs, seed=0)
    anomalies = Anomalies(made.ids, made.original, made.corrupted, chosen[made.source])
    ids = later.ids.clone()
    ids[anomalies.source] = anomalies.ids
    return later, Table(ids, model.vocabulary, Unseen.join([])), anomalies


def _repair(model: Model, table: Table) -> RecourseResult:
    """By ids and not from a frame, so that a record keeps its number in spoiled.csv."""
    chosen, settings = model.method(), Settings()
    with terminal_progress(console=CONSOLE) as progress:
        stage = progress.stage("recourse", len(table))
        parts = run(chosen, table, model.detector.score(table.ids).cpu(), settings, model.device, stage.advance)
        evidence, empty = Evidence(model.pairs, model.vocabulary), model.empty_part(settings)
        return RecourseResult(tuple(parts), model.scale, evidence, chosen.name, table.decode(), empty)


def _ranks(result: RecourseResult, anomalies: Anomalies) -> Tensor:
    """Where each true record is among its counterfactuals; 0 where it is not."""
    counterfactuals = torch.cat([part.outcome.counterfactuals for part in result.parts])
    mask = torch.cat([part.outcome.mask for part in result.parts])
    return recovery(anomalies.original.long(), counterfactuals, mask)


def _say_how_often(result: RecourseResult, anomalies: Anomalies, rank: Tensor) -> None:
    first, ten, fifty = (round(100 * float(recovered_at(rank, k).mean())) for k in (1, 10, 50))
    likelihood = torch.cat([part.outcome.likelihood for part in result.parts])
    right = ((likelihood < CUT) == anomalies.corrupted).all(dim=1)
    exact = round(100 * float(right.float().mean()))
    say(
        f"   In {exact} % exactly the wrong entities are flagged, no more and no less. "
        f"The true record, to the letter, is the first repair in {first} %, among the first ten in {ten} %, "
        f"among the fifty in {fifty} %."
    )


def _show(result: RecourseResult, anomalies: Anomalies, rank: Tensor, console: Console) -> None:
    """Cases in different domains, those first whose truth was found."""
    seen: set[tuple[bool, ...]] = set()
    for record in torch.argsort((rank == 0).int() * 1000 + rank, stable=True).tolist():
        kind = tuple(anomalies.corrupted[record].tolist())
        if kind in seen or len(seen) == CASES:
            continue
        seen.add(kind)
        name = int(anomalies.source[record])
        console.print(diff(result.explain(name, show=SHOWN), truth=int(rank[record])))
        console.print()


def _write(path: Path, table: object) -> None:
    with TableWriter(path, force=True) as writer:
        writer.write(table)
