"""What a killed audit need not do again: its finished stages, as tensors in a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol, Self, TypeVar

from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from carat.files import write_bytes


class Storable(Protocol):
    """Something that is a few tensors."""

    def tensors(self) -> dict[str, Tensor]:
        """For the folder."""
        ...

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> Self:
        """The inverse of `tensors`."""
        ...


S = TypeVar("S", bound=Storable)
T = TypeVar("T", bound=Storable)


class Shelf:
    """Stages by name; without a folder nothing is kept.

    Args:
        folder: where to keep them; it belongs to this audit alone.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def read(self, name: str) -> dict[str, Tensor] | None:
        """The tensors of a stage; None where it was not finished."""
        path = None if self.folder is None else self.folder / f"{name}.safetensors"
        if path is None or not path.is_file():
            return None
        try:
            return dict(load_file(path))
        except SafetensorError:  # written by a machine that lost power, say
            return None

    def write(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        """Keep a stage; written under another name first, so that it is there whole or not at all."""
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            held = {key: tensor.detach().cpu().contiguous().clone() for key, tensor in tensors.items()}
            write_bytes(self.folder / f"{name}.safetensors", save(held))

    def keep(self, name: str, make: Callable[[], S], kind: type[S]) -> S:
        """A stage from the shelf, or made and put there."""
        held = self.read(name)
        if held is not None:
            return kind.from_tensors(held)
        made = make()
        self.write(name, made.tensors())
        return made

    def keep_pair(self, name: str, make: Callable[[], tuple[S, T]], first: type[S], second: type[T]) -> tuple[S, T]:
        """The same for two that are made together."""
        held = [self.read(f"{name}-{number}") for number in (0, 1)]
        if held[0] is not None and held[1] is not None:
            return first.from_tensors(held[0]), second.from_tensors(held[1])
        made = make()
        for number, one in enumerate(made):
            self.write(f"{name}-{number}", one.tensors())
        return made
