"""`carat.toml`: what it says, and one clear line for everything wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from carat.config import TableOptions, read_config
from carat.data import Columns
from carat.errors import InputError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the configuration goes."""
    return tmp_path / "carat.toml"


def test_everything_it_can_say(file: Path) -> None:
    file.write_text(
        """
        [table]
        domains = ["Shipper", "HSCode", "Weight"]
        numeric = { Weight = 10 }
        id = "bill_of_lading"
        time = "date"
        metapaths = [["Shipper", "HSCode"]]
        threshold = 0.05
        min_count = 3
        """
    )
    columns = Columns(
        domains=["Shipper", "HSCode", "Weight"],
        numeric={"Weight": 10},
        id="bill_of_lading",
        time="date",
        metapaths=[["Shipper", "HSCode"]],
        min_count=3,
    )
    assert read_config(file) == TableOptions(columns, 0.05)


@pytest.mark.parametrize("text", ["", "[table]\n", "# nothing\n"])
def test_everything_has_a_default(text: str, file: Path) -> None:
    file.write_text(text)
    assert read_config(file) == TableOptions(Columns(), None)


def test_a_byte_order_mark_is_no_mistake(file: Path) -> None:
    file.write_text("[table]\nmin_count = 2\n", encoding="utf-8-sig")
    assert read_config(file).columns.min_count == 2


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("[table]\ndomain = ['a']\n", "unknown key 'table.domain'; did you mean 'domains'?"),
        ("[tabel]\n", "unknown key 'tabel'; did you mean 'table'?"),
        ("[table]\nzzz = 1\n", "unknown key 'table.zzz'; choose from: domains, also, without, numeric"),
        ("[table]\ndomains = 'Port'\n", "'table.domains' must be a list of texts, got 'Port'"),
        ("[table]\ndomains = ['Port', 3]\n", "'table.domains' must be a list of texts, got ['Port', 3]"),
        (
            "[table]\nnumeric = { Weight = 'ten' }\n",
            "'table.numeric' must be a table of whole numbers: NAME = 10, got {'Weight': 'ten'}",
        ),
        ("[table]\nmin_count = '2'\n", "'table.min_count' must be a whole number, got '2'"),
        ("[table]\nmin_count = 0\n", "`min_count` must be at least 1, got 0"),
        ("[table]\nthreshold = 1.5\n", "'table.threshold' must be a number between 0 and 1, got 1.5"),
        ("[table]\nmetapaths = ['Port']\n", "'table.metapaths' must be a list of lists of texts, got ['Port']"),
        ("table = 3\n", "'table' must be a table, got 3"),
        ("[table\n", "not TOML"),
        ("domains: [a]\n", "not TOML"),
    ],
)
def test_mistakes_are_one_line(text: str, hint: str, file: Path) -> None:
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        read_config(file)
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    assert hint in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("content", "hint"), [(None, "no such file"), ("[table]\nid = 'é'".encode("latin-1"), "can't be read as UTF-8")]
)
def test_files_that_can_not_be_read(content: bytes | None, hint: str, file: Path) -> None:
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError, match=f"^{file}: {hint}"):
        read_config(file)


def test_a_folder_is_no_configuration(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be read"):
        read_config(tmp_path)
