"""How the text of a file is written in bytes, for a scanner that looks for quotes, delimiters and line ends alone.

A scanner sees one byte per unit of the encoding, the ASCII characters as they are and everything else as some other
byte. So one scanner serves UTF-8, UTF-16 and the old code pages, and what it finds are places in the file.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from carat.errors import InputError

OTHER = 0xFF
"""Stands for a unit that is no ASCII character."""
WIDE = {
    "utf-16-le": ("<u2", codecs.BOM_UTF16_LE),
    "utf-16-be": (">u2", codecs.BOM_UTF16_BE),
    "utf-32-le": ("<u4", codecs.BOM_UTF32_LE),
    "utf-32-be": (">u4", codecs.BOM_UTF32_BE),
}
"""Encodings of several bytes a unit: how numpy reads a unit, and the mark at the beginning of a file."""
MANY_BYTES = frozenset(
    f"{family}{kind}"
    for family, kinds in (
        ("gb", ("2312", "k", "18030")),
        ("big5", ("", "hkscs")),
        ("cp", ("932", "949", "950")),
        ("shift_jis", ("", "_2004", "x0213")),
        ("euc_", ("jp", "jis_2004", "jisx0213", "kr")),
        ("johab", ("",)),
    )
    for kind in kinds
)
"""Encodings whose later bytes of a character may look like a `|`, but never like a quote or another delimiter."""


@dataclass(frozen=True)
class Letters:
    """One encoding of a file.

    Args:
        encoding: as Python calls it, without a mark at its beginning.
        mark: the bytes at the beginning of the file that only say how it is written.
        width: bytes per unit.
    """

    encoding: str
    mark: bytes = b""
    width: int = 1
    _table: bytes | None = field(default=None, repr=False)

    @classmethod
    def of(cls, codec: str | None, start: bytes, label: str, delimiter: str = ",") -> Letters:
        """The encoding of a file that begins with `start`.

        Args:
            codec: as Python calls it; None is UTF-8.
            start: the first bytes of the file.
            label: how messages call the file.
            delimiter: what stands between two cells.
        """
        name = codec or "utf-8"
        if name == "utf-8":
            return cls(name, codecs.BOM_UTF8 if start.startswith(codecs.BOM_UTF8) else b"")
        if name in ("utf-16", "utf-32"):  # without a mark, Python takes the order of the machine, as a rule little
            name += "-be" if start.startswith(WIDE[f"{name}-be"][1]) else "-le"
        if name in WIDE:
            kind, mark = WIDE[name]
            return cls(name, mark if start.startswith(mark) else b"", np.dtype(kind).itemsize)
        if name in MANY_BYTES and delimiter != "|":
            return cls(name)
        table = None if name in MANY_BYTES else _single_bytes(name)
        if table is None:
            raise InputError(f"{label}: a table in {name} can't be changed in place; convert it to UTF-8 first")
        return cls(name, _table=table)

    def ascii(self, raw: bytes) -> bytes:
        """One byte per unit: ASCII as it is, `OTHER` or any other byte above for the rest."""
        if self.width > 1:
            units = np.frombuffer(raw, WIDE[self.encoding][0])
            return bytes(np.where(units < 128, units, OTHER).astype(np.uint8).tobytes())
        return raw if self._table is None else raw.translate(self._table)

    def decode(self, raw: bytes) -> str:
        """Text from bytes."""
        return str(raw, self.encoding)

    def encode(self, text: str) -> bytes:
        """Bytes from text.

        Raises:
            UnicodeEncodeError: where the encoding has no such character.
        """
        return text.encode(self.encoding)


@lru_cache
def _single_bytes(name: str) -> bytes | None:
    """For an encoding of one byte per character, what each byte is in ASCII; None for any other encoding."""
    for code in range(0xD800):  # up to there, every encoding of another kind has a character of several bytes
        if len(_encoded(chr(code), name)) > 1:
            return None
    table = bytearray([OTHER]) * 256
    for code in range(128):
        for byte in _encoded(chr(code), name):
            table[byte] = code
    return bytes(table)


def _encoded(sign: str, name: str) -> bytes:
    try:
        return sign.encode(name)
    except UnicodeEncodeError:
        return b""
