"""Questions to a method, and the parts of an answer that several checks look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from carat.data import FIRST, Vocabulary
from carat.fitting import Model
from carat.recourse import Method, ModelParts, Outcome, Settings
from carat.registry import method as method_entry
from carat.testing.check import Suite
from carat.testing.parts import make, model_for, parts_of
from carat.testing.planted import corrupted, normal_records, twice_corrupted

MethodFactory = Callable[[ModelParts], Method]
Records = Sequence[Mapping[str, str | None]]
K = 6
"""Counterfactuals of a record, where a check does not say."""


def questions() -> list[dict[str, str]]:
    """Eight records with one wrong entity, two with two, and a normal one."""
    return [*corrupted()[0][:8], *twice_corrupted()[:2], normal_records()[1]]


@dataclass(frozen=True)
class Answer:
    """What a method found for records ids int64 [n, m]."""

    ids: Tensor
    outcome: Outcome
    vocabulary: Vocabulary

    @property
    def changed(self) -> Tensor:
        """Domains in which an existing counterfactual differs from its record, bool [n, K, m]."""
        return (self.outcome.counterfactuals != self.ids[:, None]) & self.outcome.mask[..., None]

    @property
    def known(self) -> Tensor:
        """Whether an id is that of an entity, bool [n, K, m]."""
        found = self.outcome.counterfactuals
        return (found >= FIRST) & (found < self.vocabulary.sizes)

    def texts(self) -> list[tuple[int, dict[str, str | None], list[str]]]:
        """Of every counterfactual: the number of its record, its entities, and the domains that changed."""
        number, rank = self.outcome.mask.nonzero(as_tuple=True)
        columns = self.vocabulary.decode(self.outcome.counterfactuals[number, rank])
        cells = zip(*(column.to_pylist() for column in columns.values()), strict=True)
        names = self.vocabulary.names
        return [
            (row, dict(zip(names, entities, strict=True)), [n for n, new in zip(names, differs, strict=True) if new])
            for row, entities, differs in zip(number.tolist(), cells, self.changed[number, rank].tolist(), strict=True)
        ]


class Asking(Suite):
    """A method that can be asked.

    Args:
        factory: a name, or what makes a method of a model's parts.
        needs: what it needs of them.
        context: whether it finds what belongs together.
        detector: whose scores it is to better.
    """

    def __init__(
        self, factory: str | MethodFactory, *, needs: Iterable[str] = (), context: bool = True, detector: Any = "counts"
    ) -> None:
        self.needs = tuple(needs)
        self.called = factory if isinstance(factory, str) else None
        if isinstance(factory, str):
            entry = method_entry(factory)
            self.factory: MethodFactory = entry.load()
            self.needs += entry.needs
        else:
            self.factory = factory
        self.context, self.judge = context, detector

    @cached_property
    def model(self) -> Model:
        """Of the planted table."""
        return model_for(self.needs, self.judge)

    @cached_property
    def parts(self) -> ModelParts:
        """What the method is made of."""
        return parts_of(self.model, self.needs)

    @cached_property
    def method(self) -> Method:
        """Made of them."""
        return self.made()

    def made(self) -> Method:
        """A new one."""
        return make(self.factory, self.parts, self.needs)

    def encode(self, records: Records) -> Tensor:
        """Ids int64 [n, m]."""
        return self.parts.vocabulary.encode(records).long()

    def ask(self, records: Records | Tensor, method: Method | None = None, **options: Any) -> Answer:
        """What the method finds; the options are those of `Settings`."""
        ids = records if isinstance(records, Tensor) else self.encode(records)
        outcome = (method or self.method).find(ids, Settings(**{"k": K, **options}))
        return Answer(ids, outcome, self.parts.vocabulary)

    @cached_property
    def answer(self) -> Answer:
        """To the usual questions."""
        return self.ask(questions())


def same_answers(left: Outcome, right: Outcome) -> bool:
    """Whether two outcomes are the same to the last bit, as far as their counterfactuals exist."""
    mask = left.mask
    return (
        torch.equal(mask, right.mask)
        and torch.equal(left.counterfactuals[mask], right.counterfactuals[mask])
        and torch.equal(left.score[mask], right.score[mask])
        and left.reasons == right.reasons
    )
