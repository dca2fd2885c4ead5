"""Every method of the registry against the public checks, with every kind of detector; and what carat's own promise."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

import carat
from carat.data import Columns, TrainingData
from carat.explain import ContextDetector
from carat.graph import KnowledgeGraph
from carat.recourse import Settings
from carat.registry import METHODS
from carat.results import Threshold
from carat.testing import Check, method_checks
from carat.testing.asking import questions
from tests.conformance.listing import listed
from tests.support.fitted import DETECTORS, for_method, frame, thing_of
from tests.support.planted import DOMAINS, GROUPS, corrupted, record, twice_corrupted
from tests.support.small import small

GOOD = record(Port=1, Good=1, Carrier=1, Buyer=1)
OWN = ("instant", "carat", "carat-plus")
"""Those of `carat.recourse.engine`, which promise more than the checks ask of any method."""
BY_SCORE = ("carat",)
"""Ranks by the detector's score alone, so that its best need not be what was there before."""
REPAIRS = "the_best_repairs_the_planted_corruption"


def checks_of(method: str, detector: str) -> list[Any]:
    by_score = method in BY_SCORE
    # An isolation forest is blind to context, and has half a say in what is best.
    blind = detector == "isolation forest" and not by_score
    return listed(
        f"{method}/{detector}",
        method_checks(method, context=not by_score, detector=thing_of(detector)),
        without=(REPAIRS,) if blind else (),
    )


@pytest.mark.parametrize(
    "check",
    [each for method, detector in itertools.product(METHODS, DETECTORS) for each in checks_of(method, detector)],
)
def test_method(check: Check) -> None:
    check()


WITH_JUDGE = ("instant", "carat-plus")
"""Those that do otherwise where the model has a memory."""


@pytest.mark.parametrize(
    "check",
    [
        each
        for method in WITH_JUDGE
        for detector in ("counts", "callable")
        for each in listed(
            f"{method}+judge/{detector}", method_checks(method, needs=("memory",), detector=thing_of(detector))
        )
    ],
)
def test_method_with_a_judge(check: Check) -> None:
    check()


Case = tuple[str, carat.Model]
own = pytest.mark.parametrize("case", [f"{m}/{d}" for m, d in itertools.product(OWN, DETECTORS)], indirect=True)


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Case:
    method, detector = request.param.split("/")
    return method, for_method(method, detector)


def rows_of(case: Case, records: list[dict[str, Any]], **options: Any) -> list[dict[str, Any]]:
    method, model = case
    rows: list[dict[str, Any]] = (
        model.recourse(frame(records), **{"k": 10, "method": method, "all": True, **options}).to_arrow().to_pylist()
    )
    return rows


@own
def test_every_record_gets_an_answer_in_its_place(case: Case) -> None:
    records = [*twice_corrupted()[:2], *corrupted()[0][:4], *twice_corrupted()[6:8], GOOD]
    numbers = [number for number, _ in itertools.groupby(row["record"] for row in rows_of(case, records))]
    assert numbers == list(range(9))


@own
def test_valid_is_what_a_new_score_says(case: Case) -> None:
    _, model = case
    rows = rows_of(case, questions())
    scored = model.score(frame(rows)).to_pylist()
    told = [row["valid"] for row in rows if abs(row["score"] - model.threshold_score) > 1e-3]
    found = [
        not again["anomalous"]
        for row, again in zip(rows, scored, strict=True)
        if abs(row["score"] - model.threshold_score) > 1e-3
    ]
    assert told == found


@own
def test_more_wanted_than_there_are(case: Case) -> None:
    """Port has six entities, so a record whose Port alone is wrong has five counterfactuals at most."""
    rows = rows_of(case, corrupted()[0][:1], k=200)
    assert {tuple(row["changed"]) for row in rows} == {("Port",)}
    assert (GROUPS - 1 if case[0] == "carat" else 1) <= len(rows) <= GROUPS - 1


@pytest.mark.parametrize("detector", DETECTORS)
def test_the_paper_ranks_by_score(detector: str) -> None:
    rows = rows_of(("carat", for_method("carat", detector)), corrupted()[0])
    for _, mine in itertools.groupby(rows, key=lambda row: row["record"]):
        score = [row["score"] for row in mine]
        assert score == sorted(score, reverse=True)


@own
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


@own
def test_nothing_known_gives_a_reason(case: Case) -> None:
    method, model = case
    result = model.recourse(frame([dict.fromkeys(DOMAINS), *corrupted()[0][:1]]), k=3, method=method, all=True)
    assert [line["count"] > 0 for line in result.records] == [False, True]
    assert "that could change" in result.records[0]["reason"]
    assert {row["record"] for row in result.to_arrow().to_pylist()} == {1}


@own
def test_no_records(case: Case) -> None:
    method, model = case
    results = [model.recourse(frame([]), k=3, method=method, all=True)]
    # A threshold that nothing is below: none of the records is anomalous.
    results.append(model.with_threshold(Threshold(value=-1e9)).recourse(frame([GOOD]), k=3, method=method))
    for result in results:
        assert len(result) == 0
        assert result.records == []
        assert result.to_arrow().num_rows == 0
        assert result.to_arrow().column_names[6:] == list(DOMAINS)


@own
def test_already_normal_still_gets_rows(case: Case) -> None:
    method, model = case
    result = model.with_threshold(0.0001).recourse(frame([GOOD]), k=3, method=method, all=True)
    assert result.records[0]["count"] >= 1
    assert "already normal" in result.records[0]["reason"]


@own
def test_over_budget_is_said(case: Case) -> None:
    method, model = case
    result = model.recourse(frame(twice_corrupted()[:2]), k=5, method=method, all=True, budget=20)
    for line in result.records:
        assert not line["exhausted"]
        assert line["count"] >= 1
    result = model.recourse(frame(corrupted()[0][:2]), k=5, method=method, all=True, budget=50)
    assert all(line["exhausted"] for line in result.records)


@own
def test_no_time_at_all_still_gives_the_best_found(case: Case) -> None:
    method, model = case
    result = model.recourse(frame(twice_corrupted()[:3]), k=3, method=method, all=True, seconds=1e-9)
    assert [line["count"] for line in result.records] == [3, 3, 3]


TWO = pa.table({"Key": [f"k{i % 7}" for i in range(400)], "Value": [f"v{(i % 7) // 2}" for i in range(400)]})


@cache
def two_domains(profile: str) -> carat.Model:
    """A model of them, by its profile; what a detector has no say in is fitted once."""
    trained: dict[str, Any] = {"explainer": small(epochs=(6, 4, 2)), "graph": KnowledgeGraph(epochs=10)}
    return carat.fit(TWO, profile=profile, detector="counts", device="cpu", **({} if profile == "instant" else trained))


def with_detector(model: carat.Model, detector: str) -> carat.Model:
    """The same model with another detector."""
    if detector == "context":
        assert model.explainer is not None
        prepared = carat.prepare(TWO, Columns())
        data = TrainingData.split(prepared.table.ids, prepared.vocabulary, fold=prepared.fold(0))
        context = ContextDetector().attach(model.explainer).fit(data)
        return replace(model, detector=context, reference=context.score(data.held_out).sort().values)
    fitted = carat.fit(TWO, explainer=False, detector=thing_of(detector), device="cpu")
    return replace(model, detector=fitted.detector, reference=fitted.reference)


@pytest.mark.parametrize("detector", [name for name in DETECTORS if name != "callable"])
def test_two_domains(detector: str) -> None:
    """Every key has one value, and the pair is all there is."""
    full, instant = (with_detector(two_domains(profile), detector) for profile in ("fast", "instant"))
    assert full.graph is not None
    assert full.graph.metapaths_ in ((("Value", "Key"),), (("Key", "Value"),))
    for method in OWN:
        model = instant if method == "instant" else full
        data = pa.table({"Key": ["k0", "k6", "zz", None], "Value": ["v3", "v3", "v1", "v2"]})
        result = model.recourse(data, k=50, method=method, all=True)
        # The second row is right as it is, and the last may only lack its key: either may be left alone.
        counts = [line["count"] for line in result.records]
        assert counts[0] > 0
        assert counts[2] > 0
        first = next(row for row in result.to_arrow().to_pylist() if row["record"] == 0)
        fits = first["Value"] == f"v{int(first['Key'][1:]) // 2}"
        assert fits or (method, detector) != ("instant", "counts"), "pair counts alone must get this one right"


def test_settings_reach_the_method() -> None:
    """What `Model.recourse` is told is what a method gets: as many as were asked for, in another order by the dial."""
    model = for_method("instant", "mead")
    ids = model.vocabulary.encode(twice_corrupted()[:6])
    plausible, valid = (model.method("instant").find(ids, Settings(k=4, prefer=dial)) for dial in (0.0, 1.0))
    assert plausible.mask.sum(dim=1).tolist() == valid.mask.sum(dim=1).tolist() == [4] * 6
    assert float(valid.score[:, 0].mean()) > float(plausible.score[:, 0].mean())
