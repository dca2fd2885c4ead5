"""What people and programs read: batches of a job, how scores are read, the evidence, explanations, results."""

from carat.results.batches import SCORE_COLUMNS, ExplainBatch, ResultBatch, ScoreBatch
from carat.results.evidence import Evidence
from carat.results.explaining import explain_batch
from carat.results.explanation import Counterfactual, EntityView, Explanation, Witness
from carat.results.gate import Cuts, Gate
from carat.results.origin import Origin
from carat.results.precedents import Agreement, Precedent, Precedents
from carat.results.recourse import RecourseResult
from carat.results.scale import Scale, Threshold

__all__ = [
    "RecourseResult",
    "Explanation",
    "EntityView",
    "Witness",
    "Counterfactual",
    "explain_batch",
    "Evidence",
    "Precedents",
    "Precedent",
    "Agreement",
    "Scale",
    "Threshold",
    "Gate",
    "Cuts",
    "Origin",
    "ScoreBatch",
    "ExplainBatch",
    "ResultBatch",
    "SCORE_COLUMNS",
]
