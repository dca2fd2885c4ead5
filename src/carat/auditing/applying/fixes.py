"""The best fix of every row that recourse found one for, as a list of cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch

from carat.auditing.decisions import CellList, ListedCell
from carat.data.text import to_text
from carat.explain.choice import flagged
from carat.results.batches import ResultBatch

KIND = "recourse"


def best_fixes(batches: Iterable[ResultBatch]) -> CellList:
    """The changes of the best valid counterfactual of each record that has a wrong entity, as a group.

    Where no explainer was asked, each anomalous record counts as having one.
    """
    cells = (cell for batch in batches for cell in _cells(batch))
    numbered = (ListedCell(line, *cell) for line, cell in enumerate(cells, start=1))
    return CellList(tuple(numbered), "the suggested fixes", own=True)


def _cells(batch: ResultBatch) -> Iterator[tuple[str, str, str | None, bool, str, None, str, float, str, str]]:
    outcome, vocabulary = batch.outcome, batch.table.vocabulary
    if not outcome.mask.shape[1]:
        return
    valid = outcome.mask & ~batch.scale.below(outcome.score)
    ids = outcome.counterfactuals[torch.arange(len(batch)), valid.int().argmax(dim=1)]
    changed = (ids != batch.table.ids) & valid.any(dim=1, keepdim=True)
    binned = torch.tensor([domain.bins is not None for domain in vocabulary.domains])
    told = (~outcome.likelihood.isnan()).any(dim=1)
    wrong = torch.where(told, flagged(outcome.likelihood).any(dim=1), batch.anomalous)
    changed &= wrong[:, None]
    changed &= ~(changed & binned).any(dim=1, keepdim=True)  # a range is no number: all of such a fix stays away
    names = to_text(batch.table.names_of_records(), "record").to_pylist()
    before, after = batch.texts, vocabulary.decode(ids)
    for record, place in changed.nonzero().tolist():
        column, name = vocabulary.names[place], names[record]
        old, new = before[column][record].as_py(), after[column][record].as_py()
        yield name, column, old, True, KIND, None, new, 1.0, "", name
