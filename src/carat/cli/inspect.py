"""`carat inspect`: what a model was trained on, its sizes and checksums."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from carat.cli.app import RESEARCH, command, many, plain
from carat.cli.options import FLAG, ModelFolder

if TYPE_CHECKING:
    from carat.fitting.store import Contents


@command(RESEARCH)
def inspect(
    model: ModelFolder,
    as_json: Annotated[bool, typer.Option("--json", metavar=FLAG, help="Print everything as JSON.")] = False,
) -> None:
    """Show what a model was trained on, and verify its files.

    Example: [bold]carat inspect model[/bold]
    """
    from carat.fitting.identity import identity_of
    from carat.fitting.store import read_folder

    contents = read_folder(model)
    # Folders written before models had an identity get theirs here.
    identity = contents.facts.get("identity") or identity_of(contents.facts, contents.documents, contents.tensors)
    facts = {**contents.facts, "identity": identity, "domains": _domains(contents), "files": contents.files}
    # Thousands of hashes; they say nothing to a reader.
    facts["training"] = {name: fact for name, fact in facts["training"].items() if name != "sketch"}
    if as_json:
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=1))
        return
    _print(model, facts)


def _domains(contents: Contents) -> dict[str, dict[str, Any]]:
    numeric = contents.facts["schema"]["numeric"]
    return {
        name: {
            "entities": sum(entity is not None for entity in part["entities"]),
            "most_frequent": _most_frequent(part),
            **({"bins": numeric[name]} if name in numeric else {}),
        }
        for name, part in contents.documents["vocabulary"].items()
    }


def _most_frequent(part: dict[str, Any], limit: int = 3) -> list[str]:
    """Values of a column, the most frequent first; after an update their order in the folder is another."""
    known = [(-count, place) for place, count in enumerate(part["counts"]) if part["entities"][place] is not None]
    return [part["entities"][place] for _, place in sorted(known)[:limit]]


def _history_line(entry: dict[str, Any]) -> str:
    """What an update did, and when."""
    said = [many(entry["added"], "row") + " added"]
    if entry["skipped"]:
        said.append(f"{entry['skipped']:,} skipped")
    if entry["forgotten"] or entry["not_found"]:
        said.append(f"{entry['forgotten']:,} forgotten")
    data = f", {entry['data']}" if entry["data"] else ""
    return f"{entry['when']} update{data}: {', '.join(said)} (from {entry['from']})"


def _explainer_line(explainer: dict[str, Any] | None, training: dict[str, Any]) -> str:
    """What explains, and how far its likelihoods are to be trusted: as measured on records apart, if there were any."""
    if explainer is None:
        return "none"
    facts = explainer["facts"]
    calibration = facts["verdicts"]["network"]["calibration"] if "verdicts" in facts else facts["calibration"]
    calibration = calibration.get("tuned", calibration)
    error = training.get("found", {}).get("calibration_error", calibration["error_after"])
    votes = "similar training rows vote; " if explainer["name"] == "judge" else ""
    return f"{explainer['name']} ({votes}its likelihoods are off by {error:.4f} on average)"


def _where_line(facts: dict[str, Any]) -> str:
    """Where anomalous begins; no share is named that is less than one of the rows it was set on."""
    threshold, gate, training = facts["threshold"], facts.get("gate"), facts["training"]
    if threshold["quantile"] is None:
        return f"rows with a score below {threshold['value']:g}{' or a high alarm' if gate else ''}"
    rows = training.get("found", {}).get("records", training["held_out"]) if gate else training["held_out"]
    if threshold["quantile"] * rows + 1e-9 < 1:
        return f"rows with a lower score {'or a higher alarm ' if gate else ''}than all of the few held-out rows"
    by = "score or alarm" if gate else "score"
    return f"rows as strange as the strangest {100 * threshold['quantile']:g}% of normal rows, by {by}"


def _memory_line(explainer: dict[str, Any] | None) -> str:
    if explainer is None or explainer["name"] != "judge":
        return "none, this model does not hold its training rows"
    records = explainer["facts"]["parts"]["memory"]["records"]
    return f"this model holds its {records:,} training rows; whoever has it can read them"


def _metapaths_line(facts: dict[str, Any]) -> str:
    graph = facts.get("graph")
    paths = graph["facts"]["metapaths"] if graph else facts["schema"]["metapaths"]
    if not paths:
        return "none, this model has no graph"
    if not graph:
        return f"{'; '.join(' – '.join(path) for path in paths)} (named, but this model has no graph to use them)"
    shown = "; ".join(" – ".join(path) for path in paths)
    return f"{shown} (discovered)" if graph and graph["facts"]["discovered"] else shown


def _training_line(steps: dict[str, Any]) -> str:
    """How long the networks trained, and how to train them so again."""
    of = f" of {steps['whole']:,}" if steps["total"] < steps["whole"] else ""
    stages = ", ".join(f"{stage} {count:,}" for stage, count in steps["stages"].items())
    return f"{steps['total']:,}{of} steps ({stages}); --steps {steps['total']} trains the same again"


def _print(path: Path, facts: dict[str, Any]) -> None:
    from carat.fitting.found import in_words
    from carat.results.ageing import Usual, described

    console = Console(emoji=False)
    training, detector = facts["training"], facts["detector"]
    lines = {
        "model": f"{path} (carat {facts['carat']})",
        "identity": facts["identity"],
        "trained on": f"{training.get('data', training.get('source'))}: {training['records']:,} rows, "
        f"{training['held_out']:,} more held out",
        "detector": detector.get("name") or f"{detector['outside']} (your own, not stored)",
        "explainer": _explainer_line(facts["explainer"], training),
        "anomalous": _where_line(facts),
        "fit": f"profile {training['profile']}, seed {training['seed']}, {training['device']}, "
        f"{training['seconds']:.1f} s",
    }
    if "steps" in training:
        lines["training"] = _training_line(training["steps"])
    if training["left_out"]:
        lines["left out"] = ", ".join(f"{name} ({reason})" for name, reason in training["left_out"].items())
    for role in ("id", "time"):
        if facts["schema"][role]:
            lines[role] = facts["schema"][role]
    lines["memory"] = _memory_line(facts["explainer"])
    if "usual" in training:
        lines["usual"] = f"of the held-out rows, {described(Usual.from_json(training['usual']))}"
    if training.get("history"):
        lines["history"] = "\n".join(_history_line(entry) for entry in training["history"])
    found = in_words(training)
    if found:
        lines["found"] = "\n".join(found)
    lines["metapaths"] = _metapaths_line(facts)
    summary = RichTable.grid(padding=(0, 2))
    for name, text in lines.items():
        # A line of several sentences stays one; only what is in the user's own text is a sign to be replaced.
        summary.add_row(f"[bold]{name}", escape("\n".join(plain(line) for line in text.split("\n"))))
    domains = RichTable("column", "values", "most frequent", title="Columns", title_justify="left")
    for name, part in facts["domains"].items():
        domains.add_row(escape(plain(name)), f"{part['entities']:,}", escape(plain(", ".join(part["most_frequent"]))))
    files = RichTable("file", "bytes", "sha256", title="Files, all verified", title_justify="left")
    for name, entry in facts["files"].items():
        files.add_row(name, f"{entry['bytes']:,}", entry["sha256"][:16])
    for table in (summary, domains, files):
        console.print(table)
