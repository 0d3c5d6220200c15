"""Memory on a GPU that other processes of the host map, and copy arrays from.

An *arena* has two halves of the same size.  A process writes the arrays that it sends into a half, one after another,
from multiples of 256 bytes on, in a *layout* that may be longer than a half: then its chunks follow each other through
the halves.  `Outgoing` is what a process writes, `Incoming` what it reads of another one; who waits for whom is in
`peer`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ..exceptions import OutOfMemory
from ..memory.arrays import Array, address_of

# Arrays begin at multiples of this in a half, so that copies are aligned.
_ALIGNED = 256
# The bytes of a half: at least this, so that an arena fills whole pages of 2 MiB, which nothing else is mapped with ...
LEAST = 1 << 20
# ... and at most this (a chunk takes 0.35 ms at 372 GB/s, several times the host's time for one) and this share of
# the memory: a grid has three groups, each with an arena of two halves.
_MOST, _SHARE = 1 << 27, 64


class Library(NamedTuple):
    """What is used of CuPy.

    arrays: its module.  runtime: its binding of the CUDA runtime.  stream: returns the stream of the calls.  allocate,
    free: of memory that others map, by its bytes and by its address and bytes.  capacity: returns the bytes of the GPU.
    """

    arrays: Any
    runtime: Any
    stream: Callable[[], int]
    allocate: Callable[[int], int]
    free: Callable[[int, int], None]
    capacity: Callable[[], int]

    def event(self) -> int:
        """Return a new event that other processes can wait for."""
        runtime = self.runtime
        return int(runtime.eventCreateWithFlags(runtime.eventDisableTiming | runtime.eventInterprocess))

    def copy(self, target: int, source: int, count: int, stream: int) -> None:
        """Queue a copy; the source may be page-locked memory of the host."""
        self.runtime.memcpyAsync(target, source, count, self.runtime.memcpyDefault, stream)


class Arena:
    """An allocation with two halves of `half` bytes.  announced: the ranks that have been sent its handle."""

    def __init__(self, library: Library, half: int) -> None:
        self._library, self.half = library, half
        self.address = library.allocate(2 * half)
        try:
            self.handle: bytes = library.runtime.ipcGetMemHandle(self.address)
        except BaseException:
            self.free()
            raise
        self.announced: set[int] = set()

    def free(self) -> None:
        """Free the memory, which no process maps."""
        self._library.free(self.address, 2 * self.half)


class Posted(NamedTuple):
    """What a process sends with a message of the arrays that it has written.

    first: the half of the first chunk.  chunks: their number.  places: of the receiver's arrays in the layout.
    arena: its handle and the bytes of a half, for a receiver that has not been sent it.
    """

    first: int
    chunks: int
    places: list[int]
    arena: tuple[bytes, int] | None


class Outgoing:
    """The arena of this process: arrays are written into it, chunk by chunk.

    ready: events of this process, recorded when a half has been written.  read: by rank, the events of the others,
    recorded when they have read a half.
    """

    def __init__(self, library: Library, others: Sequence[int]) -> None:
        self._library, self._others = library, others
        self.ready = [library.event(), library.event()]
        self.read: dict[int, list[int]] = {}
        self.arena: Arena | None = None
        # Arenas that were too small: first others are sent the handle of the next one, then they have closed these.
        self._replaced: list[Arena] = []
        self._closed: list[Arena] = []
        self._half, self._most = 0, 0
        self._readers: list[list[int]] = [[], []]
        # The layout of the current call, and who reads it.
        self._items: list[tuple[Array, int]] = []
        self._receivers: list[int] = []

    def lay_out(self, arrays: dict[int, list[Array]]) -> dict[int, Posted]:
        """Write the first chunk of the arrays for each rank; return what ranks are sent of it, empty without arrays.

        An array for several ranks is written once.  OutOfMemory if there is no memory for any arena.
        """
        places: dict[int, int] = {}
        self._items, end = [], 0
        for each in arrays.values():
            for array in each:
                if id(array) not in places:
                    places[id(array)] = end
                    self._items.append((self._library.arrays.ascontiguousarray(array), end))
                    end += -(-array.nbytes // _ALIGNED) * _ALIGNED
        if not end:
            return {}
        self._receivers = [rank for rank, each in arrays.items() if each]
        arena = self._arena(end)
        first, chunks = self._half, -(-end // arena.half)
        self.write(0)
        described = (arena.handle, arena.half)
        return {
            rank: Posted(
                first,
                chunks,
                [places[id(array)] for array in arrays.get(rank, ())],
                described if self._announces(arena, rank) else None,
            )
            for rank in self._others
            if chunks > 1 or arrays.get(rank) or self._announces(arena, rank)
        }

    def write(self, chunk: int) -> None:
        """Queue the copies of a chunk into the next half, behind those that others have queued from it."""
        library, arena, stream, half = self._library, self.arena, self._library.stream(), self._half
        assert arena is not None
        for rank in self._readers[half]:
            library.runtime.streamWaitEvent(stream, self.read[rank][half])
        target = arena.address + half * arena.half
        sizes = [(place, array.nbytes) for array, place in self._items]
        for number, within, at, count in parts_of_chunk(sizes, chunk * arena.half, arena.half):
            library.copy(target + at, address_of(self._items[number][0]) + within, count, stream)
        library.runtime.eventRecord(self.ready[half], stream)
        self._readers[half] = self._receivers
        self._half = 1 - half

    def arrived(self, posted: dict[int, Posted]) -> None:
        """Note that the others have been sent what was posted, and free what they have closed before."""
        arena = self.arena
        if arena is not None:
            arena.announced.update(rank for rank, each in posted.items() if each.arena is not None)
        if not self._replaced and not self._closed:
            return
        assert arena is not None
        if self._closed:
            for event in self.ready:
                self._library.runtime.eventSynchronize(event)  # waits for the device: rare
            for old in self._closed:
                old.free()
        self._closed = [old for old in self._replaced if old.announced <= arena.announced]
        self._replaced = [old for old in self._replaced if not old.announced <= arena.announced]

    def forget(self) -> None:
        """Release the arrays of the current call."""
        self._items = []

    def _announces(self, arena: Arena, rank: int) -> bool:
        """Whether a rank is to be sent the handle of the arena: it reads from it, or maps an older one."""
        reads = rank in self._receivers or any(rank in old.announced for old in self._replaced)
        return reads and rank not in arena.announced

    def _arena(self, count: int) -> Arena:
        """Return an arena for a layout of so many bytes: with larger halves than now, if there is memory for them."""
        if self.arena is not None and self.arena.half >= min(count, self._most):
            return self.arena
        if not self._most:
            self._most = min(_MOST, 1 << max(LEAST, self._library.capacity() // _SHARE).bit_length() - 1)
        half = wanted = min(max(LEAST, 1 << (count - 1).bit_length()), self._most)
        while self.arena is None or self.arena.half < half:
            try:
                made = Arena(self._library, half)
            except OutOfMemory:
                if half == LEAST:
                    raise
                half //= 2
                continue
            if self.arena is not None:
                self._replaced.append(self.arena)
            self.arena, self._readers = made, [[], []]
        if half < wanted:
            self._most = self.arena.half  # layouts have more chunks from now on
        return self.arena


class Incoming:
    """The arena of another process, from which this one copies arrays.

    read: events of this process, recorded when it has read a half.  ready: those of the other one.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self.read = [library.event(), library.event()]
        self.ready: list[int] = []
        self._arena: tuple[bytes, int] | None = None
        self._address: int | None = None

    def announced(self, arena: tuple[bytes, int] | None) -> None:
        """Close the memory that is mapped, if the arena is another one, which the next copy maps."""
        if arena is None or arena == self._arena:
            return
        if self._address is not None:
            for event in self.read:
                self._library.runtime.eventSynchronize(event)  # waits for the device: rare
            self._library.runtime.ipcCloseMemHandle(self._address)
        self._address, self._arena = None, arena

    def copy(self, posted: Posted, chunk: int, arrays: Sequence[Array]) -> None:
        """Queue the copies of what a chunk has of the arrays, behind the event that it was written."""
        assert self._arena is not None
        handle, size = self._arena
        sizes = [(place, array.nbytes) for array, place in zip(arrays, posted.places, strict=True)]
        copies = list(parts_of_chunk(sizes, chunk * size, size))
        if not copies:
            return
        library, stream, half = self._library, self._library.stream(), (posted.first + chunk) % 2
        if self._address is None:
            self._address = int(library.runtime.ipcOpenMemHandle(handle))
        source = self._address + half * size
        library.runtime.streamWaitEvent(stream, self.ready[half])
        for number, within, at, count in copies:
            library.copy(address_of(arrays[number]) + within, source + at, count, stream)
        library.runtime.eventRecord(self.read[half], stream)


def parts_of_chunk(items: Sequence[tuple[int, int]], begin: int, count: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield what the chunk of `count` bytes from `begin` has of the items of a layout, each a place and its bytes.

    (number of the item, where the part begins in the item, and in the chunk, and its bytes)
    """
    for number, (place, size) in enumerate(items):
        low, high = max(place, begin), min(place + size, begin + count)
        if low < high:
            yield number, low - place, low - begin, high - low
