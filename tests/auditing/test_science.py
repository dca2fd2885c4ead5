"""The audit itself, on tables whose errors are plain to see."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

import carat
from carat.auditing.audit import as_text, audit_table
from carat.auditing.contained import Relations
from carat.auditing.findings import Findings
from carat.auditing.judging import fold_of, posterior
from carat.auditing.options import AuditOptions
from carat.auditing.signals import Eyes, Plan
from carat.auditing.suspicion import foreign_shapes, is_numeric
from carat.auditing.table import AuditColumn, AuditTable
from carat.auditing.texts import copied_texts, likeness, value_texts
from carat.auditing.votes import Voters, learn_votes
from carat.auditing.words import misspelt
from carat.data.spelling import distance
from carat.training import Run

PLACES = [
    ("Callao", "Peru", "CL-071", "fish meal", "PE"),
    ("Leith", "Scotland", "LE-402", "whisky", "SC"),
    ("Bergen", "Norway", "BG-118", "stockfish", "NO"),
    ("Porto", "Portugal", "PO-350", "port wine", "PT"),
    ("Gdansk", "Poland", "GD-907", "amber", "PL"),
    ("Piraeus", "Greece", "PI-266", "olive oil", "GR"),
]
NAMES = ["City", "Country", "Code", "Goods", "Land", "Crates"]


def clean(rows: int = 300) -> list[list[str | None]]:
    generator = np.random.default_rng(3)
    return [[*PLACES[n % len(PLACES)], str(int(generator.integers(1, 9)))] for n in range(rows)]


def frame(cells: list[list[str | None]]) -> pa.Table:
    return pa.table([pa.array(column, pa.string()) for column in zip(*cells, strict=True)], names=NAMES)


@pytest.fixture(scope="module")
def spoiled() -> tuple[list[list[str | None]], dict[tuple[int, str], str]]:
    cells = clean()
    truth = {}

    def spoil(row: int, column: int, text: str | None) -> None:
        truth[row, NAMES[column]] = str(cells[row][column])
        cells[row][column] = text

    spoil(17, 0, "Liethh" if cells[17][0] == "Leith" else f"{cells[17][0]}q")
    spoil(42, 1, "Peru" if cells[42][1] != "Peru" else "Norway")
    spoil(99, 2, None)
    spoil(120, 3, str(cells[120][3]).upper())
    spoil(151, 4, "N/A")
    one, other = cells[200][0], cells[200][1]
    spoil(200, 0, other)
    spoil(200, 1, one)
    return cells, truth


@pytest.fixture(scope="module")
def findings(spoiled: tuple[list[list[str | None]], Any]) -> dict[tuple[int, str], dict[str, Any]]:
    result = carat.audit(frame(spoiled[0]))
    return {(row["record"], row["column"]): row for row in result.to_arrow().to_pylist()}


def test_errors_are_found_and_put_right(
    spoiled: tuple[Any, dict[tuple[int, str], str]], findings: dict[tuple[int, str], dict[str, Any]]
) -> None:
    truth = spoiled[1]
    missed = set(truth) - set(findings)
    assert len(missed) <= 1, missed
    assert len(set(findings) - set(truth)) <= 3, "few others are accused"
    right = [findings[cell]["proposal"] == truth[cell] for cell in truth if cell in findings]
    assert sum(right) >= len(truth) - 2


def test_kinds(findings: dict[tuple[int, str], dict[str, Any]]) -> None:
    expected = {(17, "City"): "typo", (42, "Country"): "mismatch", (99, "Code"): "missing", (120, "Goods"): "variant"}
    found = {cell: findings[cell]["kind"] for cell in expected if cell in findings}
    assert found == {cell: expected[cell] for cell in found}
    assert len(found) >= 3
    if (200, "City") in findings and (200, "Country") in findings:
        swapped = [findings[200, name] for name in ("City", "Country")]
        assert [row["kind"] for row in swapped] == ["misplaced", "misplaced"]
        assert swapped[0]["group"] == swapped[1]["group"] is not None


def test_probabilities_and_reasons(findings: dict[tuple[int, str], dict[str, Any]]) -> None:
    for row in findings.values():
        assert 0.5 <= row["error"] <= 1
        assert 0 <= row["confidence"] <= row["error"]
        assert row["reason"]
    assert "other rows with" in findings[42, "Country"]["reason"]


def same(one: Findings, other: Findings) -> bool:
    return (
        np.array_equal(one.row, other.row)
        and np.array_equal(one.column, other.column)
        and np.array_equal(one.error, other.error)
        and one.proposal == other.proposal
        and np.array_equal(one.confidence, other.confidence)
    )


def test_the_seed_decides_and_a_killed_audit_goes_on(
    spoiled: tuple[list[list[str | None]], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = AuditTable.of(frame(spoiled[0]))
    options, run = AuditOptions(), Run(seed=0)
    first = audit_table(table, options, run)
    kept = replace(run, checkpoints=tmp_path / "partial")

    def killed(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr("carat.auditing.audit._judged", killed)
        with pytest.raises(KeyboardInterrupt):
            audit_table(table, options, kept)
    with monkeypatch.context() as context:
        context.setattr("carat.auditing.audit._learned", killed)  # what was learned is on the shelf
        again = audit_table(table, options, kept)
    assert same(first, again)


def test_a_row_does_not_vouch_for_itself() -> None:
    """What is said of a row is what a table without it would say."""
    table = AuditTable.of(frame(clean(60)))
    places = (0, 1, 2, 3, 4)
    learned = learn_votes(table, places, Run(seed=0))
    odd = clean(60)
    odd[7][1] = "Atlantis"
    whole = AuditTable.of(frame(odd))
    told, best = Voters.of([whole.columns[p] for p in places], learned).look(torch.tensor([7]))
    count, unseen = told[0, 1, 4], told[0, 1, 5]
    assert float(count) == 0
    assert float(unseen) == 1, "it is the only row that has it"
    assert whole.columns[1].values[int(best[0, 1, 0]) - 2] == PLACES[7 % 6][1]


def test_no_cell_is_judged_by_what_it_taught() -> None:
    rows = torch.arange(10_000)
    fold = fold_of(rows)
    assert set(fold.tolist()) == {0, 1}
    assert 0.45 < float(fold.double().mean()) < 0.55


def test_a_share_of_errors_is_estimated() -> None:
    generator = torch.Generator().manual_seed(0)
    wrong = torch.rand(20_000, generator=generator) < 0.03
    # A signal with mean ±1.5 and spread 1 has log-odds of 3 times itself; the lessons had one slip in five.
    odds = 3 * (torch.randn(20_000, generator=generator) + torch.where(wrong, 1.5, -1.5)) + np.log(0.2 / 0.8)
    error, rate = posterior(odds, 0.2)
    assert 0.02 < rate < 0.04
    assert abs(float(error.mean()) - 0.03) < 0.01


def test_values_held_by_others() -> None:
    states = ["al"] * 90 + ["ak"] * 10
    codes = [f"{state}_{number % 7}x" for number, state in enumerate(states)]
    table = AuditTable.of(pa.table({"code": codes, "state": states, "noise": [str(n % 3) for n in range(100)]}))
    found = Relations.of(table, (0, 1, 2))
    assert found.pairs == ((0, 1),)
    told = found.told(table, (0, 1, 2), np.arange(100))
    assert (told[:, :2] == 1).all()
    codes[95] = "al_3x"
    broken = AuditTable.of(pa.table({"code": codes, "state": states, "noise": ["0"] * 100}))
    assert found.told(broken, (0, 1, 2), np.array([95]))[0, :2].tolist() == [-1, -1]


def test_words_shapes_and_numbers() -> None:
    values = ["12 patients", "31 patients", "7 patiexts", "empty"]
    found, fixed = misspelt(values, np.array([40, 30, 1, 9]))
    assert fixed == [None, None, "7 patients", None]
    assert found[2] > np.log(50)
    column = AuditColumn.of("score", pa.array(["98%"] * 60 + ["7%"] * 40 + ["9x%"]))
    assert column.values[foreign_shapes(column).argmax()] == "9x%"
    numbers = AuditColumn.of("ibu", pa.array(["12", "40", "65"] * 10 + ["N/A"] * 5))
    assert is_numeric(numbers, np.array([text == "N/A" for text in numbers.values]))


def test_copies_are_measured_against_the_table() -> None:
    """What was known of a value stays as it was; a slip is measured against the table's values."""
    before = AuditTable.of(pa.table({"a": ["stroke"] * 20 + ["asthma"] * 20, "b": ["x", "y"] * 20}))
    after = AuditTable.of(pa.table({"a": ["sroke"] + ["stroke"] * 19 + ["asthma"] * 20, "b": ["x", "y"] * 20}))
    known = value_texts(before, (0, 1))
    copied = copied_texts(known, before, after, (0, 1))
    values = after.columns[0].values
    for text in ("stroke", "asthma"):
        old, new = before.columns[0].values.index(text), values.index(text)
        assert np.array_equal(known[0].told[old], copied[0].told[new])
    assert values[copied[0].near[values.index("sroke")]] == "stroke"
    eyes = Eyes(before, Plan((), (0, 1), None, Relations(())))
    other = Eyes(after, eyes.plan, eyes)
    assert other.look(torch.arange(3)).told.shape == eyes.look(torch.arange(3)).told.shape


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"a": ["x", "x", "y"], "b": ["u", "v", "u"]}),
        pa.table({"a": ["x", "y"] * 20, "b": ["u", "v"] * 20}),
        pa.table({"a": pa.array([None] * 30, pa.string()), "b": ["u", "v", "w"] * 10, "c": ["1", "2", "3"] * 10}),
        pa.table(
            {
                "score": ["低い", "高い", "中"] * 15,
                "record": ["مرحبا", "שלום", "x"] * 15,
                "decision": ["а", "б", "в"] * 15,
            }
        ),
        pa.table({"only": ["a", "a", "b"] * 12}),
    ],
    ids=["three rows", "two columns", "nulls", "scripts and names", "one column"],
)
def test_odd_tables(table: pa.Table) -> None:
    result = carat.audit(table)
    assert len(result) <= table.num_rows
    assert [column.name for column in result.findings.columns] == table.column_names


def test_a_typo_is_found_beside_a_column_of_noise() -> None:
    cities = ["Leith"] * 100 + ["Porto"] * 100 + ["Bergen"] * 100 + ["Lieth"]
    found = carat.audit(pa.table({"City": cities, "X": ["a", "b", "c"] * 100 + ["a"]})).to_arrow().to_pylist()
    assert [(row["record"], row["kind"], row["proposal"]) for row in found] == [(300, "typo", "Leith")]


def test_cells_of_millions_of_characters_do_not_hang() -> None:
    """Processor time, for the clock on the wall says little on a busy machine. Compared in full, these took minutes."""
    begin = time.process_time()
    rng = np.random.default_rng(0)
    long = ["".join(rng.choice(list("abcdef ,9"), 2_000_000)) for _ in range(2)]
    table = AuditTable.of(pa.table({"a": ["x", "y"] * 20 + long, "b": ["u", "v"] * 21}))
    value_texts(table, (0, 1))
    column = table.columns[0]
    codes = np.array([column.values.index(text) for text in long])
    told = likeness(column, codes, codes[::-1].copy())
    assert (told[:, 1] == 0).all()
    assert distance(["x" * 2_000_000], ["x" * 1_999_999 + "y"])[0] == 1
    assert time.process_time() - begin < 30


def test_relations_of_500_columns_are_found_in_time() -> None:
    begin = time.process_time()
    keys = [f"k{n % 7}" for n in range(60)]
    columns = {f"c{n}": [f"{key[1]}v{n:03d}{'x' * (n % 9)}" for key in keys] for n in range(498)}
    table = AuditTable.of(pa.table({**columns, "key": keys, "code": [f"{key}_code" for key in keys]}))
    assert (499, 498) in Relations.of(table, tuple(range(500))).pairs
    assert time.process_time() - begin < 30


def test_text_of_a_table_round_trips() -> None:
    table = frame(clean(20))
    assert as_text(AuditTable.of(table)).rename_columns(NAMES).equals(table)
