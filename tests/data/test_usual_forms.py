"""Garbled letters, codes and amounts in another form than most of their column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carat.data.spelling import amounts, codes, decoded


def ones(values: list[str]) -> np.ndarray:
    return np.ones(len(values), dtype=np.int64)


@given(st.text(alphabet="abcMNP äöüßéèñçøŁžćŹ€–’", min_size=1), st.sampled_from(["cp1252", "latin-1"]))
def test_what_was_read_in_a_wrong_encoding_is_read_again(text: str, wrong: str) -> None:
    text = f"x{text}x"  # a lone letter before a dash or quotes may be right
    try:
        garbled = text.encode().decode(wrong)
    except UnicodeDecodeError:
        return  # Windows-1252 has no character for five of the bytes
    (made,) = decoded([garbled], ones([garbled])).text
    assert text in (made or garbled, garbled)


@pytest.mark.parametrize(
    "text",
    [
        "Zürich",
        "“CAFÉ”",
        "VOILÀ…",
        "CAFÉ :",
        "IRMÃ”",
        "NAÏVE",
        "MÉXICO–LIMA",
        "España",
        "Łódź",
        "Αθήνα",
        "Москва",
        "東京",
        "£5 – €9",
    ],
)
def test_what_was_read_rightly_stays(text: str) -> None:
    assert decoded([text], ones([text])).text == [None]


def test_texts_that_were_read_wrongly_twice_and_in_part() -> None:
    twice = "München".encode().decode("cp1252").encode().decode("cp1252")
    assert decoded([twice, "Αθήνα, ZÃ¼rich"], np.ones(2, dtype=np.int64)).text == ["München", "Αθήνα, Zürich"]


PHONES = [f"{200 + n}-{300 + 7 * n}-{1000 + 13 * n}" for n in range(60)]


@pytest.mark.parametrize(
    ("odd", "made"),
    [
        ("2123456789", "212-345-6789"),
        ("(212) 345-6789", "212-345-6789"),
        ("212.345.6789", "212-345-6789"),
        ("212 345 6789", "212-345-6789"),
        ("212-345-678", None),
        ("+1 212-345-6789", None),
        ("212-345-67x9", None),
        ("n/a", None),
        ("", None),
    ],
)
def test_codes_get_the_signs_of_their_column(odd: str, made: str | None) -> None:
    found = codes([*PHONES, odd], ones([*PHONES, odd]))
    assert found.text == [None] * 60 + [made]


def test_letters_of_codes_too() -> None:
    values = [f"AB-{n:04d}" for n in range(50)]
    assert codes([*values, "xy1234", "X1234"], np.ones(52, dtype=np.int64)).text[50:] == ["XY-1234", None]


@pytest.mark.parametrize(
    "values",
    [
        [f"{n}.{n % 90 + 10}" for n in range(1000, 1060)] + ["123456"],  # numbers
        [f"{n},345,678" for n in range(100, 160)] + ["100345678"],
        [f"2024-{n % 12 + 1:02d}-{n % 28 + 1:02d}" for n in range(60)] + ["12012024"],  # dates
        [f"{n:02d}:15:30" for n in range(20)] * 2 + ["121530"],
        [f"{n:06d}" for n in range(60)] + ["1234.56"],  # a number with a fraction is no code
        [f"{n:03d}-{n}" for n in range(30)] + [f"{n:05d}" for n in range(30)],  # two ways side by side
    ],
)
def test_what_may_be_no_code_stays(values: list[str]) -> None:
    assert not any(codes(values, ones(values)).text)


WHOLE = [str(40 * n) for n in range(1, 60)]
PRICES = [f"{3 * n}.{n % 90 + 10}" for n in range(1, 60)]


@pytest.mark.parametrize(
    ("column", "odd", "made"),
    [
        (WHOLE, "$250", "250"),
        (WHOLE, "250 €", "250"),
        (WHOLE, "USD 250", "250"),
        (WHOLE, "-250.00", "-250"),
        (WHOLE, "$250.0", "250"),
        (WHOLE, "250.5", None),
        (WHOLE, "$ 250 €", None),
        (WHOLE, "250 kg", None),
        (PRICES, "$25.00", "25.00"),
        (PRICES, "25.00", None),
        (PRICES, "0.10400000000000001", "0.104"),
        (PRICES, "2.0700000000000003%", "2.07%"),
        (PRICES, "3.141592653589793", None),
    ],
)
def test_amounts_in_the_form_of_their_column(column: list[str], odd: str, made: str | None) -> None:
    values = [*column, odd]
    assert amounts(values, ones(values)).text == [None] * len(column) + [made]


def test_two_currencies_are_two_amounts() -> None:
    values = [*WHOLE, "$250", "€250"]
    assert not any(amounts(values, ones(values)).text)


def test_a_column_of_amounts_with_signs_keeps_them() -> None:
    values = [f"${each}" for each in WHOLE]
    assert not any(amounts(values, ones(values)).text)


def test_measured_numbers_are_no_noise() -> None:
    values = [repr(0.1 * n + 0.2) for n in range(1, 60)]
    noisy = [value for value in values if len(value) > 15]
    assert noisy
    assert not any(amounts(noisy, ones(noisy)).text)


@pytest.mark.parametrize("way", [amounts, codes, decoded])
def test_empty_columns(way: object) -> None:
    assert callable(way)
    assert way([], np.zeros(0, dtype=np.int64)).text == []
