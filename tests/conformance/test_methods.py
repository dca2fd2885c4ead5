"""One suite over every method that finds counterfactuals, with every kind of detector."""

from __future__ import annotations

import itertools
from typing import Any

import pyarrow as pa
import pytest
import torch

import carat
from carat.graph import KnowledgeGraph
from carat.recourse import METHODS, Settings
from carat.results import Threshold
from tests.support.fitted import DETECTORS, OUTSIDE, for_method, frame, twice_corrupted
from tests.support.planted import DOMAINS, GROUPS, corrupted, record
from tests.support.small import small

GOOD = record(Port=1, Good=1, Carrier=1, Buyer=1)
Case = tuple[str, str, carat.Model]


@pytest.fixture(scope="module", params=[f"{m}/{d}" for m, d in itertools.product(METHODS, DETECTORS)])
def case(request: pytest.FixtureRequest) -> Case:
    method, detector = request.param.split("/")
    return method, detector, for_method(method, detector)


def rows_of(case: Case, records: list[dict[str, Any]], **options: Any) -> list[dict[str, Any]]:
    method, _, model = case
    rows: list[dict[str, Any]] = (
        model.recourse(frame(records), **{"k": 10, "method": method, "all": True, **options}).to_arrow().to_pylist()
    )
    return rows


def test_shapes(case: Case) -> None:
    method, _, model = case
    ids = model.vocabulary.encode([*corrupted()[0][:6], *twice_corrupted()[:3]])
    for count, k in ((0, 3), (1, 1), (9, 7)):
        outcome = model.method(method).find(ids[:count], Settings(k=k))
        assert outcome.counterfactuals.shape == (count, k, 4)
        assert outcome.mask.shape == outcome.score.shape == (count, k)
        assert outcome.exhausted.shape == (count,)
        assert outcome.likelihood.shape == (count, 4)
        assert len(outcome.reasons) == count
        assert outcome.cost is None
        assert outcome.mask[:, 0].all()
        # Those that exist come first.
        assert not (outcome.mask[:, 1:] & ~outcome.mask[:, :-1]).any()
        assert (outcome.counterfactuals >= 2)[outcome.mask].all()
        assert outcome.score[outcome.mask].isfinite().all()


def test_rank_score_percentile_valid_and_changed(case: Case) -> None:
    _, detector, model = case
    records = [*corrupted()[0][:8], *twice_corrupted()[:2], GOOD]
    rows = rows_of(case, records)
    scored = model.score(frame(rows)).to_pylist()
    threshold = model.threshold_score
    for row, again in zip(rows, scored, strict=True):
        assert row["score"] == pytest.approx(again["score"], rel=1e-4, abs=1e-4)
        assert row["valid"] == (row["score"] >= threshold)
        assert row["percentile"] == pytest.approx(100 * float((model.reference <= row["score"]).double().mean()))
        if abs(row["score"] - threshold) > 1e-3:
            assert row["valid"] == (not again["anomalous"]), detector
        assert row["changed"] == [name for name in DOMAINS if row[name] != records[row["record"]][name]]
        assert row["changed"]
    for number, mine in itertools.groupby(rows, key=lambda row: row["record"]):
        listed = list(mine)
        assert [row["rank"] for row in listed] == list(range(1, len(listed) + 1)), number
        assert len({tuple(row[name] for name in DOMAINS) for row in listed}) == len(listed)


def test_order_of_records_is_kept(case: Case) -> None:
    records = [*twice_corrupted()[:2], *corrupted()[0][:4], *twice_corrupted()[6:8], GOOD]
    assert [number for number, _ in itertools.groupby(row["record"] for row in rows_of(case, records))] == list(
        range(9)
    )


def test_more_wanted_than_there_are(case: Case) -> None:
    """Port has six entities, so a record whose Port alone is wrong has five counterfactuals at most."""
    rows = rows_of(case, corrupted()[0][:1], k=200)
    assert {tuple(row["changed"]) for row in rows} == {("Port",)}
    assert 1 <= len(rows) <= GROUPS - 1
    if case[0] == "carat":
        assert len(rows) == GROUPS - 1


def test_the_paper_ranks_by_score(case: Case) -> None:
    if case[0] != "carat":
        return
    for _, mine in itertools.groupby(rows_of(case, corrupted()[0]), key=lambda row: row["record"]):
        score = [row["score"] for row in mine]
        assert score == sorted(score, reverse=True)


def test_missing_and_unseen_entities(case: Case) -> None:
    wrong = corrupted()[0][3]  # Buyer is wrong
    records: list[dict[str, Any]] = [
        {**GOOD, "Port": "Atlantis"},
        {**wrong, "Port": None},
        {**wrong, "Port": "Atlantis"},
        {**wrong, "Port": "Atlantis", "Good": None, "Carrier": None},
        {"Port": "Port-1a"},
        dict.fromkeys(DOMAINS, "Atlantis"),
    ]
    rows = rows_of(case, records)
    assert {row["record"] for row in rows} == set(range(len(records)))
    for row in rows:
        old = records[row["record"]]
        for name in DOMAINS:
            if old.get(name) is None:
                assert row[name] is None, "a missing entity is never a target"
            elif name not in row["changed"]:
                assert row[name] == old[name], "what is kept reads as it came"
    best = next(row for row in rows if row["record"] == 0)
    assert "Port" in best["changed"]


def test_nothing_known_gives_a_reason(case: Case) -> None:
    method, _, model = case
    result = model.recourse(frame([dict.fromkeys(DOMAINS), *corrupted()[0][:1]]), k=3, method=method, all=True)
    assert [line["count"] > 0 for line in result.records] == [False, True]
    assert "no entity that could change" in result.records[0]["reason"]
    assert {row["record"] for row in result.to_arrow().to_pylist()} == {1}


def test_no_records(case: Case) -> None:
    method, _, model = case
    results = [model.recourse(frame([]), k=3, method=method, all=True)]
    # A threshold that nothing is below: none of the records is anomalous.
    results.append(model.with_threshold(Threshold(value=-1e9)).recourse(frame([GOOD]), k=3, method=method))
    for result in results:
        assert len(result) == 0
        assert result.records == []
        assert result.to_arrow().num_rows == 0
        assert result.to_arrow().column_names[6:] == list(DOMAINS)


def test_already_normal_still_gets_rows(case: Case) -> None:
    method, detector, model = case
    result = model.with_threshold(0.0001).recourse(frame([GOOD]), k=3, method=method, all=True)
    assert result.records[0]["count"] >= 1, detector
    assert "already normal" in result.records[0]["reason"]


def test_batch_does_not_matter(case: Case) -> None:
    """Alone, among others, or in another order: the same counterfactuals."""
    method, _, model = case
    records = [*corrupted()[0][:10], *twice_corrupted()[:4], record(Port=0, Good=2, Carrier=3, Buyer=5)]
    records += [{**GOOD, "Port": "Atlantis"}, {"Port": "Port-1a", "Good": "Good-3a"}]
    ids = model.vocabulary.encode(records)
    for diversity in (0.0, 0.6):
        settings = Settings(k=6, diversity=diversity)
        whole = model.method(method).find(ids, settings)
        for row in range(len(ids)):
            alone = model.method(method).find(ids[row : row + 1], settings)
            assert torch.equal(alone.mask[0], whole.mask[row])
            torch.testing.assert_close(alone.score[0], whole.score[row], rtol=1e-4, atol=1e-4)
            mask = alone.mask[0]
            mine, theirs = alone.counterfactuals[0, mask].tolist(), whole.counterfactuals[row, mask].tolist()
            if method != "carat":  # equal scores may change places in the last bit
                assert mine[:1] == theirs[:1]
            same = sum(each in theirs for each in mine)
            assert same >= len(mine) - 1


def test_over_budget_is_said(case: Case) -> None:
    method, _, model = case
    result = model.recourse(frame(twice_corrupted()[:2]), k=5, method=method, all=True, budget=20)
    for line in result.records:
        assert not line["exhausted"]
        assert line["count"] >= 1
    result = model.recourse(frame(corrupted()[0][:2]), k=5, method=method, all=True, budget=50)
    assert all(line["exhausted"] for line in result.records)


def test_no_time_at_all_still_gives_the_best_found(case: Case) -> None:
    method, _, model = case
    result = model.recourse(frame(twice_corrupted()[:3]), k=3, method=method, all=True, seconds=1e-9)
    assert [line["count"] for line in result.records] == [3, 3, 3]


def test_deterministic(case: Case) -> None:
    records = [*corrupted()[0][:6], *twice_corrupted()[:3]]
    assert rows_of(case, records, diversity=0.3) == rows_of(case, records, diversity=0.3)


def test_repairs_the_planted_corruption(case: Case) -> None:
    method, detector, _ = case
    if method == "carat" or detector == "isolation forest":  # blind to context
        return
    records, where = corrupted()
    best = [row for row in rows_of(case, records, k=3) if row["rank"] == 1]
    right = [
        row["changed"] == [name] and row[name].startswith(f"{name}-{number // 4}")
        for number, (row, name) in enumerate(zip(best, where, strict=True))
    ]
    assert sum(right) >= 0.8 * len(records)


TWO = pa.table({"Key": [f"k{i % 7}" for i in range(400)], "Value": [f"v{(i % 7) // 2}" for i in range(400)]})


@pytest.mark.parametrize("detector", ["mead", "ape", "counts", "context", "isolation forest"])
def test_two_domains(detector: str) -> None:
    """Every key has one value, and the pair is all there is."""
    thing = OUTSIDE[detector]() if detector in OUTSIDE else detector
    full = carat.fit(TWO, detector=thing, explainer=small(epochs=(6, 4, 2)), graph=KnowledgeGraph(epochs=10))
    instant = carat.fit(TWO, profile="instant", detector=thing)
    assert full.graph is not None
    assert full.graph.metapaths_ in ((("Value", "Key"),), (("Key", "Value"),))
    for method in METHODS:
        model = instant if method == "instant" else full
        data = pa.table({"Key": ["k0", "k6", "zz", None], "Value": ["v3", "v3", "v1", "v2"]})
        result = model.recourse(data, k=50, method=method, all=True)
        assert [line["count"] > 0 for line in result.records] == [True] * 4
        first = [row for row in result.to_arrow().to_pylist() if row["record"] == 0 and row["rank"] == 1]
        if method == "instant" and detector == "counts":
            assert first[0]["Value"] == f"v{int(first[0]['Key'][1:]) // 2}"
