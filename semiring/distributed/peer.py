"""Processes of one host with GPUs: each copies arrays from memory of the others, which it maps (CUDA IPC).

A message is serialized without its arrays on the GPU, of which it has the shapes and types.  The sender
copies the arrays into a half of its arena (`arenas`), records the event ready[half] on its stream, and sends the rest
of the message through the inner communicator (of MPI), with the places of the arrays.  The receiver lets its stream
wait for that event, copies the arrays from the sender's memory into its own, and records its event read[half] for this
sender.  Before the sender writes into that half again, its stream waits for the events of all who have read it.  No
host waits for a GPU: kernels that use a received array are queued behind its copy.

An event is waited for as it was recorded last when the wait is queued, so the host's order matters: a record must be
queued before the waits for it.

- ready[half] is recorded before the message is sent, and waited for once that has arrived.
- read[half] of a receiver is recorded in the call in which it has received the message.  The sender writes into its two
  halves in turns, and after each write comes a collective.  So between two writes into a half there is the collective
  that follows the write into the other one.  Once it has returned to the sender, every process has entered it, and had
  queued its copies of the first write before.

Every wait is for what was queued before it, so no two streams wait for each other.  A collective that ends in `Failed`
has been entered by all too.  A receiver that has failed before it copied leaves the event as it was: nothing reads what
is overwritten.  A layout of several chunks is the same protocol, with a collective without data before each further
one.

The arena grows.  A larger one replaces it, and in the same call its handle is sent to all who have that of the old one,
and close what they have mapped; once the next collective has returned, the old one is freed.  At its end a process
waits for its GPU, and then for the end of all others (`mpi`), so that no copy is left to be made; it frees nothing.

The inner communicator watches for processes that make no call, or have died, and ends all.  The stream of a process may
wait for an event of one that has died after its message arrived; this process is ended by the launcher, or by itself in
its next collective.

Sources: NVIDIA, "CUDA C++ Programming Guide", on interprocess communication; "CUDA Runtime API", on ``cudaIpc*`` and
``cudaStreamWaitEvent``.
"""

from __future__ import annotations

import atexit
import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..memory.allocation import allocating, free_unpooled, unpooled
from ..memory.arrays import Array, address_of, array_module, to_host
from ..memory.budget import capacity
from .call_ids import operation
from .communicator import Communicator
from .ipc_buffers import LEAST, Incoming, Library, Outgoing, Posted
from .serialization import Serialized, deserialize, serialize

# What is sent in place of a message.
Header = tuple[Serialized | None, tuple[Any, ...] | None]


@functools.cache
def of_cupy() -> Library:
    """Return what is used of CuPy.  At its end the process waits for its GPU, before it waits for the others."""
    cupy = array_module("cuda")
    atexit.register(cupy.cuda.runtime.deviceSynchronize)  # runs before what has been registered earlier: mpi's wait
    return Library(
        cupy,
        cupy.cuda.runtime,
        lambda: int(cupy.cuda.get_current_stream().ptr),
        functools.partial(unpooled, "messages between GPUs"),
        free_unpooled,
        capacity,
    )


class PeerCommunicator(Communicator):
    """A group of processes of one host with GPUs.  All make it together.

    inner: carries all but the arrays on the GPU.  Messages from a process to itself are not copied.
    """

    def __init__(self, inner: Communicator, library: Library | None = None) -> None:
        self.inner, self.rank, self.size, self.traffic = inner, inner.rank, inner.size, inner.traffic
        self.threads, self.between_hosts = inner.threads, inner.between_hosts
        self.direct = True
        self._library = of_cupy() if library is None else library
        self._others = [rank for rank in range(self.size) if rank != self.rank]
        if self._others:
            self._connect()

    def _connect(self) -> None:
        """Make the events, and exchange their handles."""
        library, runtime = self._library, self._library.runtime
        self._outgoing = Outgoing(library, self._others)
        self._incoming = {rank: Incoming(library) for rank in self._others}
        handles = {
            rank: [runtime.ipcGetEventHandle(event) for event in (*self._outgoing.ready, *each.read)]
            for rank, each in self._incoming.items()
        }
        for rank, found in self.inner._exchange(handles, self._others).items():
            opened = [int(runtime.ipcOpenEventHandle(handle)) for handle in found]
            self._incoming[rank].ready, self._outgoing.read[rank] = opened[:2], opened[2:]

    def _allgather(self, message: Any) -> list[Any]:
        mine, arrays = serialize(message, self._library.arrays)

        def send(posted: dict[int, Posted]) -> list[Any]:
            # All are sent the same: if one of them is to be sent the handle of the arena, all are.
            common = max(posted.values(), key=lambda each: each.arena is not None, default=None)
            return self.inner._allgather(_header(mine, common))

        return self._call(dict.fromkeys(self._others, arrays) if arrays else {}, send, message)

    def _sum(self, count: int) -> int:
        return self.inner._sum(count)

    def _allgather_array(self, array: NDArray[Any]) -> NDArray[Any]:
        return self.inner._allgather_array(array)

    def _exchange(self, messages: Mapping[int, Any], sources: Collection[int] | None) -> dict[int, Any]:
        distinct = {id(messages[rank]): messages[rank] for rank in messages if rank != self.rank}
        made = {key: serialize(message, self._library.arrays) for key, message in distinct.items()}
        parts = {rank: made[id(message)] for rank, message in messages.items() if rank != self.rank}

        def send(posted: dict[int, Posted]) -> list[Any]:
            # Any process may be sent the handle of a new arena, or the number of chunks, so there are no known sources.
            headers = {rank: _header(parts.get(rank, (None,))[0], posted.get(rank)) for rank in parts.keys() | posted}
            found = self.inner._exchange(headers, None)
            return [found.get(rank) for rank in range(self.size)]

        found = self._call(
            {rank: arrays for rank, (_, arrays) in parts.items() if arrays}, send, messages.get(self.rank)
        )
        return {rank: message for rank, message in enumerate(found) if message is not None}

    def _call(
        self, sent: dict[int, list[Array]], send: Callable[[dict[int, Posted]], list[Header | None]], own: Any
    ) -> list[Any]:
        """Write the arrays for others, send the headers, copy the arrays of the others, and return the messages."""
        outgoing = self._outgoing
        try:
            posted = outgoing.lay_out(sent) if sent else {}
            found = send(posted)
            outgoing.arrived(posted)
            made = self._received(found, max((each.chunks for each in posted.values()), default=0))
            made[self.rank] = own
            return made
        finally:
            outgoing.forget()

    def _received(self, found: Sequence[Header | None], written: int) -> list[Any]:
        """Copy the arrays of the messages that were found, and return the messages.

        written: how many chunks there are of what this process sends.
        """
        headers = [(rank, header) for rank in self._others if (header := found[rank]) is not None]
        posted = {rank: Posted(*at) for rank, (_, at) in headers if at is not None}
        for rank, each in posted.items():
            self._incoming[rank].announced(each.arena)
        with allocating(operation(), "cuda"):
            messages = {
                rank: (message, message.allocate(self._library.arrays)) for rank, (message, _) in headers if message
            }
        for chunk in range(max([written, *(each.chunks for each in posted.values())])):
            if chunk:
                if chunk < written:
                    self._outgoing.write(chunk)
                self.inner._sum(0)
            for rank, each in posted.items():
                if each.places:
                    self._incoming[rank].copy(each, chunk, messages[rank][1])
        made: list[Any] = [None] * self.size
        for rank, (message, arrays) in messages.items():
            made[rank] = deserialize(message, arrays)
        return made

    def _report(self, error: Any) -> Callable[[], list[Any]]:
        return self.inner._report(error)

    @property
    def broken(self) -> bool:
        """Whether no further collective of the inner communicator is possible."""
        return self.inner.broken

    def split(self, color: int, key: int) -> PeerCommunicator:
        """Return the group of the processes that gave this color, ordered by key."""
        return PeerCommunicator(self.inner.split(color, key), self._library)

    def abort(self, message: str) -> None:
        """End all processes, with a message on standard error."""
        self.inner.abort(message)


def usable(inner: Communicator, library: Library | None = None) -> bool:
    """Whether the processes can copy from each other's GPUs: all have tried.  Collective; the same on all.

    Each maps memory of all others, waits for their events, and reads a word that depends on the rank.
    """
    if inner.size == 1 or inner.between_hosts or (inner.threads and library is None):
        return False
    try:
        probe: _Probe | None = _Probe(of_cupy() if library is None else library, inner.rank)
    except Exception:  # whatever it is, this way does not work here
        probe = None
    found = inner.allgather(None if probe is None else probe.handles)
    read = probe is not None and None not in found and probe.reads(found)
    # Nothing is freed before all have closed it.
    result = all(inner.allgather(read))
    if probe is not None:
        probe.free()
    return result


class _Probe:
    """Memory of this process with a word, and an event that is recorded when the word has been written."""

    def __init__(self, library: Library, rank: int) -> None:
        self._library, self._rank, runtime = library, rank, library.runtime
        self._address = library.allocate(2 * LEAST)
        try:
            word, stream, event = library.arrays.full(1, _word(rank), np.int64), library.stream(), library.event()
            library.copy(self._address, address_of(word), word.nbytes, stream)
            runtime.eventRecord(event, stream)
            self.handles = runtime.ipcGetMemHandle(self._address), runtime.ipcGetEventHandle(event)
        except BaseException:
            self.free()
            raise

    def reads(self, found: Sequence[tuple[bytes, bytes]]) -> bool:
        """Whether the words of the others can be read."""
        library, runtime, stream = self._library, self._library.runtime, self._library.stream()
        right = True
        for rank, (memory, event) in enumerate(found):
            if rank == self._rank:
                continue
            try:
                address, word = runtime.ipcOpenMemHandle(memory), library.arrays.zeros(1, np.int64)
                try:
                    runtime.streamWaitEvent(stream, runtime.ipcOpenEventHandle(event))
                    library.copy(address_of(word), address, word.nbytes, stream)
                    runtime.streamSynchronize(stream)
                finally:
                    runtime.ipcCloseMemHandle(address)
                right &= int(to_host(word)[0]) == _word(rank)
            except Exception:  # as above
                right = False
        return right

    def free(self) -> None:
        """Free the memory."""
        self._library.free(self._address, 2 * LEAST)


def _word(rank: int) -> int:
    """Return a number that memory does not hold by chance."""
    return 0x5E31_0000_0000_0000 + 0x9E37_79B9 * (rank + 1)


def _header(mine: Serialized | None, posted: Posted | None) -> Header | None:
    """Return what is sent of a message; a tuple pickles in less time than a class."""
    return None if mine is None and posted is None else (mine, None if posted is None else tuple(posted))
