"""A misspelling is no suggestion beside what was meant; codes, numbers and words with their own company are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch

import carat
from carat.data import Columns, Pairs, Table, open_source, scan
from carat.data.vocabulary import Domain, Vocabulary
from carat.recourse.lookalikes import lookalikes
from carat.recourse.seen import Seen


def found(columns: dict[str, Sequence[str | None]], **options: object) -> dict[str, str]:
    """The texts that look like slips, each with the one that was meant."""
    source = open_source(pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()}))
    scanned = scan(source, Columns(domains=tuple(columns), **options))  # type: ignore[arg-type]
    ids = Table.read(source, scanned.schema, scanned.vocabulary).ids
    texts = [text for domain in scanned.vocabulary.domains for text in (None, None, *domain.entities.to_pylist())]
    rows = lookalikes(scanned.vocabulary, Pairs.of(ids, scanned.vocabulary))
    assert rows.shape[1:] == (2,)
    return {str(texts[slip]): str(texts[right]) for slip, right in rows.tolist()}


def column(**counts: int) -> list[str]:
    return [text.replace("_", " ") for text, count in counts.items() for _ in range(count)]


def beside(cells: Sequence[str | None], *others: str) -> dict[str, Sequence[str | None]]:
    """A column, and one beside it in which the same few values stand in turn."""
    return {"A": cells, "B": [others[row % len(others)] for row in range(len(cells))]}


def test_slips_and_variants_of_common_values() -> None:
    cells = column(Stroke=90, Sroke=2, Heart_Attack=60, Haert_Attack=2, HEART_ATTACK=4, Pneumonia=50)
    assert found(beside(cells, "x", "y")) == {
        "Sroke": "Stroke",
        "Haert Attack": "Heart Attack",
        "HEART ATTACK": "Heart Attack",
    }


@pytest.mark.parametrize(
    "cells",
    [
        column(US=90, UA=2, JFK=80, JFX=3, LAX=40, Stroke=2),
        column(JFK=80, JFX=60, Atlanta=9),
        column(Stroke=90, Strike=60, Long_Island=3),
        column(N123AA=90, N123AB=2, Boeing_747=80, Boeing_737=2, Ward_A=60, Ward_B=1, Terminal=5),
        column(USNYC=90, USNYX=2, DEHAM=40, NLRTM=30),
    ],
    ids=["short codes", "both frequent", "words of their own", "digits", "a column of codes"],
)
def test_what_is_no_slip(cells: list[str]) -> None:
    assert found(beside(cells, "x", "y")) == {}


def test_another_company_makes_it_another_value() -> None:
    """One letter apart and thirty times as rare, but in a port where the common one never is."""
    countries = column(Ireland=90, Iceland=3, Italy=50)
    ports = [{"Ireland": "Cork", "Iceland": "Reykjavik", "Italy": "Genoa"}[text] for text in countries]
    assert found({"Country": countries, "Port": ports}) == {}
    ports = ["Cork" if port == "Reykjavik" else port for port in ports]
    assert found({"Country": countries, "Port": ports}) == {"Iceland": "Ireland"}


@pytest.mark.parametrize("texts", [[], ["Stroke"]])
def test_hardly_any_values(texts: list[str]) -> None:
    domains = tuple(Domain(name, pa.array(texts, pa.string()), np.ones(len(texts), dtype=np.int64)) for name in "AB")
    vocabulary = Vocabulary(domains)
    none = Pairs.of(torch.empty((0, 2), dtype=torch.int64), vocabulary)
    assert lookalikes(vocabulary, none).shape == (0, 2)


def test_numbers_in_ranges_have_no_spelling() -> None:
    cells = [str(number) for number in range(100)]
    assert found(beside(cells, "x", "y"), numeric={"A": 4}) == {}


# One domain of five entities (ids 2 to 6): 5 looks like a slip of 2, and 6 of 3.
SEEN = Seen.of(torch.tensor([0, 0, 90, 80, 70, 4, 3]), torch.tensor([0]), torch.tensor([[5, 2], [6, 3]]))


def idle(listed: list[int], present: int) -> list[bool]:
    weight = -torch.arange(1.0, len(listed) + 1)  # the best first
    return SEEN.idle(torch.tensor([[present]]), torch.tensor([[listed]]), weight[None, None])[0, 0].tolist()


def test_idle_beside_what_was_meant() -> None:
    assert idle([5, 2, 4], present=4) == [True, False, False], "however likely"
    assert idle([5, 4, 6], present=4) == [False, False, False], "what was meant is no candidate"
    assert idle([5, 4, 3], present=2) == [True, False, False], "the present value is not to be misspelt"
    assert idle([5, 6], present=2) == [False, False], "nothing else is left"
    assert idle([2, 3], present=5) == [False, False], "a slip is put right"
    assert idle([6, 5, 3, 2, 0], present=4) == [True, True, False, False, False]


def test_several_domains_have_their_own_ids() -> None:
    seen = Seen.of(torch.ones(9, dtype=torch.int64) * 5, torch.tensor([0, 4]), torch.tensor([[8, 6], [3, 2]]))
    assert seen.meant is not None
    assert seen.meant.tolist() == [0, 0, 0, 2, 0, 0, 0, 0, 2]
    assert Seen.of(seen.singles, seen.offsets, None).meant is None
    assert Seen.of(seen.singles, seen.offsets, torch.empty((0, 2), dtype=torch.int64)).meant is None


def hospitals() -> pa.Table:
    """Every hospital treats what its ward is for. In one of them, Stroke is misspelt more often than not."""
    rng = np.random.default_rng(0)
    kinds = {"Stroke": "Neurology", "Pneumonia": "Lungs", "Fracture": "Surgery"}
    kind = rng.choice(list(kinds), 900)
    hospital = rng.choice([f"Hospital {letter}" for letter in "ABCDEFGHIJ"], 900)
    spelt = ["Sroke" if k == "Stroke" and h == "Hospital J" and rng.random() < 0.75 else k
             for k, h in zip(kind, hospital, strict=True)]  # fmt: skip
    spelt = [text if text != "Sroke" or row % 2 else "Stroke" for row, text in enumerate(spelt)]
    return pa.table({"Hospital": hospital, "Condition": spelt, "Ward": [kinds[k] for k in kind]})


def test_the_misspelling_is_never_first(tmp_path: Path) -> None:
    table = hospitals()
    assert 5 <= table["Condition"].to_pylist().count("Sroke") <= 15
    model = carat.fit(table, profile="instant", device="cpu")
    assert model.lookalikes is not None
    wrong = pa.Table.from_pylist(
        [{"Hospital": f"Hospital {letter}", "Condition": "Fracture", "Ward": "Neurology"} for letter in "AJ"]
    )
    constraints = {"immutable": ["Hospital", "Ward"]}

    def listed(by: carat.Model) -> list[list[str]]:
        rows = by.recourse(wrong, k=3, all=True, constraints=constraints).to_arrow().to_pylist()
        return [[row["Condition"] for row in rows if row["record"] == record] for record in (0, 1)]

    assert all("Sroke" in fixes for fixes in listed(replace(model, lookalikes=None))), "else this tests nothing"
    assert all(fixes[0] == "Stroke" and "Sroke" not in fixes for fixes in listed(model))
    model.save(tmp_path / "m")
    loaded = carat.load(tmp_path / "m")
    assert loaded.identity == model.identity
    assert loaded.identity != replace(model, lookalikes=None).identity
    assert listed(loaded) == listed(model)


def test_without_a_judge_nobody_looks() -> None:
    assert carat.fit(hospitals(), profile="instant", memory=False, device="cpu").lookalikes is None
