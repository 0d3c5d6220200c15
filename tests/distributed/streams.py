"""GPUs that finish late: what `semiring.distributed.peer` uses of CuPy, with NumPy's memory.

A copy is queued on the stream of a rank, and made when the schedule lets that stream go on, at the latest when the host
waits for it.  A stream goes on past the wait for an event only when the event has been recorded as often as it had
been when the wait was queued.  So a wait that is missing leaves the order of two copies to the schedule.
"""

from __future__ import annotations

import ctypes
import random
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from semiring.distributed.ipc_buffers import Library
from semiring.exceptions import OutOfMemory

# Addresses of memory that others map: one number for each mapping, and the bytes within it.
_BASE, _BITS = 1 << 60, 40
UNWRITTEN = 0xA5


@dataclass(eq=False)
class Record:
    """An event as it was recorded once, in the queue of a stream."""

    stream: Any
    done: bool = False


@dataclass(eq=False)
class Event:
    owner: int
    last: Record | None = None
    opened_by: set[int] = field(default_factory=set)


@dataclass(eq=False)
class Memory:
    owner: int
    data: Any
    opened_by: set[int] = field(default_factory=set)
    freed: bool = False


class Devices:
    """The streams and the memory of all ranks.

    first: the ranks whose streams go on as far as they can at every call; None: random streams, by the seed.  ignored:
    the function of `semiring.distributed.ipc_buffers` whose waits are left out, to prove that they are needed.
    """

    def __init__(self, first: Callable[[int], bool] | None = None, *, seed: int = 0, ignored: str = "") -> None:
        self.first, self.ignored = first, ignored
        self.random = random.Random(seed)
        self.streams: dict[Any, deque[tuple[str, Any]]] = {}
        self.events: list[Event] = []
        self.memories: list[Memory] = []
        self.mapped: list[tuple[int, Memory | None]] = []
        self.copied = self.host_waits = self.refused = 0
        # Arrays that may be in the queue of a stream.
        self.kept: list[Any] = []
        # Bytes that all ranks together may allocate.
        self.limit = 1 << 40

    # -- what streams do

    def step(self, stream: Any) -> bool:
        """Let a stream do the next thing, unless it has to wait."""
        queue = self.streams[stream]
        if not queue:
            return False
        kind, what = queue[0]
        if kind == "wait" and not what.done:
            return False
        queue.popleft()
        if kind == "record":
            what.done = True
        elif kind == "copy":
            target, source, count = what
            ctypes.memmove(self.resolved(target, count), self.resolved(source, count), count)
            self.copied += count
        return True

    def until(self, stream: Any, done: Callable[[], bool], waiting: tuple[Any, ...] = ()) -> None:
        """Let a stream go on until something is done, and those that it waits for as far as they must."""
        assert stream not in waiting, "streams wait for each other"
        while not done():
            if self.step(stream):
                continue
            assert self.streams[stream], "what is waited for is not in the queue"
            record = self.streams[stream][0][1]
            self.until(record.stream, lambda record=record: record.done, (*waiting, stream))  # type: ignore[misc]

    def finish(self, rank: int | None = None) -> None:
        """Let the streams of a rank, or all, finish."""
        for stream in list(self.streams):
            if rank in (None, stream[0]):
                self.until(stream, lambda stream=stream: not self.streams[stream])  # type: ignore[misc]

    def progress(self) -> None:
        """Let streams go on at a call, by the schedule."""
        if self.first is None:
            for _ in range(self.random.choice((0, 0, 1, 3, 10))):
                self.step(self.random.choice(list(self.streams)))
            return
        streams = [stream for stream in self.streams if self.first(stream[0])]
        while sum(self.step(stream) for stream in streams):
            pass

    # -- memory

    def resolved(self, address: int, count: int) -> int:
        """Return an address of the host."""
        if address < _BASE:
            return address
        memory = self.mapped[(address - _BASE) >> _BITS][1]
        assert memory is not None, "a copy uses memory that has been closed"
        assert not memory.freed
        at = address & ((1 << _BITS) - 1)
        assert at + count <= memory.data.nbytes
        return int(memory.data.ctypes.data) + at

    def map(self, rank: int, memory: Memory) -> int:
        self.mapped.append((rank, memory))
        return _BASE + ((len(self.mapped) - 1) << _BITS)

    def held(self) -> int:
        return sum(memory.data.nbytes for memory in self.memories if not memory.freed)


class Arrays:
    """NumPy's module; what is queued keeps its arrays."""

    ndarray = np.ndarray

    def __init__(self, kept: list[Any]) -> None:
        self.kept = kept
        # How many more arrays there is memory for.
        self.room = 1 << 60

    def empty(self, shape: Any, dtype: Any) -> Any:
        self.room -= 1
        if self.room < 0:
            raise OutOfMemory("no room for an array")
        made = np.empty(shape, dtype)
        if made.size:
            made.reshape(-1).view(np.uint8)[:] = UNWRITTEN
        self.kept.append(made)
        return made

    def ascontiguousarray(self, array: Any) -> Any:
        made = np.ascontiguousarray(array)
        self.kept.append(made)
        return made

    def full(self, shape: Any, value: Any, dtype: Any) -> Any:
        return self.ascontiguousarray(np.full(shape, value, dtype))

    def zeros(self, shape: Any, dtype: Any) -> Any:
        return self.ascontiguousarray(np.zeros(shape, dtype))


class Runtime:
    """What `cupy.cuda.runtime` offers to one rank."""

    eventDisableTiming, eventInterprocess, memcpyDefault = 2, 4, 4

    def __init__(self, devices: Devices, rank: int) -> None:
        self.devices, self.rank = devices, rank
        self.current = 7

    def stream(self) -> int:
        self._queue(self.current)
        return self.current

    def _queue(self, stream: int) -> deque[tuple[str, Any]]:
        return self.devices.streams.setdefault((self.rank, stream), deque())

    def _event(self, number: int) -> Event:
        event = self.devices.events[number]
        assert self.rank == event.owner or self.rank in event.opened_by
        return event

    def eventCreateWithFlags(self, flags: int) -> int:
        assert flags == self.eventDisableTiming | self.eventInterprocess
        self.devices.events.append(Event(self.rank))
        return len(self.devices.events) - 1

    def ipcGetEventHandle(self, number: int) -> bytes:
        return b"event" + number.to_bytes(8, "little")

    def ipcOpenEventHandle(self, handle: bytes) -> int:
        assert handle.startswith(b"event")
        number = int.from_bytes(handle[5:], "little")
        event = self.devices.events[number]
        assert event.owner != self.rank, "CUDA opens no handle of the same process"
        event.opened_by.add(self.rank)
        return number

    def eventRecord(self, number: int, stream: int) -> None:
        event = self._event(number)
        assert event.owner == self.rank
        event.last = Record((self.rank, stream))
        self._queue(stream).append(("record", event.last))
        self.devices.progress()

    def streamWaitEvent(self, stream: int, number: int) -> None:
        event = self._event(number)
        if event.last is not None and self.devices.ignored != sys._getframe(1).f_code.co_name:
            self._queue(stream).append(("wait", event.last))
        self.devices.progress()

    def eventSynchronize(self, number: int) -> None:
        event = self._event(number)
        assert event.owner == self.rank
        self.devices.host_waits += 1
        if event.last is not None and not event.last.done:
            last = event.last
            self.devices.until(last.stream, lambda: last.done)

    def streamSynchronize(self, stream: int) -> None:
        self.devices.until((self.rank, stream), lambda: not self._queue(stream))

    def memcpyAsync(self, target: int, source: int, count: int, kind: int, stream: int) -> None:
        assert (kind, count > 0) == (self.memcpyDefault, True)
        self._queue(stream).append(("copy", (target, source, count)))
        self.devices.progress()

    def allocate(self, count: int) -> int:
        if self.devices.held() + count > self.devices.limit:
            self.devices.refused += 1
            raise OutOfMemory("no memory for an arena")
        memory = Memory(self.rank, np.full(count, UNWRITTEN, np.uint8))
        self.devices.memories.append(memory)
        return self.devices.map(self.rank, memory)

    def free(self, address: int, count: int) -> None:
        number = (address - _BASE) >> _BITS
        memory = self.devices.mapped[number][1]
        assert memory is not None
        assert (memory.owner, memory.data.nbytes, memory.freed) == (self.rank, count, False)
        assert not memory.opened_by, "memory is freed that others map"
        self.devices.finish(self.rank)  # as CUDA does
        memory.freed = True

    def ipcGetMemHandle(self, address: int) -> bytes:
        memory = self.devices.mapped[(address - _BASE) >> _BITS][1]
        assert memory is not None
        return b"memory" + self.devices.memories.index(memory).to_bytes(8, "little")

    def ipcOpenMemHandle(self, handle: bytes) -> int:
        assert handle.startswith(b"memory")
        memory = self.devices.memories[int.from_bytes(handle[6:], "little")]
        assert memory.owner != self.rank, "CUDA opens no handle of the same process"
        assert not memory.freed
        assert self.rank not in memory.opened_by
        memory.opened_by.add(self.rank)
        return self.devices.map(self.rank, memory)

    def ipcCloseMemHandle(self, address: int) -> None:
        number = (address - _BASE) >> _BITS
        rank, memory = self.devices.mapped[number]
        assert memory is not None
        assert rank == self.rank
        for (owner, _), queue in self.devices.streams.items():
            for kind, what in queue:
                used = kind == "copy" and owner == rank and (what[1] - _BASE) >> _BITS == number
                assert not used, "memory is closed that a copy is yet to read"
        memory.opened_by.remove(rank)
        self.devices.mapped[number] = rank, None


def library(devices: Devices, rank: int, capacity: int = 1 << 40) -> Library:
    """Return what a rank uses in place of CuPy."""
    runtime = Runtime(devices, rank)
    return Library(Arrays(devices.kept), runtime, runtime.stream, runtime.allocate, runtime.free, lambda: capacity)
