"""Arrays that are copied from the memory of other processes: threads are the ranks, and streams are late on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.distributed import Grid
from semiring.distributed.communicator import Communicator, Failed
from semiring.distributed.ipc_buffers import LEAST, parts_of_chunk
from semiring.distributed.peer import PeerCommunicator, usable
from semiring.distributed.threads import ThreadCommunicator, run_ranks
from semiring.exceptions import OutOfMemory
from tests import sampling
from tests.distributed import streams
from tests.distributed.messages import message, same, turns

# Whose streams go on at once: all, none, one rank's, all but one rank's.
SCHEDULES: dict[str, Callable[[int], bool]] = {
    "all": lambda rank: True,
    "none": lambda rank: False,
    "rank 0": lambda rank: rank == 0,
    "all but rank 0": lambda rank: rank != 0,
}

SAMPLE = sampling.draw("schedules of late streams", list(SCHEDULES)[1:], 1)
by_schedule = pytest.mark.parametrize(
    "schedule", [pytest.param(name, marks=sampling.marks(name, SAMPLE)) for name in SCHEDULES]
)


@pytest.fixture(autouse=True)
def on_cpu(engine: str) -> None:
    if engine == "cuda":
        pytest.skip("NumPy stands for CuPy")


def run(count: int, program: Any, devices: streams.Devices, capacity: int = 1 << 40) -> list[Any]:
    """Run a program on ranks that copy from each other, and let all streams finish."""

    def rank(communicator: Communicator) -> Any:
        return program(PeerCommunicator(communicator, streams.library(devices, communicator.rank, capacity)))

    results = run_ranks(count, rank)
    devices.finish()
    return results


def wrong(kept: list[list[tuple[Any, Any]]]) -> int:
    """Return how many messages are not what was sent."""
    return sum(not same(np, found, expected) for each in kept for found, expected in each)


@by_schedule
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_all_bytes_arrive(count: int, schedule: str) -> None:
    devices = streams.Devices(SCHEDULES[schedule])
    kept = run(count, lambda group: turns(group, np, range(12), 5000), devices)
    assert sum(map(len, kept)) == 12 * count**2
    assert wrong(kept) == 0
    assert devices.host_waits == 0
    assert devices.held() == (count * 2 * LEAST if count > 1 else 0)


@pytest.mark.parametrize("seed", [pytest.param(k, marks=sampling.marks(k, [0])) for k in range(3)])
def test_halves_are_used_again(seed: int) -> None:
    devices = streams.Devices(seed=seed)
    assert wrong(run(3, lambda group: turns(group, np, range(200), 2000), devices)) == 0
    assert devices.host_waits == 0


def one_way(group: Communicator) -> list[tuple[Any, Any]]:
    """Rank 0 sends to the others, which send nothing: only read[half] keeps it from writing too early."""
    kept = []
    for turn in range(8):
        found = group.bcast(message(np, 1000 + turn, 0, 0, 5000) if group.rank == 0 else None, 0)
        kept.append((found, message(np, 1000 + turn, 0, 0, 5000)))
    return kept


@by_schedule
def test_one_sends_to_all(schedule: str) -> None:
    assert wrong(run(3, one_way, streams.Devices(SCHEDULES[schedule]))) == 0


@pytest.mark.parametrize("ignored", ["copy", "write"])
def test_every_wait_is_needed(ignored: str) -> None:
    found = {}
    for name, first in SCHEDULES.items():
        found[name] = wrong(run(2, one_way, streams.Devices(first, ignored=ignored)))
    assert any(found.values()), found


def arrays_of(*sizes: int) -> Callable[[Any], list[tuple[Any, Any]]]:
    """Return a program that sends arrays of these bytes to all, a call each."""

    def of(turn: int, rank: int, size: int) -> Any:
        values = np.random.default_rng((turn, rank)).integers(0, 255, size, np.uint8)
        return {"turn": turn, "arrays": [values[: size // 3], values[size // 3 :]], "of host": np.zeros(0), "twice": ()}

    def program(group: Communicator) -> list[tuple[Any, Any]]:
        kept = []
        for turn, size in enumerate(sizes):
            # Rank 0 alone sends larger arrays than the others.
            found = group.allgather(of(turn, group.rank, size if group.rank == 0 else min(size, 500)))
            kept += [(found[k], of(turn, k, size if k == 0 else min(size, 500))) for k in range(group.size)]
        return kept

    return program


@by_schedule
def test_arenas_grow(schedule: str) -> None:
    devices = streams.Devices(SCHEDULES[schedule])
    sizes = [10, LEAST, LEAST + 1, 10, 3 * LEAST, 10, 10, 10]
    assert wrong(run(3, arrays_of(*sizes), devices)) == 0
    # What rank 0 had before has been freed: once the others have closed it.
    assert devices.held() == (4 + 1 + 1) * 2 * LEAST
    assert len(devices.memories) == 5


@by_schedule
def test_layouts_of_several_chunks(schedule: str) -> None:
    devices = streams.Devices(SCHEDULES[schedule])
    sizes = [5 * LEAST, 10, 2 * LEAST, 3 * LEAST + 7, 10]
    assert wrong(run(3, arrays_of(*sizes), devices, capacity=1)) == 0
    assert devices.held() == 3 * 2 * LEAST
    assert devices.host_waits == 0


@by_schedule
def test_layouts_that_no_memory_is_left_for(schedule: str) -> None:
    devices = streams.Devices(SCHEDULES[schedule])
    devices.limit = 7 * LEAST
    assert wrong(run(3, arrays_of(10, 3 * LEAST, 3 * LEAST, 10), devices)) == 0
    assert devices.held() == 6 * LEAST
    assert devices.refused == 2  # halves of 4 and 2 MiB, once each

    devices = streams.Devices(SCHEDULES[schedule])
    devices.limit = LEAST
    with pytest.raises(OutOfMemory):
        run(2, arrays_of(10), devices)


def test_large_arrays_from_one_to_one_of_several() -> None:
    """All take part in the chunks, and close an arena that was replaced, whatever they are sent."""
    large = np.random.default_rng(1).integers(0, 255, 5 * LEAST, np.uint8)
    kept: list[tuple[int, list[Any]]] = []

    def program(group: Communicator) -> int:
        for sizes in ((7, None, 300), (5 * LEAST, None, None), (7, None, None), (5 * LEAST, None, 300)):
            sent = [None if size is None else large[:size] for size in sizes]
            kept.append((group.rank, group.alltoall(sent if group.rank == 1 else [None] * 3)))
        return group.traffic.bytes

    for capacity, held in ((1, 2), (1 << 40, 16)):
        devices = streams.Devices(SCHEDULES["none"])
        assert run(3, program, devices, capacity) == [0, 2 * (7 + 300 + 5 * LEAST), 0]
        assert devices.held() == held * LEAST
        for rank, size in ((0, 7), (0, 5 * LEAST), (0, 7), (0, 5 * LEAST), (2, 300), (2, None), (2, None), (2, 300)):
            place = next(place for place, (reader, _) in enumerate(kept) if reader == rank)
            found = kept.pop(place)[1][1]
            assert (found is None) if size is None else np.array_equal(found, large[:size])
        kept.clear()


def test_the_handle_of_an_arena_is_sent_once() -> None:
    class Headers(ThreadCommunicator):
        def _allgather(self, message: Any) -> list[Any]:
            seen.append(message)
            return super()._allgather(message)

    def rank(communicator: ThreadCommunicator) -> None:
        inner = Headers(communicator.rank, communicator._meeting)
        group = PeerCommunicator(inner, streams.library(devices, inner.rank))
        for size in (1, 1, 2 * LEAST, 1, 1):
            group.allgather(np.zeros(size, np.uint8))
        group.allgather(None)

    seen: list[Any] = []
    devices = streams.Devices(SCHEDULES["all"])
    run_ranks(2, rank)  # type: ignore[arg-type]
    assert [message[1][3] is not None for message in seen if message] == 2 * [*2 * [True], *2 * [False]] + 2 * [False]
    assert seen[-2:] == [None, None]  # a message without arrays goes as it is


def test_an_array_for_several_is_written_once() -> None:
    def program(group: Communicator) -> Any:
        values = np.arange(1000) + group.rank
        return group.alltoall([(values, values), values, values, values])[0]

    devices = streams.Devices(SCHEDULES["none"])
    found = run(4, program, devices)
    assert found[2].tolist() == list(range(1000))
    # Written by each, and read by three: once each but by rank 0, which has it twice.
    assert devices.copied == 8000 * (4 + 4 * 3 + 3)


def test_records_and_host_arrays() -> None:
    kind = np.dtype([("a", np.int32), ("b", np.float32)])

    def program(group: Communicator) -> Any:
        return group.allgather(np.array([(group.rank, 0.5)], kind))

    devices = streams.Devices(SCHEDULES["none"])
    for found in run(2, program, devices):
        assert [each["a"][0] for each in found] == [0, 1]
        assert found[0].dtype == found[1].dtype == kind


@by_schedule
def test_groups_in_turn(schedule: str) -> None:
    def program(group: Communicator) -> list[tuple[Any, Any]]:
        beside = group.split(group.rank // 2, group.rank)
        above = group.split(group.rank % 2, group.rank)
        kept = []
        for turn in range(0, 12, 3):
            for each in (beside, group, above, beside):
                kept += turns(each, np, range(turn, turn + 3), 3000)
        return kept

    assert wrong(run(4, program, streams.Devices(SCHEDULES[schedule]))) == 0


@by_schedule
def test_several_streams_of_a_rank(schedule: str) -> None:
    def program(group: PeerCommunicator) -> list[tuple[Any, Any]]:
        kept = []
        for turn in range(30):
            group._library.runtime.current = 7 + turn % 3 % 2
            kept += turns(group, np, range(turn, turn + 1), 2000)
        return kept

    assert wrong(run(3, program, streams.Devices(SCHEDULES[schedule]))) == 0


@by_schedule
def test_errors_between_calls(schedule: str) -> None:
    """A rank reports an error in place of its message: when it was to send, or when an array did not fit."""

    def program(group: PeerCommunicator) -> list[tuple[Any, Any]]:
        kept = turns(group, np, range(4), 4000)
        if group.rank == 1:
            assert group.report("failed")()[1] == "failed"
        else:
            with pytest.raises(Failed):
                group.alltoall([np.zeros(3 * LEAST, np.uint8)] * group.size)
        kept += turns(group, np, range(4, 9), 4000)
        if group.rank == 1:
            group._library.arrays.room = 1
            with pytest.raises(MemoryError):
                group.allgather((np.ones(9), np.ones(10)))
            group._library.arrays.room = 1 << 60
            group.report("no memory")()
        else:
            group.allgather((np.ones(9), np.ones(10)))
            with pytest.raises(Failed):
                group.barrier()
        return kept + turns(group, np, range(9, 15), 4000)

    devices = streams.Devices(SCHEDULES[schedule])
    assert wrong(run(3, program, devices)) == 0


class Arrived(PeerCommunicator):
    """Waits for the arrays, as kernels on the stream do."""

    def _received(self, *args: Any) -> list[Any]:
        found = super()._received(*args)
        self._library.runtime.streamSynchronize(self._library.stream())
        return found

    def split(self, color: int, key: int) -> Arrived:
        return Arrived(self.inner.split(color, key), self._library)


def test_algorithms_send_all_arrays_so() -> None:
    A = sr.random.rmat(7, seed=3)
    levels, square = sr.algorithms.bfs_levels(A, 0), A.mxm(A, "plus_pair").new()
    devices = streams.Devices(SCHEDULES["none"])

    def program(communicator: Communicator) -> int:
        group = Arrived(communicator, streams.library(devices, communicator.rank))
        grid = Grid(group, shape=(2, 2), device="cpu")
        D = sr.distributed.scatter(A, grid)
        assert sr.distributed.gather(sr.algorithms.bfs_levels(D, 0)).isequal(levels)
        assert sr.distributed.gather(D.mxm(D, "plus_pair").new()).isequal(square)
        return grid.traffic.bytes

    counted = run_ranks(4, program)
    assert devices.copied > sum(counted)  # written, and read


@pytest.mark.parametrize("count", [2, 3])
def test_the_probe_reads_a_word_of_each(count: int) -> None:
    devices = streams.Devices(SCHEDULES["none"])

    def program(communicator: Communicator, library: Any = None) -> bool:
        return usable(communicator, library)

    assert run_ranks(count, lambda c: usable(_on_one_host(c), streams.library(devices, c.rank))) == [True] * count
    assert devices.held() == 0
    assert run_ranks(count, lambda c: usable(c, streams.library(devices, c.rank))) == [False] * count  # several hosts
    assert run_ranks(count, lambda c: usable(_on_one_host(c))) == [False] * count  # threads of one process


@pytest.mark.parametrize("fails", ["ipcOpenMemHandle", "ipcGetMemHandle", "ipcOpenEventHandle", "allocate", "words"])
def test_the_probe_fails_on_all_if_it_fails_on_one(fails: str, monkeypatch: pytest.MonkeyPatch) -> None:
    devices = streams.Devices(SCHEDULES["all"])

    def failing(*_: Any) -> Any:
        raise OutOfMemory("no memory") if fails == "allocate" else RuntimeError("invalid resource handle")

    def program(communicator: Communicator) -> bool:
        library = streams.library(devices, communicator.rank)
        if communicator.rank == 1:
            if fails == "allocate":
                library = library._replace(allocate=failing)
            elif fails == "words":
                monkeypatch.setattr(library.runtime, "memcpyAsync", lambda *_: None)
            else:
                monkeypatch.setattr(library.runtime, fails, failing)
        return usable(_on_one_host(communicator), library)

    assert run_ranks(3, program) == [False] * 3
    assert devices.held() == 0


def _on_one_host(communicator: Communicator) -> Communicator:
    communicator.between_hosts = False
    return communicator


@pytest.mark.parametrize("size", [1, 100, 256, 1000])
def test_chunks_hold_every_byte_once(size: int) -> None:
    items, found = [(0, 10), (256, 0), (256, 700), (1024, 1)], bytearray(1100)
    for begin in range(0, 1100, size):
        for number, within, at, count in parts_of_chunk(items, begin, size):
            place = items[number][0] + within
            assert place == begin + at
            assert 0 <= at < at + count <= size
            for k in range(place, place + count):
                found[k] += 1
    assert found == bytearray(any(place <= k < place + count for place, count in items) for k in range(1100))
