"""The graphed step: warm-up, recording, replay; with a stand-in for CUDA's graphs where there is no GPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor

from carat.training.step import WARM_UP, GraphedStep, PlainStep

BATCHES = torch.randn((12, 8, 3), generator=torch.Generator().manual_seed(0))


class Line(torch.nn.Module):
    """Learns the sum of its inputs; a little noise comes from the generator."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(3))

    def loss(self, ids: Tensor, generator: torch.Generator) -> Tensor:
        noise = 0.01 * torch.randn(len(ids), generator=generator, device=ids.device)
        return ((ids @ self.weight - ids.sum(dim=1) + noise) ** 2).mean()


class StandIn:
    """Records by running once, with its effects undone, and replays by running again: what a CUDA graph does."""

    recording: StandIn | None = None

    def __init__(self) -> None:
        self.replays = 0
        self.states: list[torch.Generator] = []
        self.work: Any = None

    def register_generator_state(self, generator: torch.Generator) -> None:
        self.states.append(generator)

    def replay(self) -> None:
        self.replays += 1
        self.work()


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> list[StandIn]:
    """CUDA's names, without CUDA; the graphs that are made."""
    made: list[StandIn] = []

    def graph_of() -> StandIn:
        made.append(StandIn())
        return made[-1]

    class Stream:
        def wait_stream(self, other: object) -> None:
            pass

    @contextmanager
    def on(stream: object) -> Iterator[None]:
        yield

    @contextmanager
    def recording(graph: StandIn) -> Iterator[None]:
        StandIn.recording = graph
        yield
        StandIn.recording = None

    for name, value in (
        ("CUDAGraph", graph_of),
        ("Stream", Stream),
        ("current_stream", Stream),
        ("stream", on),
        ("graph", recording),
    ):
        monkeypatch.setattr(torch.cuda, name, value)
    call = PlainStep.__call__

    def capturing(step: PlainStep, batch: Tensor) -> Tensor:
        graph = StandIn.recording
        if graph is None:
            return call(step, batch)
        result = torch.zeros(())

        def work() -> None:
            result.copy_(call(step, batch))

        graph.work = work
        return result

    monkeypatch.setattr(PlainStep, "__call__", capturing)
    return made


def trained(step: type[PlainStep], sizes: list[int], **options: Any) -> tuple[Line, list[float]]:
    network = Line()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(1)
    do = step(network.loss, optimizer, generator, **options)
    return network, [float(do(BATCHES[number, :size])) for number, size in enumerate(sizes)]


SIZES = [8, 8, 5, 8, 8, 8, 3, 8, 8]


def test_a_graphed_run_is_a_plain_run(stand_in: list[StandIn]) -> None:
    plain, expected = trained(PlainStep, SIZES)
    graphed, losses = trained(GraphedStep, SIZES, size=8)
    assert losses == pytest.approx(expected, rel=0.05), "bfloat16 products, where they count"
    torch.testing.assert_close(graphed.weight, plain.weight, rtol=0.05, atol=0.05)


def test_full_batches_are_replayed_short_ones_are_not(stand_in: list[StandIn]) -> None:
    trained(GraphedStep, SIZES, size=8)
    (graph,) = stand_in
    assert graph.replays == SIZES.count(8) - WARM_UP
    assert len(graph.states) == 1, "its draws follow the generator"


def test_nothing_is_recorded_while_it_warms_up(stand_in: list[StandIn]) -> None:
    trained(GraphedStep, [8] * WARM_UP, size=8)
    assert not stand_in


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_on_a_gpu_the_graph_learns_what_the_plain_step_learns() -> None:
    found = []
    for step, options in ((PlainStep, {"mixed": True}), (GraphedStep, {"size": 8})):
        network = Line().cuda()
        rate = torch.tensor(0.1, device="cuda")
        optimizer = torch.optim.Adam(network.parameters(), lr=rate, capturable=True)
        do = step(network.loss, optimizer, torch.Generator("cuda").manual_seed(1), **options)
        for batch in BATCHES.cuda():
            do(batch)
        found.append(network.weight.detach().cpu())
    torch.testing.assert_close(found[0], found[1], rtol=0.05, atol=0.05)
