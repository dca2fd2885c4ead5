"""Algorithm 1, step 1."""

from __future__ import annotations

import torch

from carat.explain import flagged, targets

NAN = torch.nan


def test_flagged_may_be_empty_and_never_holds_missing() -> None:
    likelihood = torch.tensor([[0.9, 0.5, 0.7], [0.49, NAN, 0.1]])
    assert flagged(likelihood).tolist() == [[False, False, False], [True, False, True]]


def test_targets_fall_back_to_the_single_lowest() -> None:
    likelihood = torch.tensor([[0.9, 0.5, 0.7], [0.49, NAN, 0.1], [NAN, 0.8, 0.9]])
    assert targets(likelihood).tolist() == [[False, True, False], [True, False, True], [False, True, False]]


def test_nothing_to_replace_where_all_is_missing() -> None:
    assert targets(torch.full((1, 3), NAN)).tolist() == [[False, False, False]]


def test_no_records() -> None:
    assert targets(torch.empty(0, 3)).shape == (0, 3)
