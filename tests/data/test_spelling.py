"""Spelling: shapes, variants, near spellings against brute force, affixes, words for nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from carat.data.rewrites import PLACEHOLDERS
from carat.data.slips import Slipper
from carat.data.spelling import (
    affixes,
    bound,
    distance,
    is_placeholder,
    key,
    near,
    nearest,
    placeholders,
    shape,
    shapes,
    sorted_key,
    typed_as,
)
from carat.data.spelling.hashing import cut_down, expand


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("12.0 oz", "9.9 a", "99.9 aa"),
        ("McDonald", "AaAa", "AaAaaaaa"),
        ("2020-01-02", "9-9-9", "9999-99-99"),
        ("東京 23", "字 9", "字字 99"),
        ("Zoë", "Aa", "Aaa"),
        ("Zoe\u0308", "Aa", "Aaa"),
        ("a\u00a0b", "a a", "a a"),
        ("--", "--", "--"),
        ("", "", ""),
    ],
)
def test_shapes_in_two_granularities(text: str, short: str, long: str) -> None:
    assert shape(text) == short
    assert shape(text, lengths=True) == long


def test_shapes_of_a_column() -> None:
    codes, names = shapes(["12", "7", "x9", "130"])
    assert [names[code] for code in codes] == ["9", "9", "a9", "9"]
    assert codes.tolist() == [0, 0, 1, 0]
    assert shapes(["12", "7", "130"], lengths=True)[1] == ["99", "9", "999"]
    assert shapes([])[0].shape == (0,)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("BIRMINGHAM", "Birmingham"),
        ("St. Mary's Hospital", "st marys  hospital "),
        ("José Pérez", "Jose Perez"),
        ("José", "Jose\u0301"),
        ("ﬁsh", "FISH"),
        ("Straße", "STRASSE"),
        ("Ａｃｍｅ", "acme"),
        ("205-555-1234", "(205) 555 1234"),
        ("205-555-1234", "2055551234"),
        ("non-profit", "Non Profit"),
        ("Ёлка", "елка"),
        ("New\u00a0York", "New York"),
    ],
)
def test_variants_share_a_key(one: str, other: str) -> None:
    assert key(one) == key(other)
    assert key(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1.5", "15"),
        ("-5", "5"),
        ("3-4", "34"),
        ("C#", "C"),
        ("12%", "12"),
        ("A", "B"),
        ("-", "--"),
        ("か", "が"),
        ("कि", "क"),
    ],
)
def test_what_is_another_value_has_another_key(one: str, other: str) -> None:
    assert key(one) != key(other)


def test_sorted_keys_know_no_word_order() -> None:
    assert sorted_key("Lee, Ann") == sorted_key("ANN LEE")
    assert key("Lee, Ann") != key("Ann Lee")
    assert sorted_key("Ann Lee") != sorted_key("Anna Lee")


@given(st.text(max_size=20))
def test_keys_ignore_case_spaces_and_forms(text: str) -> None:
    assert key(f"  {text} ") == key(text)
    assert key(key(text)) == key(key(key(text)))
    assert isinstance(sorted_key(text), str)


def names(count: int, seed: int) -> list[str]:
    """Made-up names of two words; many are near each other."""
    rng = np.random.default_rng(seed)
    parts = ["an", "bel", "cor", "dan", "el", "fir", "gor", "ham", "il", "jen", "kar", "lo", "mon", "ner"]
    return sorted({"".join(rng.choice(parts, 3)) + " " + "".join(rng.choice(parts, 2)) for _ in range(count)})


def column(kind: str, count: int = 1500) -> tuple[list[str], np.ndarray]:
    """Unique values and counts of a column in which many values are typos of others."""
    rng = np.random.default_rng(3)
    base = {
        "names": lambda: names(count, 1),
        "short": lambda: sorted({name[:7] for name in names(count, 2)}),
        "zips": lambda: sorted({f"{code:05d}" for code in rng.integers(100_000, size=count)}),
        "codes": lambda: [f"item number {code:06d} (box)" for code in rng.choice(10**6, count, replace=False)],
        "cyrillic": lambda: sorted(
            {name.translate(str.maketrans("abcdelnors", "абсделнорс")) for name in names(count, 4)}
        ),
        "mixed": lambda: sorted({name[: rng.integers(1, 16)] for name in names(count, 5)}),
    }[kind]()
    counts = rng.integers(1, 40, size=len(base)).tolist()
    slipper = Slipper([base], [np.ones(len(base))])
    drawn = slipper.draw(0, rng.integers(len(base), size=count), "typo", rng)
    wrong = [text for text in dict.fromkeys(drawn) if text is not None and text not in set(base)]
    return base + wrong, np.array(counts + [1] * len(wrong))


def brute_force(values: list[str], counts: np.ndarray, ratio: float = 3.0) -> tuple[np.ndarray, np.ndarray]:
    """Distance of the nearest more frequent value and how frequent that is; 99 where there is none."""
    apart = cdist(values, values, scorer=OSA.distance).astype(int)
    lengths = np.array([len(value) for value in values])
    apart[(apart > bound(lengths)[:, None]) | (counts[None, :] < ratio * counts[:, None])] = 99
    best = apart.min(axis=1)
    often = np.where(apart == best[:, None], counts[None, :], 0).max(axis=1)
    return best, often


@pytest.mark.parametrize("kind", ["names", "short", "zips", "codes", "cyrillic", "mixed"])
def test_near_spellings_against_brute_force(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near, "ALL_PAIRS", 0)  # go the way of large columns
    monkeypatch.setattr(near, "PART", 700)  # several parts
    values, counts = column(kind)
    found = nearest(values, counts)
    best, often = brute_force(values, counts)
    one, two = best == 1, best == 2
    assert one.sum() > 100
    assert np.array_equal(found.distance[one], best[one]), "every one at distance 1"
    assert np.array_equal(counts[found.index[one]], often[one]), "the most frequent of equally near ones"
    if kind != "zips":
        assert two.sum() > 20
    assert (found.distance[two] == 2).mean() >= 0.98 if two.any() else True
    far = best == 3
    assert (found.distance[far] == 3).mean() >= 0.9 if far.any() else True
    assert (found.index[best == 99] == -1).all()
    assert (found.distance[best == 99] == -1).all()
    met = np.flatnonzero(found.index >= 0)
    assert np.array_equal(
        distance([values[i] for i in met], [values[i] for i in found.index[met]]), found.distance[met]
    )


def test_small_columns_are_compared_in_full() -> None:
    values, counts = column("mixed", 400)
    best, often = brute_force(values, counts)
    found = nearest(values, counts)
    assert np.array_equal(np.where(found.distance < 0, 99, found.distance), best)
    assert np.array_equal(counts[found.index[best < 99]], often[best < 99])


def test_both_ways_agree_on_several(monkeypatch: pytest.MonkeyPatch) -> None:
    values, counts = column("names", 600)
    full = nearest(values, counts, limit=3)
    assert full.index.shape == full.distance.shape == (len(values), 3)
    monkeypatch.setattr(near, "ALL_PAIRS", 0)
    other = nearest(values, counts, limit=3)
    assert (full.index == other.index).mean() > 0.98
    first = nearest(values, counts)
    assert np.array_equal(first.index, other.index[:, 0])


def test_long_texts_meet_by_their_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near, "ALL_PAIRS", 0)
    rng = np.random.default_rng(0)
    right = [" ".join(rng.choice(["heart", "attack", "patients", "given", "aspirin"], 40)) for _ in range(60)]
    wrong = [text[:50] + "x" + text[51:] for text in right[:30]] + [text[:-20] + text[-19:] for text in right[30:]]
    found = nearest([*right, *wrong], np.array([9] * 60 + [1] * 60))
    assert found.index[60:].tolist() == list(range(60))
    assert found.distance[60:].tolist() == [1] * 60


def test_near_needs_a_more_frequent_value() -> None:
    found = nearest(["birmingham", "birminghxm", "bermingham", "mobile", ""], np.array([30, 1, 11, 5, 50]))
    assert found.index.tolist() == [-1, 0, -1, -1, -1]
    assert nearest(["abcd", "abce"], np.array([5, 5]), ratio=1.0).index.tolist() == [-1, -1], "equals are not nearer"
    assert nearest([], np.array([], dtype=int)).index.shape == (0,)
    assert nearest(["a"], np.array([1])).index.tolist() == [-1]


def test_counts_are_cut_to_one_height() -> None:
    count = np.array([5, 1, 9, 2])
    assert cut_down(count, 17).tolist() == [5, 1, 9, 2]
    assert cut_down(count, 12).tolist() == [4, 1, 4, 2]
    assert cut_down(count, 3).tolist() == [0, 0, 0, 0]
    pairs = list(expand(np.array([7, 8, 9]), np.array([0, 1, 3]), np.array([2, 0, 1]), np.array([10, 11, 12, 13])))
    assert [part.tolist() for part in pairs[0]] == [[7, 7, 9], [10, 11, 13]]


def test_distance_counts_a_swap_once() -> None:
    assert distance(["abcd", "abc", ""], ["abdc", "abx", "ab"]).tolist() == [1, 1, 2]
    assert distance([], []).shape == (0,)


def test_what_is_typed_easily() -> None:
    before = ["street", "street", "street", "street", "street", "street"]
    after = ["street", "streer", "streex", "streexx", "avenue", "STREET"]
    same, beside, other, two, far, case = typed_as(before, after)
    assert same == 0
    assert 0 > beside > other > two > far
    assert other < beside < other / 2, "a keyboard makes little difference"
    assert case > two

    def score(one: str, two: str) -> float:
        return float(typed_as([one], [two])[0])

    assert score("form", "from") > score("form", "fxxm")
    assert score("letter", "lettter") > score("letter", "letqter")
    assert score("Ann Lee", "Lee, Ann") > score("Ann Lee", "Bob Fox")
    assert score("University Hospital", "Univ Hosp") > score("University Hospital", "Another Hospital")
    assert score("United States", "US") > score("United States", "FR")
    assert score("12.0", "12.0 oz") > score("12.0", "99.5 oz")
    assert typed_as([], []).shape == (0,)


@given(st.text(max_size=10), st.text(max_size=10))
def test_only_equal_texts_cost_nothing(one: str, other: str) -> None:
    score = float(typed_as([one], [other])[0])
    assert score == 0 if one == other else score < 0


def test_units_are_dropped() -> None:
    values = ["12", "16", "24", "8", "12 oz", "16 oz", "$24", "USD 8", "9%", "n/a", "x2"]
    found = affixes(values, np.array([40, 30, 10, 20, 2, 1, 1, 1, 1, 1, 1]))
    assert found.text == [None] * 4 + ["12", "16", "24", "8", "9", None, "2"]
    assert found.pattern[4:9] == ["drop ' oz'", "drop ' oz'", "drop '$'", "drop 'USD '", "drop '%'"]


def test_what_most_have_is_added() -> None:
    values = ["12%", "40%", "7%", "55%", "40", "8"]
    found = affixes(values, np.array([9, 9, 9, 9, 1, 1]))
    assert found.text == [None] * 4 + ["40%", "8%"]
    assert found.pattern[4:] == ["add '%'", "add '%'"]


def test_a_word_is_dropped_where_it_leads_to_other_values() -> None:
    values = [
        "Detroit",
        "Duluth",
        "San Diego",
        "Detroit MI",
        "Duluth MN",
        "San Diego CA",
        "San Jose CA",
        "Los Angeles CA",
    ]
    counts = np.array([9, 9, 9, 1, 1, 1, 1, 1])
    assert affixes(values, counts).text == [None] * 8, "each once: a city may end like that"
    more = ["San Jose", "Los Angeles", "Lodi CA", "Napa CA"]
    found = affixes([*values, *more[1:]], np.append(counts, [9, 1, 1]))
    assert found.text == [None] * 11, "mostly to nothing"
    found = affixes([*values, *more], np.append(counts, [9, 9, 1, 1]))
    assert found.text[5:8] == ["San Diego", "San Jose", "Los Angeles"]
    assert found.text[10:] == [None, None]
    assert found.pattern[5] == "drop ' CA'"
    assert found.text[3] is None


def test_codes_are_not_cut() -> None:
    values = ["35233", "36104", "35957", "x5957", "3523x"]
    assert affixes(values, np.array([20, 20, 20, 1, 1])).text == [None] * 5, "a code of five digits has five digits"
    assert affixes([], np.array([])).text == []


@pytest.mark.parametrize(
    "text",
    [
        *PLACEHOLDERS,
        *(
            "NaN",
            "(blank)",
            "<NULL>",
            "#N/A",
            " n/a ",
            "???",
            "—",
            "...",
            "Not available",
            "not applicable",
            "TBA",
            "empty",
        ),
        *("unbekannt", "keine Angabe", "inconnu", "Non renseigné", "desconocido", "não informado", "sconosciuto"),
        *(
            "onbekend",
            "n.v.t.",
            "brak danych",
            "okänd",
            "неизвестно",
            "bilinmiyor",
            "未知",
            "不明",
            "없음",
            "غير معروف",
        ),
    ],
)
def test_words_for_nothing(text: str) -> None:
    assert is_placeholder(text)


@pytest.mark.parametrize(
    "text", ["", "Nadia", "nanette", "0", "9999", "No", "ND", "+", "A-", "Unknown Pleasures", "Nilsson"]
)
def test_words_for_something(text: str) -> None:
    assert not is_placeholder(text)


def test_nines_stand_for_nothing_where_they_stand_out() -> None:
    assert is_placeholder("9999", column_is_numeric=True)
    assert is_placeholder("-999", column_is_numeric=True)
    assert not is_placeholder("99", column_is_numeric=True)
    values = ["12", "35", "41", "999", "-1", "N/A", "38"]
    assert np.flatnonzero(placeholders(values, np.full(7, 5))).tolist() == [3, 4, 5]
    assert np.flatnonzero(placeholders(["985", "990", "999", "-1", "-7"], np.ones(5))).tolist() == []
    zips = ["35233", "36104", "99999", "00721"]
    assert np.flatnonzero(placeholders(zips, np.array([5, 5, 1, 3]))).tolist() == [2]
    words = ["Rome", "Oslo", "9999", "unknown"]
    assert np.flatnonzero(placeholders(words, np.ones(4))).tolist() == [3]
    assert np.flatnonzero(placeholders(words, np.ones(4), numeric=True)).tolist() == [2, 3]
    assert placeholders([], np.array([])).shape == (0,)
