"""Rewrites learned from decided cells."""

from __future__ import annotations

import pytest

from carat.auditing.programs import learned, programs_of


def rewrite(name: str, before: str, after: str):  # type: ignore[no-untyped-def]
    return next(program.rewrite for program in programs_of(before, after) if program.name == name)


def test_a_unit_is_dropped_from_values_never_decided() -> None:
    (first, *_) = learned(0, [("12.0 oz", "12"), ("16.0 ounce", "16"), ("8.4 oz.", "8.4")], [])
    assert first.program.name == "keep the number alone"
    assert first.asked == 3
    assert first.program.rewrite("19.2 oz. Alumi-Tek") == "19.2"


def test_zeros_that_a_spreadsheet_dropped_come_back_to_other_codes() -> None:
    (first, *_) = learned(0, [("1067", "01067"), ("150", "00150")], ["72070", "Leith"])
    assert first.program.name == "add zeros in front, up to 5 digits"
    assert [first.program.rewrite(value) for value in ("8", "12345", "123456", "EH6", "")] == ["00008", *[None] * 4]
    assert not any("zeros" in pattern.program.name for pattern in learned(0, [("1067", "01067"), ("15", "015")], []))


def test_one_decided_cell_is_no_pattern() -> None:
    assert learned(0, [("12 oz", "12")], []) == []


def test_a_right_value_that_a_rewrite_would_change_speaks_against_it() -> None:
    changed = [("5%", "5"), ("7%", "7")]
    assert learned(0, changed, ["9"])
    assert all("number" not in pattern.program.name for pattern in learned(0, changed, ["9%"]))
    assert all("'%'" not in pattern.program.name for pattern in learned(0, changed, ["9%"]))


def test_two_ways_for_one_value_are_no_pattern() -> None:
    names = [pattern.program.name for pattern in learned(0, [("N/A", ""), ("N/A", ""), ("N/A", "0")], [])]
    assert names == []


def test_a_whole_value_is_left_blank() -> None:
    (pattern,) = learned(0, [("N/A", ""), ("N/A", "")], ["12"])
    assert pattern.program.name == "leave 'N/A' blank"
    assert pattern.program.rewrite("N/A") == ""
    assert pattern.program.rewrite("NA") is None


@pytest.mark.parametrize(
    ("name", "before", "after", "other", "made"),
    [
        ("drop spaces at the ends", " a ", "a", "b ", "b"),
        ("change to upper case", "us", "US", "ca", "CA"),
        ("drop ' CA' at the end", "San Diego CA", "San Diego", "Fresno CA", "Fresno"),
        ("write '.' for ','", "1,5", "1.5", "2,25", "2.25"),
    ],
)
def test_each_rewrite_does_to_others_what_it_did(name: str, before: str, after: str, other: str, made: str) -> None:
    assert rewrite(name, before, after)(other) == made


def test_a_code_is_no_number() -> None:
    assert all(program.name != "keep the number alone" for program in programs_of("007 x", "7"))
