"""Where a method's time goes, stage by stage, and what each stage moves and multiplies."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from carat.detectors import FittedDetector
from carat.explain import FittedExplainer, Judge, TransformerExplainer
from carat.explain.transformer import FrozenExplainer
from carat.fitting import Model
from carat.recourse import Guided, engine
from carat.recourse.candidates import ContextSource, CountsSource, GraphSource, UnionSource
from carat.recourse.ranking import BlendRanking, DetectorRanking
from carat.recourse.recollection import MemorySource, Together, Witnessed
from carat.recourse.suspects import Suspects

SUSPECTS = "suspects"
FUSED = "aten::_transformer_encoder_layer_fwd"
STAGES: tuple[tuple[str, Any, str], ...] = (
    ("alarm", Judge, "alarm"),
    ("explain", FittedExplainer, "likelihood"),
    ("explain", FrozenExplainer, "likelihood"),
    (SUSPECTS, Suspects, "choose"),
    ("propose: union", UnionSource, "propose"),
    *(
        (f"propose: {name}", source, function)
        for name, source in (
            ("graph", GraphSource),
            ("context", ContextSource),
            ("counts", CountsSource),
            ("memory", MemorySource),
        )
        for function in ("propose", "weigh", "opinion")
        if hasattr(source, function)
    ),
    ("search", engine, "search"),
    ("score", FittedDetector, "score"),
    ("rank", DetectorRanking, "order"),
    ("rank", BlendRanking, "order"),
    ("reading", TransformerExplainer, "read"),
    ("together", Together, "read"),
    ("witnesses", Witnessed, "read"),
    ("the rest of the search", Guided, "find"),
)
"""Name, and what is timed under it; what is timed inside another stage does not count for that one."""


class Stages:
    """Takes the time, or counts the work, of every stage while it is entered."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.seconds: dict[str, float] = defaultdict(float)
        self.flops: dict[str, float] = defaultdict(float)
        self.bytes: dict[str, float] = defaultdict(float)
        self._open = ["around the method"]
        self._since = 0.0

    @property
    def now(self) -> str:
        """The stage under way; those inside the choice of domains are told apart."""
        inside = SUSPECTS in self._open[:-1]
        return f"{SUSPECTS}: {self._open[-1]}" if inside else self._open[-1]

    def _tick(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        now = time.perf_counter()
        self.seconds[self.now] += now - self._since
        self._since = now

    @contextmanager
    def watching(self) -> Iterator[Stages]:
        """Every stage is timed."""
        before = [(owner, name, vars(owner)[name]) for _, owner, name in STAGES if name in vars(owner)]
        try:
            for stage, owner, name in STAGES:
                if name in vars(owner):
                    setattr(owner, name, self._timed(stage, vars(owner)[name]))
            self._since = time.perf_counter()
            yield self
            self._tick()
        finally:
            for owner, name, function in before:
                setattr(owner, name, function)

    def _timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            self._tick()
            self._open.append(stage)
            try:
                return function(*arguments, **named)
            finally:
                self._tick()
                self._open.pop()

        return timed

    def shares(self) -> dict[str, float]:
        """Share of the time by stage, the longest first."""
        whole = sum(self.seconds.values())
        return {name: round(each / whole, 3) for name, each in sorted(self.seconds.items(), key=lambda of: -of[1])}


class Counting(TorchDispatchMode):
    """Adds what every operation reads and writes, and what it multiplies, to the stage under way."""

    def __init__(self, stages: Stages) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.stages = stages

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """One operation; views move nothing."""
        found = func(*args, **(kwargs or {}))
        if func.is_view:
            return found
        moved = sum(each.numel() * each.element_size() for each in (*_tensors(args), *_tensors(found)))
        self.stages.bytes[self.stages.now] += moved
        count = flop_registry.get(func._overloadpacket)
        if func.name() == FUSED:
            # A whole layer at once, of which only what goes in and comes out is seen to move.
            tokens = args[0].shape[0] * args[0].shape[1]
            weights = sum(each.numel() for each in _tensors(args) if each.dim() == 2)
            self.stages.flops[self.stages.now] += 2 * tokens * weights
        elif count is not None:
            self.stages.flops[self.stages.now] += count(*args, **(kwargs or {}), out_val=found)
        return found


def _tensors(held: Any) -> Iterator[Tensor]:
    if isinstance(held, Tensor):
        yield held
    elif isinstance(held, list | tuple):
        for each in held:
            yield from _tensors(each)


def bound(model: Model, call: Callable[[], object]) -> dict[str, dict[str, float | str]]:
    """What bounds each stage of a call: gigabytes and gigaflops, and the seconds of each at the machine's own pace.

    Several Python threads count as one: while it counts, the call has one.
    """
    stages = Stages(model.device)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with stages.watching(), Counting(stages):
            call()
    finally:
        torch.set_num_threads(threads)
    copy, product = pace(model.device)
    return {
        name: {
            "gigabytes": round(stages.bytes[name] / 1e9, 3),
            "gigaflops": round(stages.flops[name] / 1e9, 3),
            "seconds_to_move": round(stages.bytes[name] / copy, 4),
            "seconds_to_multiply": round(stages.flops[name] / product, 4),
            "bound": "memory" if stages.bytes[name] / copy > stages.flops[name] / product else "arithmetic",
        }
        for name in stages.shares()
    }


def pace(device: torch.device) -> tuple[float, float]:
    """Bytes a second that a copy reads and writes, and operations a second of a product of matrices."""
    size = 4_096 if device.type == "cuda" else 1_024
    block, left = torch.ones(1 << 26, device=device), torch.ones((size, size), device=device)
    return 2 * block.numel() * 4 / _fastest(block.clone, device), 2 * size**3 / _fastest(lambda: left @ left, device)


def _fastest(function: Callable[[], object], device: torch.device) -> float:
    best = float("inf")
    for _ in range(5):
        began = time.perf_counter()
        function()
        if device.type == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - began)
    return best
