"""FIMAP: a network learns to perturb anomalies until a proxy of the detector calls them normal (Chapman-Rounds, 2021).

The proxy classifier tells normal records from synthetic anomalies. The perturbation network gives, for every domain,
logits over its entities; entities are drawn by the Gumbel-softmax trick. Draws are hard on the way forward and soft on
the way back (straight through), so that the gradient of the proxy's verdict reaches every weight.
"""

from __future__ import annotations

import itertools
import math
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from carat.baselines._outcome import assemble, first_of_its_kind, respects
from carat.data.corruption import corrupt
from carat.data.pairs import Pairs
from carat.data.training_data import TrainingData
from carat.data.vocabulary import FIRST, MISSING, Vocabulary
from carat.errors import InputError, NotFittedError
from carat.protocols import Detector
from carat.recourse.engine import Method
from carat.recourse.outcome import Outcome
from carat.recourse.parts import ModelParts
from carat.recourse.settings import Settings
from carat.training import History, Plan, Run, TrainableNetwork, train

CELLS = 4_000_000
"""Upper limit on the logits of all draws held at once."""

ODDS = 9
"""Of keeping an entity, before training: few entities change at first, so that the effect of one can be learned."""


class _Embedded(TrainableNetwork):
    """A vector for every entity, zero where it is missing or unseen."""

    offsets: Tensor

    def __init__(self, vocabulary: Vocabulary, dim: int, scale: float) -> None:
        super().__init__()
        self.register_buffer("offsets", vocabulary.offsets, persistent=False)
        self.vectors = nn.Parameter(torch.randn(vocabulary.total, dim) * scale)

    def vectors_of(self, ids: Tensor) -> Tensor:
        """[..., m] → [..., m, dim]"""
        return self.vectors[ids + self.offsets] * (ids >= FIRST).unsqueeze(-1)


class ProxyNetwork(_Embedded):
    """Is a record normal? Stands in for the detector, and has a gradient."""

    def __init__(self, vocabulary: Vocabulary, *, dim: int, width: int) -> None:
        super().__init__(vocabulary, dim, scale=0.1)
        self.layers = nn.Sequential(
            nn.Linear(len(vocabulary) * dim, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, 1),
        )

    def forward(self, vectors: Tensor) -> Tensor:
        """Logits of "normal" [n] from the vectors of the domains, [n, m, dim]."""
        logits: Tensor = self.layers(vectors.flatten(1)).squeeze(-1)
        return logits

    def loss(self, ids: Tensor, generator: torch.Generator) -> Tensor:
        """Cross-entropy; the last column of ids [b, m + 1] is the label, 1 for normal."""
        ids, label = ids[:, :-1].to(torch.int64), ids[:, -1].float()
        return functional.binary_cross_entropy_with_logits(self(self.vectors_of(ids)), label)


class PerturbationNetwork(_Embedded):
    """Which entities would make a record normal to the proxy, changing few.

    The present entity's logit gets a learned extra for its domain: without it, the network would have to repeat
    thousands of entities through its narrow last layer only to keep them.
    """

    unit: Tensor

    def __init__(
        self,
        vocabulary: Vocabulary,
        proxy: ProxyNetwork,
        *,
        dim: int,
        widths: tuple[int, ...],
        dropout: float,
        temperature: float,
        sparsity: float,
    ) -> None:
        # Large enough for records to differ from the start: smaller vectors drown in the layers' biases, and the same
        # entities are learned for every record.
        super().__init__(vocabulary, dim, scale=1.0)
        self.proxy = proxy.requires_grad_(False)
        self.register_buffer("unit", torch.ones(()))
        self.dropout, self.temperature, self.sparsity = dropout, temperature, sparsity
        self.entities = [size - FIRST for size in vocabulary.sizes.tolist()]
        sizes = [len(vocabulary) * dim, *widths]
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in itertools.pairwise(sizes))
        # One table for all domains; the reserved ids have no row, so they can never be drawn.
        self.output = nn.Parameter(torch.randn(sum(self.entities), widths[-1]) * widths[-1] ** -0.5)
        self.bias = nn.Parameter(torch.zeros(sum(self.entities)))
        self.keep = nn.Linear(widths[-1], len(vocabulary))
        with torch.no_grad():
            # The more entities there are besides the present one, the more it needs.
            self.keep.bias.copy_(torch.tensor([math.log(ODDS * max(count, 1)) for count in self.entities]))

    def logits(self, ids: Tensor, generator: torch.Generator | None = None) -> list[Tensor]:
        """For each domain, logits over its entities, [n, entities]; with a generator, under dropout."""
        hidden = self.vectors_of(ids).flatten(1)
        for layer in self.layers:
            hidden = layer(hidden).relu()
            if generator is not None:
                # Drawn from the generator, so that a training that is taken up again goes on as it would have.
                drawn = torch.rand(hidden.shape, generator=generator, device=hidden.device)
                hidden = hidden * (drawn >= self.dropout) / (1 - self.dropout)
        extra = (self.keep(hidden) * (ids >= FIRST)).unbind(dim=1)
        tables = zip(self.output.split(self.entities), self.bias.split(self.entities), strict=True)
        present = (ids - FIRST).clamp(min=0).unbind(dim=1)
        return [
            (hidden @ weight.T + bias).scatter_add(1, place[:, None], more[:, None])
            for (weight, bias), place, more in zip(tables, present, extra, strict=True)
        ]

    def loss(self, ids: Tensor, generator: torch.Generator) -> Tensor:
        """Cross-entropy of the proxy's verdict with "normal", and the share of domains changed."""
        ids = ids.to(torch.int64)
        tables = [table[FIRST:] for table in self.proxy.vectors.split([count + FIRST for count in self.entities])]
        vectors, changed = [], []
        for domain, logits in enumerate(self.logits(ids, generator if self.training else None)):
            present = ids[:, domain]
            soft = ((logits + _gumbel(logits.shape, logits, generator)) / self.temperature).softmax(dim=1)
            mixture = soft @ tables[domain]
            # The vector of the entity drawn, with the gradient of the mixture.
            drawn = tables[domain][soft.argmax(dim=1)] + mixture - mixture.detach()
            vectors.append(drawn * (present != MISSING)[:, None])
            kept = soft.gather(1, (present - FIRST).clamp(min=0)[:, None]).squeeze(1)
            changed.append((1 - kept) * (present >= FIRST))
        verdict = self.proxy(torch.stack(vectors, dim=1))
        share = torch.stack(changed, dim=1).mean(dim=1)
        return (functional.softplus(-verdict) / self.unit + self.sparsity * share).mean()

    @torch.no_grad()
    def calibrate(self, anomalies: Tensor) -> None:
        """Take the mean loss of unperturbed anomalies [n, m] as the unit of the verdict.

        A proxy that is sure of itself has logits of tens, a doubtful one of ones; the same sparsity fits both.
        """
        verdict = self.proxy(self.proxy.vectors_of(anomalies.to(torch.int64)))
        self.unit.copy_(functional.softplus(-verdict).mean().clamp(min=1e-6))

    @torch.no_grad()
    def draw(self, ids: Tensor, count: int, generator: torch.Generator) -> Tensor:
        """Records int64 [n, count, m] with the entities of as many draws; missing entities stay missing.

        Dropout stays on: the networks were trained under it, and it makes the draws differ where the logits leave the
        Gumbel noise little to decide.
        """
        ids = ids.repeat_interleave(count, dim=0)
        drawn = [
            (logits + _gumbel(logits.shape, logits, generator)).argmax(dim=1) + FIRST
            for logits in self.logits(ids, generator)
        ]
        return torch.where(ids == MISSING, MISSING, torch.stack(drawn, dim=1)).view(-1, count, ids.shape[1])


def _gumbel(shape: tuple[int, ...], like: Tensor, generator: torch.Generator) -> Tensor:
    """Standard Gumbel noise, in the type and on the device of another tensor."""
    # From uniform numbers: several times quicker than from exponential ones.
    uniform = torch.rand(shape, generator=generator, device=like.device).clamp_(min=1e-20)
    return uniform.log_().neg_().log_().neg_()


class Fimap:
    """Feature Importance by Minimal Adversarial Perturbation, for records of entities.

    Args:
        seed: of the synthetic anomalies, and of the draws in `find`.
        records: normal training records that the networks learn from.
        copies: synthetic anomalies of each of them that the proxy learns from. In these, up to half of the domains are
            corrupted: a proxy that has met no more than two at once takes records changed in many places for normal.
        dim: size of an entity's vector, in both networks.
        proxy_width: of the proxy's two layers.
        widths: of the perturbation network's layers.
        dropout: after each of these.
        temperature: of the Gumbel-softmax, τ.
        sparsity: weight of the share of domains changed; 1 makes a change of every domain cost as much as an anomaly
            left as it is.
        epochs: passes over the records, at most.
        batch_size: records a step.
        learning_rate: peak of the one-cycle schedule.
        patience: epochs without a better validation loss before training stops.
    """

    name = "fimap"

    proxy_: ProxyNetwork
    network_: PerturbationNetwork
    proxy_history_: History
    history_: History

    def __init__(
        self,
        *,
        seed: int = 0,
        records: int = 10_000,
        copies: int = 5,
        dim: int = 32,
        proxy_width: int = 256,
        widths: tuple[int, ...] = (256, 128, 128),
        dropout: float = 0.2,
        temperature: float = 0.5,
        sparsity: float = 0.8,
        epochs: int = 100,
        batch_size: int = 512,
        learning_rate: float = 2e-3,
        patience: int = 10,
    ) -> None:
        self.seed = seed
        self.records = records
        self.copies = copies
        self.dim = dim
        self.proxy_width = proxy_width
        self.widths = widths
        self.dropout = dropout
        self.temperature = temperature
        self.sparsity = sparsity
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.patience = patience

    def fit(self, data: TrainingData, detector: Detector, run: Run | None = None) -> Self:
        """Train both networks; the detector gives the scores that are reported and has no say here."""
        run = run or Run()
        self.vocabulary_: Vocabulary = data.vocabulary
        self.pairs_: Pairs = data.pairs
        self.detector_: Detector = detector
        self.device_: torch.device = run.device
        order = torch.randperm(len(data.train), generator=torch.Generator().manual_seed(self.seed))
        normal, checked = data.train[order[: self.records]], data.held_out[: max(self.records // 10, 1)]
        anomalies, held_out = self._anomalies(normal, data, (1, 2)), self._anomalies(checked, data, (1, 2))
        if not len(anomalies):
            raise InputError("fimap: no training record could be turned into an anomaly, so there is nothing to learn")
        plan = Plan(
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            patience=self.patience,
        )
        with run.seeded("fimap proxy"):
            self.proxy_ = ProxyNetwork(data.vocabulary, dim=self.dim, width=self.proxy_width)
        labelled, validation = self._labelled(normal, data), self._labelled(checked, data)
        self.proxy_history_ = train(self.proxy_, labelled, plan, run, stage="fimap proxy", validation=validation)
        with run.seeded("fimap"):
            self.network_ = PerturbationNetwork(
                data.vocabulary,
                self.proxy_,
                dim=self.dim,
                widths=self.widths,
                dropout=self.dropout,
                temperature=self.temperature,
                sparsity=self.sparsity,
            )
        self.network_.to(run.device).calibrate(anomalies.to(run.device))
        self.history_ = train(self.network_, anomalies, plan, run, stage="fimap", validation=held_out)
        return self

    def _anomalies(self, normal: Tensor, data: TrainingData, changes: tuple[int, ...], copy: int = 0) -> Tensor:
        """Records [n', m] with some entities out of context."""
        return corrupt(normal, data.vocabulary, data.pairs, changes=changes, seed=self.seed + copy).ids

    def _labelled(self, normal: Tensor, data: TrainingData) -> Tensor:
        """Normal records and anomalies of them, int32 [.., m + 1], with a last column that is 1 for normal."""
        changes = tuple(range(1, max(len(data.vocabulary) // 2, 1) + 1))
        parts = []
        for copy in range(self.copies):
            for label, ids in ((1, normal), (0, self._anomalies(normal, data, changes, copy))):
                parts.append(torch.cat([ids, ids.new_full((len(ids), 1), label)], dim=1))
        return torch.cat(parts)

    def find(self, ids: Tensor, settings: Settings, score: Tensor | None = None) -> Outcome:
        """K draws for every record ids [n, m]; those equal to it or to an earlier one are left out.

        An entity is kept where it is drawn itself; an unseen one can't be drawn, so it is always replaced. What breaks
        a constraint is left out too.
        """
        if not hasattr(self, "network_"):
            raise NotFittedError("Fimap is not fitted; call fit first")
        ids = ids.to(torch.int64)
        constraints = settings.constraints_for(self.vocabulary_, ids.device)
        generator = torch.Generator(self.device_).manual_seed(self.seed)
        rows = max(CELLS // (settings.k * max(sum(self.network_.entities), 1)), 1)
        parts = [
            self.network_.draw(part.to(self.device_), settings.k, generator) for part in ids.split(rows) if len(part)
        ]
        found = torch.cat([ids.new_empty((0, settings.k, ids.shape[1])), *(part.to(ids.device) for part in parts)])
        found = torch.where(constraints.mutable, found, ids[:, None])
        mask = (found != ids[:, None]).any(dim=2) & first_of_its_kind(found)
        mask &= respects(constraints, self.vocabulary_, self.pairs_, ids, found)
        return assemble(ids, found, mask, self.detector_, self.vocabulary_, constraints)


def fimap(parts: ModelParts) -> Method:
    """Trained on the records behind a model's parts."""
    assert parts.records is not None
    return Fimap(seed=parts.run.seed).fit(parts.records, parts.detector, parts.run)
