"""The judge: one small network over all domains that weighs every signal into the probability that a value is wrong.

It learns from held-out records in which entities were replaced: half of them by how frequent entities are, so that rare
alone is not wrong; some by one never seen, some left blank.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from carat.data.pairs import Pairs
from carat.data.training_data import TrainingData
from carat.data.vocabulary import FIRST, MISSING, UNSEEN, Vocabulary
from carat.errors import InputError
from carat.explain.base import FittedExplainer
from carat.explain.calibration import Calibration, fit_calibration
from carat.explain.counts import CountsExplainer
from carat.explain.signals import Habits, signals
from carat.explain.transformer import TransformerExplainer
from carat.memory import EXACT, LIMIT, Memory
from carat.training import History, Plan, Run, TrainableNetwork, train
from carat.training.checkpoint import part
from carat.training.negatives import MarginalEntities, UniformEntities

CELLS = 60_000
"""Entities that the judge learns from, about."""
COPIES = 20
"""Corrupted copies of a record, at most: of a small table the same records would only come again."""
WIDTH = 32
BESIDE: dict[str, type[FittedExplainer]] = {"transformer": TransformerExplainer, "counts": CountsExplainer}
"""The explainers whose word the judge can weigh."""


class JudgeNetwork(TrainableNetwork):
    """From signals [.., F] to the logit that an entity belongs [..]."""

    mean: Tensor
    spread: Tensor

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, 1)
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


@dataclass(frozen=True, kw_only=True)
class Corruption:
    """What is done to the records that the judge learns from.

    Args:
        untouched: share of the records left as they are.
        by_frequency: share of the replacements that follow frequency instead of being uniform.
        unseen: share of the replacements by an entity never seen.
        blank: share of the replacements by nothing.
    """

    untouched: float = 0.3
    by_frequency: float = 0.5
    unseen: float = 0.06
    blank: float = 0.06

    def corrupt(self, ids: Tensor, data: TrainingData, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Records ids [n, m] with one or two entities replaced, and where, bool [n, m]."""
        records, domains = ids.shape
        touched = torch.rand(records, generator=generator) >= self.untouched
        count = torch.randint(1, 3, (records,), generator=generator) * touched
        order = torch.rand(ids.shape, generator=generator).masked_fill(ids < FIRST, 2.0).argsort(dim=1).argsort(dim=1)
        chosen = (order < count[:, None]) & (ids >= FIRST)
        numbers = torch.arange(domains).expand(records, -1)
        kind = torch.rand(ids.shape, generator=generator)
        uniform = UniformEntities(data.vocabulary).draw(numbers, generator)
        frequent = MarginalEntities(data.vocabulary, data.marginals()).draw(numbers, generator)
        new = torch.where(torch.rand(ids.shape, generator=generator) < self.by_frequency, frequent, uniform)
        new = torch.where(kind < self.unseen, UNSEEN, new)
        new = torch.where(kind > 1 - self.blank, MISSING, new)
        changed = torch.where(chosen, new, ids)
        return changed, changed != ids


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
    beside_: FittedExplainer | None
    habits_: Habits
    network_: JudgeNetwork
    calibration_: Calibration
    history_: History

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

    def fit(self, data: TrainingData, run: Run | None = None) -> Self:
        """Fit memory and the explainer beside it, then learn from the first half of the held-out records.

        The second half stops the training and calibrates.
        """
        run = run or Run()
        self.device_ = run.device
        self._unfitted()
        self.memory_.fit(data, run)
        if self.beside_ is not None:
            self.beside_.fit(data, run)
        generator = torch.Generator().manual_seed(run.seed_of("judge"))
        held_out = (data.held_out if len(data.held_out) else data.train).to(torch.int64)
        shuffled = held_out[torch.randperm(len(held_out), generator=generator)]
        first, second = shuffled.tensor_split(2)
        self.habits_ = Habits.of(self.memory_, first)
        copies = min(max(round(CELLS / max(first.numel(), 1)), 1), COPIES)
        stage = run.observer.stage("judge, looking at rows", copies + 1)
        rows = []
        for _ in range(copies):
            rows.append(self._told(first, data, generator))
            stage.advance()
        learned, check = torch.cat(rows), self._told(second if len(second) else first, data, generator)
        stage.finish()
        with run.seeded("judge"):
            self.network_ = JudgeNetwork(learned.shape[1] - 1)
        self.network_.mean = learned[:, :-1].mean(dim=0)
        self.network_.spread = learned[:, :-1].std(dim=0).nan_to_num(nan=1.0).clamp(min=1e-3)
        plan = Plan(epochs=self.epochs, batch_size=1024, learning_rate=1e-2).for_records(len(learned))
        self.history_ = train(self.network_, learned, plan, run, stage="judge", validation=check)
        with torch.no_grad():
            logits = self.network_(check[:, :-1].to(run.device)).cpu()
        self.calibration_ = fit_calibration(logits, check[:, -1] > 0.5, shift=True)
        return self

    def _told(self, ids: Tensor, data: TrainingData, generator: torch.Generator) -> Tensor:
        """Signals of the entities of corrupted records ids [n, m], and in the last column whether each belongs."""
        changed, wrong = Corruption().corrupt(ids, data, generator)
        return torch.cat([self._signals(changed), (~wrong).float()[..., None]], dim=2).flatten(0, 1)

    def _signals(self, ids: Tensor) -> Tensor:
        beside = None if self.beside_ is None else self.beside_.logits(ids)
        return signals(self.memory_, ids, self.habits_, beside)

    def _logits(self, ids: Tensor) -> Tensor:
        return self.calibration_.apply(self.network_(self._signals(ids).to(self.device_)))

    def wrong(self, ids: Tensor) -> Tensor:
        """The probability that each entity of records ids [n, m] is wrong, a missing one too, [n, m]."""
        return 1 - self._in_parts(lambda some: self._logits(some.to(torch.int64)).sigmoid(), ids, 512)

    def alarm(self, ids: Tensor) -> Tensor:
        """The probability that some entity of records ids [n, m] is wrong, [n]."""
        right = (1 - self.wrong(ids).double()).clamp(min=1e-12)
        return (1 - right.log().sum(dim=1).exp()).float()

    def _parts(self) -> dict[str, Memory | FittedExplainer]:
        parts: dict[str, Memory | FittedExplainer] = {"memory": self.memory_}
        return parts if self.beside_ is None else {**parts, "beside": self.beside_}

    def tensors(self) -> dict[str, Tensor]:
        """The network's weights, the domains' habits, and everything of memory and the explainer beside it."""
        inner = {
            f"{name}.{key}": tensor for name, part in self._parts().items() for key, tensor in part.tensors().items()
        }
        network = {f"network.{key}": tensor for key, tensor in self.network_.state_dict().items()}
        return {**inner, **network, "habits": self.habits_.values}

    def restore(self, tensors: Mapping[str, Tensor], vocabulary: Vocabulary, pairs: Pairs) -> None:
        """Rebuild everything around the tensors."""
        held = dict(tensors)
        for name, fitted in self._parts().items():
            fitted.restore(part(held, f"{name}."), vocabulary, pairs)
        self.habits_ = Habits(held["habits"])
        network = part(held, "network.")
        with torch.random.fork_rng(devices=[]):
            self.network_ = JudgeNetwork(len(network["mean"]))
        self.network_.load_state_dict(network)
        self.network_.eval()

    def to(self, device: torch.device | str) -> Self:
        """Move to a device, in place."""
        self.device_ = torch.device(device)
        self.network_.to(self.device_)
        for fitted in self._parts().values():
            fitted.to(self.device_)
        return self

    def facts(self) -> dict[str, Any]:
        """The calibration, how training went, and the facts of the parts."""
        return {
            "calibration": self.calibration_.to_json(),
            "history": asdict(self.history_),
            "parts": {name: fitted.facts() for name, fitted in self._parts().items()},
        }

    def restore_facts(self, facts: Mapping[str, Any]) -> None:
        """Take up what `facts` gave."""
        super().restore_facts(facts)
        self._unfitted()
        for name, fitted in self._parts().items():
            fitted.restore_facts(facts["parts"][name])
        self.calibration_ = Calibration(**facts["calibration"])
        self.history_ = History(**facts["history"])
