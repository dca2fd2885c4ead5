"""A data scientist's first hour: indexes, one record, printing, lists, and one clear line for typical mistakes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

import carat
from carat.errors import InputError
from carat.sklearn import CaratDetector
from tests.support.audit_pages import small
from tests.support.fitted import frame, instant_of, twice_corrupted
from tests.support.planted import DOMAINS, corrupted, planted_table

ROWS = frame([*corrupted()[0], *twice_corrupted()])


def fitted(**options: Any) -> carat.Model:
    """With arguments that a type checker would not let pass."""
    return carat.fit(ROWS, **options)


def audited(**options: Any) -> carat.AuditResult:
    """Likewise."""
    return carat.audit(ROWS, **options)


def limits(**options: Any) -> carat.Constraints:
    """Likewise."""
    return carat.Constraints(**options)


def threshold(*given: Any, **options: Any) -> carat.Threshold:
    """Likewise."""
    return carat.Threshold(*given, **options)


def fixed(*given: Any) -> Any:
    """Likewise."""
    return small().fixed(*given)


def loaded(path: Any) -> carat.Model:
    """Likewise."""
    return carat.load(path)


def shipments(schema: Any) -> carat.datasets.Dataset:
    """Likewise."""
    return carat.datasets.shipments(schema)


@pytest.fixture
def model() -> carat.Model:
    return instant_of("counts")


def shuffled() -> pd.DataFrame:
    frame = ROWS.to_pandas()
    return frame.sample(frac=1.0, random_state=3)


def test_pandas_outputs_keep_the_index(model: carat.Model) -> None:
    frame = shuffled()
    for made in (model.score(frame), model.explain(frame)):
        assert made.index.equals(frame.index)
        assert made["record"].tolist() == frame.index.tolist()
    whole = model.score(ROWS.to_pandas())
    pd.testing.assert_series_equal(model.score(frame)["score"].sort_index(), whole["score"])


def test_record_points_at_the_row_it_is_about(model: carat.Model) -> None:
    """Whoever filters or shuffles a frame and looks up `frame.loc[record]` finds the row that was flagged."""
    frame = shuffled()
    result = model.recourse(frame, k=1, top=5)
    for row in result.to_frame().to_dict("records"):
        for name, old, new in zip(row["changed"], row["before"], row["after"], strict=True):
            assert frame.loc[row["record"], name] == old
            assert row[name] == new
    named = frame.set_index(pd.Index([f"bill {number}" for number in range(len(frame))]))
    assert model.recourse(named, k=1, top=1).records[0]["record"].startswith("bill ")
    record = result.records[0]["record"]
    assert result.explain(record).record == record


@pytest.mark.parametrize(
    ("index", "why"),
    [
        ([1] * 36, "repeats labels"),
        (pd.MultiIndex.from_arrays([range(36), range(36)]), "has several levels"),
        ([*range(35), "35"], "mixes labels of several types"),
        ([*(f"bill {number}" for number in range(35)), None], "has no label for some rows"),
        ([*range(35), np.nan], "has no label for some rows"),
    ],
    ids=["not unique", "two levels", "mixed", "none", "nan"],
)
def test_an_index_that_does_not_tell_rows_apart_is_kept_but_names_nothing(
    model: carat.Model, index: Any, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    """And whoever has such a frame is told, once a call."""
    frame = ROWS.to_pandas().set_axis(index, axis=0)
    scored = model.score(frame)
    assert scored["record"].tolist() == list(range(36))
    assert scored.index.equals(frame.index)
    assert [record.getMessage() for record in caplog.records] == [
        f"the index of the frame {why}, so `record` is the position of a row, counted from 0: call reset_index() "
        "first, or name a column that identifies the rows with `id` when you fit"
    ]
    caplog.clear()
    result = model.recourse(frame, k=1, all=True)
    assert [remark.code for remark in result.remarks] == ["index"]
    caplog.clear()
    model.score(frame.reset_index())
    model.score(shuffled())
    assert not caplog.records


def test_the_id_column_wins_over_the_index() -> None:
    table = planted_table(200).append_column("bill", pa.array([f"B{number}" for number in range(200)]))
    model = carat.fit(table, id="bill", profile="instant")
    frame = table.to_pandas().iloc[[7, 3]]
    assert model.score(frame)["record"].tolist() == ["B7", "B3"]
    assert model.score(frame).index.tolist() == [7, 3]
    doubtful = model.recourse(frame.set_axis([1, 1], axis=0), k=1, all=True)
    assert [row["record"] for row in doubtful.records] == ["B7", "B3"]
    assert not doubtful.remarks, "the ids name the rows, whatever the index is"


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_a_row_stands_for_itself(model: carat.Model, library: str) -> None:
    """A row of an output in whatever library, and of the user's own frame where something names it."""
    table: Any = ROWS if library == "arrow" else ROWS.to_pandas() if library == "pandas" else pl.from_arrow(ROWS)
    result = model.recourse(table, k=1, all=True)
    frame, said = result.to_frame(), str(result.explain(3))
    row = frame.slice(3, 1) if library != "pandas" else frame.iloc[[3]]
    assert str(result.explain(row)) == said
    assert str(result.explain(row.to_pylist()[0] if library == "arrow" else row.to_dict("records")[0]
                              if library == "pandas" else row.to_dicts()[0])) == said  # fmt: skip
    with pytest.raises(InputError, match="one row is explained at a time, and the frame has 36"):
        result.explain(frame)
    if library == "pandas":
        assert str(result.explain(table.iloc[3])) == said
        assert str(result.explain(table.iloc[[3]])) == said
    else:
        with pytest.raises(InputError, match="nothing in this row names it"):
            result.explain(table.slice(3, 1))


@pytest.mark.parametrize("index", [[0] * 36, pd.MultiIndex.from_arrays([range(36), range(36)])], ids=["same", "levels"])
def test_a_row_whose_label_names_no_row_is_not_mistaken_for_another(model: carat.Model, index: Any) -> None:
    frame = ROWS.to_pandas().set_axis(index, axis=0)
    result = model.recourse(frame, k=1, all=True)
    with pytest.raises(InputError, match=r"the index of the frame .*, so rows go by their position; pass that instead"):
        result.explain(frame.iloc[20])
    assert result.explain(result.to_frame().iloc[20]).record == 20


def test_another_row_of_the_same_label_is_refused(model: carat.Model) -> None:
    frame = ROWS.to_pandas()
    other = frame.iloc[::-1].reset_index(drop=True)
    with pytest.raises(InputError, match=r"row 3 of the data has another value in column '\w+' than this one"):
        model.recourse(frame, k=1, all=True).explain(other.iloc[3])
    with pytest.raises(InputError, match=r"row 3 of the data has another value in column '\w+' than this one"):
        carat.audit(frame).explain(other.iloc[3])


def test_a_row_is_known_by_its_id() -> None:
    table = planted_table(200).append_column("bill", pa.array([f"B{number}" for number in range(200)]))
    result = carat.fit(table, id="bill", profile="instant").recourse(table.to_pandas(), k=1, top=200)
    assert result.explain(table.to_pandas().iloc[7]).record == "B7"
    assert result.explain(table.to_pylist()[7]).record == "B7"
    with pytest.raises(InputError, match="rows are named by column 'bill', and this one has none"):
        result.explain(ROWS.to_pylist()[0])


def test_columns_may_be_named_by_numbers() -> None:
    frame = planted_table(200).select(DOMAINS).to_pandas().assign(n=range(200), bill=[f"B{n}" for n in range(200)])
    frame.columns = range(len(frame.columns))
    numbers: dict[str, Any] = {"numeric": {4: 3}, "id": 5, "metapaths": [[0, 1]]}
    model = carat.fit(frame, profile="instant", **numbers)
    assert model.vocabulary.names == ["0", "1", "2", "3", "4"]
    assert model.score(frame.iloc[:2])["record"].tolist() == ["B0", "B1"]


@pytest.mark.parametrize(
    "given",
    [
        {"columns": 3},
        {"columns": True},
        {"also": 3},
        {"without": 3},
        {"metapaths": 3},
        {"metapaths": [3]},
        {"start": 3},
    ],
    ids=str,
)
def test_what_is_no_list_of_columns_is_refused_by_name(given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(InputError, match=f"^`{name}` must be"):
        carat.fit(ROWS, profile="instant", **given)
    if name in ("columns", "also", "without"):
        with pytest.raises(InputError, match=f"^`{name}` must be"):
            carat.audit(ROWS, **given)


def test_old_values_stand_beside_the_new(model: carat.Model) -> None:
    rows = ROWS.to_pylist()
    for row in model.recourse(ROWS, k=2, all=True).to_frame().to_pylist():
        assert row["before"] == [rows[row["record"]][name] for name in row["changed"]]
        assert row["after"] == [row[name] for name in row["changed"]]
        assert all(old != new for old, new in zip(row["before"], row["after"], strict=True))


def test_lists_are_lists(model: carat.Model) -> None:
    explained = model.explain(ROWS.to_pandas())
    assert all(type(names) is list for names in explained["flagged"])
    assert explained["flagged"].iloc[0] == model.explain(ROWS)["flagged"][0].as_py()
    repaired = model.recourse(ROWS.to_pandas(), k=1, all=True).to_frame()
    assert all(type(cell) is list for name in ("changed", "before", "after") for cell in repaired[name])


def test_one_record_is_enough(model: carat.Model) -> None:
    record = ROWS.slice(0, 1).to_pylist()[0]
    expected = model.score(ROWS.slice(0, 1)).to_pylist()
    assert model.score(record).to_pylist() == expected
    series = ROWS.to_pandas().iloc[0]
    scored = model.score(series)
    assert isinstance(scored, pd.DataFrame)
    assert scored["score"].tolist() == [expected[0]["score"]]
    named = model.recourse(ROWS.to_pandas().iloc[4], all=True, k=1)
    assert named.records[0]["record"] == 4
    assert len(model.recourse({**record, "Good": None}, all=True, k=1)) == 1
    when = {**record, "When": pd.Timestamp("2024-01-01"), "Port": pd.NA}
    assert model.score(when).num_rows == 1
    with pytest.raises(InputError, match="'Port' holds one value and others hold lists"):
        model.score({"Port": "a", "Good": ["b", "c"]})


def test_print_is_a_few_lines(model: carat.Model) -> None:
    text = str(model)
    assert repr(model) == text
    assert 3 <= len(text.splitlines()) <= 6
    assert model.identity in text
    assert "4 columns, 60 values" in text
    assert "detector counts, explainer counts" in text
    assert "set to list at most 1% of held-out rows" in text
    result = model.recourse(ROWS, k=2, all=True)
    lines = str(result).splitlines()
    assert repr(result) == str(result)
    assert lines[0] == f"{result.to_arrow().num_rows} suggested fixes for 36 rows (36 anomalous), by instant"
    strangest = min(result.explanations(), key=carat.Explanation.place)
    fix = strangest.counterfactuals[0].in_words()
    assert lines[1].startswith(f"  row {strangest.record}, percentile {strangest.percentile:.2f}: {fix}")
    assert result.explain().record == strangest.record
    assert [one.record for one in result] == list(range(36))
    assert lines[-1] == "  … and 31 more; to_frame() has all of them"
    assert str(model.recourse(ROWS.slice(0, 0))) == "0 suggested fixes for 0 rows (0 anomalous), by instant"


def test_progress_shows_a_bar_with_an_estimate(model: carat.Model, capfd: pytest.CaptureFixture[str]) -> None:
    for call in (model.score, model.explain):
        call(ROWS, progress=True)
    model.recourse(ROWS, k=1, all=True, progress=True)
    carat.fit(planted_table(200), profile="instant", progress=True)
    said = capfd.readouterr()
    assert said.out == ""
    for stage in ("scoring", "explaining", "finding fixes", "reading rows", "counting pairs"):
        assert re.search(rf"{stage} .*100%.*0:00:\d\d", said.err), stage


def test_a_row_of_a_frame_names_itself(model: carat.Model) -> None:
    result = model.recourse(ROWS.to_pandas(), all=True, k=1)
    assert result.explain(ROWS.to_pandas().iloc[4]).record == 4
    first = result.to_frame().iloc[0]
    assert result.explain(first).record == first["record"]


def test_one_row_is_fixed_as_a_row(model: carat.Model) -> None:
    row = ROWS.to_pandas().iloc[0]
    result = model.recourse(row, all=True, k=1, gate="score")
    fixed = result.fixed()
    assert isinstance(fixed, pd.Series)
    assert fixed.name == row.name
    assert list(fixed.index) == list(row.index)
    assert fixed.to_dict() == model.recourse(ROWS.slice(0, 1), all=True, k=1, gate="score").fixed().to_pylist()[0]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda model: fitted(time=["Port"]), "`time` must be the name of one column, got ['Port']"),
        (
            lambda model: model.score(ROWS.select(["Good", "Buyer"])),
            "the columns Port, Carrier are missing; this table has",
        ),
        (
            lambda model: model.score(ROWS.rename_columns([name.upper() for name in ROWS.column_names])),
            "did you mean 'PORT'?",
        ),
        (lambda model: model.recourse(ROWS, all=True).report("/proc/x.html"), "can't write here"),
        (lambda model: model.recourse(ROWS, k="5"), "`k` must be a whole number, got '5'"),
        (lambda model: model.recourse(ROWS, k=2.5), "`k` must be a whole number, got 2.5"),
        (lambda model: model.recourse(ROWS, top=0), "`top` must be at least 1"),
        (lambda model: model.recourse(ROWS, top="3"), "`top` must be a whole number, got '3'"),
        (lambda model: model.recourse(ROWS, constraints=["Port"]), "`constraints` must be a dictionary"),
        (lambda model: carat.Constraints(immutable="Port"), "`immutable` must be a list of columns, got 'Port'"),
        (lambda model: fitted(numeric=["Port"]), "`numeric` must name columns and their number of bins"),
        (lambda model: fitted(threshold="1%"), "`threshold` must be a number, got '1%'; for 1% write 0.01"),
        (lambda model: fitted(seed="a"), "`seed` must be a whole number, got 'a'"),
        (lambda model: carat.fit(ROWS, profile="instant", explainer=False).recourse(ROWS), "without an explainer"),
        (lambda model: fitted(domains="Port"), "`domains` must be a list of column names"),
        (lambda model: fitted(colums=["Port"]), "unknown argument 'colums'; did you mean 'columns'?"),
        (lambda model: fitted(klm=1), "unknown argument 'klm'; choose from: columns, domains, also, "),
        (lambda model: fitted(distribted=True), "unknown argument 'distribted'; did you mean 'distributed'?"),
        (lambda model: model.update(ROWS, forgot=ROWS), "unknown argument 'forgot'; did you mean 'forget'?"),
        (lambda model: model.save("folder", forse=True), "unknown argument 'forse'; did you mean 'force'?"),
        (lambda model: limits(imutable=["Port"]), "unknown argument 'imutable'; did you mean 'immutable'?"),
        (lambda model: carat.Constraints.of({"imutable": []}), "unknown key 'imutable'; did you mean 'immutable'?"),
        (lambda model: threshold(0.1), "Threshold takes its arguments by name: `quantile`, `value`"),
        (lambda model: threshold(quantil=0.1), "unknown argument 'quantil'; did you mean 'quantile'?"),
        (lambda model: fixed(0.5), "fixed takes its arguments by name: `certain`"),
        (lambda model: model.recourse(ROWS, k=1).fixed(certain=1), "unknown argument 'certain'; fixed takes no arg"),
        (lambda model: model.score(ROWS, "score"), "score takes `data` by position and the rest by name: `gate`, "),
        (lambda model: model.score(ROWS, threshold=0.05), "unknown argument 'threshold'; set it on the model, with "),
        (lambda model: model.recourse(ROWS, threshold=0.05), "with model.with_threshold(0.05)"),
        (lambda model: carat.audit({"a": [1, 2, 3], "b": [1, 2]}), "column 'b' has 2 values, 'a' has 3; give every"),
        (lambda model: carat.audit([1, "a", 2]), "or a list of dictionaries, got a list of int, str"),
        (lambda model: fitted(min_count="2"), "`min_count` must be a whole number, got '2'"),
        (lambda model: fitted(profile="quick"), "unknown `profile` 'quick'; choose from: instant, fast, paper"),
        (lambda model: fitted(detector="mad"), "unknown `detector` 'mad'; did you mean 'mead'?"),
        (lambda model: fitted(explainer="jugde"), "unknown `explainer` 'jugde'; did you mean 'judge'?"),
        (lambda model: fitted(columns="Port"), "must be a list of column names"),
        (lambda model: fitted(columns=["Port"], domains=["Port"]), "`columns` and `domains` mean the same; use one"),
        (lambda model: fitted(id=["Port"]), "`id` must be the name of one column, got ['Port']"),
        (lambda model: fitted(seed=-1), "`seed` must be between 0 and "),
        (lambda model: fitted(memory="no"), "`memory` must be True or False, got 'no'"),
        (lambda model: fitted(progress="yes"), "`progress` must be True, False or an observer, got 'yes'"),
        (lambda model: fitted(detector=lambda frame: ["a"] * len(frame)), "must give one number per row"),
        (lambda model: fitted(detector=IsolationForest(), encoding=None), "IsolationForest can't read text; choose an"),
        (lambda model: fitted(detector=LocalOutlierFactor()), "only with LocalOutlierFactor(novelty=True)"),
        (lambda model: fitted(detector=CaratDetector()), "CaratDetector is carat itself"),
        (lambda model: audited(id=["Port"]), "`id` must be the name of one column, got ['Port']"),
        (lambda model: audited(seed=-1), "`seed` must be between 0 and "),
        (lambda model: audited(cut="0.5"), "`cut` must be a number, got '0.5'"),
        (lambda model: audited(colums=["Port"]), "unknown argument 'colums'; did you mean 'columns'?"),
        (lambda model: model.recourse(ROWS, tresold=1), "unknown argument 'tresold'; choose from: data, k, "),
        (lambda model: model.recourse(ROWS, k=None), "`k` must be a whole number, got None"),
        (lambda model: model.recourse(ROWS, prefer="0.5"), "`prefer` must be a number, got '0.5'"),
        (lambda model: model.score(ROWS, progress=1), "`progress` must be True, False or an observer, got 1"),
        (lambda model: model.score(ROWS.to_pandas()["Port"]), "looks like a column, not like a row; pass a frame"),
        (lambda model: model.score(ROWS.to_pandas().to_numpy()), "got an array; wrap it in pd.DataFrame(…)"),
        (lambda model: model.score({"Port": "a"}), "; a row needs every column, with None for what is not known"),
        (lambda model: model.score({"port": "a", "Good": "b"}), "this table has port, Good; a row needs every column"),
        (lambda model: carat.datasets.spoil(ROWS, share=2), "`share` must be from 0 to 1, got 2"),
        (lambda model: carat.Threshold(), "`threshold` must be a number, Threshold(quantile=…) or Threshold(value=…)"),
        (lambda model: model.score(dict.fromkeys(DOMAINS, "a\ud800")), "column 'Port': a value is not proper text"),
        (
            lambda model: model.score({name: ["\ud800"] for name in DOMAINS}),
            "column 'Port': a value is not proper text",
        ),
        (lambda model: model.with_threshold(5), "for 5% write 0.05, for a score carat.Threshold(value=…)"),
        (lambda model: model.save(None), "`path` must name a model folder, got None"),
        (lambda model: loaded(3), "`path` must name a model folder, got 3"),
        (lambda model: model.save("folder", force="no"), "`force` must be True or False, got 'no'"),
        (lambda model: fitted(graph="no"), "`graph` must be True or False, got 'no'"),
        (lambda model: audited(patterns="no"), "`patterns` must be True or False, got 'no'"),
        (lambda model: model.recourse(ROWS, method=3), "`method` must be the name of a method, got 3"),
        (lambda model: model.recourse(ROWS, method="fimap"), "it runs in carat bench only"),
        (
            lambda model: model.recourse(ROWS, method="dice"),
            "unknown `method` 'dice'; choose from: instant, replace-m, rceaa, replace-2",
        ),
        (lambda model: model.recourse(ROWS, top=1).report(None), "`path` must be a path, got None"),
        (lambda model: model.recourse(ROWS, top=1).report("x.txt"), "x.txt: the report is an HTML page"),
        (lambda model: fitted(checkpoints=3), "`checkpoints` must be a path, got 3"),
        (lambda model: audited(checkpoints=3), "`checkpoints` must be a path, got 3"),
        (lambda model: shipments(100), "`schema` must be one of us_import, "),
        (lambda model: model.to("gpu"), "`device` must be auto, cpu or cuda, got 'gpu'"),
        (lambda model: model.to(0), "`device` must be auto, cpu or cuda, got 0"),
        (
            lambda model: fitted(columns=["Port"]),
            "a model needs at least two columns, got 1 (only 'Port'); name them with `columns`",
        ),
        (lambda model: carat.fit("flight"), "flight: no such file or dataset; did you mean 'flights'?"),
        (lambda model: carat.fit("flights.csv"), "flights.csv: no such file"),
        (lambda model: fitted(detector=len, encoding="onehot"), "`encoding` is for estimators; "),
        (lambda model: fitted(detector=IsolationForest(), takes="ids"), "`takes` is for callables; "),
        (lambda model: fitted(profile="instant", minutes=1), "`minutes` is for networks, and this fit trains none"),
    ],
)
def test_mistakes_get_one_clear_line(model: carat.Model, call: Any, said: str) -> None:
    with pytest.raises((InputError, TypeError)) as caught:
        call(model)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_percentiles_of_plain_numbers(model: carat.Model) -> None:
    reference = model.reference
    for given in (reference, reference.tolist(), reference.double().numpy()):
        assert torch.equal(model.percentile(given), model.percentile(reference))


def test_columns_is_another_word_for_domains() -> None:
    assert fitted(columns=["Port", "Good"], profile="instant").schema.domains == ("Port", "Good")


def test_rows_may_be_a_list_of_dictionaries(model: carat.Model) -> None:
    rows = ROWS.to_pylist()
    assert model.score(rows).equals(model.score(ROWS))
    assert (
        model.score([{**rows[0], "Port": None}, {"Good": "x", "Port": "y", "Buyer": "z", "Carrier": "c"}]).num_rows == 2
    )


def test_a_row_that_was_not_looked_at(model: carat.Model) -> None:
    normal = planted_table(50, seed=3)
    result = model.recourse(pa.concat_tables([ROWS, normal.cast(ROWS.schema)]), top=2, k=1)
    inside = {one.record for one in result}
    outside = next(number for number in range(86) if number not in inside)
    with pytest.raises(InputError, match=rf"row {outside} was not looked at \(percentile .*\); use all=True"):
        result.explain(outside)
    with pytest.raises(InputError, match="there is no row 99; the table has 86, counted from 0"):
        result.explain(99)
    with pytest.raises(InputError, match="row 'x' is not in this result"):
        result.explain("x")
    with pytest.raises(InputError, match="no row was looked at: the table has none"):
        model.recourse(ROWS.slice(0, 0)).explain()


def test_a_normal_row_is_said_to_be_normal() -> None:
    """By whatever name it goes; and that is not what a row is told that does not exist."""
    table = planted_table(200).to_pandas().assign(bill=[f"B{number}" for number in range(200)])
    rows = pd.concat([table.iloc[:9], table.iloc[9:10].assign(Port="Port-5a")])
    model = carat.fit(table.drop(columns="bill"), profile="instant", explainer="counts", memory=False)
    named = carat.fit(table, id="bill", profile="instant", explainer="counts", memory=False)
    shuffled = rows.sample(frac=1.0, random_state=1)
    assert shuffled.index[0] != 0
    for result, normal, wrong, missing in (
        (model.recourse(rows), 3, 9, 12),
        (model.recourse(shuffled), 3, 9, 12),
        (model.recourse(rows.set_axis(rows["bill"], axis=0)), "B3", "B9", "B12"),
        (named.recourse(shuffled), "B3", "B9", "B12"),
    ):
        assert result.explain(wrong).record == wrong
        said = rf"row {normal} is normal \(percentile .*\), so it was not looked at; all=True looks at normal rows, too"
        with pytest.raises(InputError, match=said):
            result.explain(normal)
        with pytest.raises(InputError, match=f"there is no row {missing!r}"):
            result.explain(missing)
    with pytest.raises(InputError, match=r"the row is normal \(percentile .*\), so it was not looked at; all=True"):
        model.recourse(table.iloc[0].to_dict()).explain()
    with pytest.raises(InputError, match="none of the 9 rows is anomalous, so none was looked at; all=True looks at"):
        model.recourse(rows.iloc[:9]).explain()
    with pytest.raises(InputError, match=r"row 'x' is not in this result; result.records lists"):
        model.recourse(rows).explain("x")


def test_an_id_that_repeats_is_said_and_never_guessed_at(caplog: pytest.LogCaptureFixture) -> None:
    frame = planted_table(200).to_pandas().assign(bill=[*["twice"] * 2, None, *(f"B{number}" for number in range(197))])
    model = carat.fit(frame, id="bill", profile="instant")
    said = "column 'bill' does not tell all rows apart (2 rows share an ID, 1 row has none), so `record` is not unique"
    assert said in caplog.messages
    caplog.clear()
    result = model.recourse(frame, all=True, k=1)
    assert caplog.messages.count(said) == 1
    with pytest.raises(
        InputError, match=r"2 rows of this result have the ID 'twice'; result.explanations\(\) has them"
    ):
        result.explain("twice")
    assert result.explain("B7").record == "B7"
    caplog.clear()
    model.score(frame[3:])
    assert not any("tell all rows apart" in line for line in caplog.messages)


def test_a_model_can_be_a_key_and_shows_itself(model: carat.Model) -> None:
    assert {model: 1}[model] == 1
    assert model._repr_html_().startswith("<pre>Model ")


def test_numpy_numbers_are_numbers(model: carat.Model) -> None:
    two: Any = np.int64(2)
    assert len(model.recourse(ROWS, k=two, top=two + 1).to_frame()) == 6


def test_period_columns_are_text() -> None:
    months = pd.period_range("2020-01", periods=4, freq="M")
    frame = planted_table(200).to_pandas().assign(Month=[months[number % 4] for number in range(200)])
    model = carat.fit(frame, profile="instant")
    assert sorted(model.vocabulary.domains[-1].entities.to_pylist()) == ["2020-01", "2020-02", "2020-03", "2020-04"]
    assert len(model.score(frame.assign(Month=[pd.NaT, *frame["Month"][1:]]))) == 200


def test_the_index_that_parquet_keeps_is_no_column(tmp_path: Path) -> None:
    """A frame with an index of its own, through Parquet and back, is the same table to a model."""
    frame = planted_table(200).to_pandas()
    frame.index = pd.Index([f"group {number % 5}" for number in range(200)])
    frame.to_parquet(tmp_path / "a.parquet")
    model = carat.fit(str(tmp_path / "a.parquet"), profile="instant")
    assert model.schema.domains == DOMAINS
    assert model.training["left_out"] == {"__index_level_0__": "the index of a pandas frame"}
    assert len(model.score(frame)) == 200
    taken = carat.fit(str(tmp_path / "a.parquet"), also=["__index_level_0__"], profile="instant")
    assert "__index_level_0__" in taken.schema.domains


def test_what_was_left_out_comes_with_the_arguments_that_take_it_in(caplog: pytest.LogCaptureFixture) -> None:
    frame = planted_table(200).to_pandas().assign(Weight=range(200), bill=[f"B{number}" for number in range(200)])
    carat.fit(frame, profile="instant")
    assert caplog.messages == [
        'left out: Weight (numbers), bill (a different value in every row); use one anyway with also=["NAME"], as '
        'ranges of numbers with numeric={"NAME": 10}, or name the row ID with id="NAME"'
    ]
    caplog.clear()
    carat.fit(frame, numeric={"Weight": 4}, id="bill", profile="instant")
    assert not caplog.messages


def test_a_column_named_like_an_output_column_is_not_offered(caplog: pytest.LogCaptureFixture) -> None:
    frame = planted_table(200).to_pandas().assign(score=range(200))
    carat.fit(frame, profile="instant")
    renamed = "score (numbers; outputs have a column of this name, so rename it to use it)"
    assert caplog.messages == [f"left out: {renamed}"]
    caplog.clear()
    carat.fit(frame.assign(Weight=range(200)), profile="instant")
    assert caplog.messages == [
        f'left out: {renamed}, Weight (numbers); use one anyway with also=["NAME"], or as ranges of numbers with '
        'numeric={"NAME": 10}'
    ]


def test_few_rows_are_said_to_mean_little(caplog: pytest.LogCaptureFixture) -> None:
    carat.fit(planted_table(19), profile="instant")
    assert "19 rows are too few to learn much" in caplog.text
    caplog.clear()
    carat.fit(planted_table(200), profile="instant")
    assert "too few" not in caplog.text


def test_a_header_alone_is_bad_input(model: carat.Model, tmp_path: Path) -> None:
    (tmp_path / "none.csv").write_text(",".join(DOMAINS) + "\n")
    for call in (model.score, model.explain, model.recourse, carat.fit):
        with pytest.raises(InputError, match="there is a header but no rows"):
            call(str(tmp_path / "none.csv"))
    assert len(model.score(pl.DataFrame({name: [] for name in DOMAINS}, schema=dict.fromkeys(DOMAINS, pl.String)))) == 0


def test_help_shows_what_to_call() -> None:
    """Every call that `help(carat)` lists is there; its example runs as a doctest."""
    text = carat.__doc__ or ""
    assert text.count(">>>") >= 4
    owners = {"carat": carat, "model": carat.Model, "result": carat.RecourseResult}
    named = [
        (owner, call) for owner, call in re.findall(r"\b(carat|model|result)\.([\w.]+)\(", text.split("Main calls:")[1])
    ]
    assert {"fit", "score", "explain", "recourse", "to_frame", "report", "save", "load"} <= {call for _, call in named}
    for owner, call in named:
        found: Any = owners[owner]
        for part in call.split("."):
            found = getattr(found, part)
        assert callable(found)
