"""What `score` and `explain` share: a table goes through a model part by part, and out again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa

from carat.cli.app import say
from carat.data import Table, TableWriter, open_source
from carat.data.writers import check_output
from carat.datasets import Dataset
from carat.loading import load
from carat.model import Model
from carat.names import named_data
from carat.training import pick_device


def open_model(path: Path, out: str, device: str, *, force: bool) -> Model:
    """The model, on its device; an output that could not be written is refused before anything is read."""
    if out != "-":
        check_output(Path(out), force=force)
    return load(path).to(pick_device(device))


def through(
    model: Model, data: str, out: str, make: Callable[[Table], pa.Table], *, force: bool, quiet: bool
) -> Iterator[pa.Table]:
    """Write `make` of every part of the data, and pass it on; unseen entities are named at the end."""
    found = named_data(data)
    source = open_source(found.table if isinstance(found, Dataset) else found, once=True)
    unseen: Counter[tuple[str, str]] = Counter()
    with TableWriter(out, force=force) as writer:
        parts = 0
        for part in model.stream(source):
            made = make(part)
            writer.write(made)
            for domain, entities in part.unseen.by_name(model.vocabulary).items():
                unseen.update({(domain, entity): count for entity, count in entities.items()})
            parts += 1
            yield made
        if not parts:
            writer.write(make(model.empty()))
    if unseen:
        say(f"never seen in training: {_most_common(unseen)}", quiet=quiet)


def _most_common(unseen: Counter[tuple[str, str]]) -> str:
    shown = ", ".join(f"{domain} {entity} ({count:,}×)" for (domain, entity), count in unseen.most_common(5))
    return shown + (f" and {len(unseen) - 5:,} more" if len(unseen) > 5 else "")
