"""The schema: what is refused and why, and storing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from carat.data import Schema
from carat.errors import InputError


def test_stored_as_json_and_back() -> None:
    schema = Schema(
        domains=("Port", "Good", "Weight"),
        numeric={"Weight": 10},
        id="Name",
        time="Day",
        metapaths=(("Port", "Good"), ("Good", "Weight", "Port")),
    )
    assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema
    plain = Schema(domains=("Port", "Good"))
    assert Schema.from_json(json.loads(json.dumps(plain.to_json()))) == plain


def test_a_numeric_column_may_also_be_the_time() -> None:
    schema = Schema(domains=("Port", "Day"), numeric={"Day": 4}, time="Day")
    assert schema.time in schema.domains


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"domains": ()}, "at least two columns"),
        ({"domains": ("Port",)}, r"got 1 \(only 'Port'\)"),
        ({"domains": ("Port", "Port")}, "'Port' is named twice"),
        ({"domains": ("Port", "score")}, "name of an output column; rename"),
        ({"domains": ("Port", "Good"), "id": "Good"}, "'Good' can't be both a column to model and the id column"),
        ({"domains": ("Port", "Good"), "time": "Good"}, "'Good' can't be both a column to model and the time column"),
        ({"domains": ("Port", "Weight"), "numeric": {"weight": 5}}, "did you mean 'Weight'"),
        ({"domains": ("Port", "Weight"), "numeric": {"Weight": 1}}, "between 2 and 1000 bins, got 1"),
        ({"domains": ("Port", "Weight"), "numeric": {"Weight": 1001}}, "got 1001"),
        ({"domains": ("Port", "Good"), "metapaths": [["Port", "Goods"]]}, "Port – Goods.*did you mean 'Good'"),
        ({"domains": ("Port", "Good"), "metapaths": [["Port"]]}, "two or more different columns"),
        ({"domains": ("Port", "Good"), "metapaths": [["Port", "Port"]]}, "two or more different columns"),
    ],
)
def test_what_is_refused(options: dict[str, Any], hint: str) -> None:
    with pytest.raises(InputError, match=hint):
        Schema(**options)
