"""Whether several processes were started to do one thing together, as `torchrun` does; read without torch."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from carat.errors import InputError

NEEDED = ("RANK", "MASTER_ADDR", "MASTER_PORT")
"""What each process must be told beside `WORLD_SIZE`; torchrun does that."""


@dataclass(frozen=True)
class Launched:
    """What a process knows of its start.

    Args:
        rank: its number among all processes, from 0.
        size: how many there are.
        local: its number among those on this machine.
    """

    rank: int = 0
    size: int = 1
    local: int = 0

    @classmethod
    def read(cls, environment: Mapping[str, str] | None = None) -> Launched:
        """From the environment variables that torchrun sets.

        >>> Launched.read({})
        Launched(rank=0, size=1, local=0)
        >>> Launched.read({"WORLD_SIZE": "2"})
        Traceback (most recent call last):
        carat.errors.InputError: WORLD_SIZE is 2, but RANK is not set: start the processes with torchrun
        """
        known = os.environ if environment is None else environment
        size = _number(known, "WORLD_SIZE", 1)
        if size == 1:
            return cls()
        for name in NEEDED:
            if not known.get(name):
                raise InputError(f"WORLD_SIZE is {size}, but {name} is not set: start the processes with torchrun")
        rank = _number(known, "RANK", 0)
        if not 0 <= rank < size:
            raise InputError(f"RANK is {rank}, but must be less than WORLD_SIZE, which is {size}")
        return cls(rank, size, _number(known, "LOCAL_RANK", rank))

    @classmethod
    def by_torchrun(cls) -> bool:
        """Whether it was torchrun that started this process, with others."""
        return "TORCHELASTIC_RUN_ID" in os.environ and cls.read().size > 1

    @classmethod
    def follows(cls) -> bool:
        """Whether another process speaks for this one."""
        return os.environ.get("WORLD_SIZE", "1") != "1" and os.environ.get("RANK", "0") != "0"


def _number(known: Mapping[str, str], name: str, otherwise: int) -> int:
    text = known.get(name, "").strip()
    if not text:
        return otherwise
    if not text.isdecimal() or (name == "WORLD_SIZE" and int(text) < 1):
        raise InputError(f"the environment variable {name} must be a whole number, got '{text}'")
    return int(text)
