"""Numbers of the method that the page names, taken from the code, so that the page can't fall behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from carat.explain import CUT
from carat.explain.likelihood import LikelihoodTask
from carat.explain.reconstruction import ReconstructionTask
from carat.recourse import Guided, Settings
from carat.recourse.candidates import UnionSource
from carat.recourse.ranking import IMPROVES, READING, SHORTLIST
from carat.recourse.search import BUDGET
from carat.recourse.settings import BLACK_BOX_BUDGET

if TYPE_CHECKING:
    from steps.measure import Case


def settings(case: Case) -> dict[str, Any]:
    """What the steps are set to; shares in percent."""
    method = case.model.method("carat-plus")
    assert isinstance(method, Guided)
    assert isinstance(method.source, UnionSource)
    quantile = case.model.threshold.quantile
    assert quantile is not None
    pretraining, likelihood = ReconstructionTask(), LikelihoodTask()
    return {
        "threshold_percent": round(100 * quantile),
        "cut": CUT,
        "masked_percent": round(100 * pretraining.masked),
        "replaced_percent": round(100 * pretraining.replaced),
        "unchanged_percent": round(100 * likelihood.unchanged),
        "most_replaced": likelihood.most,
        "neighbours": Settings().neighbours,
        "weights": dict(method.source.weights),
        "reading": READING,
        "improves": IMPROVES,
        "shortlist": SHORTLIST,
        "k": Settings().k,
        "budget": BUDGET,
        "black_box_budget": BLACK_BOX_BUDGET,
    }
