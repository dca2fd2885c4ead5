"""The gate in jobs: who is judged, what is listed, and in which order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import carat
from carat import jobs
from carat.data import Table, open_source
from carat.explain import Judge
from carat.fitting.found import in_words
from carat.report import PageSink
from carat.results import ScoreBatch
from tests.support.fitted import frame, twice_corrupted
from tests.support.planted import corrupted, planted_table

NORMAL = planted_table(300, seed=9)
RECORDS = pa.concat_tables([frame([*corrupted()[0], *twice_corrupted()]), NORMAL.cast(frame([]).schema)])


@pytest.fixture(scope="module")
def model() -> carat.Model:
    return carat.fit(planted_table(), profile="instant", device="cpu")


def test_the_same_through_every_door(model: carat.Model, tmp_path: Path) -> None:
    rows = model.score(RECORDS).to_pylist()
    listed = [row["record"] for row in rows if row["anomalous"]]
    assert listed
    job = jobs.score(model, RECORDS)
    strangest = jobs.Strangest(model, 5)
    job.into(jobs.Sidecar(tmp_path / "s.csv"), jobs.TableSink(tmp_path / "s.csv", ScoreBatch.rows), strangest)
    assert job.summary.anomalous == len(listed)
    order = sorted(rows, key=lambda row: (-row["alarm"], row["score"]))
    assert [one.record for one in strangest.explained] == [row["record"] for row in order[:5]]
    found = model.recourse(RECORDS, k=1)
    assert [row["record"] for row in found.records] == listed
    assert found.anomalous == len(listed)
    assert [row["alarm"] for row in found.records] == [row["alarm"] for row in rows if row["anomalous"]]
    top = model.recourse(RECORDS, k=1, top=9)
    assert [row["record"] for row in top.records] == [row["record"] for row in order[:9]]
    assert top.anomalous == len(listed), "also those that were not searched for"
    search = jobs.recourse(model, RECORDS, top=9)
    page = PageSink(search, tmp_path / "p.html")
    search.into(page)
    text = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert f"<strong>{len(listed)}</strong> anomalous" in text
    assert "the model holds its training rows" in text
    about = json.loads((tmp_path / "s.csv.about.json").read_text(encoding="utf-8"))
    assert about["origin"]["holds_records"]


def test_the_score_alone_asks_no_judge(model: carat.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [
        score < float(model.reference.double().quantile(0.01)) for score in model.score(RECORDS)["score"].to_pylist()
    ]
    monkeypatch.setattr(Judge, "alarm", None)
    scored = model.score(RECORDS, gate="score")
    assert scored["anomalous"].to_pylist() == expected
    assert scored["alarm"].null_count == len(RECORDS)
    found = model.recourse(RECORDS, gate="score", top=5, k=1)
    assert [row["score"] for row in found.records] == sorted(scored["score"].to_pylist())[:5]
    with pytest.raises(carat.InputError, match="`gate` must be 'both' or 'score', got 'neither'"):
        model.score(RECORDS, gate="neither")


class Counting:
    """Counts the records that the judge is asked about."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked = 0
        alarm = Judge.alarm

        def counted(judge: Judge, ids: Any) -> Any:
            self.asked += len(ids)
            return alarm(judge, ids)

        monkeypatch.setattr(Judge, "alarm", counted)


def test_a_large_table_is_judged_where_counts_do_not_clear_it(
    model: carat.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = model.score(RECORDS).to_pylist()
    counting = Counting(monkeypatch)
    monkeypatch.setattr("carat.jobs.job.JUDGED", len(RECORDS) - 1)
    job = jobs.score(model, RECORDS)
    rows = [row for batch in job for row in batch.rows().to_pylist()]
    judged = [row for row in rows if row["alarm"] is not None]
    assert counting.asked == len(judged)
    assert 0 < len(judged) < len(rows)
    assert {row["record"] for row in judged} >= {row["record"] for row in rows[:30]}, "what is wrong is judged"
    assert [row["alarm"] for row in judged] == pytest.approx(
        [whole[row["record"]]["alarm"] for row in judged], abs=1e-6
    )
    cleared = f"{len(rows) - len(judged):,} rows were not judged"
    assert [remark.text.startswith(cleared) for remark in job.summary.remarks if remark.code == "cleared"] == [True]
    top = model.recourse(RECORDS, top=len(RECORDS), k=1).records
    assert [row["alarm"] is None for row in top] == sorted(row["alarm"] is None for row in top), "unjudged last"
    counting.asked = 0
    model.score(RECORDS, judge_all=True)
    assert counting.asked == len(RECORDS)
    monkeypatch.undo()
    assert model.score(RECORDS, judge_all=False)["alarm"].null_count == len(rows) - len(judged)


def test_of_a_stream_the_first_records_are_judged(model: carat.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows how many there will be."""
    monkeypatch.setattr("carat.jobs.job.JUDGED", 120)
    monkeypatch.setattr("carat.jobs.job.PIECE", 60)
    table = Table.read(open_source(RECORDS), model.schema, model.vocabulary)
    job = jobs.score(model, table)
    job._rows = None
    alarms = [alarm for batch in job for alarm in batch.rows()["alarm"].to_pylist()]
    assert None not in alarms[:120]
    assert None in alarms[120:]


def test_verdicts_in_plain_words(model: carat.Model) -> None:
    blank = {**NORMAL.to_pylist()[0], "Carrier": None}
    result = model.recourse(frame([blank]), k=1)
    one = result.explain(0)
    assert one.anomalous
    assert not one.below
    assert one.verdict == "anomalous by its alarm, not by its score"
    assert "Carrier is missing; every training row has it." in one.in_words()
    assert one.reason is not None
    assert one.reason.endswith(f"The alarm ({one.alarm:.2f}) listed this row, not its score")
    assert one.to_json()["alarm"] == one.alarm


def test_a_row_that_only_lacks_a_value_gets_no_fix(model: carat.Model) -> None:
    """Whatever else carat changed there would make it worse; the page and the file say what is missing."""
    normal = NORMAL.to_pylist()
    blank = {**normal[0], "Carrier": None}
    wrong = {
        **normal[1],
        "Carrier": None,
        "Port": next(row["Port"] for row in normal if row["Port"][5] != normal[1]["Port"][5]),
    }
    result = model.recourse(frame([blank, wrong]), k=3, all=True)
    first, second = result.records
    assert first["count"] == 0
    assert first["reason"] == (
        "Carrier is blank. carat recourse does not fill blanks; carat audit does. "
        f"The alarm ({first['alarm']:.2f}) listed this row, not its score"
    )
    assert result.to_arrow()["record"].to_pylist() == [1] * second["count"]
    assert second["flagged"]
    assert second["count"] > 0
    assert "no fix" in str(result)
    whole = model.recourse(frame([normal[0]]), k=3, all=True)
    assert whole.records[0]["count"] > 0, "a normal row that was asked for still has its fixes"


def test_leaving_a_row_as_it_is_is_an_answer(model: carat.Model) -> None:
    """A low score alone, with values that all belong, is no reason to change anything."""
    found = model.with_threshold(0.5).recourse(RECORDS, gate="score", k=1)
    reasons = {row["record"]: row["reason"] for row in found.records}
    flagged = {row["record"] for row in found.records if row["flagged"]}
    leave = "no value stands out, so leaving the row as it is may be right"
    unflagged = set(reasons) - flagged
    assert unflagged
    assert flagged
    assert all(reasons[record].startswith(leave) for record in unflagged)
    assert not any(leave in (reasons[record] or "") for record in flagged)
    some = found.explain(min(unflagged))
    assert some.counterfactuals, "a fix is still on offer"
    assert f"Note: {leave}" in str(some)


def test_what_fit_found_is_told(model: carat.Model) -> None:
    assert in_words(model.training)[0].startswith("Only 60 of the 120 held-out rows set the threshold")
    large = carat.fit(planted_table(2_400), profile="instant", device="cpu")
    found = large.training["found"]
    (caught,) = found["caught"]
    assert caught["false_alarms"] == 0.01, "a tenth of a percent of 120 rows says nothing"
    for kind in ("one", "two"):
        assert caught[kind]["gate"] >= 0.9
        assert 0 <= caught[kind]["score"] <= 1
    assert 0.9 <= found["roc_auc"]["gate"] <= 1
    assert 0 <= found["cleared"]["lost"] <= 0.05
    assert 0 < found["cleared"]["share"] <= 1
    assert 0 <= found["calibration_error"] <= 0.2
    said = in_words(large.training)
    assert said[0].startswith("Found at 1% false alarms: ")
    assert "of rows with one wrong value (" in said[0]
    assert "by the score alone) and " in said[0]


def test_two_columns_and_tiny_tables() -> None:
    """No row of two columns has two wrong values, and a table of 12 rows holds out one."""
    two = carat.fit(planted_table(600).select(["Port", "Good"]), profile="instant", device="cpu")
    assert two.gate is not None
    tiny = carat.fit(planted_table(12), profile="instant", device="cpu")
    assert tiny.gate is None
    assert tiny.score(planted_table(12))["alarm"].null_count == 12
    assert in_words(tiny.training) == []
