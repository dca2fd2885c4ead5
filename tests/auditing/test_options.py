"""The options of an audit refuse what can't be meant, in one line that says what to do."""

from __future__ import annotations

from typing import Any

import pytest

from carat.auditing.options import AuditOptions
from carat.errors import InputError


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"cut": 0}, "`cut` is a probability, above 0 and at most 1; got 0"),
        ({"cut": 1.5}, "`cut` is a probability"),
        ({"cut": float("nan")}, "`cut` is a probability"),
        ({"certain": "high"}, "`certain` must be a number, got 'high'"),
        ({"top": 0}, "`top` must be at least 1, got 0"),
        ({"top": 2.5}, "`top` must be a whole number, got 2.5"),
        ({"top": True}, "`top` must be a whole number"),
        ({"seed": 0.5}, "`seed` must be a whole number"),
        ({"profile": "paper"}, "unknown `profile` 'paper' for an audit; choose from: instant, fast"),
        ({"profile": "instent"}, "did you mean 'instant'"),
        ({"columns": "City"}, "`columns` must be a list of column names, got 'City'; write ['City']"),
        ({"columns": []}, "`columns` names no column"),
        ({"also": ["A"], "without": ["A"]}, "column 'A' is in both `also` and `without`; remove one"),
        ({"columns": ["A"], "without": ["A"]}, "column 'A' is in both `columns` and `without`; remove one"),
    ],
    ids=str,
)
def test_what_can_not_be_meant_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as raised:
        AuditOptions(**given)
    assert said in str(raised.value)


def test_columns_must_be_there() -> None:
    for given in ({"columns": ["Cty"]}, {"also": ["Cty"]}, {"without": ["Cty"]}, {"id": "Cty"}):
        with pytest.raises(
            InputError, match=rf"`{next(iter(given))}`: t\.csv has no column 'Cty'; did you mean 'City'\?"
        ):
            AuditOptions(**given).check(["City", "Land"], "t.csv")


def test_facts_are_plain() -> None:
    facts = AuditOptions(also=("A",), top=3, cut=1).facts()
    assert facts["also"] == ["A"]
    assert facts["columns"] is None
    assert (facts["top"], facts["cut"], facts["profile"], facts["seed"]) == (3, 1.0, "instant", 0)
