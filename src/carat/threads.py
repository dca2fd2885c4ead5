"""Small pieces of work side by side: several Python threads with one torch thread each.

torch splits every single operation over its threads, and they wait for each other after each. Where the tensors are
small, most of the time is spent on that, and on a busy machine nearly all of it. Whole pieces of work don't wait.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

import torch

Part = TypeVar("Part")
Result = TypeVar("Result")

_lock = threading.Lock()
_inside = 0
_before = 1


@contextmanager
def _one_torch_thread() -> Iterator[int]:
    """One torch thread while anybody is inside; yields how many there were before."""
    global _inside, _before  # noqa: PLW0603 - torch's own number of threads is global, too
    with _lock:
        if _inside == 0:
            _before = torch.get_num_threads()
            torch.set_num_threads(1)
        _inside += 1
    try:
        yield _before
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                torch.set_num_threads(_before)


def side_by_side(
    function: Callable[[Part], Result],
    parts: Sequence[Part],
    done: Callable[[Part], object] | None = None,
    most: int | None = None,
) -> list[Result]:
    """What the function makes of every part, in their order.

    Args:
        function: is called from several threads at once, in as many as torch would use. What it makes of a part must
            not depend on the others.
        parts: of the work.
        done: is called with each part when it and all before it are done, in the caller's thread.
        most: threads, at most.
    """
    if min(len(parts), torch.get_num_threads(), most or len(parts)) < 2:
        return [_told(function(part), part, done) for part in parts]
    with _one_torch_thread() as threads, ThreadPoolExecutor(min(threads, most or threads)) as pool:
        results = _ahead(pool, function, parts, 2 * threads)
        return [_told(result, part, done) for part, result in zip(parts, results, strict=True)]


def _ahead(
    pool: ThreadPoolExecutor, function: Callable[[Part], Result], parts: Iterable[Part], begun_at_once: int
) -> Iterator[Result]:
    """Results in order, never many more begun than are asked for: who stops in between stops the work."""
    left = iter(parts)
    begun: list[Future[Result]] = [pool.submit(function, part) for part in islice(left, begun_at_once)]
    while begun:
        yield begun.pop(0).result()
        begun += [pool.submit(function, part) for part in islice(left, 1)]


def _told(result: Result, part: Part, done: Callable[[Part], object] | None) -> Result:
    if done is not None:
        done(part)
    return result
