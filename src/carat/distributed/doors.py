"""Score, explain and find fixes for a Parquet file on many machines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from carat import jobs
from carat.arguments import known_arguments
from carat.data.writers import check_output
from carat.distributed.spread import check_out, check_table, spread
from carat.errors import InputError
from carat.fitting import load
from carat.fitting.model import Model
from carat.jobs.sinks import Sidecar, TableSink
from carat.observing import Observer, watching
from carat.recourse import Constraints, Settings
from carat.report import PageSink
from carat.results.batches import ExplainBatch, ResultBatch, ScoreBatch


@known_arguments
def score(
    model: Model | str | Path,
    path: str | Path,
    out: str | Path,
    *,
    ray: str | None = None,
    workers: int | None = None,
    gate: str = "both",
    judge_all: bool | None = None,
    force: bool = False,
    progress: bool | Observer = False,
) -> jobs.ScoreSummary:
    """Score every row of a table; `out` gets what `carat score` writes, and `out.about.json` is beside it.

    Args:
        model: a model, or its folder.
        path: of the table, a Parquet file in a folder that all machines share.
        out: another one, likewise.
        ray: address of the cluster, as host:port; `auto` for the one that this machine is a part of; None or `local`
            starts one of this machine alone.
        workers: how many, each with its own copy of the model; None is as many as there are processors.
        gate: `both` lists rows by score and alarm, `score` by the score alone.
        judge_all: whether the judge is asked about every row; see `Model.score`.
        force: replace existing files.
        progress: True shows progress bars. An observer is told of stages and remarks.
    """
    with watching(progress) as observer:
        job = jobs.score(_model(model), check_table(path), gate=gate, judge_all=judge_all, observer=observer)
        scale = job.model.scale
        sinks = _sinks(out, ScoreBatch.rows, {"threshold": scale.threshold, "alarm": scale.alarm}, force)
        spread(job, path, *sinks, ray=ray, workers=workers)
    assert isinstance(job.summary, jobs.ScoreSummary)
    return job.summary


@known_arguments
def explain(
    model: Model | str | Path,
    path: str | Path,
    out: str | Path,
    *,
    ray: str | None = None,
    workers: int | None = None,
    force: bool = False,
    progress: bool | Observer = False,
) -> jobs.ExplainSummary:
    """Say of every value of a table how likely it is; `out` gets what `carat explain` writes. See `score`."""
    with watching(progress) as observer:
        job = jobs.explain(_model(model), check_table(path), observer=observer)
        spread(job, path, *_sinks(out, ExplainBatch.rows, {}, force), ray=ray, workers=workers)
    assert isinstance(job.summary, jobs.ExplainSummary)
    return job.summary


@known_arguments
def recourse(
    model: Model | str | Path,
    path: str | Path,
    out: str | Path,
    *,
    ray: str | None = None,
    workers: int | None = None,
    settings: Settings | None = None,
    constraints: Constraints | Mapping[str, Any] | str | Path | None = None,
    method: str | None = None,
    top: int | None = None,
    all: bool = False,
    gate: str = "both",
    judge_all: bool | None = None,
    report: str | Path | None = None,
    force: bool = False,
    progress: bool | Observer = False,
) -> jobs.RecourseSummary:
    """Suggest fixes for unusual rows; the files are those of `carat recourse`.

    Args:
        model: as in `score`; so are `path`, `out`, `ray`, `workers`, `gate`, `judge_all`, `force` and `progress`.
        settings: how to search.
        constraints: what may change; not together with `settings`, which hold their own.
        method: as in `Model.recourse`; so are `top` and `all`.
        report: also write this page.
    """
    if settings is not None and constraints is not None:
        raise InputError("give `settings` or `constraints`, not both")
    with watching(progress) as observer:
        job = jobs.recourse(
            _model(model),
            check_table(path),
            settings or Settings(constraints=Constraints.of(constraints)),
            method=method,
            top=top,
            all=all,
            gate=gate,
            judge_all=judge_all,
            observer=observer,
        )
        beside = Path(f"{check_out(out)}.records.jsonl")
        check_output(beside, force=force)
        sinks = [
            TableSink(beside, ResultBatch.records, force=force),
            *_sinks(out, ResultBatch.rows, job.facts(), force),
        ]
        pages = [] if report is None else [PageSink(job, report, force=force)]
        spread(job, path, *sinks, *pages, ray=ray, workers=workers)
    return job.summary


def _model(model: Model | str | Path) -> Model:
    return model if isinstance(model, Model) else load(model)


def _sinks(out: str | Path, make: Any, options: Mapping[str, Any], force: bool) -> list[Any]:
    """The word on a file is written when the file is there."""
    return [Sidecar(check_out(out), options, force=force), TableSink(out, make, force=force)]
