"""Columns are spelled once; tables are prepared once and fitted on any fold."""

from __future__ import annotations

import dataclasses
import datetime as dt
from pathlib import Path

import pyarrow as pa
import pytest
import torch

import carat
from carat.config import read_config
from carat.data import ColumnOptions, Columns, Fold
from carat.errors import InputError
from carat.fitting import Recipe, fit_prepared, prepare
from carat.observing import ARGUMENTS, Remark, Silent
from tests.support.planted import DOMAINS, planted_table

TABLE = planted_table(400)
DAYS = pa.array([dt.date(2024, 1, 1) + dt.timedelta(days=int(day)) for day in torch.randperm(400).tolist()])
DATED = TABLE.append_column("Day", DAYS)


def test_the_options_are_the_same_in_python_toml_and_as_arguments(tmp_path: Path) -> None:
    names = {each.name for each in dataclasses.fields(Columns)}
    assert set(ColumnOptions.__annotations__) == names | {"columns"}  # another word for `domains`
    file = tmp_path / "carat.toml"
    file.write_text('[table]\ndomains = ["Port", "Good"]\nid = "Bill"\nmin_count = 2\n')
    said = read_config(file).columns
    assert said == Columns(domains=["Port", "Good"], id="Bill", min_count=2)
    assert {each.name for each in dataclasses.fields(said)} == names


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"domains": "Port"}, r"`domains` must be a list of column names, got 'Port'; write \['Port'\]"),
        ({"also": "Port"}, "`also` must be a list"),
        ({"metapaths": ["Port", "Good"]}, "`metapaths` must be a list of lists"),
        ({"min_count": 0}, "`min_count` must be at least 1"),
    ],
)
def test_mistakes_are_one_line(options: ColumnOptions, said: str) -> None:
    with pytest.raises(InputError, match=said):
        carat.fit(TABLE, profile="instant", **options)


def test_fit_is_prepare_and_fit_prepared() -> None:
    prepared = prepare(TABLE, Columns(domains=DOMAINS))
    model = fit_prepared(prepared, Recipe.of(profile="instant"))
    assert model.identity == carat.fit(TABLE, domains=DOMAINS, profile="instant").identity
    assert prepared.fingerprint() == model.training["fingerprint"]


def test_explicit_folds_share_one_vocabulary() -> None:
    """What cross-fitting needs: k fits of one prepared table, each without the records that it is asked about."""
    prepared, recipe = prepare(TABLE), Recipe.of(profile="instant")
    rows = torch.arange(len(prepared.table))
    folds = [Fold(rows[rows % 4 != part], rows[rows % 4 == part]) for part in range(4)]
    models = [fit_prepared(prepared, recipe, fold=fold) for fold in folds]
    assert all(model.vocabulary is prepared.vocabulary for model in models)
    for model, fold in zip(models, folds, strict=True):
        assert model.pairs.records == len(fold.train) == 300
        scores = model.detector.score(prepared.table.ids[fold.held_out])
        assert torch.equal(scores.sort().values, model.reference)
    assert len({model.identity for model in models}) == 4


def test_a_recipe_can_be_used_again() -> None:
    recipe = Recipe.of(profile="instant", detector=carat.detectors.Mead(epochs=1))
    first, again = (fit_prepared(prepare(TABLE), recipe) for _ in range(2))
    assert first.identity == again.identity
    assert first.detector is not again.detector


def test_with_a_time_column_the_newest_are_held_out() -> None:
    prepared = prepare(DATED, Columns(time="Day"))
    fold = prepared.fold(seed=0)
    times = DAYS.to_pylist()
    assert len(fold.held_out) == 40
    oldest_held_out = min(times[row] for row in fold.held_out.tolist())
    assert all(times[row] < oldest_held_out for row in fold.train.tolist())
    model = carat.fit(DATED, time="Day", profile="instant")
    scores = model.detector.score(prepared.table.ids[fold.held_out])
    assert torch.equal(scores.sort().values, model.reference)
    assert model.identity != carat.fit(DATED, without=["Day"], profile="instant").identity


def test_a_column_that_is_no_time_is_named() -> None:
    table = TABLE.append_column("Day", pa.array(["31.10.2024"] * 400))
    with pytest.raises(
        InputError, match="the table: column 'Day', given as `time`, holds '31.10.2024', which does not"
    ):
        carat.fit(table, time="Day", profile="instant")


def test_columns_that_were_named_but_teach_nothing_are_told() -> None:
    heard: list[str] = []

    class Hearing(Silent):
        def remark(self, remark: Remark) -> None:
            heard.append(remark.in_full(ARGUMENTS))

    table = TABLE.append_column("Weight", pa.array([str(number / 7) for number in range(400)]))
    prepare(table, Columns(also=["Weight"]), observer=Hearing())
    assert heard[1:] == [
        "nothing can be learned from Weight: a different value in nearly every row; cut numbers into ranges with "
        'numeric={"NAME": 10}'
    ]
    heard.clear()
    prepare(table, Columns(numeric={"Weight": 10}), observer=Hearing())
    assert len(heard) == 1


def test_times_that_are_numbers_in_text_sort_as_numbers() -> None:
    numbered = TABLE.append_column("Day", pa.array([str(number) for number in range(400)]))
    fold = prepare(numbered, Columns(time="Day")).fold(seed=0)
    assert fold.held_out.tolist() == list(range(360, 400))


def test_a_dataset_brings_its_columns() -> None:
    schema = carat.datasets.flights().schema
    told = Columns(without=["Model"]).on(schema)
    assert told.domains == schema.domains
    assert told.time == "Date"
    assert all("Model" not in path for path in told.metapaths or ())
    assert Columns(domains=["A", "B"], metapaths=[["A", "B"]]).on(schema).metapaths == (("A", "B"),)
