"""Every number of the pictures, from a model that was really fitted and one record that really took off.

What comes back is plain JSON, rounded once: the pictures are drawn from it and from nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

from carat import Model, fit
from carat.data import Table, open_source
from carat.data.vocabulary import FIRST
from carat.datasets import flights
from carat.detectors.ape import Ape, ApeNetwork
from carat.explain import TransformerExplainer
from carat.graph import KnowledgeGraph
from steps.later import later
from steps.search import combinations, ranking, sources
from steps.settings import settings

TRAIN_ROWS = 30_000
EPOCHS = (9, 4, 5)
"""The profile `fast` with fewer epochs, as in `carat demo`: good enough to follow by eye, fitted in minutes."""
ROW = 30_152
"""The departure, as a row of the flights; it was chosen because every step of it can be told in a sentence."""
DOMAIN, REPLACEMENT = "Dest", "ALB"
BINS = 30


@dataclass(frozen=True)
class Case:
    """The one record that the page follows.

    Args:
        model: the fitted model.
        ids: with the entity replaced, int32 [1, m].
        original: as it was, int32 [1, m].
        domain: number of the domain that was replaced.
    """

    model: Model
    ids: Tensor
    original: Tensor
    domain: int

    @classmethod
    def of(cls, model: Model) -> Case:
        """The departure `ROW`, with `REPLACEMENT` put in."""
        table = Table.read(open_source(flights().table.slice(ROW, 1)), model.schema, model.vocabulary)
        domain = model.vocabulary.names.index(DOMAIN)
        ids = table.ids.clone()
        place = model.vocabulary.domains[domain].entities.index(REPLACEMENT).as_py()
        ids[0, domain] = place + FIRST
        return cls(model, ids, table.ids, domain)

    @property
    def ape(self) -> ApeNetwork:
        """The detector's network: the page tells how its score is made."""
        assert isinstance(self.model.detector, Ape)
        network = self.model.detector.network_
        assert isinstance(network, ApeNetwork)
        return network

    @property
    def explainer(self) -> TransformerExplainer:
        """The trained explainer."""
        assert isinstance(self.model.explainer, TransformerExplainer)
        return self.model.explainer

    @property
    def graph(self) -> KnowledgeGraph:
        """The entity graph."""
        assert self.model.graph is not None
        return self.model.graph

    def targets(self, *more: str) -> Tensor:
        """The replaced domain, and others by name, as targets; bool [1, m]."""
        chosen = torch.zeros(self.ids.shape, dtype=torch.bool)
        names = self.model.vocabulary.names
        chosen[0, [self.domain, *(names.index(name) for name in more)]] = True
        return chosen

    def texts(self, ids: Tensor) -> list[str]:
        """A record's entities, in the order of the domains."""
        return [column[0].as_py() for column in self.model.vocabulary.decode(ids).values()]


def fit_model() -> Model:
    """The model of the page, from scratch: seed 0, about three minutes on two cores."""
    dataset = flights()
    return fit(
        dataset.table.slice(0, TRAIN_ROWS),
        domains=dataset.schema.domains,
        time=dataset.schema.time,
        metapaths=dataset.schema.metapaths,
        explainer=TransformerExplainer(epochs=EPOCHS),
    )


def measure(model: Model) -> dict[str, Any]:
    """All that the pictures and the page say of this run."""
    case = Case.of(model)
    return {
        "settings": settings(case),
        "run": _run(case),
        "record": _record(case),
        "score": _score(case),
        "later": later(case),
        "likelihood": _likelihood(case),
        "sources": sources(case),
        "combinations": combinations(case),
        "ranking": ranking(case),
        "evidence": _evidence(case),
    }


def _run(case: Case) -> dict[str, Any]:
    training, vocabulary = case.model.training, case.model.vocabulary
    return {
        "rows": TRAIN_ROWS,
        "trained_on": training["records"],
        "held_out": training["held_out"],
        "seed": training["seed"],
        "epochs": list(EPOCHS),
        "domains": len(vocabulary),
        "entities": vocabulary.entities,
        "of": flights().table.num_rows,
    }


def _record(case: Case) -> dict[str, Any]:
    vocabulary = case.model.vocabulary
    seen = case.model.pairs.singles[(case.ids.long() + vocabulary.offsets)[0]]
    return {
        "row": ROW,
        "date": flights().table.slice(ROW, 1)["Date"][0].as_py().isoformat(),
        "domain": DOMAIN,
        "true": case.texts(case.original)[case.domain],
        "true_id": int(case.original[0, case.domain]),
        "replacement": REPLACEMENT,
        "entities": [
            {"domain": domain.name, "entity": text, "id": int(number), "of": len(domain.entities), "seen": int(count)}
            for domain, text, number, count in zip(
                vocabulary.domains, case.texts(case.ids), case.ids[0], seen, strict=True
            )
        ],
    }


def _score(case: Case) -> dict[str, Any]:
    model = case.model
    both = torch.cat([case.original, case.ids])
    before, after = model.detector.score(both)
    low, high = float(model.reference[0]), float(model.reference[-1])
    counts = torch.histc(model.reference.double(), BINS, low, high)
    percentile = model.percentile(torch.stack([before, after])).tolist()
    network = case.ape
    with torch.no_grad():
        vectors = network.vectors_of(both.long(), torch.ones_like(both, dtype=torch.bool))  # [2, m, dim]
        shares = (vectors[:, case.domain, None] * vectors).sum(dim=2) * network.weights()[case.domain]
    names, texts = model.vocabulary.names, case.texts(case.ids)
    pairs: list[dict[str, Any]] = [
        {"domain": names[d], "entity": texts[d], "before": _round(shares[0, d]), "after": _round(shares[1, d])}
        for d in range(len(names))
        if d != case.domain
    ]
    pairs.sort(key=lambda pair: pair["after"] - pair["before"])
    kept = [float(before - shares[0].sum()), float(after - shares[1].sum())]
    assert abs(kept[0] - kept[1]) < 1e-3, "only the pairs of the replaced entity may change"
    return {
        "low": _round(low),
        "high": _round(high),
        "counts": [int(count) for count in counts],
        "threshold": _round(model.threshold_score),
        "before": _round(before),
        "after": _round(after),
        "percentile_before": round(percentile[0], 1),
        "percentile_after": round(percentile[1], 2),
        "below_after": int((model.reference <= after).sum()),
        "all_pairs": len(names) * (len(names) - 1) // 2,
        "pairs": pairs,
        "other_pairs": _round(kept[0]),
        "sum_before": _round(shares[0].sum()),
        "sum_after": _round(shares[1].sum()),
    }


def _likelihood(case: Case) -> dict[str, Any]:
    tuned, frozen = case.explainer.likelihood(case.ids)[0], case.explainer.frozen.likelihood(case.ids)[0]
    return {
        "tuned": [_round(value, 4) for value in tuned],
        "frozen": [_round(value, 4) for value in frozen],
        "true": _round(case.explainer.likelihood(case.original)[0, case.domain], 4),
    }


def _evidence(case: Case) -> dict[str, Any]:
    """What `carat recourse` says of the record, and the counts behind it."""
    model = case.model
    frame = flights().table.slice(ROW, 1).select(model.vocabulary.names).to_pylist()[0]
    result = model.recourse(pa.Table.from_pylist([{**frame, DOMAIN: REPLACEMENT}]), all=True)
    explained = result.explain(0, show=3)
    offsets, names, texts = model.vocabulary.offsets, model.vocabulary.names, case.texts(case.ids)
    rows = (torch.cat([case.ids, case.original]).long() + offsets)[:, case.domain]
    counts = []
    for number, name in enumerate(names):
        if number != case.domain:
            own = case.ids[0, number].long() + offsets[number]
            now, then = model.pairs.count(rows, own.expand(2)).tolist()
            seen = int(model.pairs.singles[own])
            counts.append({"domain": name, "entity": texts[number], "seen": seen, "now": now, "true": then})
    return {
        "words": explained.entities[case.domain].in_words(),
        "counts": counts,
        "alike": _alike(case),
        "listed": result.records[0]["count"],
        "counterfactuals": [
            {
                "entity": change.changes[DOMAIN][1],
                "percentile": round(change.percentile, 1),
                "valid": change.valid,
                "support": change.support[DOMAIN],
            }
            for change in explained.counterfactuals
        ],
    }


def _alike(case: Case) -> dict[str, int]:
    """Where the departures went that training saw with the same carrier, model, origin and hour."""
    texts = dict(zip(case.model.vocabulary.names, case.texts(case.ids), strict=True))
    table = flights().table.slice(0, TRAIN_ROWS)
    for name in ("Carrier", "Model", "Origin", "SchedHour"):
        table = table.filter(pc.equal(table[name], texts[name]))
    return {pair["values"]: pair["counts"] for pair in table[DOMAIN].value_counts().to_pylist()}


def _round(value: Tensor | float, digits: int = 2) -> float:
    return round(float(value), digits) + 0.0  # no −0
