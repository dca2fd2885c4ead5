"""What `score`, `explain` and `recourse` share: a table goes through a model part by part, and out again."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import torch
from rich.console import Console
from torch import Tensor

from carat.cli.app import CONSOLE, say
from carat.cli.view import show
from carat.data import Fingerprint, Table, TableWriter, open_source
from carat.data.readers import Source
from carat.data.writers import check_output
from carat.datasets import Dataset
from carat.detectors import Threshold
from carat.errors import InputError
from carat.loading import load
from carat.model import Model
from carat.names import named_data
from carat.recourse.evidence import Evidence
from carat.recourse.explanation import Explanation, explain_part
from carat.recourse.result import Part
from carat.training import Progress, pick_device, terminal_progress

PIECE = 8_192
"""Records that go through a model between two steps of the progress bar."""
REPAIRS = 3
"""Counterfactuals of a record that a terminal shows."""


@dataclass(frozen=True)
class Output:
    """Where the rows go, and what a terminal shows.

    Args:
        file: a path, `-` for JSON lines on standard output, None for nowhere.
        shown: how many records standard output shows, where it is a terminal.
        force: whether an existing file is replaced.
        quiet: whether nothing but errors is said.
    """

    file: str | None
    shown: int
    force: bool
    quiet: bool

    @classmethod
    def of(
        cls, out: str | None, *, as_json: bool, show: int, force: bool, quiet: bool, reported: bool = False
    ) -> Output:
        """What the options of a command mean, on this standard output."""
        terminal = sys.stdout is not None and sys.stdout.isatty() and not as_json
        file = out if out is not None or terminal else "-"
        if file is None and (quiet or not show) and not reported:
            raise InputError("nothing would be shown or written; give --out FILE")
        if file is not None and file != "-":
            check_output(Path(file), force=force)
        return cls(file, show if terminal and file != "-" and not quiet else 0, force, quiet)

    @property
    def named(self) -> str:
        """How the last line begins."""
        return f"{self.file}: " if self.file is not None and self.file != "-" else ""

    def hint(self, records: int) -> str:
        """How the last line ends where the rows went nowhere else: how to have all of them."""
        if self.file is not None or not self.shown:
            return ""
        few = f"{min(self.shown, records):,} shown; " if records > self.shown else ""
        return f" ({few}--out FILE keeps all)"

    @property
    def speaks_json(self) -> bool:
        """Whether the rows themselves go to standard output, so that nothing else may."""
        return self.file == "-"


class Strangest:
    """The few records of lowest score, explained, gathered while the parts go by."""

    def __init__(self, model: Model, limit: int) -> None:
        self.model, self.limit = model, limit
        self.evidence = Evidence(model.pairs, model.vocabulary)
        self.explained: list[Explanation] = []

    def add(self, part: Part) -> None:
        """Records with what was found for them."""
        few = part.take(part.score.argsort(stable=True)[: self.limit])
        fresh = explain_part(few, self.model.scale, self.evidence, show=REPAIRS)
        self.explained = sorted([*self.explained, *fresh], key=lambda one: one.score)[: self.limit]

    def add_table(self, table: Table, score: Tensor) -> None:
        """Records alone, with their scores [n]; the explainer is asked about the few that count."""
        rows = score.argsort(stable=True)[: self.limit]
        few = table.take(rows)
        explainer = self.model.explainer
        unknown = torch.full(few.ids.shape, torch.nan)
        likelihood = unknown if explainer is None else explainer.likelihood(few.ids).cpu()
        self.add(Part.unsearched(few, score[rows], likelihood))

    def show(self, *, words: bool = True) -> None:
        """Print them on standard output."""
        show(self.explained, Console(), words=words)


def open_model(
    path: Path, device: str, *, threshold: float | None = None, threshold_score: float | None = None
) -> Model:
    """The model, on its device, and with another threshold where one is given: a quantile or a score."""
    if threshold is not None and threshold_score is not None:
        raise InputError("give --threshold or --threshold-score, not both")
    if path.is_file():
        raise InputError(f"{path}: is a file, not a model folder; the model comes first, then the data")
    model = load(path).to(pick_device(device))
    if threshold is None and threshold_score is None:
        return model
    return model.with_threshold(
        Threshold(quantile=threshold) if threshold_score is None else Threshold(value=threshold_score)
    )


def open_data(data: str) -> Source:
    """A file, standard input, or a dataset by name, to be read once."""
    found = named_data(data)
    return open_source(found.table if isinstance(found, Dataset) else found, once=True)


def through(
    model: Model, data: str, output: Output, make: Callable[[Table], pa.Table], doing: str
) -> Iterator[tuple[Table, pa.Table]]:
    """Write `make` of every piece of the data, and pass both on; unseen entities are named at the end."""
    source = open_data(data)
    unseen: Counter[tuple[str, str]] = Counter()
    met = Fingerprint()
    with ExitStack() as stack:
        progress: Progress = stack.enter_context(terminal_progress(quiet=output.quiet, console=CONSOLE))
        rows = stack.enter_context(TableWriter(output.file, force=output.force)) if output.file else None
        stage = progress.stage(doing, source.about_rows())
        for part in model.stream(source):
            for piece in _pieces(part):
                made = make(piece)
                if rows is not None:
                    rows.write(made)
                yield piece, made
                stage.advance(len(piece))
                met.add(piece.ids)
            for domain, entities in part.unseen.by_name(model.vocabulary).items():
                unseen.update({(domain, entity): count for entity, count in entities.items()})
        stage.finish()
        if rows is not None and not rows.begun:
            rows.write(make(model.empty()))
    say_if_learned(model, met, quiet=output.quiet)
    if unseen:
        say(f"never seen in training: {_most_common(unseen)}", quiet=output.quiet)


def say_if_learned(model: Model, met: Fingerprint, *, quiet: bool) -> None:
    """A record that was learned from has vouched for itself; whoever audits the very table should know.

    Args:
        model: knows what it was fitted on.
        met: of the records that went by.
        quiet: say nothing.
    """
    if met.text() == model.training.get("fingerprint"):
        say(
            f"the model learned from {model.training['records']:,} of these records, and they look more normal for "
            "it: go by the order, as carat recourse --top N does, not by the threshold",
            quiet=quiet,
        )


def _pieces(table: Table) -> Iterator[Table]:
    if len(table) <= PIECE:
        yield table
        return
    for index in torch.arange(len(table)).split(PIECE):
        yield table.take(index)


def _most_common(unseen: Counter[tuple[str, str]]) -> str:
    shown = ", ".join(f"{domain} {entity} ({count:,}×)" for (domain, entity), count in unseen.most_common(5))
    return shown + (f" and {len(unseen) - 5:,} more" if len(unseen) > 5 else "")
