"""Entities and ids: there and back for any text."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from carat.data import FIRST, MISSING, UNSEEN, Domain, Vocabulary
from carat.data.binning import Bins
from carat.errors import InputError
from tests.support.sources import vocabulary_of

entities = st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=8, unique=True)


@given(port=entities, good=entities, data=st.data())
def test_known_entities_come_back(port: list[str], good: list[str], data: st.DataObject) -> None:
    vocabulary = vocabulary_of(Port=port, Good=good)
    record = st.fixed_dictionaries({"Port": st.sampled_from([*port, None]), "Good": st.sampled_from([*good, None])})
    records = data.draw(st.lists(record, max_size=5))
    decoded = pa.table(vocabulary.decode(vocabulary.encode(records)))
    assert decoded.to_pylist() == records


def test_reserved_ids() -> None:
    vocabulary = vocabulary_of(Port=["A", "B"], Good=["x"])
    ids = vocabulary.encode([{"Port": None, "Good": "new"}, {"Port": "", "Good": "x"}, {"Port": "B"}])
    assert ids.tolist() == [[MISSING, UNSEEN], [MISSING, FIRST], [FIRST + 1, MISSING]]
    assert ids.dtype == torch.int32
    assert pa.table(vocabulary.decode(ids[:1])).to_pylist() == [{"Port": None, "Good": None}]


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["A", None, "?"]),
        pa.array(["A", None, "?"], pa.large_string()),
        pa.array(["A", "", "?"]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([1, 0, 2], pa.uint8()), pa.array([None, "A", "?"])),
        pa.array(["A", None, "?"]).dictionary_encode().cast(pa.dictionary(pa.uint32(), pa.large_string())),
        pa.array(["-", "A", None, "?"]).slice(1),
        pa.array(["-", "A", None, "?"]).dictionary_encode().slice(1),
    ],
    ids=lambda array: str(array.type),
)
def test_every_kind_of_text_column_encodes_alike(array: pa.Array) -> None:
    ids, text = vocabulary_of(Port=["A", "B"]).domains[0].encode(array)
    assert ids.tolist() == [FIRST, MISSING, UNSEEN]
    assert text[2].as_py() == "?"


@pytest.mark.parametrize("known", [["true", "false"], ["True", "False"], ["TRUE", None, "FALSE"]])
@pytest.mark.parametrize(
    "array",
    [
        pa.array([True, False, None]),
        pa.array(["True", "False", None]),
        pa.array(["TRUE", "FALSE", ""]),
        pa.array([1, 0, None]),
        pa.array([1.0, 0.0, None]),
    ],
    ids=str,
)
def test_true_and_false_are_known_however_they_are_spelt(known: list[str | None], array: pa.Array) -> None:
    domain = Domain("cold", pa.array(known, pa.string()), np.ones(len(known), dtype=np.int64))
    assert domain.encode(array)[0].tolist() == [FIRST, FIRST + len(known) - 1, MISSING]


def test_what_is_not_true_or_false_keeps_its_spelling() -> None:
    for known, odd in ((["true", "True"], "TRUE"), (["true", "maybe"], "True"), (["1", "0"], "true"), (["true"], "0")):
        assert vocabulary_of(Port=known).domains[0].encode(pa.array([odd]))[0].tolist() == [UNSEEN]
    ids, text = vocabulary_of(Port=["true", "false"]).domains[0].encode(pa.array(["yes", "TRUE"]))
    assert (ids.tolist(), text[0].as_py()) == ([UNSEEN, FIRST], "yes")


@pytest.mark.parametrize("array", [pa.nulls(2), pa.array([None, None], pa.string())])
def test_a_column_of_nulls_is_missing(array: pa.Array) -> None:
    assert vocabulary_of(Port=["A"]).domains[0].encode(array)[0].tolist() == [MISSING, MISSING]


@pytest.mark.parametrize("array", [pa.array([["A"]]), pa.array([{"A": 1}])], ids=["list", "struct"])
def test_a_nested_column_is_refused_by_name(array: pa.Array) -> None:
    with pytest.raises(InputError, match="'Port'"):
        vocabulary_of(Port=["A"]).domains[0].encode(array)


def test_numeric_domains_take_any_number() -> None:
    bins = Bins((1.0, 2.0))
    domain = Domain("Weight", pa.array(bins.texts()), np.array([1, 1, 1]), bins)
    assert domain.encode(pa.array(["-5", "1", None, "1e9"]))[0].tolist() == [FIRST, FIRST + 1, MISSING, FIRST + 2]


def test_what_is_no_number_is_a_value_never_seen() -> None:
    bins = Bins((1.0, 2.0))
    domain = Domain("Weight", pa.array(bins.texts()), np.array([1, 1, 1]), bins)
    ids, text = domain.encode(pa.array(["1", "695.3 kg", None, "n/a"]))
    assert ids.tolist() == [FIRST + 1, UNSEEN, MISSING, UNSEEN]
    assert text.to_pylist() == [None, "695.3 kg", None, "n/a"]


def test_layout() -> None:
    vocabulary = vocabulary_of(Port=["A", "B", "C"], Good=["x"])
    assert vocabulary.names == ["Port", "Good"]
    assert vocabulary.sizes.tolist() == [5, 3]
    assert vocabulary.offsets.tolist() == [0, 5]
    assert (len(vocabulary), vocabulary.total, vocabulary.entities) == (2, 8, 4)
    assert vocabulary.counts().tolist() == [0, 0, 1, 1, 1, 0, 0, 1]


@given(port=entities)
def test_stored_as_json_and_back(port: list[str]) -> None:
    bins = Bins((0.1, 2e300))
    weight = Domain("Weight", pa.array(bins.texts()), np.array([3, 2, 1]), bins)
    vocabulary = Vocabulary((*vocabulary_of(Port=port).domains, weight))
    again = Vocabulary.from_json(json.loads(json.dumps(vocabulary.to_json())))
    assert again.to_json() == vocabulary.to_json()
    assert again.domains[1].bins == bins
    assert again.encode([{"Port": port[-1], "Weight": "1"}]).tolist() == [[FIRST + len(port) - 1, FIRST + 1]]
