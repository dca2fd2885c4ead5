"""Different ideas instead of many spellings of one."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from carat.recourse import Settings
from carat.recourse.diversity import diverse
from tests.support.fitted import model_of, twice_corrupted

BASE = torch.tensor([[1, 1, 1]])
# Three spellings of one idea, then two other ideas.
LIST = torch.tensor([[[5, 2, 1], [5, 3, 1], [5, 4, 1], [6, 2, 1], [1, 1, 9]]])
ALL = torch.ones(1, 5, dtype=torch.bool)


def slow(listed: list[list[int]], base: list[int], k: int, weight: float) -> list[int]:
    """Maximal marginal relevance, one at a time."""

    def likeness(left: list[int], right: list[int]) -> float:
        places = range(len(base))
        either = [i for i in places if left[i] != base[i] or right[i] != base[i]]
        both = [i for i in either if left[i] == right[i]]
        return len(both) / max(len(either), 1)

    chosen: list[int] = []
    while len(chosen) < min(k, len(listed)):
        left = [place for place in range(len(listed)) if place not in chosen]
        chosen.append(
            max(
                left,
                key=lambda p: (
                    round(
                        (1 - weight) * (1 - p / len(listed))
                        - weight * max((likeness(listed[p], listed[c]) for c in chosen), default=0.0),
                        5,
                    ),
                    -p,
                ),
            )
        )
    return chosen


@given(
    st.lists(st.tuples(*[st.integers(1, 3)] * 3), min_size=1, max_size=8, unique=True),
    st.integers(1, 10),
    st.sampled_from([0.0, 0.3, 0.71, 1.0]),
)
def test_greedy_choice(listed: list[tuple[int, ...]], k: int, weight: float) -> None:
    made = torch.tensor([listed])
    found = diverse(made, BASE, torch.ones(1, len(listed), dtype=torch.bool), k, weight)[0].tolist()
    expected = slow([list(each) for each in listed], [1, 1, 1], k, weight)
    if weight in (0.0, 1.0):
        assert found == expected
    else:  # sums that are equal but for rounding may go either way; the first never does
        assert found[0] == expected[0]
        assert len(set(found)) == len(found) == len(expected)


def test_no_weight_keeps_the_order() -> None:
    assert diverse(LIST, BASE, ALL, 5, 0.0).tolist() == [[0, 1, 2, 3, 4]]


def test_full_weight_spreads() -> None:
    assert diverse(LIST, BASE, ALL, 3, 1.0).tolist() == [[0, 4, 1]]
    assert diverse(LIST, BASE, ALL, 3, 0.7).tolist() == [[0, 4, 3]] or diverse(LIST, BASE, ALL, 3, 0.7)[0, 1] == 4


def test_what_does_not_exist_comes_last_in_its_order() -> None:
    mask = torch.tensor([[True, True, False, True, False]])
    for weight in (0.0, 0.5, 1.0):
        found = diverse(LIST, BASE, mask, 5, weight)[0].tolist()
        assert sorted(found[:3]) == [0, 1, 3]
        assert found[3:] == [2, 4]


@pytest.mark.parametrize("weight", [0.2, 0.5, 0.8])
def test_padding_changes_nothing(weight: float) -> None:
    def padded(values: Tensor) -> Tensor:
        return torch.cat([values, torch.zeros_like(values).repeat(1, 4, *[1] * (values.dim() - 2))], dim=1)

    assert torch.equal(diverse(padded(LIST), BASE, padded(ALL), 4, weight), diverse(LIST, BASE, ALL, 4, weight))


def test_no_records() -> None:
    assert diverse(LIST[:0], BASE[:0], ALL[:0], 3, 0.5).shape == (0, 3)


def test_on_a_model_it_gives_more_different_entities() -> None:
    model = model_of("ape")
    ids = model.vocabulary.encode(twice_corrupted()[:4])
    kinds = []
    for diversity in (0.0, 1.0):
        outcome = model.method("carat").find(ids, Settings(k=8, diversity=diversity))
        assert outcome.mask.all()
        kinds.append(sum(len(set(column.tolist())) for each in outcome.counterfactuals for column in each.T))
        torch.testing.assert_close(
            outcome.score.flatten(), model.detector.score(outcome.counterfactuals.flatten(0, 1)), rtol=1e-4, atol=1e-4
        )
    assert kinds[1] > kinds[0]
