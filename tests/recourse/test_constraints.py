"""No output ever breaks a constraint; and every mistake in a file is told in one line that names the key."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import carat
from carat.data import FIRST
from carat.errors import InputError
from carat.recourse import Constraints, Costs, Settings
from tests.support.fitted import base, frame, instant_of, model_of, training_data, twice_corrupted
from tests.support.planted import DOMAINS, GROUPS, corrupted, record

GOOD = record(Port=1, Good=1, Carrier=1, Buyer=1)
RECORDS: list[dict[str, Any]] = [
    *corrupted()[0][:8],
    *twice_corrupted(),
    GOOD,
    record(Port=0, Good=2, Carrier=3, Buyer=5),
    {**GOOD, "Port": "Atlantis"},
    {**GOOD, "Good": None, "Buyer": "Buyer-4a"},
    dict.fromkeys(DOMAINS),
]


def entities_of(domain: str) -> list[str]:
    texts: list[str] = base().vocabulary.domains[DOMAINS.index(domain)].entities.to_pylist()
    return texts


def entity_lists(least: int) -> st.SearchStrategy[dict[str, list[str]]]:
    some = [st.tuples(st.just(name), st.lists(st.sampled_from(entities_of(name)), min_size=least)) for name in DOMAINS]
    return st.lists(st.one_of(some), max_size=3).map(dict)


def pair_lists() -> st.SearchStrategy[list[dict[str, str]]]:
    def pair(names: tuple[str, ...]) -> st.SearchStrategy[dict[str, str]]:
        return st.fixed_dictionaries({name: st.sampled_from(entities_of(name)) for name in names})

    both = st.permutations(DOMAINS).map(lambda order: tuple(order[:2])).flatmap(pair)
    return st.lists(both, max_size=60)


@st.composite
def constraints(draw: st.DrawFn) -> Constraints:
    return Constraints(
        immutable=draw(st.lists(st.sampled_from(DOMAINS), max_size=3, unique=True)),
        allowed=draw(entity_lists(0)),
        forbidden=draw(entity_lists(1)),
        forbidden_pairs=draw(pair_lists()),
        max_changes=draw(st.none() | st.integers(1, 3)),
        min_support=draw(st.sampled_from([0, 0, 1, 5, 40])),
        cost=draw(st.none() | st.just(Costs(change=1.0))),
    )


def seen_together(first: tuple[str, str], second: tuple[str, str]) -> int:
    """By going through the training records."""
    key = (first, second)
    if key not in _SEEN:
        ids = training_data().train
        vocabulary = base().vocabulary
        match = torch.ones(len(ids), dtype=torch.bool)
        for name, text in key:
            place = DOMAINS.index(name)
            match &= ids[:, place] == FIRST + vocabulary.domains[place].entities.index(text).as_py()
        _SEEN[key] = int(match.sum())
    return _SEEN[key]


_SEEN: dict[tuple[tuple[str, str], tuple[str, str]], int] = {}


def check(given: Constraints, result: carat.RecourseResult) -> None:
    for row in result.to_arrow().to_pylist():
        old, changed = RECORDS[row["record"]], row["changed"]
        assert changed
        assert changed == [name for name in DOMAINS if row[name] != old[name]]
        assert not set(changed) & set(given.immutable)
        assert given.max_changes is None or len(changed) <= given.max_changes
        for name in changed:
            assert row[name] in given.allowed.get(name, [row[name]])
            assert row[name] not in given.forbidden.get(name, [])
            for other in set(DOMAINS) - set(changed):
                if given.min_support and old[other] in entities_of(other):
                    assert seen_together((name, row[name]), (other, old[other])) >= given.min_support
        for pair in given.forbidden_pairs:
            brought_about = all(row[name] == text for name, text in pair.items()) and set(pair) & set(changed)
            assert not brought_about, (pair, row)
    for line in result.records:
        if not line["count"]:
            assert line["reason"], "nothing is left out without a word"


@given(constraints(), st.sampled_from(["carat", "carat-plus", "instant"]), st.sampled_from(["ape", "context"]))
@settings(max_examples=120)
def test_no_output_breaks_a_constraint(given: Constraints, method: str, detector: str) -> None:
    model = instant_of(detector) if method == "instant" else model_of(detector)
    check(given, model.recourse(frame(RECORDS), k=20, method=method, all=True, constraints=given))


def test_a_target_left_as_it_is_counts_as_kept() -> None:
    """Good can't be replaced, so it stays, and what replaces Buyer must not be forbidden beside it."""
    old = record(Port=0, Good=1, Carrier=0, Buyer=3)
    assert RECORDS.index(old) == 8
    pairs = [{"Good": "Good-1a", "Buyer": text} for text in entities_of("Buyer") if text != "Buyer-0b"]
    for limits in (
        Constraints(allowed={"Good": []}, forbidden_pairs=pairs),
        Constraints(allowed={"Good": []}, min_support=1),
    ):
        result = model_of("ape").recourse(frame(RECORDS), k=20, method="carat", all=True, constraints=limits)
        check(limits, result)
    one = Constraints(allowed={"Good": []}, forbidden_pairs=pairs)
    found = model_of("ape").recourse(frame([old]), k=20, method="carat", all=True, constraints=one)
    assert [row["Buyer"] for row in found.to_arrow().to_pylist()] == ["Buyer-0b"]
    assert "the constraints leave no value for Good" in found.records[0]["reason"]


def test_forbidden_pairs_of_two_replacements_leave_a_reason() -> None:
    old = record(Port=0, Good=1, Carrier=0, Buyer=3)
    every = [{"Good": good, "Buyer": buyer} for good in entities_of("Good") for buyer in entities_of("Buyer")]
    found = model_of("ape").recourse(
        frame([old]), k=20, method="carat", all=True, constraints=Constraints(forbidden_pairs=every)
    )
    assert found.to_arrow().num_rows == 0
    assert "constraints" in found.records[0]["reason"]
    left = [pair for pair in every if pair != {"Good": "Good-0b", "Buyer": "Buyer-0c"}]
    found = model_of("ape").recourse(
        frame([old]), k=20, method="carat", all=True, constraints=Constraints(forbidden_pairs=left)
    )
    rows = found.to_arrow().to_pylist()
    assert [(row["Good"], row["Buyer"]) for row in rows] == [("Good-0b", "Buyer-0c")]


def test_what_is_in_the_record_may_stay() -> None:
    """Forbidden entities and pairs that nobody proposed are no reason to leave a record out."""
    old = corrupted()[0][1]  # Good is wrong
    kept = {"Port": [old["Port"]], "Carrier": [old["Carrier"]]}
    pair = [{"Port": old["Port"], "Carrier": old["Carrier"]}]
    given = Constraints(forbidden=kept, allowed={"Buyer": []}, forbidden_pairs=pair)
    found = model_of("ape").recourse(frame([old]), k=5, method="carat", all=True, constraints=given)
    assert found.to_arrow().num_rows == 5


def test_immutable_moves_on_to_the_next_likely() -> None:
    old = corrupted()[0][0]
    found = model_of("ape").recourse(frame([old]), k=5, method="carat", all=True, constraints={"immutable": ["Port"]})
    assert found.records[0]["count"] == 5
    assert found.records[0]["reason"] == "Port may not change"
    none = model_of("ape").recourse(
        frame([old]), k=5, method="carat", all=True, constraints={"immutable": list(DOMAINS)}
    )
    assert none.records[0]["count"] == 0
    assert none.records[0]["reason"] == "none of its columns may change"


def test_just_enough_support_is_enough() -> None:
    """Of the Ports, only that of the group was ever seen with the rest of the record."""
    old = corrupted()[0][0]
    least = min(seen_together(("Port", "Port-0a"), (name, old[name])) for name in DOMAINS[1:])
    for support, expected in ((least, ["Port-0a"]), (least + 1, [])):
        found = model_of("ape").recourse(
            frame([old]), k=20, method="carat", all=True, constraints={"min_support": support}
        )
        assert [row["Port"] for row in found.to_arrow().to_pylist()] == expected


def test_max_changes_takes_the_least_likely() -> None:
    model, old = model_of("ape"), twice_corrupted()[0]
    likelihood = model.method("carat").find(model.vocabulary.encode([old]), Settings(k=1)).likelihood[0]
    lowest = DOMAINS[int(likelihood.argmin())]
    found = model.recourse(frame([old]), k=5, method="carat", all=True, constraints={"max_changes": 1})
    assert [row["changed"] for row in found.to_arrow().to_pylist()] == [[lowest]] * 5


# Reading


def read(tmp_path: Path, text: str) -> Constraints:
    file = tmp_path / "limits.toml"
    file.write_text(text, encoding="utf-8")
    return Constraints.read(file)


def test_reads_everything(tmp_path: Path) -> None:
    given = read(
        tmp_path,
        """
        immutable = ["Port"]
        allowed = { Good = ["a", "b"] }
        forbidden = { Buyer = ["c"] }
        forbidden_pairs = [{ Port = "p", Good = "g" }]
        max_changes = 2
        min_support = 3
        [cost]
        change = 1
        weight = 0.5
        domains = { Port = 2.5 }
        entities = { Good = { a = 4 } }
        """,
    )
    assert given == Constraints(
        immutable=["Port"],
        allowed={"Good": ["a", "b"]},
        forbidden={"Buyer": ["c"]},
        forbidden_pairs=[{"Port": "p", "Good": "g"}],
        max_changes=2,
        min_support=3,
        cost=Costs(change=1, weight=0.5, domains={"Port": 2.5}, entities={"Good": {"a": 4}}),
    )
    assert read(tmp_path, "") == Constraints()
    assert read(tmp_path, "\ufeffmax_changes = 1") == Constraints(max_changes=1)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('immutable = "Port"', "immutable"),
        ("immutable = [1]", "immutable"),
        ('allowed = ["Port"]', "allowed"),
        ('allowed = { Port = "x" }', "allowed"),
        ("forbidden = { Port = [1] }", "forbidden"),
        ('forbidden_pairs = { Port = "x", Good = "y" }', "forbidden_pairs"),
        ("forbidden_pairs = [{ Port = 1, Good = 2 }]", "forbidden_pairs"),
        ('forbidden_pairs = [{ Port = "x" }]', "forbidden_pairs"),
        ("max_changes = 1.5", "max_changes"),
        ("max_changes = true", "max_changes"),
        ("max_changes = 0", "max_changes"),
        ("min_support = -1", "min_support"),
        ('min_support = "1"', "min_support"),
        ("cost = 1", "cost"),
        ('cost = { change = "1" }', "cost.change"),
        ("cost = { change = -1 }", "cost"),
        ("cost = { change = nan }", "cost"),
        ("cost = { weight = inf }", "cost"),
        ("cost = { weight = true }", "cost.weight"),
        ("cost = { domains = 1 }", "cost.domains"),
        ('cost = { domains = { Port = "x" } }', "cost.domains"),
        ("cost = { domains = { Port = -2 } }", "cost"),
        ("cost = { entities = { Port = 1 } }", "cost.entities"),
        ("cost = { entities = { Port = { x = -1 } } }", "cost"),
        ("cost = { chang = 1 }", "did you mean 'change'?"),
        ("imutable = []", "did you mean 'immutable'?"),
        ("this is no TOML", "not TOML"),
    ],
)
def test_mistakes_name_the_key(tmp_path: Path, text: str, key: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert key in message
    assert "limits.toml" in message
    assert "\n" not in message


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        Constraints.read(tmp_path / "none.toml")
    with pytest.raises(InputError, match="can't be read"):
        Constraints.read(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'immutable = ["\xe9"]')
    with pytest.raises(InputError, match="UTF-8"):
        Constraints.read(tmp_path / "latin.toml")


@pytest.mark.parametrize(
    "given",
    [
        {"immutable": ["Prot"]},
        {"allowed": {"Prot": []}},
        {"forbidden": {"Prot": ["x"]}},
        {"forbidden_pairs": [{"Prot": "x", "Good": "y"}]},
        {"cost": {"domains": {"Prot": 1}}},
        {"cost": {"entities": {"Prot": {"x": 1}}}},
    ],
)
def test_unknown_domains_get_the_nearest_name(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="no column 'Prot'; did you mean 'Port'?") as caught:
        model_of("ape").recourse(frame([GOOD]), all=True, constraints=given)
    assert f"`{next(iter(given))}" in str(caught.value)


def test_values_are_read_as_those_of_the_table() -> None:
    """Booleans, numbers and dates, of Python and of NumPy, in a dictionary and in a `Constraints`."""
    days = [datetime.date(2024, 3, 5), datetime.date(2024, 3, 6)]
    table = pa.table(
        {
            "Open": [True, False] * 50,
            "Code": [5, 6] * 50,
            "Rate": [0.5, 2.0] * 50,
            "Day": days * 50,
            "City": ["x", "y"] * 50,
        }
    )
    vocabulary = carat.fit(table, columns=table.column_names, profile="instant").vocabulary
    forms: list[dict[str, Any]] = [
        {"Open": [True], "Code": [5], "Rate": [0.5], "Day": days[:1]},
        {"Open": ["True"], "Code": [5.0], "Rate": np.array([0.5]), "Day": [np.datetime64("2024-03-05")]},
        {
            "Open": [np.bool_(True)],
            "Code": pd.Series([5, None]),
            "Rate": [decimal.Decimal("0.5")],
            "Day": ["2024-03-05"],
        },
    ]
    for texts in forms:
        for limits in (Constraints.of({"forbidden": texts}), Constraints(forbidden=texts)):
            resolved = limits.resolve(vocabulary)
            assert resolved.unknown == ()
            left = [int(part[FIRST:].sum()) for part in resolved.permitted.split(vocabulary.sizes.tolist())]
            assert left == [1, 1, 1, 1, 2], "of each of the four columns one value may be put there still"
    typed: dict[str, Any] = {"Open": True, "Code": 5}
    pair = Constraints(forbidden_pairs=[typed]).resolve(vocabulary)
    assert pair.unknown == ()
    assert len(pair.pairs) == 1
    costs: dict[Any, Any] = {"Open": {True: 1.0}, "Code": {5: 2.0}}
    assert Constraints(cost=Costs(entities=costs)).resolve(vocabulary).unknown == ()


@pytest.mark.parametrize("name", [7, ("a", 1)], ids=str)
def test_columns_may_be_called_as_the_frame_calls_them(name: Any) -> None:
    frame = pd.DataFrame({"City": ["x", "y"] * 50, "Land": ["p", "q"] * 50}, dtype=object)
    frame = frame.assign(**{"Other": ["r", "s"] * 50}).rename(columns={"Other": name})
    vocabulary = carat.fit(frame, profile="instant").vocabulary
    given: dict[str, Any] = {"immutable": [name], "allowed": {name: ["r"]}, "cost": {"domains": {name: 1}}}
    for limits in (Constraints.of(given), Constraints(**given)):
        assert limits.resolve(vocabulary).mutable.tolist() == [True, True, False]
        assert limits.immutable == [str(name)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"allowed": ["UA"]},
            "`allowed` must map each column to a list of values, such as {'City': ['Rome']}, got ['UA']",
        ),
        ({"allowed": {"City": "UA"}}, "`allowed['City']` must be a list of values, got 'UA'; write ['UA']"),
        ({"allowed": {"City": [["UA"]]}}, "`allowed['City']` must hold single values, got ['UA']"),
        ({"forbidden_pairs": {"City": "x"}}, "`forbidden_pairs` must be a list of dictionaries, such as [{'Carrier': "),
        ({"forbidden_pairs": ["xy"]}, "`forbidden_pairs` must be a list of dictionaries, such as "),
        ({"forbidden_pairs": [{"City": "x", "Land": None}]}, "a pair has a value for each of its columns"),
        ({"immutable": "City"}, "`immutable` must be a list of columns, got 'City'; write ['City']"),
        ({"max_changes": "2"}, "`max_changes` must be a whole number, got '2'"),
        ({"cost": 5}, "`cost` must be a dictionary such as {'change': 1}, or a `Costs`, got 5"),
        ({"cost": {"change": "x"}}, "`cost.change` must be a number, got 'x'"),
        ({"cost": {"domains": {"City": -1}}}, "`cost.domains['City']` must be a finite number, at least 0, got -1"),
        ({"cost": {"domains": 1}}, "`cost.domains` must map each column to a cost, such as {'City': 2}, got 1"),
        ({"cost": {"entities": {"City": 1}}}, "`cost.entities['City']` must map values to costs, such as {'Rome': 2}"),
        ({"cost": {"chnge": 1}}, "`cost`: unknown key 'chnge'; did you mean 'change'?"),
    ],
)
def test_mistakes_in_python_are_told_in_words_of_python(given: dict[str, Any], said: str) -> None:
    for classed in (False, True):
        with pytest.raises(InputError) as caught:
            Constraints(**given) if classed else Constraints.of(given)
        assert said in str(caught.value)


def test_unknown_entities_are_noted() -> None:
    resolved = Constraints(
        allowed={"Port": ["Port-1a", "Atlantis"]},
        forbidden={"Good": ["Good-1a"]},
        forbidden_pairs=[{"Port": "Port-2a", "Buyer": "nobody"}, {"Port": "Port-2a", "Buyer": "Buyer-1a"}],
        cost=Costs(entities={"Carrier": {"none": 1.0}}),
    ).resolve(base().vocabulary)
    assert resolved.unknown == ("Port Atlantis", "Buyer nobody", "Carrier none")
    assert len(resolved.pairs) == 1, "a pair with an entity that can't occur says nothing"
    start = int(base().vocabulary.offsets[0])
    assert int(resolved.permitted[start : start + GROUPS + FIRST].sum()) == 1


def test_costs_add_up() -> None:
    vocabulary = base().vocabulary
    resolved = Constraints(
        cost=Costs(change=1.0, domains={"Good": 2.0}, entities={"Good": {"Good-1a": 4.0}}, weight=3.0)
    ).resolve(vocabulary)
    assert resolved.cost is not None
    assert resolved.weight == 3.0
    ids = vocabulary.encode([GOOD]).long()[0] + vocabulary.offsets
    assert resolved.cost[ids].tolist() == [1.0, 7.0, 1.0, 1.0]
    other = vocabulary.encode([{**GOOD, "Good": "Good-2a"}]).long()[0] + vocabulary.offsets
    assert resolved.cost[other].tolist() == [1.0, 3.0, 1.0, 1.0]
