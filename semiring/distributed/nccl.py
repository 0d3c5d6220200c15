"""Groups of processes with a GPU each: arrays on the GPU go by NCCL, everything else by another communicator.

A message is serialized without its arrays on the GPU, of which it has the shapes and types.  It goes through the inner
communicator (of MPI); the arrays follow in one group of NCCL calls on the current stream.  Nothing waits for the GPU:
kernels that read a received array are queued behind its arrival.

`alltoall` is a group of ``ncclSend`` and ``ncclRecv``.  `allgather` is the same within a host, where that takes less
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
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ..memory.arrays import Array, address_of, array_module
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


class NcclCommunicator(Communicator):
    """A group of processes with a GPU each.

    inner: carries all but the arrays on the GPU.  Messages from a process to itself are not copied.
    """

    def __init__(self, inner: Communicator, library: Library | None = None) -> None:
        self.inner, self.rank, self.size, self.traffic = inner, inner.rank, inner.size, inner.traffic
        self.threads, self.between_hosts = inner.threads, inner.between_hosts
        self.direct = not inner.between_hosts
        self._library = of_cupy() if library is None else library
        self._group: Any = None

    def _allgather(self, message: Any) -> list[Any]:
        mine, own = serialize(message, self._library.arrays)
        found: list[Serialized | None] = self.inner._allgather(mine)
        if not any(each is not None and each.device for each in found):
            arrays: list[list[Array]] = [[]] * self.size
        else:
            self._connect()
            own = [self._library.arrays.ascontiguousarray(array) for array in own]
            arrays = self._gather(found, own) if self.between_hosts else self._send([own] * self.size, found)
        return self._messages(found, arrays, message)

    def _alltoall(self, messages: Sequence[Any]) -> list[Any]:
        module = self._library.arrays
        parts = [serialize(None if rank == self.rank else each, module) for rank, each in enumerate(messages)]
        found: list[Serialized | None] = self.inner._alltoall([mine for mine, _ in parts])
        contiguous = {id(array): module.ascontiguousarray(array) for _, arrays in parts for array in arrays}
        sent = [[contiguous[id(array)] for array in arrays] for _, arrays in parts]
        wanted = any(sent) or any(each is not None and each.device for each in found)
        # A process has the sizes of its own messages alone, so it takes a collective to decide whether all connect.
        if self._group is None and any(self.inner._allgather(wanted)):
            self._connect()
        arrays = self._send(sent, found) if wanted else [[]] * self.size
        return self._messages(found, arrays, messages[self.rank])

    def _report(self, error: Any) -> Callable[[], list[Any]]:
        return self.inner._report(error)

    @property
    def broken(self) -> bool:
        """Whether no further collective of the inner communicator is possible."""
        return self.inner.broken

    def split(self, color: int, key: int) -> NcclCommunicator:
        """Return the group of the processes that gave this color, ordered by key."""
        return NcclCommunicator(self.inner.split(color, key), self._library)

    def abort(self, message: str) -> None:
        """End all processes, with a message on standard error."""
        self.inner.abort(message)

    def _connect(self) -> None:
        """Connect all processes of the group before the first array is sent.  Collective."""
        if self._group is None:
            identity = self._library.nccl.get_unique_id() if self.rank == 0 else None
            identity = self.inner._allgather(identity)[0]
            self._group = self._library.nccl.NcclCommunicator(self.size, identity, self.rank)

    def _send(self, sent: Sequence[list[Array]], found: Sequence[Serialized | None]) -> list[list[Array]]:
        """Queue sends of the arrays for each other process, and receives of those found; return these by rank."""
        module, group, uint8 = self._library.arrays, self._group, self._library.nccl.NCCL_UINT8
        arrays = [[] if each is None or rank == self.rank else each.allocate(module) for rank, each in enumerate(found)]
        self._queue(
            functools.partial(call, address_of(array), array.nbytes, uint8, rank)
            for call, messages in ((group.send, sent), (group.recv, arrays))
            for rank, each in enumerate(messages)
            if rank != self.rank
            for array in each
            if array.nbytes
        )
        return arrays

    def _gather(self, found: Sequence[Serialized | None], own: list[Array]) -> list[list[Array]]:
        """Queue the transfer of all arrays to all processes; return them by rank.

        All processes have the sizes of all arrays, so they make the same calls: `ncclAllGather` of arrays of the same
        size on all, if the parts of its result are aligned; else `ncclBroadcast` from each process.
        """
        module, group, uint8 = self._library.arrays, self._group, self._library.nccl.NCCL_UINT8
        alike = len({None if each is None else each.device for each in found}) == 1
        if alike and not any(array.nbytes % _ALIGNED for array in own):
            whole = [module.empty((self.size, *array.shape), array.dtype) for array in own]
            self._queue(
                functools.partial(group.allGather, address_of(array), address_of(all_of_it), array.nbytes, uint8)
                for array, all_of_it in zip(own, whole, strict=True)
                if array.nbytes
            )
            return [[each[rank] for each in whole] for rank in range(self.size)]
        arrays = [[] if each is None else each.allocate(module) for each in found]
        arrays[self.rank] = own
        self._queue(
            functools.partial(group.broadcast, address_of(array), address_of(array), array.nbytes, uint8, root)
            for root, each in enumerate(arrays)
            for array in each
            if array.nbytes
        )
        return arrays

    def _queue(self, calls: Iterable[Callable[[int], None]]) -> None:
        """Queue NCCL calls on the stream as one group: they run at the same time, and none waits for another."""
        stream = self._library.stream()
        self._library.nccl.groupStart()
        for call in calls:
            call(stream)
        self._library.nccl.groupEnd()

    def _messages(self, found: Sequence[Serialized | None], arrays: Sequence[list[Array]], own: Any) -> list[Any]:
        """Return the messages, with the arrays that arrive for them."""
        return [
            own if rank == self.rank else None if each is None else deserialize(each, arrays[rank])
            for rank, each in enumerate(found)
        ]
