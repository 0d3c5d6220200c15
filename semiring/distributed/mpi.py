"""Groups of processes that send messages by MPI, through mpi4py, or over TCP (`sockets`).

A collective has two steps.  First every process sends a *header* to every other: what it calls, how much follows, and
the message itself if that is small.  Then follow the messages that did not fit, and large arrays from where they are.
The headers show who has arrived, and whether all call the same: a mismatch raises on every process, and one that waits
reports for whom.  A process that has failed sends the header of an error, and nothing else follows.  The wait is a loop
in Python, in which signal handlers run.

Both steps are messages between two processes, not collectives of MPI.  A pending collective does not report which
processes it waits for, and only the two processes of a message have its size, so ``MPI_Ialltoallv`` would take one more
collective; a failed process sends a long error at once, while others wait for it in another group.

Headers go directly from each process to each other: for tens of processes that is as fast as a tree.  They are sent by
persistent requests, which MPI prepares once, of one of two lengths.  What is called is a number of 64 bits: a checksum
of the operation and the kind of collective, and how many collectives preceded; its text is made for a report alone.

A process that has no memory for what follows the headers receives it all the same, in parts that overwrite each other,
and then raises OutOfMemory: so all messages of the collective have arrived, and the next one can report the error.
"""

from __future__ import annotations

import atexit
import functools
import os
import struct
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ..config import config
from ..exceptions import CollectiveTimeout, InvalidType, InvalidValue, NotSupported, OutOfMemory
from ..memory.allocation import allocating, require
from ..optional import needed
from . import call_ids, heartbeat, process, sockets
from .communicator import Communicator, Failed, Traffic
from .serialization import Bytes, Packed, large_sizes, pack, unpack

# The bytes of a header at most, which Open MPI sends to a process of the same host in one step (up to 4,000 bytes,
# measured), and of one with a small message or none.
_HEADER, _SHORT = 3968, 256
# The numbers of a header: what is called, and the bytes of the block, which is in the header if it fits.
_NUMBERS = struct.Struct("<qq")
_ROOM = _HEADER - _NUMBERS.size
_TAG_OF_HEADERS, _TAG_OF_BLOCKS, _TAG_OF_ARRAYS = 1, 2, 3
# What is called, in the header of an error: the numbers of calls are not negative.
_ERROR = -1
# The same, in the header with the text of a call.
_MISMATCH = -2
# The largest count of bytes in one MPI message; each process has as much memory for what it drops.
_LARGEST = 1 << 22
# Seconds after which a process reports for whom it waits; then again each time the wait has doubled.
_REPORT_S = 30.0
# A process that waits polls: at first so many times at once, for 10 to 20 us; then it lets other processes run in
# between; and where others may take long to arrive it sleeps, for a small part of the time waited.  A sleep takes 60 us
# at least.
_SPINS, _YIELD_S, _SLEEP_SHARE, _SLEEP_S = 100, 2e-3, 0.05, 1e-3


class MpiCommunicator(Communicator):
    """A group of processes with a communicator of mpi4py, or an `Endpoint` of `sockets`.

    channel: what two communicators of the same processes share, so that their calls are compared with each other.
    """

    def __init__(self, channel: _Channel, between_hosts: bool, traffic: Traffic | None = None) -> None:
        self._channel, self.between_hosts = channel, between_hosts
        self.rank, self.size, self.grids = channel.rank, channel.size, channel.grids
        self.traffic = Traffic() if traffic is None else traffic

    def _allgather(self, message: Any) -> list[Any]:
        mine = None if message is None else pack(message)
        found = self._channel.collective("allgather", [mine] * self.size)
        found[self.rank] = message
        return found

    def _alltoall(self, messages: Sequence[Any]) -> list[Any]:
        away = [
            None if message is None or rank == self.rank else pack(message) for rank, message in enumerate(messages)
        ]
        found = self._channel.collective("alltoall", away)
        found[self.rank] = messages[self.rank]
        return found

    def _report(self, error: Any) -> Callable[[], list[Any]]:
        return self._channel.report(error)

    @property
    def broken(self) -> bool:
        """Whether messages of a collective that has failed may be on their way."""
        return self._channel.broken is not None

    def split(self, color: int, key: int) -> MpiCommunicator:
        """Return the group of the processes that gave this color, ordered by key."""
        # First a collective: MPI's own split waits without an end for a process that does not call it.
        given = sorted(
            (other_key, rank) for rank, (other, other_key) in enumerate(self.allgather((color, key))) if other == color
        )
        channel = _Channel(self._channel.comm.Split(color, key))
        channel.addresses = [self._channel.addresses[rank] for _, rank in given]
        return MpiCommunicator(channel, self.between_hosts, self.traffic)

    def abort(self, message: str) -> None:
        """End all processes, with a message on standard error."""
        print(message, file=sys.stderr, flush=True)
        process.end_all(1)


class _Channel:
    """Buffers and requests of the headers between the processes of an MPI communicator, and the number of calls."""

    def __init__(self, comm: Any) -> None:
        self.comm, self.rank, self.size = comm, int(comm.Get_rank()), int(comm.Get_size())
        self.number = 0
        self.grids: dict[Any, Any] = {}
        # Why no further collective is possible, if one has failed: messages may still be on their way.
        self.broken: str | None = None
        self.others = [rank for rank in range(self.size) if rank != self.rank]
        # Where the processes reply whether they make progress.
        self.addresses: list[heartbeat.Address | None] = [None] * self.size
        # A header of each other process, as bytes; the requests that send the short ones, the long ones, and receive.
        self.outgoing = [memoryview(bytearray(_HEADER)) for _ in range(self.size)]
        self.incoming = [memoryview(bytearray(_HEADER)) for _ in range(self.size)]
        self.short, self.long = (
            [comm.Send_init(self.outgoing[rank][:length], rank, _TAG_OF_HEADERS) for rank in range(self.size)]
            for length in (_SHORT, _HEADER)
        )
        self.receipts = [comm.Recv_init(self.incoming[rank], rank, _TAG_OF_HEADERS) for rank in self.others]
        self._spare = _spare() if self.others else memoryview(b"")

    def exchange_addresses(self) -> _Channel:
        """Let each process find out whether those that it waits for make progress.  Collective."""
        if self.others:
            mine = pack(heartbeat.address())
            self.addresses = self.collective("allgather", [mine] * self.size)
        return self

    def collective(self, kind: str, messages: Sequence[Packed | None]) -> list[Any]:
        """Send message k to process k; return what they have sent, None where that was nothing."""
        if self.broken is not None:
            raise InvalidValue(f"a collective cannot follow one that has failed: {self.broken}")
        self.number += 1
        call = call_ids.operation(), kind, self.number
        try:
            arrived = self._collective(call, messages)
        except (Failed, OutOfMemory):
            raise  # no message is on its way
        except BaseException as error:
            self.broken = str(error) or type(error).__name__
            raise
        found: list[Any] = [None] * self.size
        if arrived:
            with allocating(call[0], "cpu"):
                for rank, block, arrays in arrived:
                    found[rank] = unpack(block, arrays)
        return found

    def report(self, error: Any) -> Callable[[], list[Any]]:
        """Send the header of an error; return a function that waits for the headers of the others."""
        mine = pack(error)
        self.number += 1
        requests = self._headers(_ERROR, [mine] * self.size)
        sent: list[Any] = []
        if len(mine.block) > _ROOM:
            for rank in self.others:  # now: another process may wait for it before it reports to other groups
                sent += self._sent(mine.block, rank, _TAG_OF_BLOCKS)

        def wait() -> list[Any]:
            try:
                self._wait(requests, _REPORT, sleep=True)
                found = self._errors()
                self._wait(sent, _REPORT)
                found[self.rank] = error
                return found
            except BaseException as failure:
                self.broken = str(failure) or type(failure).__name__
                raise

        return wait

    def _errors(self) -> list[Any]:
        """Return the errors of which headers have arrived, by rank; receive those that did not fit."""
        found: list[Any] = [None] * self.size
        pending: list[Any] = []
        blocks = {}
        for rank in self.others:
            code, size = _NUMBERS.unpack_from(self.incoming[rank])
            if code == _ERROR:
                blocks[rank] = self._block(rank, size, pending)
        self._wait(pending, _REPORT)
        for rank, block in blocks.items():
            found[rank] = unpack(block, [])
        return found

    def _headers(self, code: int, messages: Sequence[Packed | None]) -> list[Any]:
        """Begin to exchange headers; return the requests."""
        requests = self.receipts.copy()
        for rank in self.others:
            message, header = messages[rank], self.outgoing[rank]
            size = 0 if message is None else len(message.block)
            _NUMBERS.pack_into(header, 0, code, size)
            end = _NUMBERS.size
            if message is not None and size <= _ROOM:
                end += size
                header[_NUMBERS.size : end] = message.block
            requests.append((self.short if end <= _SHORT else self.long)[rank])
        if requests:
            type(requests[0]).Startall(requests)
        return requests

    def _block(self, rank: int, size: int, pending: list[Any]) -> bytearray | Bytes:
        """Return the block of a process: what is in its header, or what the requests added to `pending` receive."""
        if size <= _ROOM:
            return bytearray(self.incoming[rank][_NUMBERS.size : _NUMBERS.size + size])
        block = _empty(size)
        pending += self._received(block, rank, _TAG_OF_BLOCKS)
        return block

    def _collective(self, call: Call, messages: Sequence[Packed | None]) -> list[tuple[int, Any, list[Bytes]]]:
        """Send message k to process k; return the rank, the block and the large arrays of each that has arrived.

        OutOfMemory where there is no memory for them; then they have been received and are lost.
        """
        code = _code(call)
        self._wait(self._headers(code, messages), call, sleep=True)
        arrived: list[tuple[int, int]] = []
        alike = True
        for rank in self.others:
            other, size = _NUMBERS.unpack_from(self.incoming[rank])
            if other != code:
                alike = False
                if other == _ERROR:
                    raise Failed(self._errors())
            if size:
                arrived.append((rank, size))
        if not alike:
            self._mismatch(call)
        pending: list[Any] = []
        for rank in self.others:
            message = messages[rank]
            if message is not None and (message.arrays or len(message.block) > _ROOM):
                if len(message.block) > _ROOM:
                    pending += self._sent(message.block, rank, _TAG_OF_BLOCKS)
                for array in message.arrays:
                    pending += self._sent(array, rank, _TAG_OF_ARRAYS)
        if not (arrived or pending):
            return []
        failure: OutOfMemory | None = None
        expected: list[Any] = []
        blocks: dict[int, Any] = {rank: self._block(rank, size, expected) for rank, size in arrived if size <= _ROOM}
        sizes = {rank: large_sizes(block) for rank, block in blocks.items()}
        if len(blocks) == len(arrived) and not any(sizes.values()):  # nothing follows the headers
            self._wait(pending, call)
            return [(rank, block, []) for rank, block in blocks.items()]
        try:
            with allocating(call[0], "cpu"):
                require(call[0], "cpu", sum(size for rank, size in arrived if rank not in blocks))
                for rank, size in arrived:
                    if rank not in blocks:
                        blocks[rank] = self._block(rank, size, expected)
        except OutOfMemory as error:
            failure = error
        self._wait(expected, call)
        sizes = {rank: large_sizes(block) for rank, block in blocks.items()}
        sizes |= {rank: self._drop(rank, size, _TAG_OF_BLOCKS, call) for rank, size in arrived if rank not in blocks}
        large: dict[int, list[Bytes]] = {}
        if failure is None:
            try:
                with allocating(call[0], "cpu"):
                    require(call[0], "cpu", sum(map(sum, sizes.values())))
                    large = {rank: [_empty(size) for size in each] for rank, each in sizes.items()}
            except OutOfMemory as error:
                failure = error
        for rank, arrays in large.items():
            for array in arrays:
                pending += self._received(array, rank, _TAG_OF_ARRAYS)
        if failure is not None:
            blocks.clear()
            for rank, each in sizes.items():
                for size in each:
                    self._drop(rank, size, _TAG_OF_ARRAYS, call)
        self._wait(pending, call)
        if failure is not None:
            raise failure
        return [(rank, block, large[rank]) for rank, block in blocks.items()]

    def _drop(self, rank: int, size: int, tag: int, call: Call) -> list[int]:
        """Receive what there is no memory for; return the bytes of the arrays that follow, if it was a block."""
        sizes: list[int] = []
        for at in range(0, size, _LARGEST):
            part = self._spare[: min(size - at, _LARGEST)]
            self._wait([self.comm.Irecv(part, rank, tag)], call)
            if tag == _TAG_OF_BLOCKS and at == 0:
                sizes = large_sizes(part)
        return sizes

    def _sent(self, content: Any, rank: int, tag: int) -> list[Any]:
        return [self.comm.Isend(part, rank, tag) for part in _divided(content)]

    def _received(self, content: Any, rank: int, tag: int) -> list[Any]:
        return [self.comm.Irecv(part, rank, tag) for part in _divided(content)]

    def _wait(self, requests: Sequence[Any], call: Call | str, *, sleep: bool = False) -> None:
        """Return once all requests are done.  sleep: others may take long to arrive, else only data is on its way."""
        for number, request in enumerate(requests):
            test = request.Test
            for _ in range(_SPINS):
                if test():
                    break
            else:
                self._wait_long(requests[number:], call, sleep)
                return

    def _wait_long(self, requests: Sequence[Any], call: Call | str, sleep: bool) -> None:
        all_done = type(requests[0]).Testall
        begin, report = time.perf_counter(), _REPORT_S
        while time.perf_counter() - begin < _YIELD_S:
            if all_done(requests):
                return
            process.yield_processor()
        with heartbeat.Wait(self.addresses) as wait:
            while not all_done(requests):
                process.yield_processor()
                waited = time.perf_counter() - begin
                if sleep:
                    time.sleep(min(waited * _SLEEP_SHARE, _SLEEP_S))
                limit = config.collective_timeout or float("inf")
                idle = wait.idle_ranks(limit, lambda: self._missing() or self.others)
                if idle:
                    raise CollectiveTimeout(
                        f"{self._waits(waited, call)}; that {_ranks(idle)} made no progress for {limit:g} s (the "
                        "setting collective_timeout) ends the program"
                    )
                if waited > report:
                    report *= 2
                    print(f"semiring: {self._waits(waited, call)}", file=sys.stderr, flush=True)

    def _missing(self) -> list[int]:
        """Return the ranks whose headers have not arrived."""
        return [rank for rank, receipt in zip(self.others, self.receipts, strict=True) if not receipt.Test()]

    def _waits(self, waited: float, call: Call | str) -> str:
        missing = self._missing()
        whom = f" for {_ranks(missing)}" if missing else ""
        return f"rank {self.rank} of {self.size} has waited {waited:.0f} s in {_located(call)}{whom}"

    def _mismatch(self, call: Call) -> NoReturn:
        """Exchange what each process calls, and raise the same error on all."""
        mine = (call[0] if call[0] == _END else f"called {_located(call)}").encode()[:_ROOM]
        requests = self._headers(_MISMATCH, [Packed(mine, [])] * self.size)
        self._wait(requests, call, sleep=True)
        called = [mine] * self.size
        for rank in self.others:
            _, size = _NUMBERS.unpack_from(self.incoming[rank])
            called[rank] = bytes(self._block(rank, size, []))
        shown = "; ".join(f"rank {rank} {what.decode(errors='replace')}" for rank, what in enumerate(called[:8]))
        raise InvalidValue(f"every rank must make the same calls in the same order: {shown}")

    def end(self) -> None:
        """Wait until all processes have ended their programs: one that calls a collective instead raises an error."""
        if self.broken is not None:
            return
        self.number += 1
        try:
            self._collective((_END, "", self.number), [None] * self.size)
        except InvalidValue as error:  # the others have raised and report it
            self.broken = str(error)
            process.end_all(1, after_others=True)
        except Failed as failed:
            print(
                f"semiring: rank {self.rank} has ended its program; another raised {failed.first.kind.__name__}: "
                f"{failed.first.message} (rank {failed.first.rank} of {self.size})",
                file=sys.stderr,
                flush=True,
            )
            process.end_all(1)
        except CollectiveTimeout as error:
            print(f"semiring: {error}", file=sys.stderr, flush=True)
            process.end_all(1)


_END = "has ended its program"
_REPORT = "the report of an error"

# What is called: the operation, the kind of collective, and its number.
Call = tuple[str, str, int]


@functools.lru_cache(maxsize=4096)
def _checksum(operation: str, kind: str) -> int:
    """Return 32 bits that are the same on all processes."""
    return zlib.crc32(f"{operation} {kind}".encode())


def _code(call: Call) -> int:
    """Return the number that stands for a call in a header."""
    operation, kind, number = call
    return (number & 0x7FFFFFFF) << 32 | _checksum(operation, kind)


def _ranks(ranks: Sequence[int]) -> str:
    """Return the text of some ranks."""
    more = f" and {len(ranks) - 8} more" if len(ranks) > 8 else ""
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks[:8]))}{more}"


def _located(call: Call | str) -> str:
    """Return the text of a call, with the line of the program that made it."""
    if isinstance(call, str):
        return call
    operation, kind, number = call
    if operation == _END:
        return _END
    where = call_ids.program_line()
    return f"{operation} ({kind} {number})" + (f" at {where}" if where else "")


@functools.cache
def _spare() -> memoryview:
    """Return the memory of this process for what it has no memory for."""
    return memoryview(bytearray(_LARGEST))


def _empty(size: int) -> Bytes:
    """Return memory for what another process sends."""
    return np.empty(size, np.uint8)


def _divided(content: Any) -> list[memoryview]:
    """Return bytes in parts, each of which fits in the spare memory."""
    view = memoryview(content)
    return [view[k : k + _LARGEST] for k in range(0, view.nbytes, _LARGEST)]


_everyone: _Channel | None = None


def world() -> MpiCommunicator:
    """Return the group of all processes that the launcher started; one process without a launcher.

    Messages go by MPI where its launcher has started the processes, and over TCP where torchrun has, or srun without an
    interface of MPI.  NotSupported if MPI's launcher has started this process, and mpi4py or MPI itself is missing;
    InvalidValue if the launcher has started more processes than have found each other.  From the first call on, an
    exception that ends one process ends all of them.
    """
    global _everyone
    if _everyone is None:
        process.choose_gpu()
        place = sockets.Place.of_launcher(os.environ)
        by_mpi = process.by_mpi(os.environ)
        comm = None if place is not None and not by_mpi else _by_mpi(place is not None or not by_mpi)
        if comm is None or (place is not None and comm.Get_size() == 1):
            comm = (place or sockets.Place("localhost", 0, 0, 1)).connect(config.collective_timeout or 0.0)
        process.check_size(os.environ, comm.Get_size())
        _everyone = _Channel(comm).exchange_addresses()
        if _everyone.size > 1:
            process.end_all_on_errors(_everyone.rank, _everyone.size)
            atexit.register(_everyone.end)
    if isinstance(_everyone.comm, sockets.Endpoint):
        return MpiCommunicator(_everyone, _everyone.comm.between_hosts)
    local = process.local_rank(os.environ)
    return MpiCommunicator(_everyone, local is None or local[1] < _everyone.size)


def _by_mpi(optional: bool) -> Any:
    """Return the communicator of all processes of MPI; None if it is missing and optional."""
    try:
        MPI = needed("a grid of processes", "mpi4py.MPI")
    except RuntimeError as error:
        if optional:
            return None
        if isinstance(error, NotSupported):
            raise
        raise NotSupported(
            f"a grid of processes needs an MPI library ({error}); pip install 'semiring[mpi]' brings one"
        ) from error
    return MPI.COMM_WORLD.Dup()


def of_mpi4py(comm: Any) -> MpiCommunicator:
    """Return the group of an intracommunicator of mpi4py, which is duplicated unless its group is there.  Collective.

    From then on an exception that ends one process ends all of the launch.
    """
    MPI: Any = sys.modules.get("mpi4py.MPI")
    if MPI is None or not isinstance(comm, MPI.Intracomm):
        raise InvalidType(f"a grid has a Communicator or one of mpi4py, got {type(comm).__name__}")
    process.end_all_on_errors(MPI.COMM_WORLD.Get_rank(), MPI.COMM_WORLD.Get_size())
    if _everyone is not None and isinstance(_everyone.comm, MPI.Intracomm) and _alike(_everyone.comm, comm):
        return world()
    for group in _given:
        if _alike(group._channel.comm, comm):
            return MpiCommunicator(group._channel, group.between_hosts)
    here = comm.Split_type(MPI.COMM_TYPE_SHARED)
    between_hosts = here.Get_size() < comm.Get_size()
    here.Free()
    _given.append(MpiCommunicator(_Channel(comm.Dup()).exchange_addresses(), between_hosts))
    return _given[-1]


# The groups of communicators of mpi4py, of which grids were made.
_given: list[MpiCommunicator] = []


def _alike(one: Any, other: Any) -> bool:
    """Return whether two intracommunicators have the same processes in the same order."""
    return int(type(one).Compare(one, other)) <= 1  # MPI.IDENT, MPI.CONGRUENT


def connect(address: str, rank: int, size: int) -> Communicator:
    """Return the group of `size` processes that meet at an address, over TCP; no launcher is needed.  Collective.

    For the workers of Dask and Ray, processes of `multiprocessing`, and notebooks: each calls it with a number of its
    own, and makes a grid of the group.

    Parameters
    ----------
    address : ``"host:port"``
        Where rank 0 listens until all have come; a free port of its host, which the others reach.
    rank, size : int
        The number of this process, from 0, and how many there are.

    Returns
    -------
    Communicator
        For ``Grid(communicator)``.

    Raises
    ------
    InvalidValue
        If the address has no port, or the rank is not one of `size`.
    NotSupported
        If rank 0 cannot listen there.
    CollectiveTimeout
        If not all have come within ``config.collective_timeout``.

    Notes
    -----
    What is sent is neither encrypted nor authenticated: use it between hosts that are trusted, as MPI and NCCL.  A
    process that ends while others wait for it raises SemiringError there.  Arrays on GPUs go by NCCL where each process
    has one of its own.

    Examples
    --------
    >>> group = sr.distributed.connect("localhost:29411", 0, 1)
    >>> sr.distributed.Grid(group, device="cpu").shape
    (1, 1)
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise InvalidValue(f"connect: an address is 'host:port'; got {address!r}")
    if not 0 <= rank < size:
        raise InvalidValue(f"connect: a rank is from 0 to size - 1, {size - 1}; got {rank}")
    endpoint = sockets.Place(host, int(port), rank, size).connect(config.collective_timeout or 0.0)
    return MpiCommunicator(_Channel(endpoint).exchange_addresses(), endpoint.between_hosts)
