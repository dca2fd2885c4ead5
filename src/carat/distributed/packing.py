"""What goes from one process to another without the model: both ends hold that, and it may be large."""

from __future__ import annotations

import io
import pickle
from typing import Any

from carat.data import Vocabulary
from carat.fitting.model import Model
from carat.results.evidence import Evidence
from carat.results.scale import Scale

HELD = {Vocabulary: "vocabulary", Scale: "scale", Evidence: "evidence"}
"""What is not sent, but named: the receiver takes its own model's."""


class _Packer(pickle.Pickler):
    def persistent_id(self, thing: Any) -> str | None:
        return HELD.get(type(thing))


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, model: Model) -> None:
        super().__init__(file)
        self._model = model

    def persistent_load(self, pid: Any) -> Any:
        return getattr(self._model, pid)


def pack(thing: Any) -> bytes:
    """A thing that may hold parts of the model, as bytes."""
    file = io.BytesIO()
    _Packer(file, protocol=pickle.HIGHEST_PROTOCOL).dump(thing)
    return file.getvalue()


def unpack(packed: bytes, model: Model) -> Any:
    """The inverse of `pack`, with the same parts of the receiver's model."""
    return _Unpacker(io.BytesIO(packed), model).load()
