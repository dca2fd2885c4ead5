"""Slips: every one changes its cell, none is made twice, the truth restores the table, kinds do what they say."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carat.data.keyboards import LAYOUTS, neighbours
from carat.data.rewrites import INKS, PLACEHOLDERS, ColumnFacts, _smudge
from carat.data.slips import KINDS, Slip, Slipper, Spoiled, slip
from carat.errors import InputError


def people(rows: int = 400) -> pa.Table:
    """A small table with words, accents, numbers, codes and blanks."""
    rng = np.random.default_rng(5)

    def column(*values: str | None) -> pa.Array:
        return pa.array(values, pa.string()).take(pa.array(rng.integers(len(values), size=rows)))

    return pa.table(
        {
            "Name": column("Ann Lee", "José Pérez", "Zoë van Dyk", "Bob Stone", "Mary-Jane O'Neil"),
            "City": column("Birmingham", "Montgomery", "Málaga", "St. Louis", None),
            "Zip": column("35233", "36104", "00721", "63101"),
            "Weight": column("12", "16.5", "24", "8"),
            "Owner": column("Government - State", "Proprietary", "Voluntary Non-Profit"),
        }
    )


def cells(table: pa.Table) -> list[list[str | None]]:
    """Rows of texts."""
    return [list(row.values()) for row in table.to_pylist()]


def restored(made: Spoiled) -> list[list[str | None]]:
    """The spoiled table with every `before` put back."""
    rows = cells(made.table)
    names = made.table.column_names
    for each in made.slips:
        assert rows[each.row][names.index(each.column)] == each.after
        rows[each.row][names.index(each.column)] = each.before
    return rows


def check(table: pa.Table, made: Spoiled) -> None:
    """What holds for every spoiled table."""
    assert restored(made) == cells(table)
    assert made.table.column_names == table.column_names
    changed = np.array(
        [[a != b for a, b in zip(x, y, strict=True)] for x, y in zip(cells(table), cells(made.table), strict=True)]
    )
    assert np.array_equal(changed.reshape(made.mask().shape), made.mask()), "only and all spoiled cells changed"
    assert len(made) == made.mask().sum() == made.truth().num_rows, "no cell is spoiled twice"
    assert all(each.after != "" for each in made.slips)


TEXT = st.text(max_size=12)
CELL = st.one_of(st.none(), TEXT.filter(bool))


@given(
    rows=st.integers(1, 3).flatmap(lambda m: st.lists(st.lists(CELL, min_size=m, max_size=m), max_size=12)),
    share=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    recurring=st.sampled_from([0.0, 0.5, 1.0]),
    seed=st.integers(0, 5),
)
def test_any_table_comes_back(rows: list[list[str | None]], share: float, recurring: float, seed: int) -> None:
    width = len(rows[0]) if rows else 2
    table = pa.table({f"c{j}": pa.array([row[j] for row in rows], pa.string()) for j in range(width)})
    made = slip(table, share=share, recurring=recurring, seed=seed)
    filled = sum(cell is not None for row in rows for cell in row)
    blanks_filled = sum(each.before is None for each in made.slips)
    assert len(made) <= round(share * filled) + blanks_filled
    check(table, made)


def test_the_share_and_the_balance_hold() -> None:
    table = people()
    made = slip(table, share=0.1)
    check(table, made)
    filled = sum(cell is not None for row in cells(table) for cell in row)
    assert len(made) == round(0.1 * filled)
    counts = Counter(each.kind for each in made.slips)
    assert set(counts) == set(KINDS)
    assert max(counts.values()) - min(counts.values()) <= 3


def test_weights_decide_and_their_order_does_not() -> None:
    table = people()
    made = slip(table, share=0.1, kinds={"blank": 3, "typo": 1})
    counts = Counter(each.kind for each in made.slips)
    assert counts["blank"] == pytest.approx(3 * counts["typo"], abs=2)
    for rows in (41, 42, 43, 44):  # some with a cell that one of the two kinds must have more
        part = table.slice(0, rows)
        one = slip(part, share=0.25, kinds={"blank": 1, "typo": 1})
        assert slip(part, share=0.25, kinds={"typo": 1, "blank": 1}).slips == one.slips
        assert slip(part, share=0.25, kinds=["typo", "blank"]).slips == one.slips


def test_the_seed_decides() -> None:
    table = people()
    first, again, other = (slip(table, seed=seed) for seed in (3, 3, 4))
    assert first.table.equals(again.table)
    assert first.truth().equals(again.truth())
    assert not first.table.equals(other.table)


def test_recurring_slips_are_the_same_in_every_row() -> None:
    table = people()
    made = slip(table, share=0.2, kinds=("typo", "case", "abbreviation", "other"), recurring=0.4)
    groups: dict[int, list[Slip]] = defaultdict(list)
    for each in made.slips:
        groups[each.group].append(each)
    assert set(groups) == set(range(len(groups)))
    several = [group for group in groups.values() if len(group) > 1]
    assert all(2 <= len(group) <= 32 for group in several)
    assert all(len({(s.column, s.before, s.after, s.kind) for s in group}) == 1 for group in several)
    assert sum(map(len, several)) / len(made) == pytest.approx(0.4, abs=0.07)
    alone = slip(table, share=0.2, kinds=("typo", "case"), recurring=0.0)
    assert max(Counter(each.group for each in alone.slips).values()) == 1


def test_swaps_exchange_two_cells_of_a_row() -> None:
    made = slip(people(), kinds=["swap"], share=0.1)
    groups: dict[int, list[Slip]] = defaultdict(list)
    for each in made.slips:
        groups[each.group].append(each)
    assert len(groups) > 50
    for first, second in groups.values():
        assert first.row == second.row
        assert (first.before, first.after) == (second.after, second.before)
    assert any(None in (each.before, each.after) for each in made.slips), "a value moves into a blank cell"


def of_kind(kind: str, table: pa.Table | None = None, columns: list[str] | None = None) -> list[tuple[str, str]]:
    """Many rewrites of one kind."""
    made = slip(people() if table is None else table, share=0.5, kinds=[kind], recurring=0.0, columns=columns)
    assert len(made) > 10
    return [(each.before or "", each.after or "") for each in made.slips]


def test_typos_are_one_or_two_edits_or_a_smudge() -> None:
    smudged = 0
    for before, after in of_kind("typo"):
        assert abs(len(before) - len(after)) <= 2
        lost, won = Counter(before) - Counter(after), Counter(after) - Counter(before)
        # A smudge covers up to three characters and leaves the length alone.
        most = 3 if len(before) == len(after) else 2
        smudged += max(lost.total(), won.total()) == 3
        assert lost.total() <= most
        assert won.total() <= most
    assert smudged


def test_smudges_keep_the_length_and_one_table_has_one_ink() -> None:
    text, alphabet = "Birmingham General", {"LATIN Ll": "abcdefghijklmnopqrstuvwxyz", "LATIN Lu": "ABG"}
    column = ColumnFacts(alphabet=alphabet, ink="#")
    made = [_smudge(text, np.random.default_rng(seed).random, column) for seed in range(300)]
    assert {len(each) for each in made} == {len(text)}
    changed = [[new for old, new in zip(text, each, strict=True) if old != new] for each in made]
    assert max(map(len, changed)) == 3
    inked = [each for each in changed if "#" in each]
    assert 0.4 < len(inked) / len(changed) < 0.6
    assert all(set(each) == {"#"} for each in inked), "covered by ink, or mistaken, not both"
    inks = {tuple(facts.ink for facts in Slipper([["a"], ["b"]], [np.array([1])] * 2, seed=s).facts) for s in range(20)}
    assert all(one == other and one in INKS for one, other in inks)
    assert len(inks) > 5, "another table has another ink"


def test_other_values_are_of_the_column_and_foreign_ones_are_not() -> None:
    table = people()
    made = slip(table, share=0.3, kinds=["other", "foreign"])
    values = {name: set(table[name].to_pylist()) - {None} for name in table.column_names}
    for each in made.slips:
        assert (each.after in values[each.column]) == (each.kind == "other")
        assert any(each.after in known for known in values.values())


def test_other_values_are_half_by_frequency() -> None:
    slipper = Slipper([["a", "b", "c", "d"]], [np.array([970, 10, 10, 10])])
    drawn = Counter(slipper.draw(0, np.full(4000, 1), "other", np.random.default_rng(0)))
    assert set(drawn) == {"a", "c", "d"}
    assert drawn["a"] / 4000 == pytest.approx(0.5 * 0.97 + (0.5 + 0.005) / 3, abs=0.03)


def test_case_and_spacing_keep_the_letters() -> None:
    assert all(before.casefold() == after.casefold() for before, after in of_kind("case"))
    assert all("".join(before.split()) == "".join(after.split()) for before, after in of_kind("spacing"))


def test_punctuation_keeps_letters_and_digits() -> None:
    assert all(re.sub(r"[\W_]", "", before) == re.sub(r"[\W_]", "", after) for before, after in of_kind("punctuation"))


def test_abbreviations_are_shorter_and_in_order() -> None:
    for before, after in of_kind("abbreviation"):
        rest = iter(before)
        assert all(char in rest for char in after if char.isalpha())
        assert sum(map(str.isalpha, after)) < sum(map(str.isalpha, before))


def test_accents_change_nothing_else() -> None:
    def bare(text: str) -> str:
        return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")

    pairs = of_kind("accent", columns=["Name", "City"])
    assert all(bare(before) == bare(after) for before, after in pairs)
    assert any(bare(before) == after for before, after in pairs)
    plain = pa.table({"Code": ["alpha", "beta", "gamma"] * 20})
    assert len(slip(plain, kinds=["accent"], share=1.0)) == 0, "no accents in a column without any"


def test_word_order_keeps_the_words() -> None:
    pairs = of_kind("order", columns=["Name", "Owner"])
    assert all(Counter(re.findall(r"[^\s,]+", x)) == Counter(re.findall(r"[^\s,]+", y)) for x, y in pairs)
    assert ("Ann Lee", "Lee, Ann") in pairs


def test_units_go_to_numbers() -> None:
    table = people()
    made = slip(table, share=0.2, kinds=["unit"])
    assert {each.column for each in made.slips} == {"Zip", "Weight"}
    for each in made.slips:
        assert each.before is not None
        assert each.after is not None
        assert each.before in each.after or each.after == each.before.lstrip("0")
    with_unit = pa.table({"Ounces": ["12 oz", "16 oz", "9%", "$7"] * 30})
    assert ("12 oz", "12") in of_kind("unit", with_unit)


def test_placeholders_of_digits_stand_in_columns_of_digits() -> None:
    table = people()
    made = slip(table, share=0.5, kinds=["placeholder"])
    texts = {each.after for each in made.slips if each.column in ("Name", "City", "Owner")}
    assert texts <= set(PLACEHOLDERS)
    assert len(texts) > 5
    numbers = {each.after for each in made.slips if each.column in ("Zip", "Weight")}
    assert "9999" in numbers


def test_blanks_are_null() -> None:
    made = slip(people(), kinds="blank")  # one name alone is understood
    assert {each.after for each in made.slips} == {None}
    assert made.after.null_count == len(made)


@pytest.mark.parametrize(
    ("values", "script"),
    [
        (["Москва", "Казань", "Самара"], "CYRILLIC"),
        (["東京都", "大阪府", "京都府"], "CJK"),
        (["القاهرة", "الجيزة", "أسوان"], "ARABIC"),
        (["서울특별시", "부산광역시"], "HANGUL"),
    ],
)
def test_other_scripts_stay_in_their_script(values: list[str], script: str) -> None:
    table = pa.table({"City": values * 40})
    made = slip(table, share=0.5, kinds=["typo"])
    assert len(made) == round(0.5 * table.num_rows)
    check(table, made)
    for each in made.slips:
        assert each.after is not None
        assert all(unicodedata.name(char).startswith(script) for char in each.after)
    assert {each.after for each in made.slips if each.after and len(each.after) == len(each.before or "")}
    check(table, slip(table, share=0.5))


def test_small_and_odd_tables() -> None:
    one_row = pa.table({"A": ["x"], "B": ["y"]})
    check(one_row, slip(one_row, share=1.0))
    assert len(slip(one_row, share=1.0, kinds=["swap"])) == 2
    one_column = pa.table({"A": ["x", "y", "x", None]})
    assert len(slip(one_column, share=1.0, kinds=["swap"])) == 0
    assert len(slip(one_column, share=1.0, kinds=["foreign"])) == 0
    check(one_column, slip(one_column, share=1.0))
    constant = pa.table({"A": ["same"] * 20, "B": pa.nulls(20, pa.string())})
    made = slip(constant, share=0.5)
    check(constant, made)
    assert len(made) >= 10
    assert not any(each.kind == "other" for each in made.slips)
    assert len(slip(constant, share=0.5, columns=["B"])) == 0
    for empty in (pa.table({"A": pa.array([], pa.string())}), pa.table({"A": pa.array([None, None], pa.string())})):
        made = slip(empty, share=1.0)
        assert len(made) == 0
        assert made.table.equals(empty)
        assert made.truth().column_names == ["record", "column", "before", "after", "kind", "group"]


def test_only_named_columns_are_spoiled() -> None:
    made = slip(people(), columns=["City", "Name"], share=0.3)
    assert {each.column for each in made.slips} == {"City", "Name"}


def test_a_rare_kind_does_not_wipe_out_what_it_goes_to() -> None:
    rare = pa.table({"City": ["Málaga"] * 40 + ["BBB"] * 3000, "Code": [f"{i % 90}" for i in range(3040)]})
    made = slip(rare, share=0.05, kinds=["accent", "blank"])
    assert sum(each.kind == "accent" for each in made.slips) == 8, "four times the share"
    assert len(made) == round(0.05 * 6080), "what one kind can't place, the others get"


def test_dictionaries_and_chunks_are_text_too() -> None:
    plain = people(60)
    coded = pa.table({name: plain[name].dictionary_encode() for name in plain.column_names})
    chunked = pa.concat_tables([plain.slice(0, 7), plain.slice(7, 30), plain.slice(37)])
    expected = slip(plain, share=0.2)
    for other in (coded, chunked, plain.cast(pa.schema([(n, pa.large_string()) for n in plain.column_names]))):
        assert slip(other, share=0.2).slips == expected.slips
    assert expected.table.schema.types == [pa.string()] * 5


def test_bad_arguments_get_one_clear_line() -> None:
    table = people(20)
    with pytest.raises(InputError, match="kind 'typos' is unknown; did you mean 'typo'?"):
        slip(table, kinds=["typos"])
    with pytest.raises(InputError, match="0 or more, got -1"):
        slip(table, kinds={"typo": -1})
    with pytest.raises(InputError, match="at least one of typo"):
        slip(table, kinds=[])
    with pytest.raises(InputError, match="`share` must be from 0 to 1, got 2"):
        slip(table, share=2)
    with pytest.raises(InputError, match="no column 'Citi'; did you mean 'City'"):
        slip(table, columns=["Citi"])
    with pytest.raises(InputError, match="column 'A' of type int64 is not text"):
        slip(pa.table({"A": [1]}))
    slipper = Slipper([["a"]], [np.array([1])])
    with pytest.raises(InputError, match="made on a table, by `slip`"):
        slipper.draw(0, np.array([0]), "swap", np.random.default_rng(0))
    with pytest.raises(InputError, match="counts of column 0: expected 1, got 2"):
        Slipper([["a"]], [np.array([1, 2])])


def test_a_slipper_draws_what_it_says_it_can_change() -> None:
    table = people()
    values = [table[name].drop_null().unique().to_pylist() for name in table.column_names]
    slipper = Slipper(values, [np.ones(len(each), dtype=np.int64) for each in values], seed=1)
    for column, known in enumerate(values):
        index = np.arange(len(known))
        for kind in set(KINDS) - {"swap"}:
            texts = slipper.draw(column, index, kind, np.random.default_rng(0))
            assert texts == slipper.draw(column, index, kind, np.random.default_rng(0))
            changed = np.array([new != old for old, new in zip(known, texts, strict=True)])
            assert np.array_equal(changed, slipper.applies(column, kind)), (column, kind)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_neighbours_are_mutual(layout: str) -> None:
    for char in {char for _, _, row in LAYOUTS[layout] for char in row}:
        near = neighbours(char, layout)
        assert near
        assert char not in near
        assert all(char in neighbours(other, layout) for other in near)


def test_layouts_differ_where_keyboards_do() -> None:
    assert "z" in neighbours("t", "qwertz")
    assert "y" in neighbours("t", "qwerty")
    assert "z" in neighbours("a", "azerty")
    assert set(neighbours("5", "pad")) == set("4628")
    assert set(neighbours("S", "qwerty")) == set("WEADZX")
    assert neighbours("ж", "qwerty") == ""
