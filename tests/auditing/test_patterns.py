"""Patterns: equal rewrites have one name, and a slip of one value has none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carat.auditing.patterns import pattern_of


@pytest.mark.parametrize(
    ("pairs", "name"),
    [
        ([("12 oz", "12"), ("16.5 oz", "16.5")], "drop ' oz' at the end"),
        ([("12oz", "12")], "drop 'oz' at the end"),
        ([("$5", "5"), ("$1,200", "1,200")], "drop '$' at the start"),
        ([("0.05%", "0.05"), ("7%", "7")], "drop '%' at the end"),
        ([("San Jose CA", "San Jose")], "drop ' CA' at the end"),
        ([("5", "5 kg"), ("80", "80 kg")], "add ' kg' at the end"),
        ([("LEITH", "Leith"), ("NEW YORK", "New York")], "change upper to lower case"),
        ([("leith", "LEITH")], "change to upper case"),
        ([("Leith", "leith")], "change to lower case"),
        ([("leith", "Leith")], "change capitals"),
        ([(" Leith", "Leith"), ("Porto  ", "Porto"), ("\tA", "A")], "drop spaces at the ends"),
        ([("New  York", "New York")], "drop spaces too many"),
        ([("NewYork", "New York")], "put spaces between"),
        ([("1 200", "1200")], "drop spaces between"),
        ([("São Paulo", "Sao Paulo")], "drop accents"),
        ([("Zurich", "Zürich")], "add accents"),
        ([("00721", "721")], "drop zeros in front"),
        ([("721", "0721"), ("5", "0005")], "add zeros in front"),
        ([("1,200,000", "1200000"), ("1,200", "1200")], "drop ','"),
        ([("2024/05/01", "2024-05-01")], "write '-' for '/'"),
        ([("555 1234", "555-1234")], "write '-' for ' '"),
        ([("5 Main Street", "5 Main St"), ("9 Elm Street", "9 Elm St")], "write 'St' for 'Street'"),
        ([("Smith, John", "John Smith"), ("Doe, Jane", "Jane Doe")], "change the order of the parts"),
        ([("N/A", "")], "leave 'N/A' blank"),
    ],
)
def test_a_rewrite_has_a_name(pairs: list[tuple[str, str]], name: str) -> None:
    assert {pattern_of(value, fix) for value, fix in pairs} == {name}


@pytest.mark.parametrize(
    ("value", "fix"),
    [
        ("Lieth", "Leith"),
        ("Leithh", "Leith"),
        ("BIRMINGXAM", "BIRMINGHAM"),
        ("Peru", "Norway"),
        ("12", "123"),
        ("0", "1"),
        ("fort payxe", "fort payne"),
        (None, "Peru"),
        ("Peru", None),
        ("", "Peru"),
        ("Peru", "Peru"),
        ("x" * 100, ""),
        ("Peru " + "x" * 100, "Peru"),
    ],
)
def test_a_slip_has_none(value: str | None, fix: str | None) -> None:
    assert pattern_of(value, fix) is None


@given(st.one_of(st.none(), st.text(max_size=12)), st.one_of(st.none(), st.text(max_size=12)))
def test_any_two_texts(value: str | None, fix: str | None) -> None:
    found = pattern_of(value, fix)
    assert found is None or (value != fix and found)
