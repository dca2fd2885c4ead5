"""`update`: records join a fitted model and others leave it, without training its networks again.

What a model counts is exact: after an update, memory and pair counts are those of the records that are there, as if
the others had never been. What it has trained is not: networks keep their weights, and entities that came later are
unseen to them.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

import torch
from torch import Tensor

from carat.data import Pairs, Sketch, TrainingData, Vocabulary
from carat.data.table import Table
from carat.errors import InputError
from carat.explain import Judge
from carat.fitting.fit import learned_blends
from carat.fitting.gating import set_gate
from carat.fitting.joining import Joined, leaving, newest
from carat.fitting.model import Model
from carat.fitting.renewing import renewed_detector, renewed_explainer, renewed_graph
from carat.fitting.usual import usual_of
from carat.observing import Remark
from carat.recourse.lookalikes import lookalikes
from carat.training import Run

ENOUGH = 2_000
"""Held-out records that set the threshold well. The new ones come first; older ones fill up to here, and the rest of
them join the memory."""
FEWEST = 50
"""Held-out records below which nothing is set again, where the older ones are not known."""


@dataclass(frozen=True)
class Change:
    """What an update did.

    Args:
        added: records that joined, those held out among them.
        skipped: records that did not, for the gate lists them; older held-out ones that it lists among them.
        forgotten: records that left.
        not_found: records that were to be forgotten and are not there.
        new_values: entities that the model did not know.
        gone_values: entities that no record holds any more.
        calibrated: whether the threshold, the gate and the judge were set again.
    """

    added: int = 0
    skipped: int = 0
    forgotten: int = 0
    not_found: int = 0
    new_values: int = 0
    gone_values: int = 0
    calibrated: bool = True


@dataclass(frozen=True)
class Stock:
    """The records of a model.

    Args:
        train: those learned from, in the order they came, int32 [n, m]; empty where the model keeps none.
        held_out: the others, int32 [v, m]; empty where the model keeps none.
    """

    train: Tensor
    held_out: Tensor

    @classmethod
    def of(cls, model: Model) -> Stock:
        """What a model holds."""
        none = torch.empty((0, len(model.vocabulary)), dtype=torch.int32)
        held_out = none if model.held_out is None else model.held_out.cpu()
        if not isinstance(model.explainer, Judge):
            return cls(none, held_out)
        records = model.explainer.memory_.records_
        return cls(records.ids.cpu()[records.group.to(torch.int64)], held_out)

    def without(self, wanted: Tensor) -> tuple[Stock, Stock]:
        """What is left, and what leaves of the records wanted, int32 [f, m]; first of those learned from."""
        gone = leaving(torch.cat([self.train, self.held_out]), wanted)
        train, held_out = gone.split([len(self.train), len(self.held_out)])
        left = Stock(self.train[~train], self.held_out[~held_out])
        return left, Stock(self.train[train], self.held_out[held_out])

    def plus(self, joined: Joined, gate: Model | None) -> tuple[Stock, Tensor, Tensor]:
        """With records that join; those learned from that were not before; those dropped, int32 [k, m] both.

        The newest held-out records say best what is normal now. Older ones are held out only as far as there would be
        too few. Else they are learned from, unless the gate lists them.

        Args:
            joined: the records.
            gate: the model whose gate decides; None lets all in.
        """
        new = joined.ids[joined.held_out]
        kept = min(max(ENOUGH - len(new), 0), len(self.held_out)) if len(new) else len(self.held_out)
        older = len(self.held_out) - kept
        freed = self.held_out[:older]
        listed = torch.zeros(older, dtype=torch.bool) if gate is None or not older else _listed(gate, freed)
        learned = torch.cat([freed[~listed], joined.ids[~joined.held_out]])
        held_out = torch.cat([self.held_out[older:], new])
        return Stock(torch.cat([self.train, learned]), held_out), learned, freed[listed]


def update(
    model: Model,
    added: Table,
    *,
    skipped: Tensor | None = None,
    forget: Table | None = None,
    label: str = "rows",
    run: Run | None = None,
    began: float | None = None,
) -> tuple[Model, Change]:
    """A new model with some records more and others less; see `Model.update`. Where nothing changes, the same model.

    Args:
        model: stays as it is.
        added: records that may join, as the model reads them.
        skipped: which of them do not, bool [n]; None lets all in.
        forget: records that leave; as many of each as are given.
        label: how the added records are called.
        run: seed, device and observer; None takes the model's.
        began: when the work began, on the monotonic clock, where looking at the records is to count.
    """
    began = time.monotonic() if began is None else began
    run = run or Run(seed=model.training.get("seed", 0), device=model.device)
    if forget is not None and not model.holds_records:
        raise InputError("this model holds no rows, so it can't tell which ones to forget; fit it again without them")
    stage = run.observer.stage("updating the counts", 2)
    held_out = newest(added)
    calibrated = model.held_out is not None or int(held_out.sum()) >= FEWEST
    held_out &= calibrated
    # Held out are listed records too, as in a fit: of normal ones alone, each update would set a stricter threshold.
    rows = torch.arange(len(added)) if skipped is None else torch.nonzero(~skipped | held_out).flatten()
    joined = Joined.of(added.take(rows), held_out[rows], min_count=model.training.get("min_count", 1))
    left, gone = Stock.of(model).without(added.ids[:0] if forget is None else forget.ids)
    stock, learned, dropped = left.plus(joined, None if skipped is None else model)
    if not len(joined.ids) and not len(gone.train) + len(gone.held_out):
        stage.finish()
        none = 0 if forget is None else len(forget)
        return model, Change(skipped=len(added), not_found=none, calibrated=False)
    stage.advance()
    vocabulary = _recounted(joined, torch.cat([gone.train, gone.held_out, dropped]))
    pairs = model.pairs.to("cpu").less(Pairs.of(gone.train, model.vocabulary))
    pairs = pairs.moved(model.vocabulary, vocabulary).plus(Pairs.of(learned, vocabulary))
    stage.finish()
    forgotten = len(gone.train) + len(gone.held_out)
    change = Change(
        added=len(joined.ids),
        skipped=len(added) - len(rows) + len(dropped),
        forgotten=forgotten,
        not_found=(0 if forget is None else len(forget)) - forgotten,
        new_values=joined.vocabulary.total - model.vocabulary.total,
        gone_values=joined.vocabulary.in_use - vocabulary.in_use,
        calibrated=calibrated,
    )
    if not pairs.records:
        raise InputError("no row is left to learn from; add rows, or forget fewer")
    data = TrainingData(stock.train, stock.held_out, vocabulary, counted=pairs)
    made = _rebuilt(model, data, change, run)
    entry = {
        "what": "update",
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "from": model.identity,
        "data": label if len(added) else None,
        **asdict(change),
    }
    history = [*model.training.get("history", []), entry]
    seconds = round(time.monotonic() - began, 2)
    return replace(made, training={**made.training, "history": history, "updated_seconds": seconds}), change


def _listed(model: Model, ids: Tensor) -> Tensor:
    """Which records ids [n, m] a model's gate lists, bool [n]."""
    return model.scale.anomalous(model.detector.score(ids).cpu(), model.alarm(ids))


def _recounted(joined: Joined, gone: Tensor) -> Vocabulary:
    """The vocabulary with the counts of what joined and without those of what left, int32 [k, m]."""
    after = joined.vocabulary
    return after.recounted(after.counts() + after.counted(joined.ids) - after.counted(gone))


def _rebuilt(model: Model, data: TrainingData, change: Change, run: Run) -> Model:
    """The parts of a model around other records; the threshold and what goes with it are set again."""
    calibrate = change.calibrated
    explainer = None
    if model.explainer is not None:
        explainer = renewed_explainer(model.explainer, data, run, calibrate=calibrate)
    detector = renewed_detector(model.detector, explainer, data, run, calibrate=calibrate)
    made = replace(
        model,
        vocabulary=data.vocabulary,
        pairs=data.pairs,
        detector=detector,
        explainer=explainer,
        graph=renewed_graph(model.graph, data, run),
        held_out=data.held_out if calibrate and model.holds_records else model.held_out,
        lookalikes=None if model.lookalikes is None else lookalikes(data.vocabulary, data.pairs),
        training=_facts(model, data, change),
    )
    if not calibrate:
        few = "too few rows are held out to set the threshold again, so it stays where it was"
        run.observer.remark(Remark("not-calibrated", few, warning=True))
        return made
    if len(data.held_out):
        scores = detector.score(data.held_out.to(run.device)).cpu().float()
        made = replace(made, reference=_reference(model, scores))
    if isinstance(explainer, Judge):
        gate, found = set_gate(detector, explainer, data, run)
        if gate is not None:
            made = replace(made, gate=gate, training={**made.training, "found": found})
    made = replace(made, blends=learned_blends(made, data, run))
    return replace(made, training={**made.training, "usual": usual_of(made, data.held_out).to_json()})


def _reference(model: Model, scores: Tensor) -> Tensor:
    """The scores of the held-out records, ascending; of a model that keeps none, older scores fill up."""
    if model.held_out is None and len(scores) < ENOUGH:
        older = model.reference
        count = min(ENOUGH - len(scores), len(older))
        spread = torch.linspace(0, len(older) - 1, count).round().to(torch.int64)
        scores = torch.cat([scores, older[spread].to(scores.dtype)])
    return scores.sort().values


def _facts(model: Model, data: TrainingData, change: Change) -> dict[str, Any]:
    """The facts of the fit, with what is no longer so taken out or put right."""
    training = {name: fact for name, fact in model.training.items() if name not in ("fingerprint", "sketch")}
    if model.holds_records:
        # A sketch is of the records that are there; the rows as they came are not one table any more.
        sketch: dict[str, Any] = {"sketch": Sketch.of(data).to_json()}
    else:
        sketch = {}
    return {**training, "records": data.pairs.records, "held_out": len(data.held_out), **sketch}
