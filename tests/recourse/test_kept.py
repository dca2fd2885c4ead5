"""Wrong entities that may not change: other changes must make them fit, or there is no fix."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import carat
from carat.recourse.kept import ASKED, NOTHING, reconciled
from carat.recourse.outcome import Outcome
from tests.support.planted import DOMAINS, corrupted, planted_table


class Says:
    """An explainer that likes the first entity once the second is a 6."""

    def likelihood(self, ids: Tensor) -> Tensor:
        found = torch.full(ids.shape, 0.9)
        found[:, 0] = torch.where(ids[:, 1] == 6, 0.8, 0.1)
        return found


def outcome_of(second: list[int]) -> Outcome:
    """One record, 3 and 4, whose second entity was replaced by each of these."""
    count = len(second)
    made = torch.tensor([[[3, other] for other in second]])
    score = torch.arange(count, 0, -1).float()[None]
    return Outcome(
        made,
        torch.ones((1, count), dtype=torch.bool),
        score,
        None,
        torch.ones(1, dtype=torch.bool),
        ["Port may not change"],
        torch.tensor([[0.1, 0.9]]),
    )


RECORD = torch.tensor([[3, 4]])
FIRST_STAYS = torch.tensor([False, True])


def test_only_what_makes_the_entity_fit_is_kept() -> None:
    found = reconciled(outcome_of([5, 6, 7]), RECORD, Says(), FIRST_STAYS)
    assert found.mask.tolist() == [[True, False, False]]
    assert found.counterfactuals[0, 0].tolist() == [3, 6]
    assert found.score[0].tolist() == [2.0, -torch.inf, -torch.inf]
    assert found.reasons == ["Port may not change"]


def test_where_nothing_does_there_is_no_fix_and_the_reason_says_so() -> None:
    found = reconciled(outcome_of([5, 7]), RECORD, Says(), FIRST_STAYS)
    assert not found.mask.any()
    assert found.reasons == [f"Port may not change; {NOTHING}"]


def test_only_the_first_few_are_asked_about() -> None:
    found = reconciled(outcome_of([6] * (ASKED + 3)), RECORD, Says(), FIRST_STAYS)
    assert int(found.mask.sum()) == ASKED


@pytest.mark.parametrize("mutable", [[True, True], [True, False]])
def test_where_the_flagged_entity_may_change_all_stays_as_it_is(mutable: list[bool]) -> None:
    before = outcome_of([5, 7])
    assert reconciled(before, RECORD, Says(), torch.tensor(mutable)) is before


@pytest.fixture(scope="module")
def model() -> carat.Model:
    return carat.fit(planted_table(), domains=DOMAINS, profile="instant")


def test_a_value_never_seen_that_may_not_change_spoils_no_other(model: carat.Model) -> None:
    row = planted_table().select(DOMAINS).slice(0, 1).to_pylist()[0] | {"Port": "Atlantis"}
    result = model.recourse([row], all=True, constraints={"immutable": ["Port"]})
    assert result.records[0]["count"] == 0
    assert result.records[0]["reason"].endswith(f"Port may not change; {NOTHING}")


def test_rows_in_which_nothing_looks_wrong_stay_as_they_are(model: carat.Model) -> None:
    """Also where somebody asks for fixes of all rows, or of the few strangest of a clean table."""
    clean = planted_table().slice(0, 30).select(DOMAINS)
    for result in (model.recourse(clean, all=True), model.recourse(clean, top=5)):
        assert any(record["count"] for record in result.records)
        assert result.fixed().equals(clean)


def test_rows_in_which_something_does_are_fixed(model: carat.Model) -> None:
    wrong, where = corrupted()
    fixed = model.recourse(wrong, all=True).fixed().to_pylist()
    changed = [[name for name in DOMAINS if row[name] != made[name]] for row, made in zip(wrong, fixed, strict=True)]
    assert changed == [[name] for name in where]
    assert all(len({text.split("-")[1][0] for text in made.values()}) == 1 for made in fixed), "one group again"
