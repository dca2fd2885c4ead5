"""A model's age shows where a batch differs from what is usual, and not by chance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import carat
from carat.jobs import Job, explain, recourse, score
from carat.results.ageing import Counted, Usual, in_words
from tests.support.fitted import frame
from tests.support.planted import planted_table


def counted(**shares: tuple[int, int]) -> Counted:
    return Counted({name: of for name, (_, of) in shares.items()}, {name: hits for name, (hits, _) in shares.items()})


USUAL = Usual(counted(unseen=(20, 2_000), listed=(20, 2_000), missing=(400, 2_000)), {}, (0.0, None))


@pytest.mark.parametrize(
    ("met", "aged"),
    [
        (counted(unseen=(1, 2)), False),
        (counted(unseen=(3, 50)), False),
        (counted(unseen=(25, 50)), True),
        (counted(unseen=(300, 10_000)), True),
        (counted(unseen=(110, 10_000)), False),
        (counted(missing=(2_600, 10_000)), False),
        (counted(missing=(6_000, 10_000)), True),
        (counted(listed=(60, 100)), False),
        (counted(listed=(40, 100)), True),
        (counted(unseen=(0, 0)), False),
        (Counted(), False),
    ],
)
def test_chance_is_no_age(met: Counted, aged: bool) -> None:
    assert (in_words(USUAL, met) is not None) == aged
    assert in_words(None, met) is None


def test_networks_left_behind_ask_for_a_refit() -> None:
    said = in_words(None, counted(later=(400, 1_000)))
    assert said is not None
    assert "refit is due" in said
    assert in_words(None, counted(later=(3, 10))) is None


def test_the_usual_is_read_back() -> None:
    assert Usual.from_json(USUAL.to_json()) == USUAL


@pytest.fixture(scope="module")
def model() -> carat.Model:
    return carat.fit(planted_table(1_500), profile="instant", device="cpu")


def codes(job: Job[Any]) -> list[str]:
    for _ in job:
        pass
    return [remark.code for remark in job.summary.remarks]


@pytest.mark.parametrize("seed", range(4))
def test_ordinary_later_rows_are_not_called_aged(model: carat.Model, seed: int) -> None:
    """Of the same distribution, in batches of any size."""
    later = planted_table(1_000, seed=100 + seed)
    for rows in (later, later.slice(0, 50), later.slice(0, 200)):
        assert "aged" not in codes(score(model, rows))
    assert "aged" not in codes(explain(model, later))


def test_other_rows_are(model: carat.Model) -> None:
    later = planted_table(400, seed=7).to_pylist()
    strange = frame(
        [{**row, "Good": f"New-{number % 40}"} if number % 4 == 0 else row for number, row in enumerate(later)]
    )
    jobs: list[Job[Any]] = [score(model, strange), explain(model, strange), recourse(model, strange, top=5)]
    for job in jobs:
        assert "aged" in codes(job), job.name
    assert jobs[0].summary.facts()["shares"]["unseen"] == 0.25
    told = next(remark.text for remark in jobs[0].summary.remarks if remark.code == "aged")
    assert told.startswith("the model is out of date: 25% of these rows have a value that is new to the model")
    assert told.endswith("an update is due")
    after = model.update(strange, all=True)
    assert "aged" not in codes(score(after, strange.slice(0, 100)))


def test_another_threshold_is_no_age(model: carat.Model) -> None:
    assert "aged" not in codes(score(model.with_threshold(0.3), planted_table(1_000, seed=5)))


def test_training_rows_are_no_sign(model: carat.Model) -> None:
    assert "aged" not in codes(score(model, planted_table(1_500)))


def test_the_page_says_so(model: carat.Model, tmp_path: Path) -> None:
    strange = frame([{**row, "Good": "Brand new"} for row in planted_table(100, seed=9).to_pylist()])
    model.recourse(strange, top=3, k=2).report(tmp_path / "page.html")
    assert "the model is out of date" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_usual_shares_are_those_of_the_held_out_rows() -> None:
    table = planted_table(600)
    blank = table.set_column(3, "Buyer", pa.array([None if row % 3 == 0 else "B" + str(row % 5) for row in range(600)]))
    model = carat.fit(blank, profile="instant", device="cpu")
    assert model.held_out is not None
    usual = Usual.from_json(model.training["usual"])
    assert usual.counted.found["missing"] == int((model.held_out == 0).any(dim=1).sum())
    assert usual.low == pytest.approx(float(model.reference.double().quantile(0.1)))
