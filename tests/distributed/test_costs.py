"""What Python does in a collective does not grow with the number of processes: bytecodes are counted, not times."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

import semiring as sr
from benchmarks.cases.collectives import replied
from semiring.distributed import Grid, run
from semiring.distributed.mpi import MpiCommunicator, _Channel
from semiring.distributed.sockets import Endpoint
from tests.distributed.grids import ranks_are_threads
from tests.distributed.test_sockets import in_threads

__all__ = ["ranks_are_threads"]

# The bytecodes of a collective and of a message at most: about 65 of CPython 3.11 take a microsecond with the calls
# into C between them, so a collective takes at most 10 (`python -m benchmarks collectives --replied 512`).
MOST, MOST_OF_A_MESSAGE = 650, 900


def bytecodes(function: Callable[[], Any]) -> int:
    """Return the number of bytecodes that a call executes."""
    count = 0

    def traced(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("name", list(replied(2)))
def test_a_collective_costs_as_much_on_512_processes_as_on_4(name: str) -> None:
    few, many = replied(4)[name], replied(512)[name]
    for call in (few, many) * 2:  # links are made, checksums kept, and bytecodes specialized
        call()
    assert bytecodes(few) == bytecodes(many)
    messages = 2 * ("with 2" in name) + ("bcast" in name)
    assert 20 < bytecodes(many) <= MOST + MOST_OF_A_MESSAGE * messages


def test_a_process_sends_log2_messages_over_sockets() -> None:
    def body(endpoint: Endpoint) -> int:
        group, sent, send = MpiCommunicator(_Channel(endpoint), False), list[int](), endpoint.Isend

        def counted(content: Any, rank: int, tag: int) -> Any:
            sent.append(rank)
            return send(content, rank, tag)

        endpoint.Isend = counted  # type: ignore[method-assign]
        assert group.sum(endpoint.rank) == 21
        assert group.allgather_array(np.array([endpoint.rank])).tolist() == [[rank] for rank in range(7)]
        return len(sent)

    # Sums of 7 processes in 3 rounds, twice; and an all-gather of 3.
    assert in_threads(7, body) == [9] * 7


def test_a_product_meets_only_the_processes_of_its_row_and_column() -> None:
    """Of 16 processes each has the vector of 3 others of its column, and sends sums to 3 of its row, or itself."""

    def program(grid: Grid) -> int:
        A = sr.random.kronecker(8, 8, seed=1, device=grid.device)
        x = sr.Vector.full(1.0, 256, device=grid.device).dup(float)
        A.mxv(x, "plus_second").new()
        before = grid.traffic.messages
        A.mxv(x, "plus_second").new()
        return grid.traffic.messages - before

    assert max(run(16, program)) <= 4 + 3
