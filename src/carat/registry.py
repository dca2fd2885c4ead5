"""Everything that has a name: one table per kind, one line per entry.

A new detector, explainer, source, method, baseline, profile or dataset is one new file and one line here; the command
line, the benchmark, its figures and the conformance suite find it by that line. Nothing is imported before it is used,
so that `carat --help` and a Tab need not wait for torch. Parts from outside join with `add`:

>>> from carat.registry import DETECTORS, Entry
>>> DETECTORS.add(Entry("mine", "Mine", "#336699", "my_package.detector:Mine"))  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar

from carat.errors import InputError, is_near, nearest


@dataclass(frozen=True)
class Entry:
    """One thing that has a name.

    Args:
        name: as the command line and the model folder call it.
        label: as figures and tables call it.
        colour: as figures draw it.
        make: where it is, as `module:attribute`, or the thing itself: a class, or a function that makes one.
        needs: what must be there for it; see `carat.recourse.parts.NEEDS`.
        arguments: given to `make`.
    """

    name: str
    label: str
    colour: str
    make: str | Callable[..., Any]
    needs: tuple[str, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Any:
        """The class or function itself."""
        if not isinstance(self.make, str):
            return self.make
        module, _, attribute = self.make.partition(":")
        return getattr(import_module(module), attribute)


@dataclass(frozen=True)
class MethodEntry(Entry):
    """A method or baseline, and how `carat bench` treats it.

    Args:
        in_all: whether `--methods all` has it.
        share: it gets one in so many of the anomalies, for it is slow.
        at_most: it gets no more anomalies than this; None for no limit.
    """

    in_all: bool = True
    share: int = 1
    at_most: int | None = None

    def anomalies(self, count: int) -> int:
        """How many of so many anomalies it gets."""
        mine = max(count // self.share, 1)
        return mine if self.at_most is None else min(mine, self.at_most)


E = TypeVar("E", bound=Entry)


class Registry(Mapping[str, E], Generic[E]):
    """The entries of one kind, by name.

    >>> DETECTORS.find("apee")
    Traceback (most recent call last):
        ...
    carat.errors.InputError: unknown detector 'apee'; did you mean 'ape'?
    """

    def __init__(self, kind: str, *entries: E) -> None:
        self.kind = kind
        self._entries = {entry.name: entry for entry in entries}

    def __getitem__(self, name: str) -> E:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, name: str, *, argument: bool = False) -> E:
        """The entry of this name, or an error that names the nearest.

        Args:
            name: of the entry.
            argument: whether somebody gave it as an argument that is called like the kind.
        """
        if not isinstance(name, str):
            raise InputError(f"`{self.kind}` must be a name, got {name!r}; {nearest('', self._entries)}")
        if name not in self._entries:
            kind = f"`{self.kind}`" if argument else self.kind
            raise InputError(f"unknown {kind} '{name}'; {nearest(name, self._entries)}")
        return self._entries[name]

    def add(self, entry: E) -> None:
        """Add an entry; a name that is taken is refused."""
        if entry.name in self._entries:
            raise InputError(f"there is a {self.kind} '{entry.name}' already; choose another name")
        self._entries[entry.name] = entry

    def remove(self, name: str) -> None:
        """Take an entry out again."""
        del self._entries[self.find(name).name]

    @contextmanager
    def added(self, entry: E) -> Iterator[E]:
        """An entry for the length of a `with` block."""
        self.add(entry)
        try:
            yield entry
        finally:
            self.remove(entry.name)


DETECTORS = Registry(
    "detector",
    Entry("mead", "MEAD", "#7a5ea8", "carat.detectors.mead:Mead"),
    Entry("ape", "APE", "#3b6fb6", "carat.detectors.ape:Ape"),
    Entry("counts", "counts", "#74b87a", "carat.detectors.counts:Counts"),
    Entry("context", "context", "#c23b4b", "carat.explain.context:ContextDetector", needs=("explainer",)),
)
EXPLAINERS = Registry(
    "explainer",
    Entry("transformer", "transformer", "#c23b4b", "carat.explain.transformer:TransformerExplainer"),
    Entry("counts", "counts", "#74b87a", "carat.explain.counts:CountsExplainer"),
    Entry("judge", "judge", "#3b6fb6", "carat.explain.judge:Judge"),
)
SOURCES = Registry(
    "source",
    Entry("graph", "graph", "#3b6fb6", "carat.recourse.candidates:graph", needs=("graph",)),
    Entry("context", "context", "#c23b4b", "carat.recourse.candidates:context", needs=("transformer",)),
    Entry("counts", "counts", "#74b87a", "carat.recourse.candidates:counts"),
    Entry("memory", "memory", "#a97bb5", "carat.recourse.recollection:memory", needs=("memory",)),
)
BASELINES = Registry(
    "method",
    MethodEntry("replace-m", "replace-m", "#8c8c8c", "carat.baselines.replace:replace_one"),
    MethodEntry("fimap", "fimap", "#c79a5b", "carat.baselines.fimap:fimap", needs=("records",)),
    MethodEntry("rceaa", "rceaa", "#a97bb5", "carat.baselines.rceaa:rceaa", share=10),
    MethodEntry("xformer-r", "xformer-r", "#6baed6", "carat.baselines.xformer_r:xformer_r", needs=("transformer",)),
    MethodEntry("replace-2", "replace-2", "#bfbfbf", "carat.baselines.replace:replace_two", in_all=False),
    MethodEntry(
        "dice-random",
        "dice-random",
        "#d9c27e",
        "carat.baselines.dice:dice_random",
        needs=("records",),
        in_all=False,
        at_most=10,
    ),
    MethodEntry(
        "dice-genetic",
        "dice-genetic",
        "#b8a25e",
        "carat.baselines.dice:dice_genetic",
        needs=("records",),
        in_all=False,
        at_most=10,
    ),
    MethodEntry(
        "dice-kdtree",
        "dice-kdtree",
        "#8f7430",
        "carat.baselines.dice:dice_kdtree",
        needs=("records",),
        in_all=False,
        at_most=10,
    ),
)
METHODS = Registry(
    "method",
    MethodEntry("instant", "instant", "#74b87a", "carat.recourse.methods:instant", needs=("counts",)),
    MethodEntry("carat", "carat", "#3b6fb6", "carat.recourse.methods:carat", needs=("transformer", "graph")),
    MethodEntry(
        "carat-plus", "carat-plus", "#c23b4b", "carat.recourse.methods:carat_plus", needs=("transformer", "graph")
    ),
)
PROFILES = Registry(
    "profile",
    Entry("instant", "instant", "#74b87a", "carat.profiles:instant"),
    Entry("fast", "fast", "#c23b4b", "carat.profiles:fast"),
    Entry("paper", "paper", "#3b6fb6", "carat.profiles:paper"),
)
DATASETS = Registry(
    "dataset",
    Entry("flights", "flights", "#3b6fb6", "carat.datasets.flights:flights"),
    *(
        Entry(
            f"shipments:{schema}",
            f"shipments, {schema.replace('_', ' ')}",
            colour,
            "carat.datasets.shipments:shipments",
            arguments={"schema": schema},
        )
        for schema, colour in (
            ("colombia_export", "#c79a5b"),
            ("ecuador_export", "#74b87a"),
            ("us_import", "#c23b4b"),
        )
    ),
)
KINDS: tuple[Registry[Any], ...] = (DETECTORS, EXPLAINERS, SOURCES, METHODS, BASELINES, PROFILES, DATASETS)


def methods() -> dict[str, MethodEntry]:
    """Baselines and methods in the order of tables: those of `--methods all` first."""
    every = [*BASELINES.values(), *METHODS.values()]
    return {entry.name: entry for entry in sorted(every, key=lambda entry: not entry.in_all)}


def method(name: str) -> MethodEntry:
    """A method or baseline by name."""
    known = methods()
    if name not in known:
        raise InputError(f"unknown method '{name}'; {nearest(name, [*METHODS, *BASELINES])}")
    return known[name]


def named_data(data: Any) -> Any:
    """A dataset where the data is the name of one and no file is called so."""
    if not isinstance(data, str) or Path(data).exists():
        return data
    family = data.partition(":")[0] + ":"
    if data in DATASETS or any(name.startswith(family) for name in DATASETS):
        entry = DATASETS.find(data)
        return entry.load()(**entry.arguments)
    if not Path(data).suffix and is_near(data, DATASETS):
        raise InputError(f"{data}: no such file or dataset; {nearest(data, DATASETS)}")
    return data
