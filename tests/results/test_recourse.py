"""What recourse gives back: the columns of the contract, in the user's library, and a line about every record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
import torch

import carat
from carat.errors import InputError
from carat.results import Explanation, Scale
from tests.support.fitted import frame, instant_of, model_of, twice_corrupted
from tests.support.planted import DOMAINS, corrupted, planted_table, record

COLUMNS = ["record", "rank", "score", "percentile", "valid", "changed", *DOMAINS]
TYPES = [pa.int64(), pa.int64(), pa.float64(), pa.float64(), pa.bool_(), pa.list_(pa.string()), *[pa.string()] * 4]
COST = {"cost": {"change": 1.0, "domains": {"Port": 2.0}}}
GOOD = record(Port=1, Good=1, Carrier=1, Buyer=1)


@pytest.mark.parametrize("records", [[], corrupted()[0][:4]])
@pytest.mark.parametrize("method", ["carat", "carat-plus"])
def test_columns_and_types(records: list[dict[str, str]], method: str) -> None:
    """Exactly those of the contract, also where there is nothing to say."""
    model = model_of("ape")
    table = model.recourse(frame(records), k=3, method=method, all=True).to_arrow()
    assert table.column_names == COLUMNS
    assert table.schema.types == TYPES
    assert table["record"].unique().to_pylist() == list(range(len(records)))
    table = model.recourse(frame(records), k=3, method=method, all=True, constraints=COST).to_arrow()
    assert table.column_names == [*COLUMNS, "cost"]
    assert table.schema.types == [*TYPES, pa.float64()]


def test_costs_are_those_of_the_changes() -> None:
    records = [*corrupted()[0][:2], *twice_corrupted()[6:7]]
    for row in model_of("ape").recourse(frame(records), k=5, all=True, constraints=COST).to_arrow().to_pylist():
        assert row["cost"] == sum(3.0 if name == "Port" else 1.0 for name in row["changed"])


def test_order() -> None:
    table = model_of("ape").recourse(frame(corrupted()[0][:6]), k=4, method="carat", all=True).to_arrow()
    assert table["record"].to_pylist() == [record for record in range(6) for _ in range(4)]
    assert table["rank"].to_pylist() == [1, 2, 3, 4] * 6


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("rows", [0, 3])
def test_answers_in_the_users_library(library: Any, rows: int) -> None:
    given = library(frame(corrupted()[0][:rows]).to_pydict())
    if library is pd.DataFrame and not rows:
        given = frame([]).to_pandas()
    found = model_of("ape").recourse(given, k=2, method="carat", all=True)
    made = found.to_frame()
    assert type(made) is type(given)
    names = list(made.columns if library is not pa.table else made.column_names)
    assert names == [*COLUMNS, "before", "after"]
    assert found.to_arrow().column_names == COLUMNS, "files have the contract's columns alone"
    assert len(made) == 2 * rows
    if rows and library is pl.DataFrame:
        assert made["changed"].to_list() == found.to_arrow()["changed"].to_pylist()


def test_a_path_gives_arrow(tmp_path: Path) -> None:
    pyarrow.csv.write_csv(frame(corrupted()[0][:2]), tmp_path / "some.csv")
    made = model_of("ape").recourse(tmp_path / "some.csv", k=2, method="carat", all=True).to_frame()
    assert isinstance(made, pa.Table)
    assert made.num_rows == 4


@pytest.fixture(scope="module")
def with_ids() -> carat.Model:
    table = planted_table().append_column("bill", pa.array([f"B{i}" for i in range(1200)]))
    return carat.fit(table, id="bill", profile="instant")


def test_id_column_names_the_records(with_ids: carat.Model) -> None:
    data = frame(corrupted()[0][:3]).append_column("bill", pa.array(["x", "y", "z"]))
    result = with_ids.recourse(data, k=2, all=True)
    assert result.to_arrow().column_names == COLUMNS, "the id column is `record`, not one more"
    assert result.to_arrow()["record"].unique().to_pylist() == ["x", "y", "z"]
    assert [line["record"] for line in result.records] == ["x", "y", "z"]
    assert result.explain("y").record == "y"
    with pytest.raises(InputError, match="there is no row 'q' in the table; rows go by their column 'bill'"):
        result.explain("q")


def test_unseen_text_is_kept() -> None:
    records = [{**corrupted()[0][3], "Good": "Moon rock"}, {**corrupted()[0][7], "Carrier": "Pigeon"}]
    limits = {"immutable": ["Good", "Carrier"]}
    rows = instant_of("counts").recourse(frame(records), k=3, all=True, constraints=limits).to_arrow().to_pylist()
    assert {(row["record"], row["Good"], row["Carrier"]) for row in rows} == {
        (0, "Moon rock", records[0]["Carrier"]),
        (1, records[1]["Good"], "Pigeon"),
    }
    replaced = instant_of("counts").recourse(frame([{**GOOD, "Good": "Moon rock"}]), k=3, all=True).to_arrow()
    assert "Moon rock" not in replaced["Good"].to_pylist()
    assert replaced["changed"].to_pylist() == [["Good"]] * 3


def test_lines_about_records() -> None:
    model = model_of("ape")
    data = frame([*corrupted()[0][:1], GOOD])
    result = model.recourse(data, k=3, method="carat", all=True)
    assert len(result) == 2
    scored, explained = model.score(data).to_pylist(), model.explain(data)["flagged"].to_pylist()
    for line, score in zip(result.records, scored, strict=True):
        assert list(line) == ["record", "score", "percentile", "flagged", "count", "exhausted", "reason", "alarm"]
        assert line["score"] == pytest.approx(score["score"])
        assert line["percentile"] == score["percentile"]
        assert line["count"] == 3
        assert line["exhausted"] is True
    assert [line["flagged"] for line in result.records] == explained == [["Port"], []]
    assert result.records[0]["reason"] is None
    assert result.records[1]["reason"].startswith("the row is already normal, at percentile")


def test_only_the_anomalous_by_default() -> None:
    model = model_of("ape")
    records = [GOOD, *corrupted()[0][:2], GOOD, corrupted()[0][4]]
    anomalous = model.score(frame(records))["anomalous"].to_pylist()
    assert anomalous == [False, True, True, False, True]
    assert [line["record"] for line in model.recourse(frame(records), k=2).records] == [1, 2, 4]


def test_top_takes_the_strangest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of("ape")
    records: list[dict[str, Any]] = [*corrupted()[0], *twice_corrupted(), {**GOOD, "Good": "Moon rock"}, GOOD]
    score = model.score(frame(records))["score"].to_pylist()
    order = sorted(range(len(score)), key=lambda row: score[row])
    chunks = pa.concat_tables([frame(records[start : start + 7]) for start in range(0, len(records), 7)])
    for data in (frame(records), chunks):
        for top in (1, 5, 1000):
            result = model.recourse(data, top=top, k=2)
            assert [line["record"] for line in result.records] == order[:top]
            assert [line["score"] for line in result.records] == pytest.approx(sorted(score)[:top])
            for row in result.to_arrow().to_pylist():
                for name in set(DOMAINS) - set(row["changed"]):
                    assert row[name] == records[row["record"]][name]
    for wrong in (0, -1):
        with pytest.raises(InputError, match="`top` must be at least 1"):
            model.recourse(frame(records), top=wrong)
    with pytest.raises(InputError, match="`top` or `all`"):
        model.recourse(frame(records), top=1, all=True)


def test_many_parts_are_one_result(monkeypatch: pytest.MonkeyPatch) -> None:
    model, data = model_of("ape"), frame([*corrupted()[0], *twice_corrupted()])
    whole = model.recourse(data, k=3, method="carat", all=True)
    monkeypatch.setattr("carat.jobs.recourse_job.BATCH", 5)
    parts = model.recourse(data, k=3, method="carat", all=True)
    assert [len(batch) for batch in parts.batches] == [5] * 7 + [1]
    assert parts.to_arrow().drop(["score", "percentile"]).equals(whole.to_arrow().drop(["score", "percentile"]))
    assert len(parts.records) == len(whole.records) == len(parts) == 36
    assert isinstance(parts.explain(17), Explanation)
    assert parts.explain(17).record == 17


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "`k` must be at least 1"),
        ({"neighbours": 0}, "`neighbours` must be at least 1"),
        ({"budget": 0}, "`budget` must be at least 1"),
        ({"diversity": 1.1}, "`diversity` must lie between 0 and 1"),
        ({"diversity": float("nan")}, "`diversity` must lie between 0 and 1"),
        ({"seconds": 0}, "`seconds` must be more than 0"),
        ({"prefer": -0.1}, "`prefer` must lie between 0"),
        ({"method": "carrat"}, "unknown `method` 'carrat'; did you mean 'carat'?"),
        ({"method": "instant"}, "fit another one with `profile` instant"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        model_of("ape").recourse(frame([GOOD]), all=True, **options)


@pytest.mark.parametrize("method", ["carat", "carat-plus"])
def test_what_an_instant_model_lacks(method: str) -> None:
    with pytest.raises(InputError, match=f"the method '{method}' needs .* `profile` fast"):
        instant_of("counts").recourse(frame([GOOD]), all=True, method=method)
    assert instant_of("counts").recourse(frame([GOOD]), all=True).method == "instant"
    assert model_of("ape").recourse(frame([GOOD]), all=True).method == "carat-plus"


def test_survives_saving(tmp_path: Path) -> None:
    model, data = model_of("ape"), frame([*corrupted()[0][:4], *twice_corrupted()[:2]])
    model.save(tmp_path / "model")
    loaded = carat.load(tmp_path / "model")
    for method in ("carat", "carat-plus"):
        mine, theirs = (each.recourse(data, k=5, method=method, all=True).to_arrow() for each in (model, loaded))
        assert mine.equals(theirs)


def test_percentile_of_a_scale() -> None:
    scale = Scale(torch.tensor([1.0, 2.0, 2.0, 4.0]), 1.5)
    scores = torch.tensor([[0.0, 1.0], [2.0, 5.0]])
    assert scale.percentile(scores).tolist() == [[0.0, 25.0], [75.0, 100.0]]
