"""Shared by the tests of the metrics: drawn counterfactuals, and changes to them that must not matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from hypothesis import strategies as st
from torch import Tensor

from carat.metrics import distinct

ENTITIES = 5
"""Ids are drawn below this: 0 is missing, 1 unseen; few, so that equal ones are common."""

NAN = float("nan")


@dataclass(frozen=True)
class Case:
    """Anomalies, their counterfactuals, and what the metrics need to know of them.

    `order` and `turn` are permutations of the slots and of the domains, for `reordered` and `turned`.
    """

    base: Tensor
    counterfactuals: Tensor
    mask: Tensor
    corrupted: Tensor
    original: Tensor
    training: Tensor
    scores: Tensor
    order: list[int]
    turn: list[int]


Metric = Callable[[Case], Tensor]
Way = Callable[[Case], Case]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A few anomalies, from none at all; their mask went through `distinct`."""
    n, slots, m = draw(st.integers(0, 3)), draw(st.integers(0, 5)), draw(st.integers(2, 4))

    def drawn(low: int, high: int, *shape: int) -> Tensor:
        size = int(torch.tensor(shape).prod())
        return torch.tensor(draw(st.lists(st.integers(low, high), min_size=size, max_size=size))).reshape(shape)

    base = drawn(0, ENTITIES - 1, n, m).int()
    counterfactuals = drawn(0, ENTITIES - 1, n, slots, m).int()
    mask = distinct(base, counterfactuals, drawn(0, 3, n, slots) > 0)
    return Case(
        base=base,
        counterfactuals=counterfactuals,
        mask=mask,
        corrupted=drawn(0, 1, n, m).bool(),
        original=drawn(0, ENTITIES - 1, n, m).int(),
        training=drawn(0, ENTITIES - 1, draw(st.integers(0, 6)), m).int(),
        scores=drawn(-3, 3, n, slots).float(),
        order=draw(st.permutations(range(slots))),
        turn=draw(st.permutations(range(m))),
    )


def reordered(case: Case) -> Case:
    """The counterfactuals in another order."""
    return replace(
        case,
        counterfactuals=case.counterfactuals[:, case.order],
        mask=case.mask[:, case.order],
        scores=case.scores[:, case.order],
    )


def turned(case: Case) -> Case:
    """The domains in another order, everywhere."""
    return replace(
        case,
        base=case.base[:, case.turn],
        counterfactuals=case.counterfactuals[:, :, case.turn],
        corrupted=case.corrupted[:, case.turn],
        original=case.original[:, case.turn],
        training=case.training[:, case.turn],
    )


def padded_with(value: int) -> Way:
    """Padding with this id, and a score of NaN."""

    def way(case: Case) -> Case:
        ids = torch.where(case.mask[:, :, None], case.counterfactuals, value)
        return replace(case, counterfactuals=ids, scores=torch.where(case.mask, case.scores, NAN))

    return way


def padded_with_original(case: Case) -> Case:
    """Padding that looks like the answer."""
    ids = torch.where(case.mask[:, :, None], case.counterfactuals, case.original[:, None])
    return replace(case, counterfactuals=ids)


def repeated(case: Case) -> Case:
    """The anomaly itself in front, every counterfactual twice, and the lot through `distinct`."""
    ids = torch.cat([case.base[:, None], case.counterfactuals, case.counterfactuals], dim=1)
    mask = torch.cat([torch.ones_like(case.base[:, :1], dtype=torch.bool), case.mask, case.mask], dim=1)
    scores = torch.cat([torch.zeros(len(ids), 1), case.scores, case.scores], dim=1)
    return replace(case, counterfactuals=ids, mask=distinct(case.base, ids, mask), scores=scores)


EVERY_WAY: tuple[Way, ...] = (reordered, turned, padded_with(-7), padded_with(99), padded_with_original, repeated)


def check_unmoved(metric: Metric, case: Case, ways: Sequence[Way] = EVERY_WAY) -> None:
    """The metric is the same after each of the ways."""
    expected = metric(case)
    for way in ways:
        torch.testing.assert_close(metric(way(case)), expected, rtol=1e-12, atol=1e-12, equal_nan=True)


def check_form(metric: Metric, case: Case, *, low: float = 0.0, high: float = 1.0) -> None:
    """float64 [n] within the bounds, NaN exactly where there is no counterfactual, and nothing written to."""
    before = {name: value.clone() for name, value in vars(case).items() if isinstance(value, Tensor)}
    value = metric(case)
    assert value.dtype == torch.float64
    assert value.shape == (len(case.base),)
    assert torch.equal(value.isnan(), ~case.mask.any(dim=1))
    there = value[~value.isnan()]
    assert ((there >= low) & (there <= high)).all()
    for name, tensor in before.items():
        assert torch.equal(tensor, getattr(case, name)), name


def answers(case: Case) -> Iterator[tuple[list[int], list[list[int]]]]:
    """Each anomaly and its counterfactuals, padding left out, as plain lists."""
    for base, ids, mask in zip(case.base, case.counterfactuals, case.mask, strict=True):
        yield base.tolist(), ids[mask].tolist()


def mean(values: Sequence[float]) -> float:
    """Mean of a list; NaN of none."""
    return sum(values) / len(values) if values else NAN


def close(value: Tensor, expected: Sequence[float]) -> bool:
    """Equal up to rounding; NaN equals NaN."""
    return torch.allclose(value, torch.tensor(expected, dtype=torch.float64), rtol=1e-12, atol=1e-12, equal_nan=True)
