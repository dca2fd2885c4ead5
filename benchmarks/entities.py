"""A domain of many entities: what a training step costs, how good its loss is, and what the search in the graph finds.

    python benchmarks/entities.py steps [--sizes 5000,10000,…]
    python benchmarks/entities.py estimate [--size 20000]
    python benchmarks/entities.py graph [--size 1000000] [--spread 0.5 | --epochs 2]

`steps` times a step of the transformer's first stage with the exact softmax and with the sampled one. `estimate`
trains by the exact softmax and compares loss and gradient of the sampled one with it. `graph` plants vectors in a
graph, groups around centres, and prints recall@100 of FAISS against the exact search, and the time of both.
With `--epochs` the graph is trained instead.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

os.environ.setdefault("GOMP_SPINCOUNT", "1000")

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from carat.data import Columns, Table, TrainingData, open_source, scan
from carat.data.vocabulary import FIRST
from carat.explain.encoder import RowEncoder
from carat.explain.reconstruction import ReconstructionNetwork, ReconstructionTask
from carat.graph import KnowledgeGraph
from carat.graph.neighbours import Neighbours
from carat.training import Plan, Run, train
from carat.training.loop import pace

BATCH, NEVER = 256, 10**9


def shipments(size: int, rows: int, seed: int = 0) -> TrainingData:
    """`size` parts, some far more frequent than others, each made by one of 200 makers; and two small domains."""
    rng = np.random.default_rng(seed)
    drawn = (size ** rng.random(rows)).astype(np.int64) - 1
    part = np.concatenate([np.arange(size), drawn])  # every one is there
    maker = part % 200
    table = pa.table(
        {
            "Part": pa.array(part).cast(pa.string()),
            "Maker": [f"m{each}" for each in maker],
            "Country": [f"c{each % 20}" for each in maker],
            "Means": [f"by {each}" for each in rng.integers(0, 4, len(part))],
        }
    )
    source = open_source(table)
    found = scan(source, Columns(domains=table.column_names))
    ids = Table.read(source, found.schema, found.vocabulary, found.rows).ids
    return TrainingData.split(ids, found.vocabulary)


def network(data: TrainingData, sampled_above: int, samples: int = 4_096) -> ReconstructionNetwork:
    """The first stage of `fast`."""
    torch.manual_seed(0)
    encoder = RowEncoder(data.vocabulary, dim=32, layers=2, heads=4, dropout=0.0)
    task = ReconstructionTask(sampled_above=sampled_above, samples=samples)
    return ReconstructionNetwork(data.vocabulary, encoder, task)


def steps(sizes: list[int]) -> list[dict[str, float]]:
    """Milliseconds a step, the better of two."""
    found = []
    for size in sizes:
        data = shipments(size, 20_000)
        line: dict[str, float] = {"entities": size}
        for name, above in (("exact", NEVER), ("sampled", 0)):
            if size > 200_000 and name == "exact":
                continue
            plan = Plan(epochs=1, batch_size=BATCH)
            taken = [pace(network(data, above), data.train, plan, Run(), stage=name) for _ in range(2)]
            line[name] = round(1000 * min(taken), 1)
        print(json.dumps(line), flush=True)
        found.append(line)
    return found


def estimate(size: int) -> None:
    """Of the sampled loss, at a trained network: its error, and how far its gradient points elsewhere."""
    data = shipments(size, 60_000)
    trained = network(data, NEVER)
    plan = Plan(epochs=1, steps=400, batch_size=BATCH, learning_rate=3e-3)
    train(trained, data.train, plan, Run(), stage="exact")
    batch = data.train[torch.randperm(len(data.train), generator=torch.Generator().manual_seed(1))[:BATCH]]
    exact, slope = _slope(trained, batch, 0)
    for samples in (512, 4_096, 32_768):
        other = network(data, 0, samples)
        other.load_state_dict(trained.state_dict())
        # The same corruptions, other draws: what is drawn comes after them.
        found = [_slope(other, batch, 0, skip) for skip in range(8)]
        losses = np.array([loss for loss, _ in found])
        along = [float(torch.cosine_similarity(slope, each, dim=0)) for _, each in found]
        line = {
            "samples": samples,
            "exact": exact,
            "loss": losses.mean(),
            "spread": losses.std(),
            "cosine": np.mean(along),
        }
        print(json.dumps({name: round(float(value), 4) for name, value in line.items()}), flush=True)


def _slope(made: ReconstructionNetwork, batch: Tensor, seed: int, skip: int = 0) -> tuple[float, Tensor]:
    made.zero_grad()
    if made.likely is not None:
        draw = made.likely.draw

        def other(domain: int, count: int, _: torch.Generator) -> tuple[Tensor, Tensor]:
            return draw(domain, count, torch.Generator().manual_seed(1_000 * skip + domain))

        made.likely.draw = other  # type: ignore[method-assign, assignment]
    loss = made.loss(batch, torch.Generator().manual_seed(seed))
    loss.backward()
    if made.likely is not None:
        made.likely.draw = draw  # type: ignore[method-assign]
    return float(loss.detach()), torch.cat([each.grad.flatten() for each in made.parameters() if each.grad is not None])


def planted_graph(size: int, spread: float) -> KnowledgeGraph:
    """A graph of `size` parts whose vectors are set as training would set them: groups around centres."""
    data = shipments(size, 1_000)
    graph = KnowledgeGraph(metapaths=[["Part", "Maker"]], epochs=1, dim=64)
    graph.metapaths_, graph.device_ = (("Part", "Maker"),), torch.device("cpu")
    graph._build(data.vocabulary, data.pairs)
    generator = torch.Generator().manual_seed(0)
    vectors = graph.network_.entities.detach()
    centres = torch.randn((200, 64), generator=generator)
    group = torch.randint(200, (size,), generator=generator)
    noise = torch.randn((size, 64), generator=generator)
    length = 0.5 + torch.rand((size, 1), generator=generator)
    first = int(graph.offsets_[0]) + FIRST
    vectors[first : first + size] = length * (centres[group] + spread * noise)
    makers = int(graph.offsets_[1]) + FIRST
    vectors[makers : makers + 200] = centres + spread * torch.randn((200, 64), generator=generator)
    graph.linked_[:] = True
    return graph


def trained_graph(size: int, epochs: int) -> KnowledgeGraph:
    """A graph of `size` parts, really trained."""
    return KnowledgeGraph(metapaths=[["Part", "Maker"]], epochs=epochs).fit(shipments(size, 1_000))


def graph(made: KnowledgeGraph, size: int) -> None:
    """From makers to parts: recall@100, and seconds for 200 questions."""
    ids = torch.arange(FIRST, FIRST + 200)
    found, line = {}, {"entities": float(size)}
    for name, above in (("exact", NEVER), ("faiss", 0)):
        search = Neighbours(made, approximate_above=above)
        began = time.perf_counter()
        search.search(ids[:1], 1, 0, 100)
        line[f"{name} first"] = time.perf_counter() - began
        began = time.perf_counter()
        found[name] = search.search(ids, 1, 0, 100)[0]
        line[f"{name} seconds"] = time.perf_counter() - began
        if search._probes:
            line["share of lists"] = next(iter(search._probes.values())) / int(size**0.5)
    shared = [len(set(a) & set(b)) / 100 for a, b in zip(found["exact"].tolist(), found["faiss"].tolist(), strict=True)]
    line["recall@100"] = sum(shared) / len(shared)
    print(json.dumps({name: round(value, 4) for name, value in line.items()}), flush=True)


def main() -> None:
    """As the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("steps", "estimate", "graph"))
    parser.add_argument("--sizes", default="5000,10000,20000,50000,100000")
    parser.add_argument("--size", type=int)
    parser.add_argument("--spread", type=float, default=0.5)
    parser.add_argument("--epochs", type=int)
    given: Any = parser.parse_args()
    if given.what == "steps":
        steps([int(size) for size in given.sizes.split(",")])
    elif given.what == "estimate":
        estimate(given.size or 20_000)
    else:
        size = given.size or 1_000_000
        graph(planted_graph(size, given.spread) if given.epochs is None else trained_graph(size, given.epochs), size)


if __name__ == "__main__":
    main()
