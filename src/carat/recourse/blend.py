"""How much each opinion on a counterfactual counts, learned where the truth is known.

Held-out records are corrupted, the search lists its counterfactuals, and the record as it was is among them. A
conditional logit over each list gives every opinion the weight under which the truth most often comes first. The
detector's side of the blend keeps its weight, so that the dial between plausible and valid keeps its meaning.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from carat.data.corruption import Anomalies, corrupt
from carat.data.training_data import TrainingData
from carat.explain import targets
from carat.recourse.candidates import UnionSource
from carat.recourse.engine import Guided
from carat.recourse.ranking import Blend, BlendRanking
from carat.recourse.settings import Settings
from carat.recourse.suspects import Suspects, Told, learned

RECORDS = 400
"""Corrupted records that the weights are learned from, at most."""
FEWEST = 50
"""With fewer, the weights stay where they are."""
LISTED = 50
"""Counterfactuals of each."""
PULL = 2.0
"""How firmly weights are held near where they begin: so many records' worth for each doubling or halving."""


def learn_blend(method: Guided, data: TrainingData, *, seed: int = 0) -> Blend:
    """The weights for a method, from the first half of the held-out records."""
    ranking = method.make_ranking(0.5, 0.0)
    assert isinstance(ranking, BlendRanking)
    assert isinstance(method.source, UnionSource)
    begin = ranking.blend
    made = _corrupted(data, seed)
    if made is None:
        return begin
    device = method.pairs.keys.device
    ids, truth, replaced = (each.to(device) for each in (made.ids.long(), made.original.long(), made.corrupted))
    listed = replace(method, explainer=Told(replaced), suspects=None).find(ids, Settings(k=LISTED))
    versions, place = with_truth(listed.counterfactuals, listed.mask, truth)
    there = torch.cat([listed.mask, listed.mask.new_ones((len(ids), 1))], dim=1)
    there[:, -1] = place == versions.shape[1] - 1  # the truth once more, only where it was not listed
    told = _opinions(method, ranking, ids, replaced, versions)
    score = torch.full(there.shape, -torch.inf, device=device)
    score[there] = method.detector.score(versions[there]).to(device)
    valid = ranking.valid(score, method.detector.score(ids).to(device))
    names = list(told)
    weights = [begin.sources[name] if name in begin.sources else begin.opinions[name] for name in names]
    found = _conditional_logit(torch.stack(list(told.values()), dim=2), valid, there, place, torch.tensor(weights))
    weight = dict(zip(names, [round(weight, 4) for weight in found.tolist()], strict=True))
    return Blend(
        {name: weight[name] for name in begin.sources}, {name: weight[name] for name in begin.opinions}, len(made)
    )


def learn_sets(method: Guided, data: TrainingData, *, seed: int = 0) -> dict[str, float]:
    """Weights to choose the domains to change by, for a method whose blend is learned already; none from too little."""
    made = _corrupted(data, seed)
    if made is None:
        return {}
    device = method.pairs.keys.device
    ids, replaced = made.ids.long().to(device), made.corrupted.to(device)
    likelihood = method.explainer.likelihood(ids).to(device)
    score = method.detector.score(ids).to(device)

    def first_fix(rows: Tensor, domains: Tensor) -> tuple[Tensor, Tensor]:
        return method.first_fix(ids[rows], domains, Settings(), score[rows])

    return learned(Suspects(method.explainer, {}).weigh(ids, likelihood, targets(likelihood), first_fix), replaced)


def _corrupted(data: TrainingData, seed: int) -> Anomalies | None:
    """Records of the first held-out half, corrupted; None where they are too few to learn from."""
    # A record must keep at least one entity to be judged by.
    changes = tuple(count for count in (1, 2) if count < len(data.vocabulary))
    if not changes:
        return None
    made = corrupt(data.first_half[:RECORDS], data.vocabulary, data.pairs, changes=changes, seed=seed)
    return made if len(made) >= FEWEST else None


def with_truth(listed: Tensor, mask: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
    """Lists int64 [n, C, m] with the truth [n, m] as one more at the end, and where the truth first stands, [n]."""
    same = (listed == truth[:, None]).all(dim=2) & mask
    place = torch.where(same.any(dim=1), same.int().argmax(dim=1), listed.shape[1])
    return torch.cat([listed, truth[:, None]], dim=1), place


def _opinions(
    method: Guided, ranking: BlendRanking, ids: Tensor, targets: Tensor, versions: Tensor
) -> dict[str, Tensor]:
    """What every source and every reader says of versions [n, C, m] of records ids [n, m], each [n, C]."""
    assert isinstance(method.source, UnionSource)
    weighed = method.source.weighed(ids, targets, versions.transpose(1, 2))
    told = {name: by.masked_fill(~targets[..., None], 0.0).sum(dim=1) for name, by in weighed.items()}
    for name, opinion in ranking.opinions.items():
        told[name] = opinion.read(ids, versions).to(ids.device)
    return told


def _conditional_logit(told: Tensor, fixed: Tensor, there: Tensor, place: Tensor, begin: Tensor) -> Tensor:
    """Weights [F], none below 0, under which the item at `place` [n] of each list is likeliest.

    Args:
        told: opinions, [n, C, F].
        fixed: what is added with a weight of 1, [n, C].
        there: which items exist, bool [n, C].
        place: of the right one, [n].
        begin: the weights to begin with, above 0, [F].
    """
    told, fixed = told.double().cpu().masked_fill(~there.cpu()[..., None], 0.0), fixed.double().cpu()
    there, place = there.cpu(), place.cpu()
    start = begin.double().log()
    log_weight = start.clone().requires_grad_()
    optimizer = torch.optim.LBFGS([log_weight], max_iter=100, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimizer.zero_grad()
        value = (told @ log_weight.exp() + fixed).masked_fill(~there, -torch.inf)
        chosen = value.gather(1, place[:, None]).squeeze(1)
        loss = (value.logsumexp(dim=1) - chosen).sum() + PULL * ((log_weight - start) ** 2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    return log_weight.detach().exp()
