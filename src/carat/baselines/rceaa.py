"""RCEAA: for every anomaly, gradient descent on K relaxed records towards normal, near and different (Haldar, 2021).

A relaxed record has, in every domain, a distribution over its entities instead of one of them. The detector scores it
through the mixture of the entities' vectors, which MEAD and APE can.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import torch
from torch import Tensor

from carat.baselines._outcome import assemble, first_of_its_kind, respects
from carat.data.pairs import Pairs
from carat.data.vocabulary import FIRST, MISSING, Vocabulary
from carat.detectors.embedding import EmbeddingDetector
from carat.errors import InputError
from carat.protocols import Detector
from carat.recourse.constraints import ResolvedConstraints
from carat.recourse.engine import Method
from carat.recourse.outcome import Outcome
from carat.recourse.parts import ModelParts
from carat.recourse.settings import Settings

CELLS = 4_000_000
"""Upper limit on the logits of all trials held at once."""
JITTER = 1e-4
"""Added to the kernel's diagonal: its determinant stays positive where two relaxed records are the same."""


@dataclass(frozen=True, kw_only=True)
class Rceaa:
    """K counterfactuals at once: hinge(threshold − score) · ω + λ1 · distance − λ2 · diversity.

    Every λ1 and λ2 of `weights` is tried, and of all trials and epochs the K records of the lowest loss are kept. The
    scores are standardised by `reference`. Distance is the mean cosine distance from the anomaly; diversity is the
    determinant of the kernel 1 / (1 + cosine distance), taken to its K-th root: the determinant of 50 records is
    below 1e-13 however different they are, and nothing beside the other terms; its root is of their size.

    Args:
        vocabulary: what the ids mean.
        pairs: co-occurrence counts, for constraints that ask for support.
        detector: MEAD or APE.
        reference: scores of training records, [r].
        seed: of the noise that K relaxed records start with.
        epochs: gradient steps.
        learning_rate: of Adam, in logits.
        hinge: ω.
        percentile: share of the reference below the threshold.
        weights: the values of λ1 and of λ2.
        kept: probability of the present entity at the start.
    """

    vocabulary: Vocabulary
    pairs: Pairs
    detector: Detector
    reference: Tensor
    seed: int = 0
    epochs: int = 20
    learning_rate: float = 0.5
    hinge: float = 2.0
    percentile: float = 0.1
    weights: tuple[float, ...] = (0.25, 0.5, 0.75)
    kept: float = 0.9

    name = "rceaa"

    def __post_init__(self) -> None:
        if not isinstance(self.detector, EmbeddingDetector):
            got = getattr(self.detector, "name", type(self.detector).__name__)
            raise InputError(f"rceaa needs the detector mead or ape, got '{got}'")
        if not len(self.reference):
            raise InputError("rceaa needs the scores of training records, got none")

    def find(self, ids: Tensor, settings: Settings, score: Tensor | None = None) -> Outcome:
        """At most K counterfactuals for every record ids [n, m], one record after another.

        Missing entities stay missing. Where the likeliest entities are the record's own, or those of another of the
        K, one is left out; so is what breaks a constraint.
        """
        ids = ids.to(torch.int64)
        constraints = settings.constraints_for(self.vocabulary, ids.device)
        found = ids[:, None].repeat(1, settings.k, 1)
        assert isinstance(self.detector, EmbeddingDetector)
        relaxed = Relaxed(self, self.detector, constraints.to(self.detector.device_))
        for number, record in enumerate(ids):
            found[number] = relaxed.descend(record, settings.k).to(ids.device)
        mask = (found != ids[:, None]).any(dim=2) & first_of_its_kind(found)
        mask &= respects(constraints, self.vocabulary, self.pairs, ids, found)
        return assemble(ids, found, mask, self.detector, self.vocabulary, constraints)


class Relaxed:
    """Relaxed records and their loss; a domain that can't change keeps what it has.

    Args:
        method: the settings.
        detector: scores mixtures of vectors.
        constraints: the constraints, on the detector's device.
    """

    def __init__(self, method: Rceaa, detector: EmbeddingDetector, constraints: ResolvedConstraints) -> None:
        self.method, self.network, self.device, self.constraints = (
            method,
            detector.network_,
            detector.device_,
            constraints,
        )
        sizes, offsets = method.vocabulary.sizes.tolist(), method.vocabulary.offsets.tolist()
        self.entities = [size - FIRST for size in sizes]
        rows = torch.cat(
            [torch.arange(offset + FIRST, offset + size) for offset, size in zip(offsets, sizes, strict=True)]
        ).to(self.device)
        # What came after the detector was trained has no vector, and is not proposed.
        ids = torch.cat([torch.arange(FIRST, size) for size in sizes]).to(self.device)
        domain = torch.repeat_interleave(torch.tensor(self.entities)).to(self.device)
        place = self.network.offsets[domain] + detector.legible(ids, domain)
        self.tables = self.network.vectors.detach()[place].split(self.entities)
        self.starts = torch.tensor(list(itertools.accumulate(self.entities, initial=0))[:-1], device=self.device)
        self.permitted = constraints.permitted[rows] & ~detector.later(ids, domain)
        reference = method.reference.double()
        self.mean = float(reference.mean())
        self.deviation = max(float(reference.std(correction=0)), 1e-12)
        self.threshold = (float(reference.quantile(method.percentile)) - self.mean) / self.deviation
        both = list(itertools.product(method.weights, repeat=2))
        self.lambdas = torch.tensor(both, device=self.device).T  # [2, trials]

    def descend(self, record: Tensor, k: int) -> Tensor:
        """The K discrete records [K, m] of the lowest loss, from a record [m]."""
        record = record.to(self.device)
        start = self.start(record, k)
        size = max(CELLS // start.numel(), 1)
        best, result = math.inf, record.expand(k, -1)
        for lambdas in self.lambdas.split(size, dim=1):
            loss, logits = self._trial(record, start, lambdas)
            if float(loss.min()) < best:
                best, result = float(loss.min()), self._discrete(record, logits[loss.argmin()])
        return result

    def start(self, record: Tensor, k: int) -> Tensor:
        """Logits [K, entities of all domains]: mostly the record, with noise; an unseen entity is a blank."""
        generator = torch.Generator().manual_seed(self.method.seed)
        logits = torch.randn((k, len(self.permitted)), generator=generator).to(self.device)
        for domain, count in enumerate(self.entities):
            if record[domain] >= FIRST:
                # Against so many others of noise, this makes the present entity as likely as wanted.
                odds = self.method.kept / (1 - self.method.kept)
                logits[:, self.starts[domain] + record[domain] - FIRST] = math.log(odds * max(count, 1)) + 0.5
        return logits

    def _trial(self, record: Tensor, start: Tensor, lambdas: Tensor) -> tuple[Tensor, Tensor]:
        """For each of the λ [2, c], the lowest loss [c] and its logits [c, K, entities]."""
        logits = start.expand(lambdas.shape[1], -1, -1).clone().requires_grad_()
        optimizer = torch.optim.Adam([logits], lr=self.method.learning_rate)
        best, kept = torch.full((lambdas.shape[1],), torch.inf, device=self.device), logits.detach().clone()
        for epoch in range(self.method.epochs + 1):
            loss = self.loss(record, logits, lambdas)
            better = loss.detach() < best
            best = torch.where(better, loss.detach(), best)
            kept[better] = logits.detach()[better]
            if epoch < self.method.epochs and loss.requires_grad:
                (logits.grad,) = torch.autograd.grad(loss.sum(), logits)
                optimizer.step()
        return best, kept

    def loss(self, record: Tensor, logits: Tensor, lambdas: Tensor) -> Tensor:
        """[c] from logits [c, K, entities] and λ [2, c]."""
        parts, known = self._probabilities(record, logits)
        vectors = torch.stack([part @ table for part, table in zip(parts, self.tables, strict=True)], dim=-2)
        present = known.sum().clamp(min=2)
        score = (self.network.relaxed(vectors, known, present) - self.mean) / self.deviation
        hinge = (self.threshold - score).relu().mean(dim=1)
        flat = torch.cat(parts, dim=-1)
        flat = flat / flat.norm(dim=-1, keepdim=True).clamp(min=1e-12)
        distance = 1 - flat @ self._one_hot(record)
        kernel = 1 / (1 + (1 - flat @ flat.transpose(1, 2)))
        kernel = kernel + JITTER * torch.eye(kernel.shape[1], device=self.device)
        diversity = (torch.linalg.slogdet(kernel).logabsdet / kernel.shape[1]).exp()
        total: Tensor = self.method.hinge * hinge + lambdas[0] * distance.mean(dim=1) - lambdas[1] * diversity
        return total

    def _free(self, record: Tensor) -> Tensor:
        """Domains that may change, bool [m]."""
        return (record != MISSING) & self.constraints.mutable

    def _probabilities(self, record: Tensor, logits: Tensor) -> tuple[list[Tensor], Tensor]:
        """For each domain, a distribution over its entities [c, K, entities], and which domains have one, bool [m]."""
        allowed = self.permitted | (self._one_hot(record) > 0)
        masked = logits.masked_fill(~allowed, -torch.inf).split(self.entities, dim=-1)
        fixed = (self._one_hot(record) > 0).to(logits.dtype).split(self.entities)
        free = self._free(record)
        parts = [
            part.softmax(dim=-1) if free[domain] else fixed[domain].expand_as(part)
            for domain, part in enumerate(masked)
        ]
        return parts, free | (record >= FIRST)

    def _one_hot(self, record: Tensor) -> Tensor:
        """The record as a vector of length 1 over the entities of all domains, [entities]."""
        known = record >= FIRST
        result = torch.zeros(len(self.permitted), device=self.device)
        result[(self.starts + record - FIRST)[known]] = 1 / math.sqrt(max(int(known.sum()), 1))
        return result

    def _discrete(self, record: Tensor, logits: Tensor) -> Tensor:
        """The likeliest entity of every domain that may change, int64 [K, m]."""
        parts, _ = self._probabilities(record, logits)
        likeliest = torch.stack([part.argmax(dim=-1) + FIRST for part in parts], dim=-1)
        return torch.where(self._free(record), likeliest, record)


def rceaa(parts: ModelParts) -> Method:
    """Of a model's parts; its threshold is a percentile of training scores, or of the reference where they are gone."""
    records = parts.records
    reference = parts.reference if records is None else parts.detector.score(records.train).cpu()
    return Rceaa(
        vocabulary=parts.vocabulary,
        pairs=parts.pairs,
        detector=parts.detector,
        reference=reference,
        seed=parts.run.seed,
    )
