"""Addresses and taxes of people in the United States, full of rules between columns.

The zip code settles city and state, the area code the state; exemptions follow from state, marital status and children,
and the rate from state and salary. Names and places are swapped, misspelt or written in another case, codes have a
wrong digit or lost their leading zero, and rates, exemptions and salaries do not follow their rules.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from made_up.common import BLANK, STATES, digit, listed, often_first, typo, word
from made_up.twin import Slips, Twin

COLUMNS = listed(
    "f_name l_name gender area_code phone city state zip marital_status has_child salary rate single_exemp "
    "married_exemp child_exemp"
)
MEN = listed(
    "Alexander Andrew Anthony Arthur Benjamin Brian Carl Charles Christopher Daniel David Dennis Edward Eric Frank "
    "Gary George Gregory Harold Henry Jack Jacob James Jason John Jonathan Joseph Joshua Justin Keith Kevin Larry "
    "Mark Matthew Michael Nicholas Patrick Paul Peter Ralph Robert Roger Ryan Samuel Scott Stephen Thomas Walter "
    "William"
)
WOMEN = listed(
    "Alice Amanda Amy Angela Anna Ashley Barbara Betty Brenda Carol Catherine Christine Cynthia Deborah Diane Donna "
    "Dorothy Elizabeth Emily Emma Grace Heather Helen Jane Janet Jennifer Jessica Joan Judith Julia Karen Katherine "
    "Laura Linda Lisa Maria Martha Mary Megan Nancy Nicole Olivia Pamela Rachel Rebecca Rose Ruth Sarah Susan Teresa"
)
SURNAMES = listed(
    "Adams Allen Alvarez Anderson Bailey Baker Barnes Bell Bennett Brooks Brown Butler Campbell Carter Clark Collins "
    "Cook Cooper Cox Cruz Davis Diaz Edwards Evans Fisher Flores Foster Garcia Gomez Gray Green Hall Harris Hill "
    "Howard Hughes Jackson Jenkins Johnson Jones Kelly King Lee Lewis Long Lopez Martin Mendoza Miller Mitchell Moore "
    "Morgan Morris Murphy Murray Myers Nelson Nguyen Ortiz Parker Patel Perez Perry Peterson Phillips Powell Price "
    "Ramos Reed Reyes Rivera Roberts Rogers Ross Russell Sanders Scott Simmons Smith Stewart Sullivan Taylor Thomas "
    "Torres Turner Walker Ward Watson White Williams Wilson Wood Wright Young"
)
BEFORE = listed("New Saint Fort Lake West North Mount")
AFTER = ["ton", "ville", "field", " City", "burg", "ford", " Springs", "dale", "wood", " Park", "port", " Heights"]
BRACKETS = (5_000, 15_000, 25_000, 40_000, 60_000, 90_000)
STATES_USED = 38


class State(NamedTuple):
    """A state and its rules: what each exemption is, and the rate of the middle bracket."""

    code: str
    weight: float
    areas: list[str]
    places: list[tuple[str, str]]
    rate: float
    exemptions: tuple[int, int, int]


def _town(draw: Random) -> str:
    before = f"{draw.choice(BEFORE)} " if draw.random() < 0.12 else ""
    return f"{before}{word(draw, draw.choice([1, 2, 2]))}{draw.choice([*AFTER, '', '', 'mont', 'ham'])}".upper()


def _states(draw: Random) -> list[State]:
    states = []
    areas, starts = draw.sample(range(201, 990), 789), draw.sample(range(5, 995), 990)
    for code in draw.sample(STATES, STATES_USED):
        weight = draw.expovariate(1) + 0.15
        places: dict[str, str] = {}
        for start in [starts.pop() for _ in range(1 + int(weight * 4))]:
            # No two states share the first three digits, so that a zip code has one state.
            for town in [_town(draw) for _ in range(draw.randrange(3, 12))]:
                places |= {
                    f"{start:03d}{draw.randrange(100):02d}": town for _ in range(draw.choice([1, 1, 1, 2, 3, 5]))
                }
        rate = 0.0 if draw.random() < 0.25 else round(draw.uniform(2, 7.5), 2)
        single = draw.choice([0, 750, 1000, 2000, 2250, 3300])
        married, child = draw.choice([0, 1500, 2000, 4500, 6000, 6600]), draw.choice([0, 300, 800, 1000, 1200, 1850])
        own = [str(areas.pop()) for _ in range(1 + int(weight * 3))]
        states.append(State(code, weight, own, list(places.items()), rate, (single, married, child)))
    return states


def _person(draw: Random, state: State) -> list[object]:
    code, city = often_first(draw, state.places, 0.4)
    gender, status, child = draw.choice("MF"), draw.choice("SM"), draw.choice("YN")
    first = often_first(draw, MEN if gender == "M" else WOMEN, 0.6) if draw.random() < 0.6 else word(draw)
    last = often_first(draw, SURNAMES, 0.6) if draw.random() < 0.5 else word(draw, 2)
    salary = draw.choice([draw.randrange(5, 100) * 1000, draw.randrange(5, 200) * 500])
    rate = round(state.rate * (0.6 + 0.12 * sum(salary >= least for least in BRACKETS)), 2)
    due = (status == "S", status == "M", child == "Y")
    exemptions = [amount if each else 0 for amount, each in zip(state.exemptions, due, strict=True)]
    phone = f"{draw.randrange(100, 1000)}-{draw.randrange(10_000):04d}"
    where = [draw.choice(state.areas), phone, city, state.code, code]
    return [first, last, gender, *where, status, child, salary, f"{rate:g}", *exemptions]


def _wrong_rate(draw: Random, value: str) -> str:
    return f"{round(float(value) + draw.choice([0.5, 1, -0.3, 2]), 2):g}"


def _wrong_exemption(draw: Random, _: str) -> str:
    return str(draw.choice([0, 750, 1000, 4500, 300]))


def _slips(states: list[str]) -> Slips:
    blank, exemption = (0.004, "blank", BLANK), (0.0033, "exemption wrong", _wrong_exemption)
    return {
        "city": [(0.03, "city typo", typo), (0.015, "city case", lambda _, value: value.title()), blank],
        "zip": [(0.03, "zip digit", digit), (0.01, "zip zero lost", lambda _, value: value.lstrip("0")), blank],
        "state": [(0.03, "state replaced", lambda draw, _: draw.choice(states)), blank],
        "area_code": [(0.02, "area code digit", digit)],
        "f_name": [(0.02, "name typo", typo)],
        "l_name": [(0.02, "name typo", typo)],
        "gender": [
            (0.01, "gender flipped", lambda _, value: "F" if value == "M" else "M"),
            (0.005, "gender spelled out", lambda _, value: "Male" if value == "M" else "Female"),
        ],
        "rate": [(0.02, "rate wrong", _wrong_rate)],
        "salary": [(0.01, "salary scale", lambda _, value: f"{value}0")],
        "phone": [(0.01, "phone format", lambda draw, value: value.replace("-", draw.choice(["", " ", "."])))],
        "marital_status": [blank],
        "has_child": [blank],
        "single_exemp": [exemption],
        "married_exemp": [exemption],
        "child_exemp": [exemption],
    }


def make(draw: Random, rows: int) -> Twin:
    """People in the states, more in some than in others."""
    states = _states(draw)
    lived_in = draw.choices(states, [state.weight for state in states], k=rows)
    twin = Twin(COLUMNS, [_person(draw, state) for state in lived_in], draw)
    for row in range(rows):
        if draw.random() < 0.015:
            twin.swap(row, "f_name", "l_name", "names swapped")
        if draw.random() < 0.012:
            twin.swap(row, "city", "state", "city state swapped")
    twin.spoil(_slips([state.code for state in states]))
    return twin
