"""Profiles: named sets of defaults; an argument always wins."""

from __future__ import annotations

from dataclasses import dataclass

from carat.errors import InputError, nearest


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What a profile decides.

    Args:
        name: as the command line calls it.
        detector: the default detector.
    """

    name: str
    detector: str


PROFILES = {
    profile.name: profile
    for profile in (
        Profile(name="instant", detector="counts"),
        Profile(name="fast", detector="ape"),
        Profile(name="paper", detector="mead"),
    )
}


def profile_named(name: str) -> Profile:
    """The profile of this name.

    >>> profile_named("instant").detector
    'counts'
    """
    if name not in PROFILES:
        raise InputError(f"unknown profile '{name}'; {nearest(name, PROFILES)}")
    return PROFILES[name]
