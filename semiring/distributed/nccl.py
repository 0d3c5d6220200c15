"""Groups of processes with a GPU each: arrays on the GPU go by NCCL, everything else by another communicator.

A message is serialized without its arrays on the GPU, of which it has the shapes and types.  It goes through the inner
communicator (of MPI), so every process has the sizes of the arrays that others send it; these follow in one group of
NCCL calls, on the current stream.  Nothing waits for the GPU: kernels that read a received array are
queued behind its arrival.

A grid with parts on GPUs chooses it where every process has a GPU of its own (`connect`).  Several processes of one GPU
need NCCL 2.30 and ``NCCL_MULTI_RANK_GPU_ENABLE=1``, which is for tests: they share its memory and its time.

Sources: NVIDIA, "NCCL User Guide", on ``ncclSend``, ``ncclRecv``, groups and ``NCCL_MULTI_RANK_GPU_ENABLE``;
`cupy.cuda.nccl`.
"""

from __future__ import annotations

import importlib
import os
import platform
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..memory.arrays import Array, address_of, array_module
from .communicator import Communicator
from .serialization import Serialized, deserialize, serialize

# The first version, as NCCL numbers them, in which several ranks may share a GPU, and the variable that enables it.
_SHARING, _SHARE = 23000, "NCCL_MULTI_RANK_GPU_ENABLE"


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
        mine, arrays = serialize(message, self._library.arrays)
        found = self.inner._allgather(mine)
        return self._complete(found, [arrays] * self.size, message)

    def _alltoall(self, messages: Sequence[Any]) -> list[Any]:
        parts = [
            serialize(None if rank == self.rank else message, self._library.arrays)
            for rank, message in enumerate(messages)
        ]
        found = self.inner._alltoall([mine for mine, _ in parts])
        return self._complete(found, [arrays for _, arrays in parts], messages[self.rank])

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

    def _complete(self, found: Sequence[Serialized | None], sent: Sequence[list[Array]], own: Any) -> list[Any]:
        """Send the arrays, receive those of the messages that were found, and return the messages."""
        contiguous = self._library.arrays.ascontiguousarray
        others = [rank for rank in range(self.size) if rank != self.rank]
        arrays: dict[int, list[Array]] = {
            rank: message.allocate(self._library.arrays)
            for rank, message in enumerate(found)
            if message is not None and rank != self.rank
        }
        # What is sent is the memory in its order.
        in_order = {id(array): contiguous(array) for rank in others for array in sent[rank]}
        departing = {rank: [in_order[id(array)] for array in sent[rank]] for rank in others}
        wanted = any(departing.values()) or any(arrays.values())
        if self._group is None and any(self.inner._allgather(wanted)):
            # Before the first array is sent, all processes of the group are connected.
            identity = self._library.nccl.get_unique_id() if self.rank == 0 else None
            identity = self.inner._allgather(identity)[0]
            self._group = self._library.nccl.NcclCommunicator(self.size, identity, self.rank)
        if wanted:
            self._transfer(departing, arrays)
        result = [
            deserialize(message, arrays[rank]) if message is not None and rank in arrays else None
            for rank, message in enumerate(found)
        ]
        result[self.rank] = own
        return result

    def _transfer(self, sent: dict[int, list[Array]], received: dict[int, list[Array]]) -> None:
        """Queue all transfers as one group: they run at the same time, and none waits for another."""
        library, stream = self._library, self._library.stream()
        library.nccl.groupStart()
        for call, messages in ((self._group.send, sent), (self._group.recv, received)):
            for rank, arrays in messages.items():
                for array in arrays:
                    if array.nbytes:
                        call(address_of(array), array.nbytes, library.nccl.NCCL_UINT8, rank, stream)
        library.nccl.groupEnd()
