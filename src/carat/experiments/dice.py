"""DiCE on the same anomalies: what a user would reach for today. Behind the extra `dice`; a failure is a result too."""

from __future__ import annotations

import multiprocessing
import time
from queue import Empty
from typing import Any

import pyarrow as pa
import torch
from torch import Tensor

from carat.errors import MissingExtraError
from carat.experiments.contest import Contest
from carat.protocols import Detector
from carat.recourse import Outcome, Settings

ANOMALIES = 10
"""DiCE takes seconds to minutes for each."""
TIME_LIMIT = 120.0
"""Seconds for all of them; what has not come back by then is called a time-out."""


def dice_outcome(contest: Contest, generator: str, settings: Settings) -> dict[str, Any]:
    """Metrics of DiCE's `random` or `genetic` on the first few anomalies, or what went wrong."""
    try:
        import dice_ml  # noqa: F401, PLC0415 - optional and heavy
    except ImportError as missing:
        raise MissingExtraError("dice-ml", "dice", "the method dice") from missing
    anomalies = contest.trial.anomalies.ids[:ANOMALIES]
    context = multiprocessing.get_context("fork")
    queue: Any = context.Queue()
    worker = context.Process(target=_work, args=(queue, contest, generator, anomalies, settings.k), daemon=True)
    began = time.perf_counter()
    worker.start()
    found: list[Tensor] = []
    error: str | None = None
    while time.perf_counter() - began < TIME_LIMIT and len(found) < len(anomalies):
        try:
            kind, value = queue.get(timeout=max(TIME_LIMIT - (time.perf_counter() - began), 0.1))
        except Empty:
            error = f"time-out: {len(found)} of {len(anomalies)} anomalies in {TIME_LIMIT:.0f} s"
            break
        if kind == "error":
            error = value
            break
        found.append(torch.from_numpy(value))
    seconds = time.perf_counter() - began
    worker.terminate()
    worker.join()
    if not found:
        return {"error": error or "nothing came back"}
    outcome = _outcome(found, anomalies[: len(found)].long(), settings.k, contest.model.detector)
    measured = contest.measure(outcome)
    return {**measured, "seconds": seconds / len(found), "exhausted": 0.0, **({"note": error} if error else {})}


def _work(queue: Any, contest: Contest, generator: str, anomalies: Tensor, k: int) -> None:
    """In a process of its own, for DiCE can't be interrupted."""
    torch.set_num_threads(1)
    try:
        for found in _dice(contest, generator, anomalies, k):
            # As an array: a tensor would be shared memory of a process that may be gone when it is read.
            queue.put(("found", found.numpy()))
    except Exception as error:
        queue.put(("error", f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"))


def _dice(contest: Contest, generator: str, anomalies: Tensor, k: int) -> Any:
    import dice_ml  # noqa: PLC0415

    vocabulary = contest.model.vocabulary
    names = vocabulary.names
    train = pa.table(vocabulary.decode(contest.trial.data.train)).to_pandas()
    train["normal"] = 1
    data = dice_ml.Data(dataframe=train, continuous_features=[], outcome_name="normal")
    model = dice_ml.Model(model=_Normal(contest), backend="sklearn")
    explainer = dice_ml.Dice(data, model, method=generator)
    queries = pa.table(vocabulary.decode(anomalies)).to_pandas()[names]
    for row in range(len(queries)):
        made = explainer.generate_counterfactuals(queries.iloc[[row]], total_CFs=k, desired_class=1, verbose=False)
        frame = made.cf_examples_list[0].final_cfs_df
        records = [] if frame is None else frame[names].astype(str).to_dict("records")
        yield vocabulary.encode(records).long() if records else torch.empty((0, len(names)), dtype=torch.int64)


class _Normal:
    """The detector as a classifier: is a record above the threshold?"""

    classes_ = (0, 1)

    def __init__(self, contest: Contest) -> None:
        self.contest = contest

    def predict_proba(self, frame: Any) -> Any:
        model = self.contest.model
        records = frame[model.vocabulary.names].astype(str).to_dict("records")
        score = model.detector.score(model.vocabulary.encode(records))
        spread = float(model.reference.std()) or 1.0
        normal = torch.sigmoid(4 * (score - model.threshold_score) / spread).double()
        return torch.stack([1 - normal, normal], dim=1).numpy()

    def predict(self, frame: Any) -> Any:
        return self.predict_proba(frame).argmax(axis=1)


def _outcome(found: list[Tensor], base: Tensor, k: int, detector: Detector) -> Outcome:
    ids = base[:, None].repeat(1, k, 1)
    mask = torch.zeros((len(found), k), dtype=torch.bool)
    for row, records in enumerate(found):
        ids[row, : len(records)] = records[:k]
        mask[row, : len(records)] = True
    score = torch.full(mask.shape, -torch.inf)
    score[mask] = detector.score(ids[mask])
    none = torch.zeros(len(found), dtype=torch.bool)
    return Outcome(ids, mask, score, None, none, [None] * len(found), torch.full(base.shape, torch.nan))
