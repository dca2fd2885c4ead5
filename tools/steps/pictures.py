"""The pictures, one function each, drawn from the numbers alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from steps.search_pictures import graph, order, outcome, proposals
from steps.svg import MARGIN, PLAIN, WIDTH, Card

Numbers = dict[str, Any]
RIGHT = WIDTH - MARGIN


def ids(numbers: Numbers) -> Card:
    """Step 0: the record as text and as ids."""
    record = numbers["record"]
    true, new = record["true"], record["replacement"]
    card = Card(
        "0. Text becomes ids",
        f"The eight entities of the departure, each with its id and the number of entities in its domain. "
        f"{record['domain']} {true} was replaced by {new}.",
    )
    (head,) = card.rows(1, 40)
    for x, words in ((MARGIN, "domain"), (214, "entity")):
        card.text(x, head, words, colour="muted")
    card.text(468, head, "id", colour="muted", anchor="end")
    card.text(RIGHT, head, "entities", colour="muted", anchor="end")
    for entry, y in zip(record["entities"], card.rows(len(record["entities"]), 44), strict=True):
        replaced = entry["domain"] == record["domain"]
        if replaced:
            card.box(MARGIN - 14, y - 30, WIDTH - 2 * MARGIN + 28, 42, fill="likely-2", edge="flag", corner=6)
        else:
            card.line(MARGIN, y + 14, RIGHT, y + 14)
        card.text(MARGIN, y, entry["domain"], colour="ink" if replaced else "muted")
        card.text(214, y, f"{true} → {new}" if replaced else entry["entity"], size=PLAIN, bold=replaced)
        card.text(468, y, f"{record['true_id']} → {entry['id']}" if replaced else f"{entry['id']:,}", anchor="end")
        card.text(RIGHT, y, f"{entry['of']:,}", colour="ink" if replaced else "muted", anchor="end")
    return card


def score(numbers: Numbers) -> Card:
    """Step 1: the record among the scores of held-out ones, and which pairs changed."""
    found, record = numbers["score"], numbers["record"]
    true, new = record["true"], record["replacement"]
    card = Card(
        "1. The score drops",
        f"Histogram of the scores of {numbers['run']['held_out']:,} held-out records. With {true} the record scores "
        f"{found['before']}, among the many; with {new} {found['after']}, below the threshold {found['threshold']}.",
    )
    _histogram(card, numbers)
    card.rule()
    card.heading(f"What {record['domain']} adds, pair by pair")
    (head,) = card.rows(1, 36)
    card.text(498, head, f"with {true}", colour="muted", anchor="end")
    card.text(RIGHT, head, f"with {new}", colour="muted", anchor="end")
    for pair, y in zip(found["pairs"], card.rows(len(found["pairs"]), 38), strict=True):
        fell = pair["after"] - pair["before"] < -1
        card.text(MARGIN, y, pair["domain"], colour="muted")
        card.text(200, y, pair["entity"])
        card.text(498, y, f"{pair['before']:.2f}", anchor="end")
        card.text(RIGHT, y, f"{pair['after']:.2f}", anchor="end", colour="flag" if fell else "ink", bold=fell)
    card.rule()
    sums = (
        ("these seven pairs", found["sum_before"], found["sum_after"], False),
        ("other pairs, constant", found["other_pairs"], found["other_pairs"], False),
        ("score", found["before"], found["after"], True),
    )
    for (name, before, after, bold), y in zip(sums, card.rows(3, 38), strict=True):
        card.text(MARGIN, y, name, bold=bold)
        card.text(498, y, f"{before:.2f}", anchor="end", bold=bold)
        card.text(RIGHT, y, f"{after:.2f}", anchor="end", bold=bold, colour="flag" if bold else "ink")
    return card


def _histogram(card: Card, numbers: Numbers) -> None:
    found, record = numbers["score"], numbers["record"]
    low, high, counts = found["low"], found["high"], found["counts"]
    top, base = card.height + 96, card.height + 290
    width = (RIGHT - MARGIN) / len(counts)

    def at(value: float) -> float:
        return MARGIN + float((value - low) / (high - low)) * (RIGHT - MARGIN)

    for place, count in enumerate(counts):
        # A root scale: the few strange records would be invisible beside the many normal ones.
        tall = (base - top) * (count / max(counts)) ** 0.5
        if count:
            card.box(MARGIN + place * width + 1, base - tall, width - 2, tall, fill="bar", corner=0)
    card.line(MARGIN, base, RIGHT, base, colour="edge")
    cut = at(found["threshold"])
    card.line(cut, card.height + 56, cut, base, colour="ink", dashes="7 5")
    card.text(cut + 10, card.height + 74, f"threshold {_signed(found['threshold'])}")
    for name, value, place, colour, side in (
        (record["replacement"], found["after"], found["percentile_after"], "flag", "left"),
        (record["true"], found["before"], found["percentile_before"], "accent", "right"),
    ):
        x = at(value)
        card.line(x, base - 26, x, base + 14, colour=colour, thick=4)
        card.dot(x, base - 32, 9, fill=colour)
        card.text(
            x if side == "left" else RIGHT,
            base + 42,
            f"with {name}: {_signed(value)}",
            colour=colour,
            bold=True,
            anchor="middle" if side == "left" else "end",
        )
        card.text(
            x if side == "left" else RIGHT,
            base + 72,
            f"percentile {place}",
            colour=colour,
            anchor="middle" if side == "left" else "end",
        )
    card.text(MARGIN, card.height + 24, f"{numbers['run']['held_out']:,} held-out records (root scale)", colour="muted")
    card.height = base + 80


def likelihood(numbers: Numbers) -> Card:
    """Step 2: how likely each entity is beside the others."""
    record, values = numbers["record"], numbers["likelihood"]["tuned"]
    card = Card(
        "2. Which entity does not belong?",
        "A likelihood from 0 to 1 for each entity. All but one are above 0.98; "
        f"{record['domain']} {record['replacement']} is below 0.0001 and flagged.",
    )
    (head,) = card.rows(1, 40)
    left, room = 312, 160
    card.text(MARGIN, head, "entity", colour="muted")
    card.text(left + room / 2, head, "cut 0.5", colour="muted", anchor="middle")
    top = card.height
    for entry, value, y in zip(record["entities"], values, card.rows(len(values), 64), strict=True):
        low = value < 0.5
        if low:
            card.box(MARGIN - 14, y - 40, WIDTH - 2 * MARGIN + 28, 60, fill="likely-2", edge="flag", corner=6)
        card.text(MARGIN, y - 14, entry["domain"], colour="ink" if low else "muted")
        card.text(MARGIN, y + 12, entry["entity"] + (" (flagged)" if low else ""), bold=low)
        card.bar(left, y - 20, room, value, fill="flag" if low else "accent")
        card.text(RIGHT, y - 2, likely(value), anchor="end", colour="flag" if low else "ink", bold=low)
    card.line(left + room / 2, top - 6, left + room / 2, card.height, colour="ink", dashes="7 5")
    card.height += 6
    return card


def likely(value: float) -> str:
    """A likelihood in few digits, that never claims to be quite 0 or 1."""
    if value < 0.0001:
        return "< 0.0001"
    return "> 0.999" if value > 0.9995 else f"{value:.3f}"


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


PICTURES: dict[str, Callable[[Numbers], Card]] = {
    "step-0-ids": ids,
    "step-1-score": score,
    "step-2-likelihood": likelihood,
    "step-3-graph": graph,
    "step-3-sources": proposals,
    "step-4-order": order,
    "step-5-outcome": outcome,
}
"""By file name."""
