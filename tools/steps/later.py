"""How often the steps are right on many records, so that one good example does not speak for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from carat import Model
from carat.data import Anomalies, Table, TrainingData, corrupt, open_source
from carat.data.vocabulary import FIRST
from carat.datasets import flights
from carat.explain import flagged
from carat.metrics import recovery, roc_auc
from carat.recourse import Settings

if TYPE_CHECKING:
    from steps.measure import Case

ROWS = 2_000
"""Later departures that are corrupted in turn."""
LENIENT = 0.05
"""A second threshold, to show what the choice of one does."""
RARE = 5
"""An entity seen fewer times in training counts as rare."""
HARD = "TailNum"
"""A domain that the rest of the record hardly determines."""


def later(case: Case) -> dict[str, Any]:
    """Departures after the training ones, with one entity replaced, and untouched."""
    model = case.model
    trained = model.training["records"] + model.training["held_out"]
    table = Table.read(open_source(flights().table.slice(trained, 2 * ROWS)), model.schema, model.vocabulary)
    normal = table.ids[torch.nonzero(table.complete()).flatten()[:ROWS]]
    made = corrupt(normal, model.vocabulary, model.pairs, changes=(1,), seed=0)
    scores, untouched = model.detector.score(made.ids), model.detector.score(normal)
    lenient = model.with_threshold(LENIENT).threshold_score
    right = (flagged(case.explainer.likelihood(made.ids)) == made.corrupted).all(dim=1)
    doubted, rare = flagged(case.explainer.likelihood(normal)), _seen(model, normal) < RARE
    return {
        "records": len(made),
        "roc_auc": round(roc_auc(untouched, scores), 3),
        "caught": int((scores < model.threshold_score).sum()),
        "alarms": int((untouched < model.threshold_score).sum()),
        "lenient_percent": round(100 * LENIENT),
        "caught_lenient": int((scores < lenient).sum()),
        "alarms_lenient": int((untouched < lenient).sum()),
        "exactly_right": int(right.sum()),
        "rare_below": RARE,
        "flagged_rare_percent": round(100 * float(doubted[rare].float().mean()), 1),
        "flagged_others_percent": round(100 * float(doubted[~rare].float().mean()), 2),
        **_recovered(model, made),
        **_strangest_held_out(model),
    }


def _recovered(model: Model, made: Anomalies) -> dict[str, Any]:
    """How often the true record is the first counterfactual: over all, and where the aircraft was replaced."""
    found = model.method("carat-plus").find(made.ids, Settings(k=1))
    first = recovery(made.original.long(), found.counterfactuals, found.mask) == 1
    hard = made.corrupted[:, model.vocabulary.names.index(HARD)]
    return {
        "first": int(first.sum()),
        "hard": HARD,
        "hard_records": int(hard.sum()),
        "hard_first": int((first & hard).sum()),
    }


def _strangest_held_out(model: Model) -> dict[str, Any]:
    """Of the held-out records below the threshold, how many hold a rare entity; and of all of them."""
    trained = model.training["records"] + model.training["held_out"]
    table = Table.read(open_source(flights().table.slice(0, trained)), model.schema, model.vocabulary)
    held_out = TrainingData.split(table.ids, model.vocabulary, seed=model.training["seed"]).held_out
    scores = model.detector.score(held_out)
    assert torch.allclose(scores.sort().values, model.reference, atol=1e-3), "not the records of this fit"
    rare = ((_seen(model, held_out) < RARE) & (held_out >= FIRST)).any(dim=1)
    below = scores < model.threshold_score
    return {
        "strangest": int(below.sum()),
        "strangest_rare": int((below & rare).sum()),
        "held_out_rare_percent": round(100 * float(rare.float().mean()), 1),
    }


def _seen(model: Model, ids: Tensor) -> Tensor:
    """How often each entity of records ids [n, m] was seen in training, int64 [n, m]."""
    return model.pairs.singles[ids.long() + model.vocabulary.offsets]
