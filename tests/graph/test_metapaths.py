"""Which domains belong together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

import carat
from carat.errors import InputError
from carat.graph import KnowledgeGraph, discover, metapaths
from carat.graph.metapaths import association
from tests.support.small import training_data


def paired(rows: int = 2000, seed: int = 0) -> pa.Table:
    """A goes with B and C with D; the two pairs know nothing of each other. Unique is nearly a row number."""
    rng = np.random.default_rng(seed)
    a, c = rng.integers(0, 8, rows), rng.integers(0, 8, rows)
    noise = rng.random(rows) < 0.2
    columns = {
        "A": a,
        "C": c,
        "B": np.where(noise, rng.integers(0, 8, rows), a),
        "Unique": rng.integers(0, rows, rows),
        "D": np.where(noise, c, rng.integers(0, 8, rows) // 4 + c),
    }
    return pa.table({name: [f"{name}{value}" for value in column] for name, column in columns.items()})


def paths_of(table: pa.Table, seed: int = 0) -> tuple[tuple[str, ...], ...]:
    data = training_data(table)
    return discover(data.train, data.vocabulary, seed=seed)


def test_finds_the_planted_pairs() -> None:
    table = paired().drop(["Unique"])
    strength = association(training_data(table).train, torch.Generator().manual_seed(0))
    names = table.column_names
    strongest = {name: names[int(strength[place].argmax())] for place, name in enumerate(names)}
    assert strongest == {"A": "B", "B": "A", "C": "D", "D": "C"}
    for path in paths_of(table):
        assert len(path) == 3
    for left, right in (("A", "B"), ("C", "D")):
        assert any(
            abs(path.index(left) - path.index(right)) == 1 for path in paths_of(table) if {left, right} <= {*path}
        )


def test_nearly_unique_columns_do_not_win_by_accident() -> None:
    """Shared information alone is largest with Unique; what is left after chance is next to nothing."""
    table = paired()
    names = table.column_names
    strength = association(training_data(table).train, torch.Generator().manual_seed(0))
    for name, partner in (("A", "B"), ("B", "A"), ("C", "D"), ("D", "C")):
        row = strength[names.index(name)]
        assert names[int(row.argmax())] == partner
        assert float(row[names.index("Unique")]) < 0.2 * float(row.max())


def test_association_is_symmetric_and_normalised() -> None:
    table = pa.table(
        {"A": [f"{i % 9}" for i in range(900)], "B": [f"{i % 9}" for i in range(900)], "C": ["x", "y"] * 450}
    )
    strength = association(training_data(table).train, torch.Generator().manual_seed(0))
    assert torch.equal(strength, strength.T)
    assert float(strength[0, 1]) == pytest.approx(1.0, abs=1e-6)
    assert ((strength >= 0) & (strength <= 1 + 1e-9)).all()
    assert not strength.diagonal().any()


def test_information_is_that_of_the_book() -> None:
    left, right = torch.tensor([0, 0, 1, 1]), torch.tensor([0, 0, 1, 2])
    assert float(metapaths._entropy(right)) == pytest.approx(1.5 * math.log(2))
    assert float(metapaths._information(left, right)) == pytest.approx(math.log(2))
    assert float(metapaths._information(left, torch.tensor([0, 1, 0, 1]))) == pytest.approx(0.0)


def test_deterministic_also_where_it_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    assert paths_of(paired()) == paths_of(paired())
    monkeypatch.setattr(metapaths, "SAMPLE", 500)
    assert paths_of(paired(), seed=3) == paths_of(paired(), seed=3)
    sizes: list[int] = []

    def watched(ids: torch.Tensor, *others: Any) -> torch.Tensor:
        sizes.append(len(ids))
        return association(ids, *others)

    monkeypatch.setattr(metapaths, "association", watched)
    paths_of(paired())
    assert sizes == [500]


def test_every_domain_is_in_the_middle_once_and_no_path_twice() -> None:
    table = paired()
    paths = paths_of(table)
    assert len({frozenset((path, path[::-1])) for path in paths}) == len(paths)
    for name in table.column_names:
        assert any(path[1] == name for path in paths) or any(name in path for path in paths)
    assert all(len(set(path)) == len(path) for path in paths)


def test_two_domains_have_one_path() -> None:
    assert paths_of(paired().select(["A", "B"])) in ((("B", "A"),), (("A", "B"),))


def test_missing_entities_are_no_evidence() -> None:
    """Half of A is null, exactly where half of C is: being missing together means nothing."""
    table = paired().drop(["Unique"])
    for place, name in ((0, "A"), (1, "C")):
        column = [None if i % 2 else text for i, text in enumerate(table[name].to_pylist())]
        table = table.set_column(place, name, pa.array(column))
    strength = association(training_data(table).train, torch.Generator().manual_seed(0))
    assert int(strength[0].argmax()) == 2
    assert float(strength[0, 1]) < 0.05


def test_given_paths_are_used(planted: pa.Table) -> None:
    model = carat.fit(
        planted,
        detector="counts",
        explainer="counts",
        graph=KnowledgeGraph(epochs=1),
        metapaths=[["Port", "Buyer"], ["Good", "Carrier"]],
    )
    assert model.graph is not None
    assert model.graph.metapaths_ == (("Port", "Buyer"), ("Good", "Carrier"))
    assert model.graph.relations_.ends.tolist() == [[0, 3], [1, 2]]
    assert model.graph.facts()["discovered"] is False


def test_an_unknown_domain_is_named(planted: pa.Table) -> None:
    with pytest.raises(InputError, match="Prot.*did you mean 'Port'") as caught:
        carat.fit(planted, detector="counts", metapaths=[["Prot", "Good"]])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("paths", [[["Port"]], [["Port", "Port"]], [[]]])
def test_a_path_that_is_none(planted: pa.Table, paths: list[list[str]]) -> None:
    with pytest.raises(InputError):
        carat.fit(planted, detector="counts", explainer="counts", graph=KnowledgeGraph(epochs=1), metapaths=paths)
