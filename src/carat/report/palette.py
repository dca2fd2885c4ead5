"""Every colour of the page, in one place: the tests compute the contrast of what is laid over what."""

from __future__ import annotations

from carat.auditing.findings import KINDS

LIGHT = {
    "paper": "#faf9f7",
    "surface": "#ffffff",
    "sunken": "#f3f1ed",
    "line": "#e2ded7",
    "edge": "#858b93",
    "ink": "#22272c",
    "muted": "#5a626c",
    "accent": "#1b5c77",
    "on-accent": "#ffffff",
    "tint": "#e2eff4",
    "flag": "#a8401c",
    "bar": "#868d96",
    "likely-0": "#f3bda6",
    "likely-1": "#f8d5c6",
    "likely-2": "#fbe8df",
    "likely-3": "#f5f3ef",
    "likely-4": "#ffffff",
    "typo": "#a8401c",
    "variant": "#a67c00",
    "format": "#2f7d4f",
    "misplaced": "#7a54b0",
    "mismatch": "#1b5c77",
    "missing": "#7b828b",
}
DARK = {
    "paper": "#14171a",
    "surface": "#1b1f23",
    "sunken": "#22272c",
    "line": "#333a41",
    "edge": "#7d868f",
    "ink": "#e8eaec",
    "muted": "#a5adb5",
    "accent": "#7fc3de",
    "on-accent": "#0e1d26",
    "tint": "#1d3540",
    "flag": "#f09a76",
    "bar": "#7b848d",
    "likely-0": "#713420",
    "likely-1": "#562f24",
    "likely-2": "#3f2b25",
    "likely-3": "#252a2f",
    "likely-4": "#1b1f23",
    "typo": "#f09a76",
    "variant": "#d8b545",
    "format": "#76c795",
    "misplaced": "#bda2ee",
    "mismatch": "#7fc3de",
    "missing": "#979fa8",
}

TEXT = (
    *(("ink", under) for under in ("paper", "surface", "sunken", "tint")),
    *(("muted", under) for under in ("paper", "surface", "sunken", "tint")),
    *(("accent", under) for under in ("paper", "surface", "sunken", "tint")),
    *(("flag", under) for under in ("paper", "surface", "sunken", "likely-2")),
    *(("ink", f"likely-{step}") for step in range(5)),
    *(("muted", f"likely-{step}") for step in range(3, 5)),
    ("on-accent", "accent"),
)
"""What is written on what: at least 4.5 (WCAG AA)."""
SHAPES = (
    *((shape, under) for shape in ("bar", "flag", "accent", "edge") for under in ("paper", "surface")),
    *((kind, under) for kind in KINDS for under in ("paper", "surface")),
    ("flag", "likely-0"),
    ("flag", "likely-1"),
    ("flag", "likely-2"),
)
"""Marks and borders that carry meaning, on what they lie: at least 3."""


def contrast(one: str, other: str) -> float:
    """WCAG's ratio of two colours, from 1 to 21.

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def declarations(palette: dict[str, str]) -> str:
    """The palette as CSS variables."""
    return " ".join(f"--{name}: {colour};" for name, colour in palette.items())
