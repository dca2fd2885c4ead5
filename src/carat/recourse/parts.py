"""What a method is made of: a model's parts, and what to say where one is lacking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.training_data import TrainingData
from carat.data.vocabulary import Vocabulary
from carat.errors import InputError
from carat.explain import CountsExplainer, FittedExplainer, Judge, TransformerExplainer
from carat.explain.witnesses import Witnesses
from carat.graph import KnowledgeGraph
from carat.memory import Memory
from carat.protocols import Detector
from carat.recourse.ranking import Blend
from carat.training import Run

_REFIT = "fit it again with `profile` fast or paper"
NEEDS = {
    "explainer": ("an explainer", "fit it again with one"),
    "transformer": ("a trained explainer", _REFIT),
    "graph": ("a graph", _REFIT),
    "counts": ("the counts explainer or the judge", "fit another one with `profile` instant"),
    "memory": ("a memory", "fit it again with the explainer judge"),
    "records": ("the training rows", "it runs in carat bench only"),
}
"""What an entry of the registry can need: how it is called, and how to come by it."""


@dataclass(frozen=True, kw_only=True)
class ModelParts:
    """What a method may be made of.

    Args:
        vocabulary: what the ids mean.
        pairs: co-occurrence counts.
        detector: gives scores.
        explainer: gives likelihoods, where the model has one.
        graph: gives neighbours, where the model has one.
        reference: scores of normal records, ascending, [r].
        threshold: anomalous begins below this score.
        records: what the model was trained on, where it is at hand; a model does not keep it.
        run: seed and device of methods that draw or train.
        blends: weights that were learned for a method's opinions, by its name.
        lookalikes: entities that look like slips of common ones, and those, rows of the layout, int64 [k, 2]; None in
            models from before anybody looked.
    """

    vocabulary: Vocabulary
    pairs: Pairs
    detector: Detector
    explainer: FittedExplainer | None
    graph: KnowledgeGraph | None
    reference: Tensor
    threshold: float = float("-inf")
    records: TrainingData | None = None
    run: Run = field(default_factory=Run)
    blends: Mapping[str, Blend] = field(default_factory=dict)
    lookalikes: Tensor | None = None

    def lacks(self, needs: Iterable[str]) -> list[str]:
        """Which of some needs are not met here."""
        has = {
            "explainer": self.explainer is not None,
            "transformer": isinstance(_beside(self.explainer), TransformerExplainer),
            "graph": self.graph is not None,
            "counts": isinstance(self.explainer, CountsExplainer | Judge),
            "memory": isinstance(self.explainer, Judge),
            "records": self.records is not None,
        }
        return [need for need in needs if not has[need]]

    def check(self, method: str, needs: Iterable[str]) -> None:
        """Refuse a method that lacks something here, and name the way to it."""
        if self.explainer is None and set(needs) & {"transformer", "counts", "memory", "explainer"}:
            raise InputError("this model was fitted without an explainer; fit it again with `explainer`")
        for need in self.lacks(needs):
            what, remedy = NEEDS[need]
            raise InputError(f"the method '{method}' needs {what}, which this model lacks; {remedy}")

    @property
    def transformer(self) -> TransformerExplainer:
        """The trained explainer; beside a judge, where there is one."""
        found = _beside(self.explainer)
        assert isinstance(found, TransformerExplainer)
        return found

    @property
    def judge(self) -> Judge | None:
        """The judge, where the model has one."""
        return self.explainer if isinstance(self.explainer, Judge) else None

    @property
    def memory(self) -> Memory:
        """The records that the judge asks."""
        assert isinstance(self.explainer, Judge)
        return self.explainer.memory_

    @property
    def witnesses(self) -> Witnesses:
        """What the judge hears of entities' own records."""
        assert isinstance(self.explainer, Judge)
        return self.explainer.witnesses_

    @property
    def neighbours(self) -> KnowledgeGraph:
        """The graph."""
        assert self.graph is not None
        return self.graph


def _beside(explainer: FittedExplainer | None) -> FittedExplainer | None:
    """The explainer that a judge also weighs, or the explainer itself."""
    return explainer.beside_ if isinstance(explainer, Judge) else explainer
