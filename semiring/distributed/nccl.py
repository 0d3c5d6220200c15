"""Groups of processes with a GPU each: arrays on the GPU go by NCCL, everything else by another communicator.

A message is serialized without its arrays on the GPU, of which it has the shapes and types.  It goes through the inner
communicator (of MPI); the arrays follow in one group of NCCL calls on the current stream.  Nothing waits for the GPU:
kernels that read a received array are queued behind its arrival.

A stream waits for its peers without an end, so no process queues a transfer before all of them have the memory for what
they receive: they agree on that by a sum of the inner communicator.  Where a transfer cannot be completed all the same,
because the inner communicator has failed or NCCL itself, ``ncclCommAbort`` ends what is queued.

`exchange` is a group of ``ncclSend`` and ``ncclRecv``.  `allgather` is the same within a host, where that takes less
time; between hosts it is ``ncclAllGather`` or a group of ``ncclBroadcast``, whose rings send an array to each host once
and not to each of its GPUs.  Sums are not computed by ``ncclReduceScatter`` or ``ncclAllReduce``: they add in an order
that depends on the topology, and a grid adds floats in the order of the ranks.

A grid with parts on GPUs chooses it where every process has a GPU of its own (`connect`).  Several processes of one GPU
need NCCL 2.30 and ``NCCL_MULTI_RANK_GPU_ENABLE=1``, which is for tests: they share its memory and its time.

Sources: NVIDIA, "NCCL User Guide", on ``ncclSend``, ``ncclRecv``, collectives, groups and
``NCCL_MULTI_RANK_GPU_ENABLE``; `cupy.cuda.nccl`.
"""

from __future__ import annotations

import functools
import importlib
import os
import platform
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from numpy.typing import NDArray

from ..memory.allocation import allocating
from ..memory.arrays import Array, address_of, array_module
from .call_ids import operation
from .communicator import Communicator
from .serialization import Serialized, deserialize, serialize

# The first version, as NCCL numbers them, in which several ranks may share a GPU, and the variable that enables it.
_SHARING, _SHARE = 23000, "NCCL_MULTI_RANK_GPU_ENABLE"

# Parts of a gathered array begin at multiples of this, as arrays that CuPy allocates do.
_ALIGNED = 256


class Library(NamedTuple):
    """What the communicator uses of CuPy: the module of arrays, its binding of NCCL, and the stream of the calls."""

    arrays: Any
    nccl: Any
    stream: Callable[[], int]


def of_cupy() -> Library:
    """Return CuPy's."""
    cupy = array_module("cuda")
    nccl = importlib.import_module("cupy.cuda.nccl")
    return Library(cupy, nccl, lambda: int(cupy.cuda.get_current_stream().ptr))


class DeviceInfo(NamedTuple):
    """What decides whether NCCL can carry the arrays of a process: the GPU, the version, and whether it is shared."""

    host: str
    gpu: str
    version: int
    shares: bool


def device_info() -> DeviceInfo | None:
    """Return the device of this process; None without a GPU or NCCL."""
    try:
        cupy = array_module("cuda")
        version = importlib.import_module("cupy.cuda.nccl").get_version()
        gpu = cupy.cuda.runtime.deviceGetPCIBusId(cupy.cuda.Device().id)
    except (ImportError, AttributeError, RuntimeError):
        return None
    return DeviceInfo(platform.node(), gpu, version, os.environ.get(_SHARE) == "1")


def usable(devices: Sequence[DeviceInfo | None]) -> bool:
    """Whether NCCL can connect these processes: the same version on all, and no GPU twice unless it may."""
    known = [each for each in devices if each is not None]
    if len(known) < len(devices) or len({each.version for each in known}) > 1:
        return False
    alone = len({(each.host, each.gpu) for each in known}) == len(known)
    return alone or all(each.shares and each.version >= _SHARING for each in known)


def connect(inner: Communicator) -> Communicator:
    """Return a communicator that sends arrays on GPUs by NCCL if it can connect all processes, else the inner one."""
    if inner.size > 1 and usable(inner.allgather(device_info())):
        return NcclCommunicator(inner)
    return inner


class Transfers:
    """What NCCL has connected for the groups that were split from one another: it is aborted together."""

    def __init__(self) -> None:
        self.groups: list[Any] = []
        self.aborted = False

    @contextmanager
    def aborted_on_error(self, failed: Callable[[], bool]) -> Iterator[None]:
        """Abort all if an error leaves the block, and peers may not make the transfers that are queued."""
        try:
            yield
        except BaseException:
            if failed():
                self.aborted = True
                while self.groups:
                    self.groups.pop().abort()
            raise


class NcclCommunicator(Communicator):
    """A group of processes with a GPU each.

    inner: carries all but the arrays on the GPU.  Messages from a process to itself are not copied.
    """

    def __init__(self, inner: Communicator, library: Library | None = None, transfers: Transfers | None = None) -> None:
        self.inner, self.rank, self.size, self.traffic = inner, inner.rank, inner.size, inner.traffic
        self.threads, self.between_hosts = inner.threads, inner.between_hosts
        self.direct = not inner.between_hosts
        self._library = of_cupy() if library is None else library
        self._group: Any = None
        self._transfers = Transfers() if transfers is None else transfers

    def _sum(self, count: int) -> int:
        return self.inner._sum(count)

    def _allgather_array(self, array: NDArray[Any]) -> NDArray[Any]:
        return self.inner._allgather_array(array)

    def _allgather(self, message: Any) -> list[Any]:
        with self._transfers.aborted_on_error(lambda: self.inner.broken):
            mine, own = serialize(message, self._library.arrays)
            found: list[Serialized | None] = self.inner._allgather(mine)
            if not any(each is not None and each.device for each in found):
                return self._messages(found, [[]] * self.size, message)
            with allocating(operation(), "cuda"):
                own = [self._library.arrays.ascontiguousarray(array) for array in own]
                whole = self._whole(found, own) if self.between_hosts else None
                arrays: Sequence[Sequence[Array]] = (
                    self._allocate(found) if whole is None else list(zip(*whole, strict=True))
                )
            self._agree(True)
        if whole is not None:
            self._gather(own, whole)
        elif self.between_hosts:
            self._broadcast([own if rank == self.rank else each for rank, each in enumerate(arrays)])
        else:
            others = [rank for rank in range(self.size) if rank != self.rank]
            self._send(dict.fromkeys(others, own), {rank: arrays[rank] for rank in others})
        return self._messages(found, arrays, message)

    def _exchange(self, messages: Mapping[int, Any], sources: Collection[int] | None) -> dict[int, Any]:
        with self._transfers.aborted_on_error(lambda: self.inner.broken):
            module = self._library.arrays
            away = {rank: id(message) for rank, message in messages.items() if rank != self.rank}
            distinct = {id(message): message for rank, message in messages.items() if rank != self.rank}
            parts = {key: serialize(message, module) for key, message in distinct.items()}
            found: dict[int, Serialized] = self.inner._exchange(
                {rank: parts[key][0] for rank, key in away.items()}, sources
            )
            with allocating(operation(), "cuda"):
                contiguous = {key: [module.ascontiguousarray(each) for each in own] for key, (_, own) in parts.items()}
                arrays = {rank: each.allocate(module) for rank, each in found.items()}
            sent = {rank: contiguous[key] for rank, key in away.items()}
            # A process has the sizes of its own messages alone, so it takes a collective to decide whether all agree.
            self._agree(any(sent.values()) or any(arrays.values()))
        self._send(sent, arrays)
        made = {rank: deserialize(each, arrays[rank]) for rank, each in found.items()}
        if messages.get(self.rank) is not None:
            made[self.rank] = messages[self.rank]
        return made

    def _report(self, error: Any) -> Callable[[], list[Any]]:
        return self.inner._report(error)

    @property
    def broken(self) -> bool:
        """Whether no further collective of the inner communicator is possible, or transfers have been aborted."""
        return self.inner.broken or self._transfers.aborted

    def split(self, color: int, key: int) -> NcclCommunicator:
        """Return the group of the processes that gave this color, ordered by key."""
        return NcclCommunicator(self.inner.split(color, key), self._library, self._transfers)

    def abort(self, message: str) -> None:
        """End all processes, with a message on standard error."""
        self.inner.abort(message)

    def _agree(self, transfers: bool) -> None:
        """Return once all processes have memory for what they receive, and NCCL has connected them.  Collective.

        transfers: whether this process sends or receives arrays; they are connected once any does.
        """
        if self.inner._sum(transfers) and self._group is None:
            identity = self._library.nccl.get_unique_id() if self.rank == 0 else None
            identity = self.inner._allgather(identity)[0]
            self._group = self._library.nccl.NcclCommunicator(self.size, identity, self.rank)
            self._transfers.groups.append(self._group)

    def _allocate(self, found: Sequence[Serialized | None]) -> list[list[Array]]:
        """Return new arrays for those found, by rank."""
        module = self._library.arrays
        return [[] if each is None or rank == self.rank else each.allocate(module) for rank, each in enumerate(found)]

    def _whole(self, found: Sequence[Serialized | None], own: list[Array]) -> list[Array] | None:
        """Return new arrays for each array of all processes, if these have the same sizes and aligned parts of them."""
        if len({None if each is None else each.device for each in found}) > 1:
            return None
        if any(array.nbytes % _ALIGNED for array in own):
            return None
        return [self._library.arrays.empty((self.size, *array.shape), array.dtype) for array in own]

    def _send(self, sent: Mapping[int, Sequence[Array]], arrays: Mapping[int, Sequence[Array]]) -> None:
        """Queue sends of the arrays for other ranks, and receives of those of others, by rank."""
        if not (any(sent.values()) or any(arrays.values())):
            return
        group, uint8 = self._group, self._library.nccl.NCCL_UINT8
        self._queue(
            functools.partial(call, address_of(array), array.nbytes, uint8, rank)
            for call, messages in ((group.send, sent), (group.recv, arrays))
            for rank, each in messages.items()
            for array in each
            if array.nbytes
        )

    def _gather(self, own: Sequence[Array], whole: Sequence[Array]) -> None:
        """Queue `ncclAllGather` of arrays of the same size on all processes."""
        group, uint8 = self._group, self._library.nccl.NCCL_UINT8
        self._queue(
            functools.partial(group.allGather, address_of(array), address_of(all_of_it), array.nbytes, uint8)
            for array, all_of_it in zip(own, whole, strict=True)
            if array.nbytes
        )

    def _broadcast(self, arrays: Sequence[Sequence[Array]]) -> None:
        """Queue `ncclBroadcast` of the arrays of each process: all have their sizes, so they make the same calls."""
        group, uint8 = self._group, self._library.nccl.NCCL_UINT8
        self._queue(
            functools.partial(group.broadcast, address_of(array), address_of(array), array.nbytes, uint8, root)
            for root, each in enumerate(arrays)
            for array in each
            if array.nbytes
        )

    def _queue(self, calls: Iterable[Callable[[int], None]]) -> None:
        """Queue NCCL calls on the stream as one group: they run at the same time, and none waits for another."""
        stream = self._library.stream()
        with self._transfers.aborted_on_error(lambda: True):
            self._library.nccl.groupStart()
            for call in calls:
                call(stream)
            self._library.nccl.groupEnd()

    def _messages(self, found: Sequence[Serialized | None], arrays: Sequence[Sequence[Array]], own: Any) -> list[Any]:
        """Return the messages, with the arrays that arrive for them."""
        return [
            own if rank == self.rank else None if each is None else deserialize(each, list(arrays[rank]))
            for rank, each in enumerate(found)
        ]
