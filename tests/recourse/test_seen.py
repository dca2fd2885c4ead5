"""What training saw once is no suggestion while a better one is; models without a judge do not know the rule."""

from __future__ import annotations

from dataclasses import replace

import torch

from carat.data import MISSING
from carat.recourse import Guided, Settings
from carat.recourse.candidates import UnionSource
from carat.recourse.seen import Seen
from carat.testing.parts import counted, judging, model_for, training_data
from tests.support.planted import corrupted

# One domain of five entities (ids 2 to 6), of which 3 and 5 were seen once and 6 only outside training.
SEEN = Seen(torch.tensor([0, 0, 9, 1, 4, 1, 0]), torch.tensor([0]))


def idle(listed: list[int], log_weight: list[float], present: int) -> list[bool]:
    found = SEEN.idle(torch.tensor([[present]]), torch.tensor([[listed]]), torch.tensor([[log_weight]]))
    return found[0, 0].tolist()


def test_seen_once_and_worse_than_a_common_one() -> None:
    assert idle([3, 2, 5], [-1.0, -2.0, -3.0], present=4) == [False, False, True], "the best of all stays"
    assert idle([5, 3], [-1.0, -2.0], present=4) == [False, False], "there is no better one"
    assert idle([2, 3], [-1.0, -2.0], present=2) == [False, False], "the present value is no better one"
    assert idle([6, 4], [-2.0, -1.0], present=2) == [True, False], "not even seen once"
    assert idle([4, 2, MISSING], [-1.0, -1.5, -torch.inf], present=3) == [False, False, False]
    empty = torch.zeros((0, 1, 4), dtype=torch.int64)
    assert SEEN.idle(torch.zeros((0, 1), dtype=torch.int64), empty, empty.float()).shape == (0, 1, 4)


def test_only_methods_with_a_judge_know_it() -> None:
    for name in ("instant", "carat-plus"):
        method = model_for(("memory", "transformer", "graph", "counts")).method(name)
        assert isinstance(method, Guided)
        assert isinstance(method.source, UnionSource)
        assert method.source.seen is not None
        assert torch.equal(method.source.seen.singles, training_data().pairs.singles)
    plain = model_for(("transformer", "graph")).method("carat-plus")
    assert isinstance(plain, Guided)
    assert isinstance(plain.source, UnionSource)
    assert plain.source.seen is None
    assert not isinstance(counted().method("instant").source, UnionSource)  # type: ignore[attr-defined]
    paper = model_for(("memory", "transformer", "graph")).method("carat")
    assert not isinstance(paper.source, UnionSource)  # type: ignore[attr-defined]


def test_nothing_seen_once_is_suggested_where_there_is_better() -> None:
    """The same search with and without the rule: what it drops was seen once, and the rest keeps its order."""
    model = judging()
    method = model.method("instant")
    assert isinstance(method, Guided)
    assert isinstance(method.source, UnionSource)
    ids = model.vocabulary.encode(corrupted()[0]).long()
    targets = torch.ones_like(ids, dtype=torch.bool)
    targets[:, 1:] = False
    rare = model.pairs.singles.clone()
    first = int(model.vocabulary.sizes[0])
    rare[4:first] = 1  # all but the two most frequent entities of the first domain
    strict = UnionSource(method.source.sources, method.source.weights, seen=Seen(rare, model.vocabulary.offsets))
    every = UnionSource(method.source.sources, method.source.weights).propose(ids, targets, 50)
    some = strict.propose(ids, targets, 50)
    dropped = every.mask & ~some.mask
    assert dropped.any()
    assert (every.ids[dropped] >= 4).all()
    assert torch.equal(every.ids[some.mask], some.ids[some.mask])
    assert torch.equal(every.log_weight[some.mask], some.log_weight[some.mask])
    better = every.log_weight.masked_fill(every.ids >= 4, -torch.inf).masked_fill(
        every.ids == ids[..., None], -torch.inf
    )
    assert (every.log_weight < better.amax(dim=2, keepdim=True))[dropped].all()


def test_the_paper_s_method_is_what_it_was() -> None:
    """Nothing of the judge enters `carat`: with and without one, the same to the bit."""
    ids = model_for(("transformer", "graph")).vocabulary.encode(corrupted()[0]).long()
    judged = model_for(("memory", "transformer", "graph"))
    assert judged.explainer is not None
    plain = model_for(("transformer", "graph"))
    beside = judged.explainer.beside_  # type: ignore[attr-defined]
    one = judged.method("carat").find(ids, Settings(k=10))
    other = replace(plain, explainer=beside).method("carat").find(ids, Settings(k=10))
    assert torch.equal(one.counterfactuals, other.counterfactuals)
    assert torch.equal(one.score, other.score)
    assert torch.equal(one.likelihood, other.likelihood)
