"""DiCE: what a user would reach for today. Behind the extra `dice`; a failure is a result too."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from dataclasses import dataclass
from queue import Empty
from typing import Any

import pyarrow as pa
import torch
from torch import Tensor

from carat.data.training_data import TrainingData
from carat.data.vocabulary import Vocabulary
from carat.errors import MethodFailed, MissingExtraError
from carat.protocols import Detector
from carat.recourse.engine import Method
from carat.recourse.outcome import Outcome
from carat.recourse.parts import ModelParts
from carat.recourse.settings import Settings

TIME_LIMIT = 120.0
"""Seconds for all records of a call; what has not come back by then is called a time-out."""


def dice_random(parts: ModelParts) -> Method:
    """DiCE's random search on a model's parts."""
    return _dice(parts, "random")


def dice_genetic(parts: ModelParts) -> Method:
    """DiCE's genetic search on a model's parts."""
    return _dice(parts, "genetic")


def dice_kdtree(parts: ModelParts) -> Method:
    """DiCE's search among the training records on a model's parts."""
    return _dice(parts, "kdtree")


def _dice(parts: ModelParts, generator: str) -> Method:
    try:
        import dice_ml  # noqa: F401, PLC0415 - optional and heavy
    except ImportError as missing:
        raise MissingExtraError("dice-ml", "dice", "the method dice") from missing
    assert parts.records is not None
    return Dice(generator, parts.vocabulary, parts.records, parts.detector, parts.reference, parts.threshold)


@dataclass(frozen=True)
class Dice:
    """One of DiCE's searches, in a process of its own: it can't be interrupted otherwise.

    Args:
        generator: `random`, `genetic` or `kdtree`.
        vocabulary: what the ids mean.
        records: what the values of the columns are taken from.
        detector: as a classifier: is a record above the threshold?
        reference: scores of normal records, [r].
        threshold: where anomalous begins.
        seconds: for all records of a call.
    """

    generator: str
    vocabulary: Vocabulary
    records: TrainingData
    detector: Detector
    reference: Tensor
    threshold: float
    seconds: float = TIME_LIMIT

    @property
    def name(self) -> str:
        """As the command line calls it."""
        return f"dice-{self.generator}"

    def find(self, ids: Tensor, settings: Settings, score: Tensor | None = None) -> Outcome:
        """Up to K counterfactuals of each record ids [n, m]; constraints are not supported and have no effect.

        Raises:
            MethodFailed: where not a single record was answered.
        """
        context = multiprocessing.get_context("fork")
        queue: Any = context.Queue()
        worker = context.Process(target=self._work, args=(queue, ids.cpu(), settings.k), daemon=True)
        began = time.perf_counter()
        worker.start()
        found: list[Tensor] = []
        error: str | None = None
        while len(found) < len(ids):
            try:
                kind, value = queue.get(timeout=max(self.seconds - (time.perf_counter() - began), 0.0))
            except Empty:
                error = f"time-out: {len(found)} of {len(ids)} anomalies in {self.seconds:g} s"
                break
            if kind == "error":
                error = value
                break
            found.append(torch.from_numpy(value))
        worker.terminate()
        worker.join()
        if not found:
            raise MethodFailed(error or "nothing came back")
        return self._outcome(found, ids.cpu().long(), settings.k, error)

    def _work(self, queue: Any, anomalies: Tensor, k: int) -> None:
        torch.set_num_threads(1)
        try:
            for found in self._searched(anomalies, k):
                # As an array: a tensor would be shared memory of a process that may be gone when it is read.
                queue.put(("found", found.numpy()))
        except Exception as error:
            queue.put(("error", f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"))

    def _searched(self, anomalies: Tensor, k: int) -> Iterator[Tensor]:
        """Record by record, what DiCE finds, int64 [c, m]."""
        import dice_ml  # noqa: PLC0415 - optional and heavy

        names = self.vocabulary.names
        train = pa.table(self.vocabulary.decode(self.records.train)).to_pandas()
        train["normal"] = 1
        data = dice_ml.Data(dataframe=train, continuous_features=[], outcome_name="normal")
        explainer = dice_ml.Dice(data, dice_ml.Model(model=_Normal(self), backend="sklearn"), method=self.generator)
        queries = pa.table(self.vocabulary.decode(anomalies)).to_pandas()[names]
        for row in range(len(queries)):
            made = explainer.generate_counterfactuals(queries.iloc[[row]], total_CFs=k, desired_class=1, verbose=False)
            frame = made.cf_examples_list[0].final_cfs_df
            records = [] if frame is None else frame[names].astype(str).to_dict("records")
            yield self.vocabulary.encode(records).long() if records else torch.empty((0, len(names)), dtype=torch.int64)

    def _outcome(self, found: list[Tensor], base: Tensor, k: int, error: str | None) -> Outcome:
        ids = base[:, None].repeat(1, k, 1)
        mask = torch.zeros((len(base), k), dtype=torch.bool)
        for row, records in enumerate(found):
            ids[row, : len(records)] = records[:k]
            mask[row, : len(records)] = True
        score = torch.full(mask.shape, -torch.inf)
        score[mask] = self.detector.score(ids[mask])
        none = torch.zeros(len(base), dtype=torch.bool)
        reasons = [None if row < len(found) else error for row in range(len(base))]
        return Outcome(ids, mask, score, None, none, reasons, torch.full(base.shape, torch.nan))


class _Normal:
    """The detector as a classifier: is a record above the threshold?"""

    classes_ = (0, 1)

    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self.spread = float(dice.reference.std()) or 1.0

    def predict_proba(self, frame: Any) -> Any:
        vocabulary = self.dice.vocabulary
        records = frame[vocabulary.names].astype(str).to_dict("records")
        score = self.dice.detector.score(vocabulary.encode(records))
        normal = torch.sigmoid(4 * (score - self.dice.threshold) / self.spread).double()
        return torch.stack([1 - normal, normal], dim=1).numpy()

    def predict(self, frame: Any) -> Any:
        return self.predict_proba(frame).argmax(axis=1)
