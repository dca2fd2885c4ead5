"""Jobs: a table goes through a model and comes out as batches; the one runner under every door.

`score`, `explain` and `recourse` make a `Job`: iterate over it for its batches, or pour it `into` sinks. `audit` needs
no model and makes an `AuditJob`, with the same manners and one batch. `ApplyJob` changes cells of a file as a list
says, and `RevertJob` takes that back; they have no batches, and are `run`. `update` makes a job that ends in a new
model. A job knows no terminal and no page: an observer is told of its progress and remarks, and it can be cancelled
between two batches.
"""

from carat.jobs.apply_job import ApplyJob, ApplySummary, RevertJob
from carat.jobs.audit_job import AuditJob, AuditSummary, audit
from carat.jobs.explain_job import ExplainSummary, explain
from carat.jobs.frames import explain_frame, recourse_result, score_frame
from carat.jobs.job import Cancel, Job, Sink, Summary
from carat.jobs.recourse_job import RecourseJob, RecourseSummary, recourse
from carat.jobs.score_job import ScoreSummary, score
from carat.jobs.sinks import Sidecar, Strangest, TableSink, WorkbookSink
from carat.jobs.update_job import UpdateSummary, update, updated_model

__all__ = [
    "score",
    "explain",
    "recourse",
    "audit",
    "update",
    "Job",
    "AuditJob",
    "RecourseJob",
    "ApplyJob",
    "RevertJob",
    "Cancel",
    "Summary",
    "ScoreSummary",
    "ExplainSummary",
    "RecourseSummary",
    "AuditSummary",
    "ApplySummary",
    "UpdateSummary",
    "Sink",
    "TableSink",
    "WorkbookSink",
    "Sidecar",
    "Strangest",
    "score_frame",
    "explain_frame",
    "recourse_result",
    "updated_model",
]
