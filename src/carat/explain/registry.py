"""The explainers that have a name; a new one is one new file and one line here."""

from __future__ import annotations

from carat.errors import InputError, nearest
from carat.explain.base import FittedExplainer
from carat.explain.counts import CountsExplainer
from carat.explain.transformer import TransformerExplainer

EXPLAINERS: dict[str, type[FittedExplainer]] = {cls.name: cls for cls in (TransformerExplainer, CountsExplainer)}


def explainer_class(name: str) -> type[FittedExplainer]:
    """The explainer of this name.

    >>> explainer_class("counts").__name__
    'CountsExplainer'
    """
    if name not in EXPLAINERS:
        raise InputError(f"unknown explainer '{name}'; {nearest(name, EXPLAINERS)}")
    return EXPLAINERS[name]
