"""What a user can and cannot change: immutable domains, permitted entities, forbidden pairs, costs, support.

A constraint speaks of what is proposed. What is in the record already may stay, whatever the constraints say of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import torch
from torch import Tensor

from carat.arguments import check_number, known_fields
from carat.data.pairs import Pairs
from carat.data.text import texts_of
from carat.data.toml import filled, read_toml
from carat.data.vocabulary import FIRST, Domain, Vocabulary
from carat.errors import COLUMNS, InputError, nearest


@known_fields
@dataclass(frozen=True, kw_only=True)
class Costs:
    """What a change costs; a counterfactual costs the sum over its changes.

    Args:
        change: every change.
        domains: by domain, on top of that.
        entities: by domain and new entity, on top of that.
        weight: how much ranking minds: one unit of cost weighs as much as `weight` nats of log-likelihood, or in a
            ranking by detector score, `weight` standard deviations of normal scores.
    """

    change: float = 0.0
    domains: Mapping[str, float] = field(default_factory=dict)
    entities: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    weight: float = 1.0

    def __post_init__(self) -> None:
        for name in ("change", "weight"):
            _check_cost(f"cost.{name}", getattr(self, name))
        domains = _by_column("cost.domains", self.domains, "a cost", {"City": 2})
        for name, cost in domains.items():
            _check_cost(f"cost.domains['{name}']", cost)
        entities = {}
        for name, costs in _by_column("cost.entities", self.entities, "costs of values", {"City": {"Rome": 2}}).items():
            key = f"cost.entities['{name}']"
            if not isinstance(costs, Mapping):
                raise InputError(f"`{key}` must map values to costs, such as {{'Rome': 2}}, got {costs!r}")
            texts = zip(_values(key, costs), costs.values(), strict=True)
            entities[name] = {text: cost for text, cost in texts if text is not None}
            for text, cost in entities[name].items():
                _check_cost(f"{key}['{text}']", cost)
        object.__setattr__(self, "domains", domains)
        object.__setattr__(self, "entities", entities)


@known_fields
@dataclass(frozen=True, kw_only=True)
class Constraints:
    """Limits on what may be proposed.

    Columns and values are given as the table has them: numbers, booleans and dates are taken as text, as in the table.

    Args:
        immutable: domains that never change.
        allowed: by domain, the only entities that may be put there.
        forbidden: by domain, entities that may not be put there.
        forbidden_pairs: pairs of entities, `{"Carrier": "UA", "Dest": "LGA"}`, that no replacement may bring about.
        max_changes: domains changed at once, at most; the least likely ones are.
        min_support: a replacement must have occurred at least so often with every kept entity of the record.
        cost: what changes cost.
    """

    immutable: Sequence[str] = ()
    allowed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    forbidden: Mapping[str, Sequence[str]] = field(default_factory=dict)
    forbidden_pairs: Sequence[Mapping[str, str]] = ()
    max_changes: int | None = None
    min_support: int = 0
    cost: Costs | None = None

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "immutable", [str(column) for column in _listed("immutable", self.immutable, "columns")]
        )
        for name in ("allowed", "forbidden"):
            lists = _by_column(name, getattr(self, name), "a list of values", {"City": ["Rome"]})
            texts = {column: _values(f"{name}['{column}']", values) for column, values in lists.items()}
            object.__setattr__(
                self, name, {column: [t for t in each if t is not None] for column, each in texts.items()}
            )
        object.__setattr__(self, "forbidden_pairs", _pairs(self.forbidden_pairs))
        for name, least in (("max_changes", 1), ("min_support", 0)):
            given = getattr(self, name)
            if given is None and name == "max_changes":
                continue
            if isinstance(given, bool) or not hasattr(given, "__index__"):
                raise InputError(f"`{name}` must be a whole number, got {given!r}")
            if given < least:
                raise InputError(f"`{name}` must be at least {least}, got {given}")
            object.__setattr__(self, name, int(given))
        cost: Any = self.cost
        if isinstance(cost, Mapping):
            object.__setattr__(self, "cost", Costs(**_known("cost", cost, Costs)))
        elif not isinstance(cost, Costs | None):
            raise InputError(f"`cost` must be a dictionary such as {{'change': 1}}, or a `Costs`, got {cost!r}")

    @classmethod
    def of(cls, given: Constraints | Mapping[str, Any] | str | Path | None) -> Constraints:
        """From whatever form they were given in: an object, a dictionary, a TOML file, or nothing."""
        if given is None or isinstance(given, Constraints):
            return given or cls()
        if isinstance(given, Mapping):
            return cls.from_dict(given)
        if not isinstance(given, str | Path):
            raise InputError(f"`constraints` must be a dictionary, a `Constraints` or a TOML file, got {given!r}")
        return cls.read(given)

    @classmethod
    def read(cls, path: str | Path) -> Constraints:
        """From a TOML file; every complaint is one line that names the key."""
        path = Path(path)
        data = read_toml(path)
        try:
            return filled(cls, data)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Constraints:
        """From a dictionary with the arguments of `Constraints`.

        >>> Constraints.from_dict({"immutable": ["Carrier"], "cost": {"change": 1}}).cost
        Costs(change=1, domains={}, entities={}, weight=1.0)
        """
        return cls(**_known("constraints", data, cls))

    def resolve(self, vocabulary: Vocabulary) -> ResolvedConstraints:
        """The same in ids; a domain that does not exist is refused, an entity that training never met is noted."""
        return _Resolver(self, vocabulary).resolve()


def _known(name: str, given: Mapping[str, Any], of: type[Any]) -> Mapping[str, Any]:
    """A dictionary whose keys are all fields of a class."""
    known = [each.name for each in fields(of)]
    for key in given:
        if key not in known:
            raise InputError(f"`{name}`: unknown key '{key}'; {nearest(str(key), known)}")
    return given


def _listed(name: str, given: Any, of: str) -> list[Any]:
    """A list of columns or values, also from an index or an array; a single text is no list of its letters."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"`{name}` must be a list of {of}, got {given!r}; write [{given!r}]")
    return list(given)


def _by_column(name: str, given: Any, what: str, example: Mapping[str, Any]) -> dict[str, Any]:
    """Something for each of some columns, which a frame may name by numbers."""
    if not isinstance(given, Mapping):
        raise InputError(f"`{name}` must map each column to {what}, such as {example}, got {given!r}")
    return {str(column): each for column, each in given.items()}


def _values(name: str, given: Any) -> list[str | None]:
    """Values as the table has them; None for what is missing there."""
    values = _listed(name, given, "values")
    nested = next((value for value in values if isinstance(value, list | tuple | set | Mapping)), None)
    if nested is not None:
        raise InputError(f"`{name}` must hold single values, got {nested!r}")
    return texts_of(values, name)


def _pairs(given: Any) -> list[dict[str, str]]:
    example = "a list of dictionaries, such as [{'Carrier': 'UA', 'Dest': 'LGA'}]"
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise InputError(f"`forbidden_pairs` must be {example}, got {given!r}")
    pairs = []
    for pair in given:
        if not isinstance(pair, Mapping):
            raise InputError(f"`forbidden_pairs` must be {example}; one pair is {pair!r}")
        if len(pair) != 2:
            raise InputError(f"`forbidden_pairs`: a pair names two columns and their values, got {dict(pair)}")
        texts = _values("forbidden_pairs", pair.values())
        if None in texts:
            raise InputError(f"`forbidden_pairs`: a pair has a value for each of its columns, got {dict(pair)}")
        pairs.append({str(column): text for column, text in zip(pair, texts, strict=True) if text is not None})
    return pairs


def _check_cost(name: str, given: Any) -> None:
    if check_number(name, given) < 0 or not math.isfinite(given):
        raise InputError(f"`{name}` must be a finite number, at least 0, got {given}")


COMPARED = 20_000
"""In a domain with more entities, nobody is told which one a misspelt one was meant to be: it would take too long."""


@dataclass(frozen=True)
class ResolvedConstraints:
    """Constraints in ids.

    Args:
        mutable: domains that may change, bool [m].
        permitted: entities that may be proposed, bool [total].
        pairs: keys of forbidden pairs, `low · total + high`, ascending, int64 [p].
        max_changes: domains changed at once, at most.
        min_support: occurrences with every kept entity, at least.
        cost: of changing to each entity, float32 [total]; None without costs.
        weight: how much ranking minds it.
        unknown: entities named that training never met, as `Domain entity`; naming them has no effect.
    """

    mutable: Tensor
    permitted: Tensor
    pairs: Tensor
    max_changes: int | None
    min_support: int
    cost: Tensor | None
    weight: float
    unknown: tuple[str, ...]

    def to(self, device: torch.device) -> ResolvedConstraints:
        """The same on another device."""
        moved = {name: getattr(self, name).to(device) for name in ("mutable", "permitted", "pairs")}
        cost = None if self.cost is None else self.cost.to(device)
        return ResolvedConstraints(
            **moved,
            max_changes=self.max_changes,
            min_support=self.min_support,
            cost=cost,
            weight=self.weight,
            unknown=self.unknown,
        )

    def targets(self, likelihood: Tensor, chosen: Tensor) -> Tensor:
        """Which of the chosen domains, bool [n, m], change: at most `max_changes`, the least likely ones."""
        if self.max_changes is None:
            return chosen
        order = likelihood.masked_fill(~chosen, torch.inf).argsort(dim=1, stable=True).argsort(dim=1)
        return chosen & (order < self.max_changes)

    def permits(self, rows: Tensor, kept: Tensor, known: Tensor, counts: Pairs) -> Tensor:
        """Which candidates may be proposed, bool [p, L].

        Args:
            rows: the candidates' rows in the vocabulary's layout, [p, L].
            kept: rows of the entities of each candidate's record, [p, m].
            known: which of them are kept and known, bool [p, m].
            counts: co-occurrence counts.
        """
        good = self.permitted[rows]
        for domain in range(kept.shape[1]):
            beside, there = kept[:, domain, None], known[:, domain, None]
            if len(self.pairs):
                good &= ~(self.forbids(rows, beside) & there)
            if self.min_support:
                good &= (counts.count(rows, beside.expand_as(rows)) >= self.min_support) | ~there
        return good

    def forbids(self, left: Tensor, right: Tensor) -> Tensor:
        """Whether pairs of rows are forbidden, in their broadcast shape."""
        key = torch.minimum(left, right) * len(self.permitted) + torch.maximum(left, right)
        place = torch.searchsorted(self.pairs, key.contiguous()).clamp_(max=len(self.pairs) - 1)
        return self.pairs[place] == key


class _Resolver:
    def __init__(self, constraints: Constraints, vocabulary: Vocabulary) -> None:
        self.constraints, self.vocabulary = constraints, vocabulary
        self.unknown: list[str] = []

    def resolve(self) -> ResolvedConstraints:
        given, vocabulary = self.constraints, self.vocabulary
        mutable = torch.ones(len(vocabulary), dtype=torch.bool)
        for name in given.immutable:
            mutable[self._domain(name, "immutable")] = False
        permitted = ~vocabulary.gone
        for name, entities in given.allowed.items():
            domain = self._domain(name, "allowed")
            start = int(vocabulary.offsets[domain])
            permitted[start : start + int(vocabulary.sizes[domain])] = False
            permitted[self._rows(domain, entities)] = True
        for name, entities in given.forbidden.items():
            permitted[self._rows(self._domain(name, "forbidden"), entities)] = False
        keys = []
        for pair in given.forbidden_pairs:
            ends = [self._rows(self._domain(name, "forbidden_pairs"), [entity]) for name, entity in pair.items()]
            if all(len(end) for end in ends):
                low, high = sorted(int(end[0]) for end in ends)
                keys.append(low * vocabulary.total + high)
        return ResolvedConstraints(
            mutable,
            permitted,
            torch.tensor(sorted(set(keys)), dtype=torch.int64),
            given.max_changes,
            given.min_support,
            self._cost(given.cost),
            given.cost.weight if given.cost else 0.0,
            tuple(self.unknown),
        )

    def _cost(self, costs: Costs | None) -> Tensor | None:
        if costs is None:
            return None
        result = torch.full((self.vocabulary.total,), float(costs.change))
        for name, value in costs.domains.items():
            domain = self._domain(name, "cost.domains")
            start = int(self.vocabulary.offsets[domain])
            result[start : start + int(self.vocabulary.sizes[domain])] += value
        for name, by_entity in costs.entities.items():
            domain = self._domain(name, "cost.entities")
            for entity, value in by_entity.items():
                result[self._rows(domain, [entity])] += value
        return result

    def _domain(self, name: str, key: str) -> int:
        names = self.vocabulary.names
        if name not in names:
            raise InputError(f"`{key}`: the model has no column '{name}'; {nearest(name, names, listed=COLUMNS)}")
        return names.index(name)

    def _rows(self, domain: int, entities: Iterable[str]) -> Tensor:
        """Rows of the entities that training met."""
        known = self.vocabulary.domains[domain]
        texts = pa.array(entities, pa.string())
        place = known.places(texts).to_pylist()
        self.unknown += [
            f"{known.name} {text}{_meant(text, known)}"
            for text, found in zip(texts.to_pylist(), place, strict=True)
            if found is None
        ]
        offset = int(self.vocabulary.offsets[domain]) + FIRST
        return torch.tensor([offset + found for found in place if found is not None], dtype=torch.int64)


def _meant(text: str | None, known: Domain) -> str:
    """The entity that a misspelt one was probably meant to be, in parentheses."""
    if text is None or len(known.entities) > COMPARED:
        return ""
    near = nearest(text, filter(None, known.entities.to_pylist()))
    return f" ({near})" if near.endswith("?") else ""
