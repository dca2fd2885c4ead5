"""What is the same value in another spelling: keys without case, spaces, punctuation, accents and word order."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

LONGEST = 1_000
"""Characters of a text that are compared with others: two texts of millions would take hours."""
_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_KEPT_SIGNS = frozenset("%&#@")


@cache
def _is_sign(char: str) -> bool:
    """Whether a character is a space or punctuation that does not change what is meant."""
    category = unicodedata.category(char)
    return category[0] in "ZC" or category == "Sk" or (category[0] == "P" and char not in _KEPT_SIGNS) or char.isspace()


def _folded(text: str) -> str:
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", bare).casefold())


def _words(text: str) -> list[str]:
    """The words of a folded text. Signs between two digits stay: `1.5` is not `15`, nor `3-4` `34`."""
    if text.isalnum():
        return [text]
    many = sum(char.isdigit() for char in text) >= 7  # a phone number or a date: its groups mean nothing
    words: list[str] = []
    word = ""
    for place, char in enumerate(text):
        if not _is_sign(char):
            word += char
            continue
        after = text[place + 1 : place + 2].isdigit()
        if after and word[-1:].isdigit() and (char in ".," or not many):
            word += char if char in ".," else "-"
        elif after and not word and not words and char in "-−":
            word = "-"
        elif char.isspace() or char in ",;/-–—_|":
            words.append(word)
            word = ""
    return [each for each in (*words, word) if each]


def key(text: str) -> str:
    """What stays of a text without capitals, spaces, punctuation, accents and Unicode forms.

    Two values with the same key are variants of one. Signs between digits count, except in what has seven digits and
    more. A text of signs alone is its own key.

    >>> key("St. Mary's  Hospital") == key("ST MARYS HOSPITAL"), key("José") == key("JOSE"), key("1.5") == key("15")
    (True, True, False)
    """
    folded = _folded(text)
    return "".join(_words(folded)) or folded.strip()


def sorted_key(text: str) -> str:
    """Like `key`, and without the order of words: the same for `Lee, Ann` and `Ann Lee`.

    >>> sorted_key("Lee, Ann") == sorted_key("Ann Lee")
    True
    """
    folded = _folded(text)
    return " ".join(sorted(_words(folded))) or folded.strip()
