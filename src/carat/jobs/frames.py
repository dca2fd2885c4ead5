"""Jobs whose whole outcome is kept in memory: what `Model.score`, `explain` and `recourse` give back."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import torch
from torch import Tensor

from carat.data.sources import frame_like
from carat.data.table import Table
from carat.fitting.model import Model
from carat.jobs.explain_job import explain
from carat.jobs.job import Job
from carat.jobs.recourse_job import RecourseJob
from carat.jobs.score_job import score
from carat.observing import Observer, watching
from carat.recourse import Method, Settings
from carat.results.recourse import RecourseResult


def score_frame(
    model: Model,
    data: Any,
    *,
    gate: str = "both",
    judge_all: bool | None = None,
    encoding: str | None = None,
    progress: bool | Observer = False,
) -> Any:
    """Scores in the frame library of the data."""
    with watching(progress) as observer:
        return _frame(score(model, data, gate=gate, judge_all=judge_all, encoding=encoding, observer=observer))


def explain_frame(model: Model, data: Any, *, encoding: str | None = None, progress: bool | Observer = False) -> Any:
    """Likelihoods in the frame library of the data."""
    with watching(progress) as observer:
        return _frame(explain(model, data, encoding=encoding, observer=observer))


def recourse_result(
    model: Model,
    data: Any,
    settings: Settings,
    *,
    method: str | Method | None = None,
    top: int | None = None,
    all: bool = False,
    gate: str = "both",
    judge_all: bool | None = None,
    encoding: str | None = None,
    progress: bool | Observer = False,
) -> RecourseResult:
    """Counterfactuals, with the scores of all records that were looked at."""
    with watching(progress) as observer:
        job = RecourseJob(
            model,
            data,
            settings,
            method=method,
            top=top,
            all=all,
            gate=gate,
            judge_all=judge_all,
            encoding=encoding,
            observer=observer,
        )
        scored: list[Tensor] = []
        job.scored.append(scored.append)
        batches = tuple(job)
    return RecourseResult(
        batches,
        job.model.scale,
        job.evidence,
        job.method.name,
        job.data.decode() if isinstance(job.data, Table) else job.data,
        job.empty(),
        torch.cat([torch.empty(0), *scored]),
        job.summary.origin,
        tuple(job.summary.remarks),
        job.summary.anomalous,
        job.model.schema.id,
        job.numbered,
        encoding,
    )


def _frame(job: Job[Any]) -> Any:
    parts = [batch.rows() for batch in job]
    return frame_like(pa.concat_tables(parts) if parts else job.empty().rows(), job.data, same_rows=True)
