"""The gate: both cuts together list the share that was asked for, and no more."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import carat
from carat import Threshold
from carat.errors import InputError
from carat.results.clearing import Clearing
from carat.results.gate import Gate, strangest_first
from carat.results.scale import Scale
from carat.testing.planted import with_holes
from tests.support.planted import corrupted, planted_table


def pairs(records: int, *, seed: int = 0, ties: bool = False) -> Tensor:
    drawn = torch.rand((records, 2), generator=torch.Generator().manual_seed(seed))
    return (drawn * 4).round() / 4 if ties else drawn


def listed(gate: Gate, threshold: Threshold, given: Tensor) -> Tensor:
    cuts = gate.cuts(threshold)
    return Scale(torch.empty(0), cuts.score, cuts.alarm).anomalous(given[:, 0], given[:, 1])


@given(
    st.integers(1, 400),
    st.floats(0.001, 0.99),
    st.sampled_from([0.5, 0.75, 0.9, 1.0]),
    st.booleans(),
    st.integers(0, 9),
)
def test_no_more_than_the_quantile(records: int, quantile: float, by_alarm: float, ties: bool, seed: int) -> None:
    given = pairs(records, seed=seed, ties=ties)
    gate = Gate(given, by_alarm)
    found = int(listed(gate, Threshold(quantile=quantile), given).sum())
    wanted = math.floor(quantile * records + 1e-9)
    assert found <= wanted
    if not ties:
        assert found == wanted, "and no fewer, where no two are equal"


@pytest.mark.parametrize("by_alarm", [0.5, 0.9, 1.0])
def test_the_alarm_gets_its_part(by_alarm: float) -> None:
    given = pairs(1_000)
    cuts = Gate(given, by_alarm).cuts(Threshold(quantile=0.1))
    assert int((given[:, 1] >= cuts.alarm).sum()) == round(by_alarm * 100)
    lenient = Gate(given, by_alarm).cuts(Threshold(quantile=0.3))
    assert lenient.alarm < cuts.alarm
    assert lenient.score > cuts.score or by_alarm == 1.0, "a quantile moves both"


def test_the_alarm_does_not_cut_through_a_crowd() -> None:
    """Of 1,000 records, 20 have a high alarm and the others nearly the same one: only the score tells those apart."""
    generator = torch.Generator().manual_seed(0)

    def drawn() -> Tensor:
        given = pairs(1_000, seed=int(torch.randint(1_000, (), generator=generator)))
        given[:, 1] = 0.08 + 0.001 * given[:, 1]
        given[:20, 1] = 0.5 + 0.4 * torch.rand(20, generator=generator)
        return given

    gate = Gate(drawn(), 1.0)
    for quantile in (0.05, 0.5):
        threshold = Threshold(quantile=quantile)
        cuts = gate.cuts(threshold)
        if quantile < 0.5:  # half of a crowd is half of it wherever the cut falls
            assert 0.081 <= cuts.alarm <= float(gate.pairs[:20, 1].min()), "above the crowd, below all the others"
        assert int(listed(gate, threshold, gate.pairs).sum()) == round(1_000 * quantile)
        others = [float(listed(gate, threshold, drawn()).double().mean()) for _ in range(5)]
        assert others == pytest.approx([quantile] * 5, abs=0.03 if quantile < 0.5 else 0.1)
    few = gate.cuts(Threshold(quantile=0.01)).alarm
    assert int((gate.pairs[:, 1] >= few).sum()) == 10, "among the high ones there is no crowd"
    level = Gate(torch.stack([torch.rand(200, generator=generator), torch.full((200,), 0.5)], dim=1), 1.0)
    assert int(listed(level, Threshold(quantile=0.1), level.pairs).sum()) == 20, "all equal: by the score alone"


def test_few_records_list_only_what_is_stranger_than_all_of_them() -> None:
    given = pairs(30)
    gate = Gate(given, 0.9)
    assert not listed(gate, Threshold(quantile=0.01), given).any()
    low, high = float(given[:, 0].min()), float(given[:, 1].max())
    asked = torch.tensor([[low, high], [low - 1e-3, 0.0], [1.0, high + 1e-3]])
    assert listed(gate, Threshold(quantile=0.01), asked).tolist() == [False, True, True]


def test_a_score_as_threshold_leaves_the_alarm_where_it_is() -> None:
    gate = Gate(pairs(1_000), 0.9)
    usual, own = gate.cuts(Threshold(quantile=0.01)), gate.cuts(Threshold(value=0.4))
    assert own == (0.4, usual.alarm)


def test_an_alarm_that_nobody_asked_for_lists_nothing() -> None:
    scale = Scale(torch.tensor([0.0]), 0.0, 0.5)
    alarms = torch.tensor([torch.nan, torch.nan, 0.5])
    assert scale.anomalous(torch.tensor([-1.0, 1.0, 1.0]), alarms).tolist() == [True, False, True]


def test_order_of_lists() -> None:
    score = torch.tensor([3.0, 1.0, 2.0, 0.0, -5.0])
    alarm = torch.tensor([0.9, 0.1, 0.9, 0.1, torch.nan])
    assert strangest_first(score, alarm).tolist() == [2, 0, 3, 1, 4], "alarm, then score; unjudged last"
    assert strangest_first(score, None).tolist() == [4, 3, 1, 2, 0]


def test_a_gate_needs_records() -> None:
    with pytest.raises(InputError, match="of some records"):
        Gate(torch.empty((0, 2)), 0.9)


@pytest.fixture(scope="module")
def model() -> carat.Model:
    return carat.fit(planted_table(4_000), profile="instant", device="cpu")


def test_lists_what_the_score_does_not_see(model: carat.Model, tmp_path: Path) -> None:
    """A value never seen and a blank: detectors skip them."""
    normal = planted_table(1_000, seed=9)
    usual = model.score(normal)["anomalous"].to_pylist()
    assert sum(usual) / len(usual) <= 0.04, "two of 200 rows set the cuts"
    for value in ("Nobody Ltd", None):
        changed = normal.slice(0, 100).set_column(2, "Carrier", pa.array([value] * 100, pa.string()))
        assert sum(model.score(changed)["anomalous"].to_pylist()) >= 95
        assert sum(model.score(changed, gate="score")["anomalous"].to_pylist()) <= 5
    wrong = pa.Table.from_pylist(corrupted()[0])
    assert all(model.score(wrong)["anomalous"].to_pylist())
    model.save(tmp_path / "m")
    loaded = carat.load(tmp_path / "m")
    assert loaded.scale.alarm == model.scale.alarm
    assert loaded.gate is not None
    assert model.gate is not None
    assert torch.equal(loaded.gate.pairs, model.gate.pairs)
    assert loaded.gate.facts() == model.gate.facts()
    assert loaded.score(wrong).equals(model.score(wrong))


def test_a_blank_counts_where_the_column_is_otherwise_filled() -> None:
    """Half of the Ports and a third of the Goods are blank, so those blanks are no news; a blank Carrier is."""
    often = carat.fit(with_holes(planted_table(4_000)), profile="instant", device="cpu")
    later = planted_table(300, seed=9)

    def listed_without(*names: str) -> float:
        blank = later
        for name in names:
            nothing = pa.array([None] * len(later), pa.string())
            blank = blank.set_column(blank.column_names.index(name), name, nothing)
        found: list[bool] = often.score(blank)["anomalous"].to_pylist()
        return sum(found) / len(later)

    assert listed_without() <= 0.1, "two of 200 rows set the cuts"
    assert listed_without("Port") <= 0.1
    assert listed_without("Good") <= 0.1
    assert listed_without("Carrier") >= 0.95


@pytest.mark.parametrize("left", [3, 2, 1, 0])
def test_no_row_looks_normal_because_little_of_it_is_left(model: carat.Model, left: int) -> None:
    """Detectors skip what is missing, so a row with nothing wrong in what is left would score as usual."""
    later = planted_table(100, seed=9)
    blank = pa.table({name: later[name] if place < left else pa.array([None] * 100, pa.string())
                      for place, name in enumerate(later.column_names)})  # fmt: skip
    scored, whole = model.score(blank), model.score(later)
    assert sum(scored["anomalous"].to_pylist()) >= 95
    assert min(scored["alarm"].to_pylist()) > max(whole["alarm"].to_pylist()), "listed before every whole row"


def test_a_threshold_moves_both_cuts(model: carat.Model) -> None:
    normal = planted_table(1_000, seed=9)
    shares = [
        sum(model.with_threshold(quantile).score(normal)["anomalous"].to_pylist()) / 1_000 for quantile in (0.05, 0.5)
    ]
    assert shares[0] <= 0.10
    assert 0.35 <= shares[1] <= 0.65


def test_valid_is_what_the_score_says(model: carat.Model) -> None:
    rows = model.recourse(pa.Table.from_pylist(corrupted()[0]), k=5, all=True).to_arrow().to_pylist()
    assert all(row["valid"] == (row["score"] >= model.threshold_score) for row in rows)


def test_what_no_counts_can_clear(model: carat.Model) -> None:
    clearing = Clearing(model.pairs, model.vocabulary)
    normal = model.vocabulary.encode(planted_table(200, seed=9).to_pylist())
    support = clearing.support(normal)
    wrong = clearing.support(model.vocabulary.encode(corrupted()[0]))
    assert float(wrong.max()) < float(support.min()), "an entity of another group has nobody on its side"
    for reserved in (0, 1):
        changed = normal.clone()
        changed[:, 1] = reserved
        assert clearing.support(changed).isneginf().all()
    assert clearing.support(normal[:0]).shape == (0,)


def test_where_few_are_held_out_an_alarm_is_likelier_than_not() -> None:
    """The highest of five tiny alarms says nothing of what is rare; the score keeps its rule."""
    given = pairs(5)
    given[:, 1] *= 1e-6
    cuts = Gate(given, 0.9).cuts(Threshold(quantile=0.01))
    assert cuts.alarm == 0.5
    assert cuts.score == float(given[:, 0].min())
    given[2, 1] = 0.8
    assert 0.8 < Gate(given, 0.9).cuts(Threshold(quantile=0.01)).alarm < 0.81, "nor is one that a held-out row has"
    assert Gate(given, 1.0).cuts(Threshold(quantile=0.2)).alarm < 0.5, "a whole row of five is a share"


@pytest.mark.parametrize("rows", [20, 50, 100])
def test_a_small_table_alarms_about_few_normal_rows(rows: int) -> None:
    new = planted_table(300, seed=9)
    alarmed = []
    for seed in range(3):
        model = carat.fit(planted_table(rows, seed=seed), profile="instant", seed=seed)
        assert model.scale.alarm is not None
        assert model.scale.alarm >= 0.5
        assert "1% of held-out rows" not in str(model)
        assert "stranger than all of the few held-out rows" in str(model)
        alarmed.append(sum(alarm >= model.scale.alarm for alarm in model.score(new)["alarm"].to_pylist()) / 300)
    # Of 20 rows in groups, some values of new rows were never met: those the judge must doubt.
    assert sum(alarmed) / 3 < (0.1 if rows > 20 else 0.3)
