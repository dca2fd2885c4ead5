"""The second half of the way: candidates, combinations and the order in which they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from carat.data.vocabulary import FIRST, MISSING
from carat.graph import Neighbours
from carat.recourse import Guided, Settings
from carat.recourse.candidates import ContextSource, CountsSource, GraphSource
from carat.recourse.ranking import IMPROVES, READING, Validity
from carat.recourse.search import BUDGET

if TYPE_CHECKING:
    from steps.measure import Case

SHOWN = 4
"""Candidates shown of each source."""
RANKED = 5
"""Counterfactuals shown in their order."""
PREFER = 0.5
"""The dial's default."""
SECOND = "TailNum"
"""Another domain, to say how many combinations two targets have."""


def sources(case: Case) -> dict[str, Any]:
    """What each source proposes for the replaced domain, the nearest neighbours of every kept entity first."""
    domain, names, texts = case.domain, case.model.vocabulary.names, case.texts(case.ids)
    true = int(case.original[0, domain])
    neighbours = Neighbours(case.graph)
    size = case.graph.sizes_[domain] - FIRST
    near = []
    for other in case.graph.relations_.neighbours(domain):
        found, score = neighbours.search(case.ids[:, other].long(), other, domain, size)
        share = score[0].softmax(dim=0)
        listed = [
            {"entity": _text(case, int(entity)), "share": round(float(s), 4)}
            for entity, s in zip(found[0, :SHOWN], share, strict=False)
        ]
        place = int((found[0] == true).nonzero()[0]) + 1
        near.append({"domain": names[other], "entity": texts[other], "nearest": listed, "true_place": place})
    reached = {entry["domain"] for entry in near}
    return {
        "graph": near,
        "unreached": [name for name in names if name not in reached and name != names[domain]],
        "metapaths": [list(path) for path in case.graph.metapaths_ if names[domain] in path],
        "merged": _likeliest(case, GraphSource(case.graph, case.model.vocabulary)),
        "context": _likeliest(case, ContextSource(case.explainer)),
        "counts": _likeliest(case, CountsSource.of(case.model.pairs, case.model.vocabulary)),
        "together": _proposed(case, case.targets())[names[domain]],
    }


def combinations(case: Case) -> dict[str, Any]:
    """How many there are with this one target, and how many there would be with a second."""
    names = case.model.vocabulary.names
    two = _proposed(case, case.targets(SECOND))
    return {
        "one": _proposed(case, case.targets())[names[case.domain]],
        "second": SECOND,
        "of_second": two[SECOND],
        "two": two[SECOND] * two[names[case.domain]],
        "budget": BUDGET,
    }


def ranking(case: Case) -> dict[str, Any]:
    """The best few with the parts of their blend, and where the detector alone would put them.

    The parts are put together here again, so that the page can show them; the order must come out as the method's.
    """
    model, domain = case.model, case.domain
    method = _guided(case)
    outcome = method.find(case.ids, Settings())
    count = int(outcome.mask[0].sum())
    records = outcome.counterfactuals[0, :count]
    proposed = method.source.propose(case.ids, case.targets(), Settings().neighbours)
    listed = proposed.ids[0, domain].tolist()
    place = [listed.index(entity) for entity in records[:, domain].tolist()]
    weight = proposed.log_weight[0, domain, place]
    read = case.explainer.read(case.ids.long(), records[None])[0]
    score, own = model.detector.score(records), model.detector.score(case.ids)
    valid = Validity(model.reference)(score.clone()) + IMPROVES * (score > own)
    total = (1 - PREFER) * (weight + READING * read) + PREFER * valid
    assert (total.diff() <= 1e-4).all(), "the parts must give the order of the method"
    by_score = _detector_order(case)
    chosen = [*range(RANKED)]
    return {
        "listed": count,
        "reading": READING,
        "improves": IMPROVES,
        "prefer": PREFER,
        "rows": [
            {
                "entity": _text(case, int(records[row, domain])),
                "weight": round(float(weight[row]), 2),
                "context": _by_source(proposed.by_source["context"], domain, place[row]),
                "counts": _by_source(proposed.by_source["counts"], domain, place[row]),
                "read": round(float(read[row]), 2),
                "score": round(float(score[row]), 2),
                "percentile": round(float(model.percentile(score[row : row + 1])), 1),
                "valid": round(float(valid[row]), 2),
                "total": round(float(total[row]), 2),
                "detector_place": by_score.index(int(records[row, domain])) + 1,
            }
            for row in chosen
        ],
        "detector_first": [_text(case, entity) for entity in by_score[:RANKED]],
    }


def _detector_order(case: Case) -> list[int]:
    """What the method `carat` lists, best first: by the detector's score alone."""
    outcome = case.model.method("carat").find(case.ids, Settings(k=200))
    found: list[int] = outcome.counterfactuals[0, outcome.mask[0], case.domain].tolist()
    return found


def _guided(case: Case) -> Guided:
    method = case.model.method("carat-plus")
    assert isinstance(method, Guided)
    return method


def _likeliest(case: Case, source: GraphSource | ContextSource | CountsSource) -> list[dict[str, Any]]:
    found = source.propose(case.ids, case.targets(), Settings().neighbours)
    ids, weight = found.ids[0, case.domain], found.log_weight[0, case.domain]
    share = (weight - weight.logsumexp(dim=0)).exp()
    return [
        {"entity": _text(case, int(entity)), "share": round(float(s), 4)}
        for entity, s in zip(ids[:SHOWN], share, strict=False)
    ]


def _proposed(case: Case, targets: Tensor) -> dict[str, int]:
    """By target domain, how many entities all sources propose, the present one not counting."""
    found = _guided(case).source.propose(case.ids, targets, Settings().neighbours).ids[0]
    present = case.ids[0].long()
    names = case.model.vocabulary.names
    return {
        names[d]: int(((found[d] != MISSING) & (found[d] != present[d])).sum())
        for d in torch.nonzero(targets[0]).flatten().tolist()
    }


def _by_source(weights: Tensor, domain: int, place: int) -> float:
    return round(float(weights[0, domain, place]), 2) + 0.0  # no −0


def _text(case: Case, entity: int) -> str:
    text: str = case.model.vocabulary.domains[case.domain].entities[entity - FIRST].as_py()
    return text
