"""Where to compute."""

from __future__ import annotations

import torch

from carat.errors import InputError


def pick_device(name: str = "auto") -> torch.device:
    """`auto` takes a GPU where there is one.

    >>> pick_device("cpu")
    device(type='cpu')
    """
    if not isinstance(name, str):
        raise InputError(f"`device` must be auto, cpu or cuda, got {name!r}")
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name not in ("cpu", "cuda") and not name.startswith("cuda:"):
        raise InputError(f"`device` must be auto, cpu or cuda, got '{name}'")
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise InputError("no CUDA device found; use cpu or auto for `device`")
    return torch.device(name)
