"""Work side by side: the same answers in the same order, and torch as it was."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
import torch

from carat.threads import side_by_side


@pytest.fixture(autouse=True)
def two_torch_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_results_come_in_the_order_of_the_parts() -> None:
    def late_first(part: int) -> int:
        time.sleep(0.02 if part == 0 else 0.0)
        return part * part

    told: list[int] = []
    assert side_by_side(late_first, range(20), told.append) == [part * part for part in range(20)]
    assert told == list(range(20))


def test_parts_really_run_at_once_each_with_one_torch_thread() -> None:
    both = threading.Barrier(2, timeout=20)  # breaks unless two are inside at the same time
    seen: list[int] = []

    def wait(part: int) -> None:
        both.wait()
        seen.append(torch.get_num_threads())

    side_by_side(wait, range(4))
    assert seen == [1, 1, 1, 1]
    assert torch.get_num_threads() == 2


def test_a_single_thread_is_enough_where_no_more_are_allowed() -> None:
    caller = threading.get_ident()
    assert side_by_side(lambda _: threading.get_ident(), range(3), most=1) == [caller] * 3
    torch.set_num_threads(1)
    assert side_by_side(lambda _: threading.get_ident(), range(3)) == [caller] * 3


def test_an_error_reaches_the_caller_and_stops_the_rest() -> None:
    begun: list[int] = []

    def fails(part: int) -> None:
        begun.append(part)
        if part == 1:
            raise ValueError("part 1")

    with pytest.raises(ValueError, match="part 1"):
        side_by_side(fails, range(1_000))
    assert len(begun) < 20
    assert torch.get_num_threads() == 2


def test_many_callers_leave_torch_as_it_was() -> None:
    callers = [threading.Thread(target=side_by_side, args=(torch.ones, list(range(1, 30)))) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert torch.get_num_threads() == 2
