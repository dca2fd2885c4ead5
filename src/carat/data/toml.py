"""TOML files of the user's."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from carat.errors import InputError


def read_toml(path: Path) -> dict[str, Any]:
    """The file as plain values; what is wrong with it is one line that names it."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: can't be read as UTF-8 text") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}; is every text in quotes?") from error
