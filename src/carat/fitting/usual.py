"""What is usual for a fitted model: shares of its held-out records, to tell its age by later."""

from __future__ import annotations

import torch
from torch import Tensor

from carat.explain.choice import flagged
from carat.fitting.model import Model
from carat.results.ageing import LOW, QUANTILES, Counted, Usual, look

LOOKED_AT = 1_000
"""Held-out records that the explainer is asked about, at most."""


def usual_of(model: Model, held_out: Tensor) -> Usual:
    """The shares of held-out records ids [v, m], and how their scores are spread.

    Where there is a gate, what it lists is counted on the very records that its cuts were set on: so the share is the
    one that was asked for.
    """
    met, quantiles = Counted(), {}
    look(met, held_out, model.pairs.to("cpu"), model.vocabulary)
    scores = model.reference.double()
    if len(scores):
        marks = torch.quantile(scores, torch.tensor(QUANTILES, dtype=torch.float64)).tolist()
        quantiles = {str(quantile): mark for quantile, mark in zip(QUANTILES, marks, strict=True)}
        met.add("low", scores < quantiles[str(LOW)])
        pairs = None if model.gate is None else model.gate.pairs
        listed = model.scale.anomalous(scores) if pairs is None else model.scale.anomalous(*pairs.unbind(dim=1))
        met.add("listed", listed)
    if model.explainer is not None and len(held_out):
        some = held_out[1::2][:LOOKED_AT] if len(held_out) > 1 else held_out
        met.add("flagged", flagged(model.explainer.likelihood(some).cpu()).any(dim=1))
    scale = model.scale
    return Usual(met, quantiles, (scale.threshold, scale.alarm))
