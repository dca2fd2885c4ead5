"""Kinds of errors on a planted table, each with its proposal and its reason; and blanks that nobody can fill."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
import torch

from carat.auditing.blanks import is_foretold, unremarkable, without_guesses
from carat.auditing.contained import Relations
from carat.auditing.kinds import Describing, swaps
from carat.auditing.proposals import Proposed, propose
from carat.auditing.signals import Eyes, Plan
from carat.auditing.suspicion import usual_code
from carat.auditing.table import AuditColumn, AuditTable
from carat.auditing.votes import learn_votes
from carat.training import Run

PLACES = [
    ("Callao", "Peru", "CL-071", "230120", "12"),
    ("Leith", "Scotland", "LE-402", "220830", "15"),
    ("Bergen", "Norway", "BG-118", "030551", "18"),
    ("Ningbo", "China", "NB-350", "480257", "21"),
]
NAMES = ["City", "Country", "Code", "HSCode", "Crates", "Carrier"]
ROWS = 160


@dataclass(frozen=True)
class Planted:
    """A table with errors, looked at, and what is said of them."""

    eyes: Eyes
    proposed: Proposed
    cells: dict[tuple[int, str], int]
    kinds: list[str]
    reasons: list[str]

    def of(self, row: int, column: str) -> tuple[str, str | None, str]:
        place = self.cells[row, column]
        return self.kinds[place], self.proposed.text[place], self.reasons[place]


ERRORS: dict[tuple[int, str], str | None] = {
    (3, "Country"): "Chnia",
    (9, "City"): "LEITH",
    (13, "City"): "Leith ",
    (16, "HSCode"): "2301",
    (21, "Crates"): "15%",
    (30, "Country"): "Peru",
    (40, "City"): "Peru",
    (40, "Country"): "Callao",
    (51, "Country"): None,
    (57, "Country"): "N/A",
    (60, "Carrier"): None,
    (64, "Code"): "Callao",
}


@pytest.fixture(scope="module")
def planted() -> Planted:
    generator = np.random.default_rng(0)
    rows: list[list[str | None]] = [
        [*PLACES[n % 4], ("Maersk", "MSC", "Hapag")[int(generator.integers(3))]] for n in range(ROWS)
    ]
    for (where, name), text in ERRORS.items():
        rows[where][NAMES.index(name)] = text
    columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
    table = AuditTable.of(pa.table(columns, names=NAMES))
    voted = tuple(range(len(NAMES)))
    eyes = Eyes(table, Plan(voted, (), learn_votes(table, voted, Run(seed=0)), Relations(())))
    flagged = np.zeros((ROWS, len(NAMES)), dtype=bool)
    for where, name in ERRORS:
        flagged[where, NAMES.index(name)] = True
    row, number = np.nonzero(flagged)
    proposed = propose(eyes, row, number, torch.from_numpy(flagged[row]), np.full(len(row), 0.99))
    group = swaps(eyes, proposed)
    describing = Describing(eyes)
    kinds, reasons = [], []
    for k, (at, of) in enumerate(zip(row.tolist(), number.tolist(), strict=True)):
        kinds.append("misplaced" if group[k] >= 0 else describing.kind(at, of, proposed.text[k]))
        reasons.append(describing.say(at, of, kinds[-1], proposed.text[k], flagged[at]))
    cells = {(int(r), NAMES[int(c)]): k for k, (r, c) in enumerate(zip(row, number, strict=True))}
    return Planted(eyes, proposed, cells, kinds, reasons)


@pytest.mark.parametrize(
    ("cell", "kind", "proposal", "said"),
    [
        ((3, "Country"), "typo", "China", "in Chnia, two letters are swapped"),
        ((9, "City"), "variant", "Leith", "the same value is written Leith in"),
        ((13, "City"), "variant", "Leith", "Leith␠ has an extra space at the end"),
        ((16, "HSCode"), "format", "230120", "2301 has 4 digits where the others have 6"),
        ((21, "Crates"), "format", "15", "drop '%', as in the rest of the column"),
        ((30, "Country"), "mismatch", "Norway", "say Norway"),
        ((40, "City"), "misplaced", "Callao", "Peru is a value of Country"),
        ((40, "Country"), "misplaced", "Peru", "Callao is a value of City"),
        ((51, "Country"), "missing", "China", "say China"),
        ((57, "Country"), "missing", "Scotland", "N/A stands for an empty cell"),
        ((64, "Code"), "misplaced", "CL-071", "Callao is a value of City"),
    ],
)
def test_kinds(planted: Planted, cell: tuple[int, str], kind: str, proposal: str, said: str) -> None:
    found = planted.of(*cell)
    assert found[:2] == (kind, proposal)
    assert said in found[2]


def test_swapped_cells_are_one_group(planted: Planted) -> None:
    group = swaps(planted.eyes, planted.proposed)
    one, other = planted.cells[40, "City"], planted.cells[40, "Country"]
    assert group[one] == group[other] == 0
    assert (np.delete(group, [one, other]) == -1).all()


def test_rows_are_counted_as_people_do(planted: Planted) -> None:
    reason = planted.of(30, "Country")[2]
    assert reason.startswith("all "), reason
    assert " of the " not in reason


def test_what_nobody_knows_is_not_proposed(planted: Planted) -> None:
    place = planted.cells[60, "Carrier"]
    guess = planted.proposed.text[place]
    assert guess in ("Maersk", "MSC", "Hapag")
    confidence = np.full(len(planted.cells), 0.25)
    confidence[planted.cells[51, "Country"]] = 0.99
    left, sure = without_guesses(planted.eyes, planted.proposed, confidence)
    assert left.text[place] is None
    assert sure[place] == 0
    assert left.others[place][0] == guess
    assert left.text[planted.cells[51, "Country"]] == "China"
    assert left.text[planted.cells[3, "Country"]] == "China", "a typo is no blank"
    number = NAMES.index("Carrier")
    said = Describing(planted.eyes).say(60, number, "missing", None, np.zeros(len(NAMES), dtype=bool))
    assert said == "over 99% of the rows have a value here, but the right one for this row is not known"


def test_a_word_for_nothing_fills_no_blank(planted: Planted) -> None:
    for cell in ((51, "Country"), (57, "Country")):
        place = planted.cells[cell]
        assert "N/A" not in (planted.proposed.text[place], *planted.proposed.others[place])


def test_columns_that_nothing_predicts(planted: Planted) -> None:
    foretold = dict(zip(NAMES, planted.eyes.foretold.tolist(), strict=True))
    columns = dict(zip(NAMES, planted.eyes.table.columns, strict=True))
    assert not is_foretold(columns["Carrier"], foretold["Carrier"])
    assert is_foretold(columns["Country"], foretold["Country"])
    assert not is_foretold(columns["Country"], float("nan"))
    assert not unremarkable(planted.eyes).any(), "its one blank is an error: the column is always filled"


def test_blanks_of_a_column_that_often_has_them_are_no_findings() -> None:
    cells = ["Maersk", "MSC", None, "Hapag", "MSC"] * 8
    table = AuditTable.of(pa.table({"Carrier": pa.array(cells, pa.string()), "X": [f"x{n}" for n in range(40)]}))
    eyes = Eyes(table, Plan((), (0, 1), None, Relations(())))
    assert unremarkable(eyes)[:, 0].tolist() == [text is None for text in cells]
    assert not unremarkable(eyes)[:, 1].any()


@pytest.mark.parametrize(
    ("values", "usual", "foreign"),
    [
        (["480257"] * 95 + ["610910"] * 4 + ["4802"], "999999", ["4802"]),
        (["12"] * 60 + ["7"] * 39 + ["100"], None, []),
        (["Leith"] * 99 + ["Bo"], None, []),
        (["480257"] * 60 + ["4802"] * 40, None, []),
        (["AB-1234"] * 99 + ["AB1234"], "AA-9999", ["AB1234"]),
        ([], None, []),
    ],
)
def test_codes_have_a_shape(values: list[str], usual: str | None, foreign: list[str]) -> None:
    column = AuditColumn.of("code", pa.array(values, pa.string()))
    shape, odd = usual_code(column)
    assert shape == usual
    assert [text for text, is_odd in zip(column.values, odd.tolist(), strict=True) if is_odd] == foreign
