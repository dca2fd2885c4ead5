"""Words for people: spaces that nobody sees, slips by name, counts as they are said."""

from __future__ import annotations

import pyarrow as pa
import pytest

from carat.auditing.kinds import _filled, _of, _short
from carat.auditing.result import Cell
from carat.auditing.table import AuditColumn
from carat.auditing.telling import blank_or, cell_in_words, counted, misspelling, spaces
from carat.data.text import visible


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("Leith", "Leith"),
        ("New York", "New York"),
        (" Leith", "␠Leith"),
        ("Leith  ", "Leith␠␠"),
        ("New  York", "New␠␠York"),
        ("New\u00a0York", "New⍽York"),
        ("a\tb\n", "a⇥b⏎"),
        ("   ", "␠␠␠"),
        ("שלום ", "שלום␠"),
    ],
)
def test_spaces_are_seen(text: str, seen: str) -> None:
    assert visible(text) == seen == blank_or(text)


def test_spaces_in_words() -> None:
    assert spaces("Leith ") == ["it has an extra space at the end"]
    assert spaces(" Leith") == ["it has an extra space at the start"]
    assert spaces("   ") == []
    assert spaces("New York") == []


@pytest.mark.parametrize(
    ("value", "meant", "apart", "said"),
    [
        ("Chnia", "China", 1, "two letters are swapped"),
        ("hCina", "China", 1, "two letters are swapped"),
        ("Chna", "China", 1, "one letter is missing"),
        ("Chinna", "China", 1, "there is one letter too many"),
        ("Chima", "China", 1, "one letter is different"),
        ("4802", "4820", 1, "two digits are swapped"),
        ("48O2", "4802", 1, "one character is different"),
        ("Москав", "Москва", 1, "two letters are swapped"),
        ("Kinaa", "China", 3, "it is 3 letters away"),
    ],
)
def test_slips_have_names(value: str, meant: str, apart: int, said: str) -> None:
    assert misspelling(value, meant, apart) == said


def test_counts_as_they_are_said() -> None:
    said = [counted(kind, count) for kind, count in (("typo", 8), ("variant", 6), ("mismatch", 1), ("missing", 14))]
    assert said == ["8 typos", "6 variants", "1 mismatch", "14 missing"]
    assert counted("mismatch", 1_200) == "1,200 mismatches"
    assert [_of(77, 77), _of(2, 2), _of(76, 77)] == ["all 77", "both", "76 of the 77"]
    assert _filled(AuditColumn.of("a", pa.array(["x"] * 97 + [None] * 3))) == "97%"
    assert _filled(AuditColumn.of("a", pa.array(["x"] * 999 + [None]))) == "over 99%"


def test_long_texts_are_cut() -> None:
    assert len(_short("x" * 2_000_000)) == 40


def test_what_might_be_right_where_nothing_is_proposed() -> None:
    cell = Cell(3, "Carrier", None, "missing", 0.97, None, 0.0, ("Hapag", "MSC"), "the right one is not known", None)
    assert cell_in_words(cell).endswith("the right one is not known. Perhaps: Hapag, MSC.")
