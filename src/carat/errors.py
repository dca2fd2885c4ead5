"""One short hierarchy under `CaratError`: every message says what was wrong and what to do about it."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable


class CaratError(Exception):
    """Base of everything that carat raises on purpose."""


class InputError(CaratError):
    """The data, the configuration or an option can't be used; the message is one clear line."""


class ModelFolderError(InputError):
    """A model folder is damaged, edited, of a newer version, or not a model folder at all."""


class NotFittedError(CaratError):
    """A detector was asked for something before `fit`."""


class MethodFailed(CaratError):  # noqa: N818 - it says what happened
    """A method gave up on every record that it was asked about."""


class Cancelled(CaratError):  # noqa: N818 - it says what happened
    """A job was cancelled between two batches."""


class MissingExtraError(CaratError, ImportError):
    """An optional dependency is not installed; the message names the extra."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package '{package}': pip install '.[{extra}]' in a clone of carat, or "
            f"pip install 'carat-recourse[{extra}]' once that is released"
        )


class CaratWarning(UserWarning):
    """Something a user should know that does not stop the work."""


def warn_renamed(old: str, new: str) -> None:
    """Tell whoever uses a former name, where they use it."""
    warnings.warn(f"{old} is now {new}; the old name will be removed", DeprecationWarning, stacklevel=3)


def _match(name: str, known: Iterable[str]) -> str | None:
    by_folded = {candidate.casefold(): candidate for candidate in known}
    matches = difflib.get_close_matches(name.casefold(), by_folded, n=1)
    return by_folded[matches[0]] if matches else None


def is_near(name: str, known: Iterable[str]) -> bool:
    """Whether a name is probably a misspelt one of those.

    >>> is_near("Carier", ["Carrier", "Dest"]), is_near("xyz", ["Carrier", "Dest"])
    (True, False)
    """
    return _match(name, known) is not None


COLUMNS = "the columns are"
"""How `nearest` lists columns."""


def nearest(name: str, known: Iterable[str], *, listed: str = "choose from") -> str:
    """A hint for a misspelt name: the nearest known one, or the list of what there is.

    >>> nearest("Carier", ["Carrier", "Dest"])
    "did you mean 'Carrier'?"
    >>> nearest("xyz", ["Carrier", "Dest"])
    'choose from: Carrier, Dest'
    >>> nearest("xyz", ["Carrier", "Dest"], listed=COLUMNS)
    'the columns are: Carrier, Dest'
    """
    known = list(known)
    match = _match(name, known)
    if match is not None:
        return f"did you mean '{match}'?"
    shown = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
    return f"{listed}: {shown}"
