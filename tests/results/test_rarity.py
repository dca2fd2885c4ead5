"""The rarest pairs of a record where no single entity is to blame."""

from __future__ import annotations

import re

import pytest
from torch import Tensor

from carat.data.pairs import Pairs
from carat.results.evidence import Evidence
from carat.results.rarity import Pair, rarest_pairs
from tests.report import results


def pairs_of(evidence: Evidence, ids: Tensor) -> list[Pair]:
    return rarest_pairs(ids, evidence.together(ids[None])[0], evidence.pairs.records)


def test_counted_by_hand() -> None:
    """The pair that was met most seldom against what its entities' own counts would make it."""
    vocabulary = results.blameless().evidence.vocabulary
    rows = results.loose().to_pylist()
    evidence = Evidence(Pairs.of(vocabulary.encode(rows), vocabulary), vocabulary)
    asked = {"Port": "P1", "Good": "G1", "Carrier": "C0", "Buyer": "B0"}
    first = pairs_of(evidence, vocabulary.encode([asked])[0])[0]
    assert [vocabulary.names[first.first], vocabulary.names[first.second]] == ["Port", "Good"]
    ports, goods = ({i for i, row in enumerate(rows) if row[name] == asked[name]} for name in ("Port", "Good"))
    assert first.together == len(ports & goods)
    assert first.expected == pytest.approx(len(ports) * len(goods) / len(rows))


def test_missing_and_unseen_are_in_no_pair() -> None:
    evidence = results.blameless().evidence
    asked = {"Port": "P1", "Good": "G1", "Carrier": None, "Buyer": "nobody"}
    pairs = pairs_of(evidence, evidence.vocabulary.encode([asked])[0])
    assert [(pair.first, pair.second) for pair in pairs] == [(0, 1)]
    assert pairs_of(evidence, evidence.vocabulary.encode([dict.fromkeys(asked)])[0]) == []


def test_in_words() -> None:
    first, other = results.blameless().to_json()
    assert (first["record"], other["record"]) == (0, 1)
    assert first["blamed"] == []
    assert first["pairs"][0]["columns"] == ["Port", "Good"]
    assert re.match(
        r"The rarest pair is Port P1 and Good G1: seen together only \d+ times, while chance", first["words"][-1]
    )
    assert other["pairs"] == []
    assert other["words"][-1] == "No pair of its values is rare."
