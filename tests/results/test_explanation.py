"""Why, in words and counts."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from carat.data import FIRST, MISSING, UNSEEN
from carat.results.evidence import Evidence
from carat.results.explaining import _Reading
from carat.results.explanation import Counterfactual, EntityView, Explanation, Witness
from carat.results.rarity import Pair
from tests.support.fitted import base, frame, model_of, training_data
from tests.support.planted import DOMAINS, corrupted, record

GOOD = record(Port=1, Good=1, Carrier=1, Buyer=1)


def evidence() -> Evidence:
    return Evidence(base().pairs, base().vocabulary)


def counted(*entities: tuple[int, int]) -> int:
    """Training records with all of these entities, (domain, id)."""
    match = torch.ones(len(training_data().train), dtype=torch.bool)
    for domain, entity in entities:
        match &= training_data().train[:, domain] == entity
    return int(match.sum())


def test_together_is_a_count() -> None:
    ids = base().vocabulary.encode([GOOD, *corrupted()[0][:5]])
    ids[1, 2], ids[2, 1] = MISSING, UNSEEN
    found = evidence().together(ids).tolist()
    for row, own in enumerate(ids.tolist()):
        for i in range(4):
            for j in range(4):
                if MISSING in (own[i], own[j]):
                    assert found[row][i][j] == -1
                elif UNSEEN in (own[i], own[j]):
                    assert found[row][i][j] == 0
                else:
                    assert found[row][i][j] == counted((i, own[i]), (j, own[j]))


def test_usual_company() -> None:
    vocabulary = base().vocabulary
    port = int(vocabulary.encode([GOOD])[0, 0])
    for other, size in ((1, 3), (2, 2), (3, 4)):
        entities = vocabulary.domains[other].entities.to_pylist()
        counts = {text: counted((0, port), (other, FIRST + place)) for place, text in enumerate(entities)}
        expected = sorted((text for text in entities if counts[text]), key=lambda text: -counts[text])
        found = evidence().usual(0, port, other, limit=10)
        assert len(found) == size
        assert [count for _, count in found] == [counts[text] for text in expected]
        assert dict(found) == {text: counts[text] for text in expected}
        assert evidence().usual(0, port, other, limit=1) == found[:1]
    assert evidence().usual(0, UNSEEN, 1) == evidence().usual(0, MISSING, 1) == []


def test_a_record_in_words() -> None:
    model = model_of("ape")
    old = corrupted()[0][0]  # Port of group 2 in group 0
    result = model.recourse(frame([old]), k=10, all=True, prefer=0.0, constraints={"cost": {"change": 2}})
    told = result.explain(0, show=2)
    assert told.record == 0
    assert told.anomalous
    assert [view.domain for view in told.entities] == list(DOMAINS)
    assert [view.entity for view in told.entities] == list(old.values())
    assert [view.flagged for view in told.entities] == [True, False, False, False]
    port = told.entities[0]
    ids = model.vocabulary.encode([old])[0].tolist()
    assert port.seen == counted((0, ids[0]))
    assert {witness.domain for witness in port.against} == {"Good", "Carrier", "Buyer"}
    for witness in port.against:
        assert witness.together == 0
        assert witness.entity == old[witness.domain]
        assert witness.usual == (
            ("Port-0a", counted((0, _id("Port-0a")), (DOMAINS.index(witness.domain), _id(witness.entity)))),
        )
    assert all(view.against == () for view in told.entities[1:])
    rows = result.to_arrow().to_pylist()
    assert len(told.counterfactuals) == 2
    for change, row in zip(told.counterfactuals, rows, strict=False):
        assert (change.rank, change.valid, change.cost) == (row["rank"], row["valid"], 2.0)
        assert change.score == pytest.approx(row["score"])
        assert change.percentile == row["percentile"]
        assert change.changes == {"Port": ("Port-2a", row["Port"])}
        beside = [counted((0, _id(row["Port"])), (place, ids[place])) for place in (1, 2, 3)]
        assert change.support == {"Port": min(beside)}
    text = str(told)
    assert text.splitlines()[0] == f"Row 0: anomalous, percentile {told.percentile:.2f}"
    first = port.against[0]
    assert f"Port Port-2a is unlikely here: never seen with {first.domain} {first.entity}" in text
    assert "which usually goes with Port-0a." in text
    assert "  1. Port Port-2a → Port-0a (percentile" in text
    assert ", cost 2)" in text


def _id(text: str) -> int:
    domain = base().vocabulary.domains[DOMAINS.index(text.split("-", maxsplit=1)[0])]
    return FIRST + int(domain.entities.index(text).as_py())


def test_missing_and_unseen_in_words() -> None:
    old = {**GOOD, "Good": None, "Port": "Atlantis"}
    told = model_of("ape").recourse(frame([old]), k=2, all=True).explain(0)
    port, good, *_ = told.entities
    assert (good.entity, good.likelihood, good.flagged, good.against) == (None, None, False, ())
    assert (port.entity, port.seen, port.flagged) == ("Atlantis", 0, True)
    assert "Port Atlantis was never seen in training." in str(told)
    assert all(witness.domain != "Good" for witness in port.against)
    for change in told.counterfactuals:
        assert change.changes["Port"][0] == "Atlantis"


def test_nothing_beside_is_no_support() -> None:
    told = model_of("ape").recourse(frame([{"Port": "Port-1a"}]), k=2, method="carat", all=True).explain(0)
    assert told.counterfactuals
    assert all(change.support == {"Port": 0} for change in told.counterfactuals)


def test_a_normal_record_in_words() -> None:
    told = model_of("ape").recourse(frame([GOOD]), k=2, all=True).explain(0)
    assert not told.anomalous
    assert "Row 0: normal" in str(told)
    assert "Note: the row is already normal" in str(told)
    assert not any(view.flagged for view in told.entities)


@pytest.mark.parametrize(
    ("together", "words"), [(0, "never seen"), (1, "seen only once"), (1234, "seen only 1,234 times")]
)
def test_counts_in_words(together: int, words: str) -> None:
    witness = Witness("Good", "g", together, (("p", 9), ("q", 2)))
    view = EntityView("Port", "x", 0.1, 5000, (witness,))
    assert view.in_words() == f"Port x is unlikely here: {words} with Good g, which usually goes with p or q."


def test_words_without_company() -> None:
    assert EntityView("Port", "x", 0.1, 5).in_words() == "Port x is unlikely here."
    assert (
        EntityView("Port", "x", 0.1, 5, (Witness("Good", "g", 0, ()),)).in_words().endswith("never seen with Good g.")
    )
    assert EntityView("Port", "x", 0.9, 5).in_words() == "Port x belongs here."


def test_what_does_not_help_says_so() -> None:
    change = Counterfactual(1, -2.0, 0.4, False, {"A": ("a", "b")}, {"A": 1}, 2.0)
    assert change.verdict() == "percentile 0.4, cost 2, still anomalous"
    told = Explanation("x", -3.0, 0.1, True, (), (change,), None)
    assert "  1. A a → b (percentile 0.4, cost 2, still anomalous)" in str(told)


def test_several_changes_on_one_line() -> None:
    change = Counterfactual(1, 2.0, 99.0, True, {"A": ("a", "b"), "C": (None, "d")}, {"A": 1, "C": 2}, None)
    told = Explanation("x", 0.0, 0.5, False, (), (change,), "something")
    assert str(told) == (
        "Row x: normal, percentile 0.50\n  1. A a → b, C missing → d (percentile 99.0)\n  Note: something."
    )


def test_a_witness_that_training_never_met_comes_last() -> None:
    """Of what is new itself nobody can say what it usually goes with, however likely the explainer thinks it is."""
    old = {**corrupted()[0][0], "Good": "Novelty"}  # Port of group 2 in group 0
    ids = base().vocabulary.encode([old])
    together = evidence().together(ids)[0].tolist()
    reading = _Reading(ids[0].tolist(), [0.1, 0.9, 0.4, 0.9], together, list(DOMAINS), old, evidence())
    port = reading.views()[0]
    assert [witness.domain for witness in port.against] == ["Buyer", "Carrier", "Good"], "one in doubt is still better"
    assert "Novelty" not in port.in_words()


def test_where_no_value_is_to_blame() -> None:
    views = (EntityView("A", "a", 0.8, 40), EntityView("B", "b", 0.6, 50), EntityView("C", None, None, 0))
    least = ["No single value stands out.", "The least likely value is B b, with likelihood 0.60."]
    pair = "The rarest pair is A a and B b: seen together only once, while chance alone would give about 20."
    told = Explanation("x", 0.0, 0.5, True, views, (), None, (Pair(0, 1, 1, 20.2),))
    assert told.in_words() == [*least, pair]
    assert f"  {pair}" in str(told)
    assert replace(told, pairs=()).in_words() == [*least, "No pair of its values is rare."]
    fine = (replace(views[0], likelihood=0.99), replace(views[1], likelihood=0.7))
    assert replace(told, entities=fine).in_words() == [least[0], pair], "0.7 is no hint"
    new = (*views[:2], EntityView("C", "c", 0.9, 0))
    held = "C c is only in held-out rows, so the model has learned nothing about it."
    assert replace(told, pairs=(), entities=new).in_words() == [*least, held]
    unasked = tuple(replace(view, likelihood=None) for view in views)
    assert replace(told, entities=unasked).in_words() == [least[0], pair], "a method without an explainer"
    assert replace(told, entities=views[2:], pairs=()).in_words() == ["The row has no values."]
