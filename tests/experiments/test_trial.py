"""Trials: no later record leaks into training, and the anomalies are what they say."""

from __future__ import annotations

import pyarrow as pa
import pytest
import torch

from carat.data import FIRST, Schema
from carat.errors import InputError
from carat.experiments import make_trial
from tests.support.planted import DOMAINS, planted_table


def timed() -> pa.Table:
    """The planted table with days in falling order, and a few nulls."""
    table = planted_table(1000)
    table = table.append_column("Day", pa.array(range(1000, 0, -1)))
    port = [None if i % 50 == 0 else value for i, value in enumerate(table["Port"].to_pylist())]
    return table.set_column(0, "Port", pa.array(port))


def test_split_by_time() -> None:
    trial = make_trial(timed(), Schema(domains=DOMAINS, time="Day"), train_rows=600, tested=100)
    assert trial.train["Day"].to_pylist() == sorted(trial.train["Day"].to_pylist())
    assert len(trial.data.train) + len(trial.data.held_out) == 600
    assert len(trial.normal) == 100
    assert (trial.normal >= FIRST).all()
    assert len(trial.later) == 980 - 600


def test_anomalies_are_the_normal_records_corrupted() -> None:
    trial = make_trial(timed(), Schema(domains=DOMAINS, time="Day"), train_rows=600, tested=100)
    anomalies = trial.anomalies
    assert torch.equal(anomalies.original, trial.normal[anomalies.row])
    assert torch.equal(anomalies.ids != anomalies.original, anomalies.corrupted)
    assert anomalies.corrupted.sum(dim=1).unique().tolist() == [1, 2]


def test_same_seed_same_trial() -> None:
    schema = Schema(domains=DOMAINS)
    first, again, other = (make_trial(timed(), schema, train_rows=600, tested=100, seed=s) for s in (1, 1, 2))
    assert torch.equal(first.anomalies.ids, again.anomalies.ids)
    assert not torch.equal(first.normal, other.normal)


def test_too_few_records() -> None:
    with pytest.raises(InputError, match="too few"):
        make_trial(timed(), Schema(domains=DOMAINS), train_rows=5000)
