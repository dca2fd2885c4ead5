"""Rents of flats by county and number of bedrooms: four columns, and little to tell one row's error from a rare value.

Many counties occur once or twice, the commonest county names occur in many states, and a rent mostly follows from
county and bedrooms. Counties are misspelt or lose their "County", states are wrong, rents have a digit more or fewer.
"""

from __future__ import annotations

from random import Random

from made_up.common import BLANK, STATES, listed, lower, often_first, typo, upper, word
from made_up.twin import Slips, Twin

COLUMNS = listed("county state bedrooms monthly_rent")
COMMON = listed(
    "Adams Benton Boone Butler Calhoun Campbell Carroll Cherokee Clark Clay Crawford Cumberland Dallas Douglas Essex "
    "Fayette Franklin Grant Greene Hamilton Hancock Harrison Henry Jackson Jefferson Johnson Knox Lake Lee Lincoln "
    "Logan Madison Marion Marshall Mercer Monroe Montgomery Morgan Orange Perry Pike Polk Putnam Scott Shelby Union "
    "Warren Washington Wayne"
)
BEFORE = listed("St. San Santa Prince Fort De La")
ENDINGS = {"LA": "Parish", "AK": "Borough"}
RATIOS = (1, 1.12, 1.38, 1.85, 2.1)
"""The rent for 0 to 4 bedrooms beside that for none."""


def _counties(draw: Random) -> list[tuple[str, str, list[int]]]:
    """Name, state, and the usual rent for each number of bedrooms."""
    counties, taken = [], set(COMMON)
    for state in STATES:
        level = 0.7 + draw.random() * 1.2
        named = [(f"{name} County", 0.75 + draw.random() * 0.6) for name in draw.sample(COMMON, draw.randrange(4, 24))]
        for _ in range(draw.randrange(8, 40)):
            plain = draw.random() < 0.8
            name = word(draw, draw.choice([2, 2, 3])) if plain else f"{draw.choice(BEFORE)} {word(draw, 2)}"
            if name not in taken:
                taken.add(name)
                named.append((f"{name} {ENDINGS.get(state, 'County')}", 0.7 + draw.random() * 0.8))
        for name, share in named:
            usual = [round(520 * level * share * ratio * (1 + draw.gauss(0, 0.03))) for ratio in RATIOS]
            counties.append((name, state, usual))
    return draw.sample(counties, len(counties))


def _without_ending(_: Random, value: str) -> str:
    return value.rsplit(" ", 1)[0]


def _other_state(draw: Random, _: str) -> str:
    return draw.choice(STATES)


def _rent_odd(draw: Random, value: str) -> str:
    return draw.choice([f"{value}0", value[:-1], f"${value}", f"{value}.00"])


def _bedrooms_odd(draw: Random, value: str) -> str:
    return draw.choice(["", str(int(value) + 10), f"{value} br"])


def _bedrooms_other(draw: Random, value: str) -> str:
    return str((int(value) + draw.randrange(1, 5)) % 5)


SLIPS: Slips = {
    "county": [
        (0.015, "county typo", typo),
        (0.004, "county suffix dropped", _without_ending),
        (0.002, "county case", upper),
        (0.008, "county blank", BLANK),
    ],
    "state": [(0.012, "wrong state", _other_state), (0.003, "state case", lower), (0.006, "state blank", BLANK)],
    "monthly_rent": [(0.006, "rent scale or format", _rent_odd), (0.004, "rent blank", BLANK)],
    "bedrooms": [(0.004, "bedrooms odd", _bedrooms_odd), (0.004, "bedrooms other", _bedrooms_other)],
}


def make(draw: Random, rows: int) -> Twin:
    """Flats in counties; one rent in five is not the usual one."""
    counties, flats = _counties(draw), []
    for _ in range(rows):
        county, state, usual = often_first(draw, counties, 0.35)
        bedrooms = draw.choices(range(5), [1, 2, 2, 2, 1])[0]
        share = 1 if draw.random() < 0.8 else 1 + draw.gauss(0, 0.08)
        flats.append((county, state, bedrooms, round(usual[bedrooms] * share)))
    twin = Twin(COLUMNS, flats, draw)
    twin.spoil(SLIPS)
    return twin
