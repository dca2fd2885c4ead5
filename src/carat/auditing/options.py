"""What a user says about an audit: which columns take part, how sure it must be, and how thorough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from carat.arguments import check_name_of, check_names_of, check_number, check_seed
from carat.errors import COLUMNS, InputError, nearest
from carat.training.box import Box

PROFILES = ("instant", "fast")
"""How thorough an audit can be: votes and text alone, or small networks over the rows too."""
BOX = ("minutes", "steps")


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """The options of an audit.

    Args:
        columns: the columns to look at; None looks at every column that has something to tell.
        also: columns to look at besides, whatever their values look like.
        without: columns to leave out.
        id: column that names a row in the outputs; None uses the row number, or the index of a pandas frame.
        profile: `instant`, or `fast`: small networks over the rows too.
        minutes: with `fast`, how long the networks may train, all together; None for 4.
        steps: with `fast`, train them exactly so many steps in all instead, in equal parts.
        cut: cells whose probability of being wrong reaches it are found.
        certain: proposals whose confidence reaches it are safe to take over without a look.
        top: only the so many most suspicious cells; None gives all.
        seed: every random choice follows from it.
    """

    columns: Sequence[str] | None = None
    also: Sequence[str] = ()
    without: Sequence[str] = ()
    id: str | None = None
    profile: str = "instant"
    minutes: float | None = None
    steps: int | None = None
    cut: float = 0.5
    certain: float = 0.9
    top: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("columns", "also", "without"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, check_names_of(name, given))
        if self.columns is not None and not self.columns:
            raise InputError("`columns` names no column; name some, or omit it to look at all of them")
        both = [name for name in (*(self.columns or ()), *self.also) if name in self.without]
        if both:
            given = "columns" if both[0] not in self.also else "also"
            raise InputError(f"column '{both[0]}' is in both `{given}` and `without`; remove one")
        if self.profile not in PROFILES:
            raise InputError(f"unknown `profile` '{self.profile}' for an audit; {nearest(self.profile, PROFILES)}")
        self._check_box()
        for name in ("cut", "certain"):
            object.__setattr__(self, name, _probability(name, getattr(self, name)))
        object.__setattr__(self, "id", None if self.id is None else check_name_of("id", self.id))
        object.__setattr__(self, "seed", check_seed(self.seed))
        if self.top is not None and (not hasattr(self.top, "__index__") or isinstance(self.top, bool)):
            raise InputError(f"`top` must be a whole number, got {self.top!r}")
        if self.top is not None and self.top < 1:
            raise InputError(f"`top` must be at least 1, got {self.top}")

    def _check_box(self) -> None:
        Box.of(self.minutes, self.steps, None)
        for name in ("minutes", "steps"):
            if self.profile == "instant" and getattr(self, name) is not None:
                raise InputError(
                    f"`{name}` is for networks, and the `profile` 'instant' trains none; choose 'fast' or leave it out"
                )

    @property
    def named(self) -> tuple[str, ...]:
        """All columns that are named to take part."""
        return tuple(dict.fromkeys((*(self.columns or ()), *self.also)))

    def check(self, names: Sequence[str], label: str = "the table") -> None:
        """Every column that the options name must be there; a near miss is named."""
        given = {"columns": self.columns or (), "also": self.also, "without": self.without}
        given["id"] = () if self.id is None else (self.id,)
        for argument, columns in given.items():
            for name in columns:
                if name not in names:
                    hint = nearest(name, names, listed=COLUMNS)
                    raise InputError(f"`{argument}`: {label} has no column '{name}'; {hint}")

    def facts(self) -> dict[str, Any]:
        """A plain dictionary, for files and for telling two audits apart; without a time box where none was given."""
        given = {name: value for name, value in asdict(self).items() if value is not None or name not in BOX}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


def _probability(name: str, value: Any) -> float:
    number = check_number(name, value)
    if not 0 < number <= 1:
        raise InputError(f"`{name}` is a probability, above 0 and at most 1; got {value!r}")
    return number
