"""The pictures of the search: neighbours in the graph, candidates, their order, and what comes out."""

from __future__ import annotations

from typing import Any

from steps.svg import MARGIN, PLAIN, WIDTH, Card

Numbers = dict[str, Any]
RIGHT = WIDTH - MARGIN
NEAREST = 3
"""Neighbours drawn of each kept entity."""


def graph(numbers: Numbers) -> Card:
    """Step 3: from the kept entities along the metapaths to their nearest destinations."""
    record, found = numbers["record"], numbers["sources"]
    domain, true = record["domain"], record["true"]
    near = found["graph"]
    wanted: dict[str, int] = {}
    for entry in near:
        for neighbour in entry["nearest"][:NEAREST]:
            wanted[neighbour["entity"]] = wanted.get(neighbour["entity"], 0) + 1
    card = Card(
        "3a. Neighbours in the graph",
        f"Four kept entities of the record, each joined by lines to its three nearest entities of {domain}. "
        f"{true} is among the three nearest of {wanted[true]} of them.",
    )
    (head,) = card.rows(1, 40)
    card.text(MARGIN, head, "kept entities", colour="muted")
    card.text(RIGHT, head, f"nearest {domain}", colour="muted", anchor="end")
    names = sorted(wanted, key=lambda name: -wanted[name])
    step = 54
    top, tall = card.height + 8, step * len(names)
    right = {name: top + step * (place + 0.5) for place, name in enumerate(names)}
    left = {entry["domain"]: top + tall * (place + 0.5) / len(near) for place, entry in enumerate(near)}
    for entry in near:
        for neighbour in entry["nearest"][:NEAREST]:
            strong = neighbour["entity"] == true
            card.line(
                236,
                left[entry["domain"]],
                500,
                right[neighbour["entity"]],
                colour="accent" if strong else "edge",
                thick=2 + 8 * neighbour["share"] if strong else 2,
                dashes="" if strong else "5 5",
            )
    for entry in near:
        y = left[entry["domain"]]
        card.box(MARGIN, y - 38, 208, 76, fill="surface", edge="edge", corner=10)
        card.text(MARGIN + 16, y - 6, entry["domain"], colour="muted")
        card.text(MARGIN + 16, y + 24, entry["entity"], size=PLAIN, bold=True)
    for name, y in right.items():
        chosen = name == true
        card.box(500, y - 21, 112, 42, fill="tint" if chosen else "surface", edge="accent" if chosen else "edge")
        card.text(556, y + 9, name, size=PLAIN, anchor="middle", bold=chosen)
    card.height = top + tall
    card.rule()
    card.heading(f"Place of {true} among {record['entities'][6]['of']} by DistMult")
    for entry, y in zip(near, card.rows(len(near), 38), strict=True):
        card.text(MARGIN, y, f"for {entry['domain']} {entry['entity']}")
        card.text(RIGHT, y, f"{entry['true_place']}", anchor="end", bold=True)
    return card


def proposals(numbers: Numbers) -> Card:
    """Step 3: what the three sources would put there."""
    record, found = numbers["record"], numbers["sources"]
    card = Card(
        "3b. Three sources of candidates",
        "For the graph, decoder-R and the pair counts, the four candidates they weigh most, with their shares. "
        f"All three put {record['true']} first.",
    )
    panels = (
        ("merged", "graph: the four lists merged"),
        ("context", "decoder-R: the domain masked"),
        ("counts", "pair counts: naive Bayes"),
    )
    for place, (key, words) in enumerate(panels):
        if place:
            card.rule()
        card.heading(words)
        for entry, y in zip(found[key], card.rows(len(found[key]), 38), strict=True):
            true = entry["entity"] == record["true"]
            card.text(MARGIN, y, entry["entity"], bold=true)
            card.bar(120, y - 18, 350, entry["share"], fill="accent" if true else "bar")
            card.text(RIGHT, y, share(entry["share"]), anchor="end", bold=true)
    card.rule()
    (y,) = card.rows(1, 40)
    card.text(MARGIN, y, f"Together: {found['together']} candidates")
    return card


def order(numbers: Numbers) -> Card:
    """Step 4: the parts of the blend, and the places of the detector alone."""
    found, true = numbers["ranking"], numbers["record"]["true"]
    rows = found["rows"]
    card = Card(
        "4. In which order?",
        f"The first five candidates with log-weight, reading, validity, the blend of them, and their place by detector "
        f"score alone. The blend puts {true} first, the detector {found['detector_first'][0]}.",
    )
    edges = (MARGIN, 208, 314, 420, 516, RIGHT)
    heads = (
        ("", "log-", "2 × the", "", "", "detector"),
        ("", "weight", "reading", "valid", "blend", "place"),
    )
    for words, y in zip(heads, card.rows(2, 30), strict=True):
        for x, word in zip(edges, words, strict=True):
            if word:
                card.text(x, y, word, colour="muted", anchor="end")
    card.height += 6
    for row, y in zip(rows, card.rows(len(rows), 48), strict=True):
        first = row["entity"] == true
        if first:
            card.box(MARGIN - 14, y - 32, WIDTH - 2 * MARGIN + 28, 46, fill="tint", edge="accent", corner=6)
        card.text(MARGIN, y, row["entity"], size=PLAIN, bold=first)
        values = (row["weight"], found["reading"] * row["read"], row["valid"], row["total"])
        for x, value in zip(edges[1:5], values, strict=True):
            last = x == edges[4]
            card.text(x, y, f"{value:.2f}", anchor="end", bold=last)
        card.text(RIGHT, y, f"{row['detector_place']}.", anchor="end", colour="ink")
    card.rule()
    card.heading("Percentile of the score with it")
    for row, y in zip(rows, card.rows(len(rows), 38), strict=True):
        card.text(MARGIN, y, row["entity"], bold=row["entity"] == true)
        card.bar(120, y - 18, 380, row["percentile"] / 100, fill="accent" if row["entity"] == true else "bar")
        card.text(RIGHT, y, f"{row['percentile']}", anchor="end")
    return card


def outcome(numbers: Numbers) -> Card:
    """Step 5: the counts behind the answer, and the answer."""
    record, found = numbers["record"], numbers["evidence"]
    true, new = record["true"], record["replacement"]
    card = Card(
        "5. What comes out",
        f"{found['words']} The counts with each kept entity, {new} beside {true}, and the first three counterfactuals "
        "with their percentiles.",
    )
    head, tail = found["words"].split(": ")
    card.box(MARGIN - 14, card.height, WIDTH - 2 * MARGIN + 28, 120, fill="likely-2", edge="flag", corner=6)
    card.height += 10
    first, rest = tail.split(", ")
    for words, y in zip((f"{head}:", f"{first},", rest), card.rows(3, 34), strict=True):
        card.text(MARGIN, y, words, bold=words.endswith(":"))
    card.height += 18
    (y,) = card.rows(1, 40)
    for x, words in ((380, "seen"), (496, f"with {new}"), (RIGHT, f"with {true}")):
        card.text(x, y, words, colour="muted", anchor="end")
    for entry, y in zip(found["counts"], card.rows(len(found["counts"]), 38), strict=True):
        card.text(MARGIN, y, entry["entity"])
        card.text(380, y, f"{entry['seen']:,}", anchor="end", colour="muted")
        card.text(496, y, f"{entry['now']:,}", anchor="end", colour="flag", bold=True)
        card.text(RIGHT, y, f"{entry['true']:,}", anchor="end")
    card.rule()
    card.heading(f"Counterfactuals, the first 3 of {found['listed']}")
    rows = found["counterfactuals"]
    for place, (row, y) in enumerate(zip(rows, card.rows(len(rows), 48), strict=True), start=1):
        right = row["entity"] == true
        if right:
            card.box(MARGIN - 14, y - 32, WIDTH - 2 * MARGIN + 28, 46, fill="tint", edge="accent", corner=6)
        card.text(MARGIN, y, f"{place}. {new} → {row['entity']}", size=PLAIN, bold=right)
        card.text(RIGHT, y, f"percentile {row['percentile']}" + (" (true)" if right else ""), anchor="end")
    return card


def share(value: float) -> str:
    """A share in few digits, that never claims to be quite 0 or 1."""
    if value < 0.001:
        return "< 0.001"
    return "> 0.999" if value > 0.9995 else f"{value:.3f}"
