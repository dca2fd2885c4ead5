"""How many records a second the methods repair, through `model.recourse` and alone.

    python benchmarks/recourse.py [--model FOLDER] [--data flights|FILE] [--records 1024] [--methods carat,carat-plus]
        [--device auto] [--profile]

The records are later ones of the dataset, corrupted as in `carat bench`, half of them in two places. Without a model in
FOLDER, one of the paper's size, with the judge beside its memory, is made on the spot and trained for one epoch, which
costs as much to run; with `--model` it is stored there for the next time. After one epoch decoder-P flags nearly
anything. So `carat` is told which entities are wrong once decoder-P has looked; the judge of the other two methods
learns in any model, and flags what it flags.

Printed for each method, the best of three: records a second of `model.recourse(frame, all=True)` by the score and with
the gate, the same per second of a core's time, which tells more where others use the machine, and of the method alone;
how many domains the first fixes change. Another version of carat is measured with `PYTHONPATH=OTHER/src`. `--profile`
adds the share of time by stage, and for each stage the bytes moved and the operations multiplied, against the machine's
copies and products.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path

os.environ.setdefault("GOMP_SPINCOUNT", "1000")

import pyarrow as pa
import torch
from common import read
from stages import Stages, bound
from torch import Tensor

import carat
from carat import jobs
from carat.data import Table
from carat.data.table import Unseen
from carat.devices import pick_device
from carat.experiments import make_trial
from carat.experiments.trial import Trial
from carat.explain import Judge
from carat.fitting import Model
from carat.graph import KnowledgeGraph
from carat.protocols import Explainer
from carat.recourse import Guided, Method, Settings
from carat.registry import PROFILES
from carat.results.recourse import RecourseResult

METHODS = ("carat", "carat-plus", "instant")
ROUNDS = 3


@dataclass(frozen=True)
class TruthOf:
    """Looks as the explainer does, then says the truth: 0 for a wrong entity of these records, 1 for a right one.

    Args:
        explainer: whose time it takes.
        keys: of the records, ascending, int64 [r].
        wrong: bool [r, m].
    """

    explainer: Explainer
    keys: Tensor
    wrong: Tensor

    @classmethod
    def about(cls, explainer: Explainer, ids: Tensor, wrong: Tensor) -> TruthOf:
        """Of records ids [r, m]."""
        keys, order = _keys(ids).sort()
        return cls(explainer, keys, wrong[order])

    def likelihood(self, ids: Tensor) -> Tensor:
        """The truth, [n, m]."""
        self.explainer.likelihood(ids)
        place = torch.searchsorted(self.keys, _keys(ids)).clamp(max=len(self.keys) - 1)
        return 1.0 - self.wrong[place].float()


def _keys(ids: Tensor) -> Tensor:
    """One number for each record of ids [n, m]."""
    mixed = torch.zeros(len(ids), dtype=torch.int64, device=ids.device)
    for column in ids.to(torch.int64).unbind(dim=1):
        mixed = (mixed ^ column) * 0x9E3779B1
        mixed ^= mixed >> 29
    return mixed


def model_of(trial: Trial, folder: Path | None, device: str) -> Model:
    """The model in the folder, or a new one, which is stored there."""
    if folder is not None and folder.exists():
        return carat.load(folder).to(pick_device(device))
    paper = PROFILES["paper"].load()()
    model = carat.fit(
        trial.train,
        domains=trial.schema.domains,
        metapaths=trial.schema.metapaths,
        detector="mead",
        explainer=Judge(beside="transformer", beside_params={**paper.plain_params, "epochs": (1, 1, 1)}),
        graph=KnowledgeGraph(**{**paper.graph_params, "epochs": 1}),
        device=device,
    )
    if folder is not None:
        model.save(folder)
    return model


def method_of(model: Model, name: str, trial: Trial) -> Method:
    """A method by name; `carat` is told the truth."""
    made = model.method(name)
    if name != "carat":
        return made
    assert isinstance(made, Guided)
    ids, wrong = (each.to(model.device) for each in (trial.anomalies.ids, trial.anomalies.corrupted))
    return replace(made, explainer=TruthOf.about(made.explainer, ids, wrong))


def rates(model: Model, method: Method, frame: pa.Table, gate: str) -> dict[str, float]:
    """Records a second on a frame, of a core's time, and of the method alone; each the best of several."""
    best: dict[str, float] = {}
    for _ in range(ROUNDS):
        wall, core = time.perf_counter(), time.process_time()
        repaired(model, method, frame, gate=gate)
        taken = {"a_second": time.perf_counter() - wall, "a_second_of_a_core": time.process_time() - core}
        job = jobs.recourse(model, frame, method=method, all=True, gate=gate)
        job.into()
        taken["alone"] = job.summary.seconds
        best = {name: max(best.get(name, 0.0), frame.num_rows / seconds) for name, seconds in taken.items()}
    return {name: round(rate, 1) for name, rate in best.items()}


def repaired(model: Model, method: Method, frame: pa.Table, *, k: int = 50, gate: str = "score") -> RecourseResult:
    """What `model.recourse(frame, all=True)` does, with a method that has no name."""
    return jobs.recourse_result(model, frame, Settings(k=k), method=method, all=True, gate=gate)


def measured(model: Model, method: Method, frame: pa.Table, profile: bool) -> dict[str, object]:
    """All figures of a method."""
    repaired(model, method, frame.slice(0, 64))  # what is made once is made now
    outcomes = [(batch.table.ids, batch.outcome) for batch in repaired(model, method, frame, k=1).batches]
    changed = torch.cat([(found.counterfactuals[:, 0] != ids).sum(dim=1)[found.mask[:, 0]] for ids, found in outcomes])
    found: dict[str, object] = {
        "on_a_frame": rates(model, method, frame, "score"),
        "with_the_gate": rates(model, method, frame, "both"),
        "domains_changed": round(float(changed.double().mean()), 3),
    }
    if profile:
        with Stages(model.device).watching() as stages:
            repaired(model, method, frame)
        found["shares"] = stages.shares()
        found["bound"] = bound(model, lambda: repaired(model, method, frame.slice(0, 256)))
    return found


def main() -> None:
    """Print a line of JSON about the model and one for each method."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=Path)
    parser.add_argument("--data", default="flights")
    parser.add_argument("--records", type=int, default=1_024)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--device", default="auto")
    parser.add_argument("--profile", action="store_true")
    arguments = parser.parse_args()
    dataset, rows = read(arguments.data)
    trial = make_trial(dataset.table, dataset.schema, train_rows=rows, tested=arguments.records)
    model = model_of(trial, arguments.model, arguments.device)
    ids = trial.anomalies.ids
    frame = Table(ids, model.vocabulary, Unseen.join([])).decode()
    about = {
        "data": dataset.name,
        "records": len(ids),
        "with_two_wrong": int((trial.anomalies.corrupted.sum(dim=1) == 2).sum()),
        "domains": len(model.vocabulary),
        "entities": model.vocabulary.entities,
        "device": model.device.type,
        "threads": torch.get_num_threads(),
    }
    print(json.dumps(about), flush=True)
    for name in arguments.methods.split(","):
        found = measured(model, method_of(model, name, trial), frame, arguments.profile)
        print(json.dumps({"method": name, **found}), flush=True)


if __name__ == "__main__":
    main()
