"""One entry of every kind, as an author from outside would add it; nothing of carat names them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from carat.baselines.replace import Replace
from carat.data import Schema
from carat.datasets import Dataset
from carat.detectors import Counts
from carat.explain import CountsExplainer
from carat.profiles import Profile
from carat.protocols import CandidateSource
from carat.recourse import Guided, Method, ModelParts
from carat.recourse.candidates import CountsSource
from carat.recourse.ranking import BlendRanking
from carat.registry import BASELINES, DATASETS, DETECTORS, EXPLAINERS, METHODS, PROFILES, SOURCES, Entry, MethodEntry
from carat.testing.planted import DOMAINS, planted_table


class ToyDetector(Counts):
    """Counts under another name."""

    name = "toy"


class ToyExplainer(CountsExplainer):
    """Counts under another name."""

    name = "toy"


def source(parts: ModelParts) -> CandidateSource:
    """Counts, smoothed more."""
    return CountsSource.of(parts.pairs, parts.vocabulary, smoothing=0.5)


def method(parts: ModelParts) -> Method:
    """Any explainer, and the toy source."""
    assert parts.explainer is not None
    return Guided(
        "toy-method",
        parts.vocabulary,
        parts.pairs,
        parts.detector,
        parts.explainer,
        SOURCES["toy"].load()(parts),
        lambda prefer, cost_weight: BlendRanking(parts.reference, None, prefer=prefer, cost_weight=cost_weight),
    )


class ToyBaseline(Replace):
    """Replace-1 under another name."""

    name = "toy-baseline"


def baseline(parts: ModelParts) -> Method:
    """Of a model's parts."""
    return ToyBaseline(vocabulary=parts.vocabulary, pairs=parts.pairs, detector=parts.detector)


def profile() -> Profile:
    """Toys by default."""
    return Profile(detector="toy", explainer="toy")


def dataset() -> Dataset:
    """The planted table, by a name of its own."""
    return Dataset(
        name="toydata", table=planted_table(600, seed=3), schema=Schema(domains=DOMAINS), synthetic=True, about="A toy."
    )


METHOD_COLOUR, BASELINE_COLOUR = "#12ab34", "#ab1234"


@contextmanager
def added() -> Iterator[None]:
    """All of them, for the length of a `with` block."""
    here = "tests.testing.toys"
    with ExitStack() as stack:
        for entry in (
            DETECTORS.added(Entry("toy", "Toy detector", "#101010", f"{here}:ToyDetector")),
            EXPLAINERS.added(Entry("toy", "Toy explainer", "#202020", f"{here}:ToyExplainer")),
            SOURCES.added(Entry("toy", "Toy source", "#303030", f"{here}:source")),
            PROFILES.added(Entry("toy", "Toy profile", "#404040", f"{here}:profile")),
            DATASETS.added(Entry("toydata", "Toy data", "#505050", f"{here}:dataset")),
            METHODS.added(MethodEntry("toy-method", "Toy method", METHOD_COLOUR, method, needs=("explainer",))),
            BASELINES.added(MethodEntry("toy-baseline", "Toy baseline", BASELINE_COLOUR, baseline, at_most=4)),
        ):
            stack.enter_context(entry)
        yield
