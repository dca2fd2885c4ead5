"""The judge: one small network over all domains that weighs every signal into the probability that a value is wrong.

It learns from records in which entities were replaced: most of them by how frequent entities are, so that rare alone
is not wrong; some by one never seen, some left blank. Where no other explainer has seen the training records it learns
from those, each left out when it is asked about; else from held-out records.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from carat.data.pairs import Pairs
from carat.data.training_data import TrainingData
from carat.data.vocabulary import Vocabulary
from carat.errors import InputError
from carat.explain.base import FittedExplainer
from carat.explain.calibration import Calibration, fit_calibration
from carat.explain.counts import CountsExplainer
from carat.explain.lessons import Corruption, Lessons
from carat.explain.signals import Habits, signals
from carat.explain.transformer import TransformerExplainer
from carat.explain.witnesses import SAMPLE, Witnesses
from carat.memory import EXACT, LIMIT, Memory
from carat.training import History, Plan, Run, TrainableNetwork, train
from carat.training.box import Training
from carat.training.checkpoint import part
from carat.training.fitted import Fitted
from carat.training.start import Start

CELLS = 150_000
"""Entities that the judge learns from, about."""
COPIES = 20
"""Corrupted copies of a record, at most: of a small table the same records would only come again."""
STOPS = 5
"""One in so many of the first held-out half says when to stop learning."""
WIDTH = 32
RATE = 1e-2
"""Peak of the learning rate; a network that has learned already goes on with a quarter of it."""
BESIDE: dict[str, type[FittedExplainer]] = {"transformer": TransformerExplainer, "counts": CountsExplainer}
"""The explainers whose word the judge can weigh."""


class JudgeNetwork(TrainableNetwork):
    """From signals [.., F] to the logit that an entity belongs [..]."""

    mean: Tensor
    spread: Tensor

    def __init__(self, inputs: int, width: int = WIDTH) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1)
        )
        self.register_buffer("mean", torch.zeros(inputs))
        self.register_buffer("spread", torch.ones(inputs))

    def forward(self, told: Tensor) -> Tensor:
        """Logits of belonging."""
        logits: Tensor = self.layers((told - self.mean) / self.spread).squeeze(-1)
        return logits

    def loss(self, ids: Tensor, generator: torch.Generator) -> Tensor:
        """Cross-entropy; the last column of ids [b, F + 1] says whether the entity belongs."""
        return functional.binary_cross_entropy_with_logits(self(ids[:, :-1]), ids[:, -1])


@dataclass(frozen=True)
class Verdict:
    """A network that has learned to weigh signals, and how far to trust it.

    Args:
        network: weighs.
        calibration: of its logits, on held-out records it has not seen.
        history: how it was trained.
    """

    network: JudgeNetwork
    calibration: Calibration
    history: History

    @classmethod
    def learned(
        cls,
        told: Tensor,
        stop: Tensor,
        check: Tensor,
        epochs: int,
        run: Run,
        stage: str,
        label: str,
        begin: JudgeNetwork | None = None,
    ) -> Verdict:
        """From cells [c, F + 1], the last column of which says whether the entity belongs.

        Args:
            told: to learn from.
            stop: says when to stop.
            check: calibrates.
            epochs: passes.
            run: seed, device and observer.
            stage: name of the training.
            label: what the progress bar calls it.
            begin: a network that has learned already, to go on from; None begins anew.
        """
        with run.seeded(stage):
            network = JudgeNetwork(told.shape[1] - 1)
        if begin is None:
            network.mean = told[:, :-1].mean(dim=0)
            network.spread = told[:, :-1].std(dim=0).nan_to_num(nan=1.0).clamp(min=1e-3)
        else:
            network.load_state_dict(begin.state_dict())
        rate = RATE if begin is None else RATE / 4
        plan = Plan(epochs=epochs, batch_size=1024, learning_rate=rate).for_records(len(told))
        history = train(network, told, plan, run, stage=stage, label=label, validation=stop)
        with torch.no_grad():
            logits = network(check[:, :-1].to(run.device)).cpu()
        return cls(network, fit_calibration(logits, check[:, -1] > 0.5, shift=True), history)

    def logits(self, told: Tensor) -> Tensor:
        """Calibrated logits of belonging, of signals [.., F]."""
        return self.calibration.apply(self.network(told))

    def tensors(self) -> dict[str, Tensor]:
        """The network's weights."""
        return self.network.state_dict()

    def facts(self) -> dict[str, Any]:
        """Calibration and history."""
        return {"calibration": self.calibration.to_json(), "history": asdict(self.history)}

    @classmethod
    def restored(cls, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> Verdict:
        """From `tensors` and `facts`."""
        with torch.random.fork_rng(devices=[]):
            network = JudgeNetwork(len(tensors["mean"]))
        network.load_state_dict(dict(tensors))
        network.eval()
        return cls(network, Calibration(**facts["calibration"]), History(**facts["history"]))


class Judge(FittedExplainer):
    """Which entities do not belong, by the vote of similar records and, where there is one, another explainer.

    Args:
        beside: an explainer whose word the judge also weighs, `transformer` or `counts`; None for the vote alone.
        beside_params: its arguments.
        epochs: passes over what the judge learns from.
        limit: stored records that a vote looks at, at most, in a large memory.
        exact: up to so many groups of identical records, all of them are looked at.
    """

    name = "judge"

    memory_: Memory
    witnesses_: Witnesses
    beside_: FittedExplainer | None
    habits_: Habits
    verdict_: Verdict
    light_: Verdict | None

    def __init__(
        self,
        *,
        beside: str | None = None,
        beside_params: Mapping[str, Any] | None = None,
        epochs: int = 12,
        limit: int = LIMIT,
        exact: int = EXACT,
    ) -> None:
        self.beside = beside
        self.beside_params = beside_params
        self.epochs = epochs
        self.limit = limit
        self.exact = exact

    def _unfitted(self) -> None:
        """Fresh parts."""
        self.memory_ = Memory(limit=self.limit, exact=self.exact)
        self.beside_ = None
        if self.beside is not None:
            if self.beside not in BESIDE:
                raise InputError(f"beside must be one of {', '.join(BESIDE)}, got '{self.beside}'")
            self.beside_ = BESIDE[self.beside](**(self.beside_params or {}))

    def trainings(self, data: TrainingData, run: Run) -> Iterator[Training]:
        """Those of the explainer beside it; the judge's own learning takes as long for any table."""
        if self.beside in BESIDE:
            yield from BESIDE[self.beside](**(self.beside_params or {})).trainings(data, run)

    def fit(self, data: TrainingData, run: Run | None = None) -> Self:
        """Fit memory and the explainer beside it, then learn to weigh them; the second held-out half calibrates."""
        run = run or Run()
        self.device_ = run.device
        self._unfitted()
        self.memory_.fit(data, run)
        if self.beside_ is not None:
            self.beside_.start_ = self.start_
            self.beside_.fit(data, run)
        return self.relearn(data, run)

    def start_from(self, other: Fitted, vocabulary: Vocabulary) -> Self:
        """The explainer beside it begins with the weights of another judge's."""
        if isinstance(other, Judge) and other.beside_ is not None and other.beside == self.beside:
            self.start_ = Start(other.beside_.tensors(), vocabulary)
        return self

    def put_beside(self, explainer: FittedExplainer, data: TrainingData, run: Run | None = None) -> Self:
        """The same around an explainer that is fitted on the same records already; it is not changed."""
        run = run or Run()
        self.device_ = run.device
        self._unfitted()
        if self.beside_ is None or self.beside_.name != explainer.name:
            raise InputError(f"beside is '{self.beside}', so the explainer must be one, got '{explainer.name}'")
        self.memory_.fit(data, run)
        self.beside_ = explainer
        return self.relearn(data, run)

    def relearn(self, data: TrainingData, run: Run, *, cells: int = CELLS, begin: bool = False) -> Self:
        """Learn to weigh what memory and the explainer beside it say; both are fitted already.

        Args:
            data: the records.
            run: seed, device and observer.
            cells: entities to learn from, about.
            begin: go on from what was learned before instead of beginning anew.
        """
        generator = torch.Generator().manual_seed(run.seed_of("judge"))
        sample = torch.randperm(len(data.train), generator=generator)[:SAMPLE]
        ids = data.train[sample].to(torch.int64)
        changed, wrong = Corruption(untouched=0.0, unseen=0.0, blank=0.0).corrupt(ids, data, generator)
        heard = self.memory_.heard()
        self.witnesses_ = Witnesses.of(ids, changed, wrong, heard, data.pairs, data.vocabulary).to(self.device_)
        first = torch.arange(len(data.first_half))
        if self.beside_ is None:
            rows = sample[: cells // ids.shape[1] + 1]
            lessons, stopping = Lessons(data.train[rows].to(torch.int64), row=rows), first
        else:
            lessons = Lessons(data.first_half[first % STOPS > 0 if len(first) >= STOPS else first].to(torch.int64))
            stopping = first[first % STOPS == 0]
        self.habits_ = Habits.of(self.memory_, signals(self.memory_, self.witnesses_, lessons), lessons.ids)
        copies = min(max(round(cells / max(lessons.ids.numel(), 1)), 1), COPIES)
        stage = run.observer.stage("making examples for the judge", copies + 2)
        told = []
        for part_of in [lessons] * copies + [
            Lessons(half.to(torch.int64)) for half in (data.first_half[stopping], data.second_half)
        ]:
            told.append(self._told(part_of, data, generator))
            stage.advance()
        stage.finish()
        learned, (stop, check) = torch.cat(told[:-2]), told[-2:]
        # Of a handful of records nothing was held out.
        stop, check = (each if len(each) else learned for each in (stop, check))
        former = {name: verdict.network for name, verdict in self._verdicts().items()} if begin else {}
        network, light = former.get("network"), former.get("light")
        self.verdict_ = Verdict.learned(learned, stop, check, self.epochs, run, "judge", "learning to judge", network)
        self.light_ = None
        if self.beside_ is not None:
            learned, stop, check = (_without_last_signal(each) for each in (learned, stop, check))
            label = "learning to judge without the network"
            self.light_ = Verdict.learned(learned, stop, check, self.epochs, run, "judge without it", label, light)
        return self

    def _told(self, lessons: Lessons, data: TrainingData, generator: torch.Generator) -> Tensor:
        """Signals of the entities of records once corrupted, and in the last column whether each belongs."""
        changed, wrong = lessons.corrupted(Corruption(), data, generator)
        return torch.cat([self._signals(changed), (~wrong).float()[..., None]], dim=2).flatten(0, 1)

    def _signals(self, lessons: Lessons) -> Tensor:
        told = self.habits_.beside(signals(self.memory_, self.witnesses_, lessons))
        if self.beside_ is None:
            return told
        logits = self.beside_.logits(lessons.ids).cpu().float().nan_to_num(nan=0.0).clamp(-15, 15)
        # Of an entity that came after it was trained it has nothing to say, as of one that is missing.
        logits = logits.masked_fill(self.beside_.later(lessons.ids), 0.0)
        return torch.cat([told, logits[..., None]], dim=2)

    def _logits(self, ids: Tensor) -> Tensor:
        return self.verdict_.logits(self._signals(Lessons(ids.cpu())).to(self.device_))

    @property
    def light(self) -> Judge:
        """The same without the explainer beside it, by a network that learned to do without."""
        if self.light_ is None:
            return self
        alone = copy.copy(self)
        alone.beside, alone.beside_params, alone.beside_ = None, None, None
        alone.verdict_, alone.light_ = self.light_, None
        return alone

    def wrong(self, ids: Tensor) -> Tensor:
        """The probability that each entity of records ids [n, m] is wrong, a missing one too, [n, m]."""
        return self._in_parts(lambda some: (-self._logits(some.to(torch.int64))).sigmoid(), ids, self._part_rows())

    def alarm(self, ids: Tensor) -> Tensor:
        """The probability that some entity of records ids [n, m] is wrong, [n]."""
        right = (1 - self.wrong(ids).double()).clamp(min=1e-12)
        return (1 - right.log().sum(dim=1).exp()).float()

    def _parts(self) -> dict[str, Memory | FittedExplainer]:
        parts: dict[str, Memory | FittedExplainer] = {"memory": self.memory_}
        return parts if self.beside_ is None else {**parts, "beside": self.beside_}

    def _verdicts(self) -> dict[str, Verdict]:
        return {"network": self.verdict_} | ({} if self.light_ is None else {"light": self.light_})

    def tensors(self) -> dict[str, Tensor]:
        """What the judge has learned, and everything of memory and the explainer beside it."""
        held = {**self._parts(), **self._verdicts()}
        inner = {f"{name}.{key}": tensor for name, one in held.items() for key, tensor in one.tensors().items()}
        told = {"witnesses.heard": self.witnesses_.heard, "witnesses.table": self.witnesses_.table}
        return {**inner, **told, "habits": self.habits_.values}

    def restore(self, tensors: Mapping[str, Tensor], vocabulary: Vocabulary, pairs: Pairs) -> None:
        """Rebuild everything around the tensors."""
        held = dict(tensors)
        for name, fitted in self._parts().items():
            fitted.restore(part(held, f"{name}."), vocabulary, pairs)
        self.habits_ = Habits(held["habits"])
        heard = part(held, "witnesses.")
        self.witnesses_ = Witnesses(heard["heard"], heard["table"], pairs, vocabulary.offsets)
        found = {name: Verdict.restored(part(held, f"{name}."), facts) for name, facts in self._verdict_facts.items()}
        self.verdict_, self.light_ = found["network"], found.get("light")

    def to(self, device: torch.device | str) -> Self:
        """Move to a device, in place."""
        self.device_ = torch.device(device)
        for verdict in self._verdicts().values():
            verdict.network.to(self.device_)
        self.witnesses_ = self.witnesses_.to(self.device_)
        for fitted in self._parts().values():
            fitted.to(self.device_)
        return self

    def facts(self) -> dict[str, Any]:
        """Calibrations, how training went, and the facts of the parts."""
        return {
            "verdicts": {name: verdict.facts() for name, verdict in self._verdicts().items()},
            "parts": {name: fitted.facts() for name, fitted in self._parts().items()},
        }

    def restore_facts(self, facts: Mapping[str, Any]) -> None:
        """Take up what `facts` gave."""
        super().restore_facts(facts)
        self._unfitted()
        for name, fitted in self._parts().items():
            fitted.restore_facts(facts["parts"][name])
        self._verdict_facts = facts["verdicts"]


def _without_last_signal(told: Tensor) -> Tensor:
    """Cells [c, F + 1] without what the explainer beside the judge said."""
    return torch.cat([told[:, :-2], told[:, -1:]], dim=1)
