"""Groups of processes that send messages by MPI, through mpi4py, or over TCP (`sockets`).

A collective begins with a *sum* of four numbers, an all-reduce of MPI, by which all processes have entered it:

    code      a checksum of what is called; their sum is size * code if all call the same
    failed    1 from a process that reports an error in place of the call
    sent      messages that are not empty; if no process has one, nothing follows
    count     of `sum` its number; of `bcast` the bytes of the message

Then follow the messages: one all-gather, of arrays or of slots of few bytes, and another one of what did not fit; a
broadcast; or, in an exchange, messages between two processes, each with its size and the message if that is small
before larger parts of it.  So Python does as much for 512 processes as for two, but for each message that arrives.

A process that has no memory for what follows the sum receives it all the same, in parts that overwrite each other, and
then raises OutOfMemory: so all messages of the collective have arrived, and the next one can report the error.  Before
an all-gather of more than such a part all processes agree that they have memory, by one more sum.

Errors and mismatches end the call on all processes, because all have the same sums: then an all-gather of slots has the
errors, or what each calls.  A process that has failed begins both steps in all groups of the grid at once, so none
waits for it in one of them while it waits in another.  The wait is a loop in Python, in which signal handlers run.  Who
is missing is found only in long waits: the processes that wait in the same collective send each other notices, and
those that have sent none are the ones whose progress counts (`heartbeat`).
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import struct
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..config import config
from ..exceptions import CollectiveTimeout, InvalidType, InvalidValue, NotSupported, OutOfMemory
from ..memory.allocation import allocating, require
from ..optional import needed
from . import call_ids, heartbeat, process, sockets
from .communicator import Communicator, Failed, Traffic
from .serialization import ALIGNED, Bytes, Packed, large_sizes, pack, unpack

T = TypeVar("T")

# The numbers of the sum.
_NUMBERS = struct.Struct("=QQQq")
# The bytes of a slot of an all-gather, which begins with those of its content: of messages, and of errors and texts.
_SLOT, _REPORT_SLOT = 256, 1 << 15
_SIZE = struct.Struct("=q")
# The bytes of a message between two processes at most, which Open MPI sends to one of the same host in one step (up to
# 4,000 bytes, measured), and of one with a small message or none; it begins with the bytes of the block.
_LONG, _SHORT = 3968, 256
_ROOM = _LONG - _SIZE.size
_TAG_OF_FIRST, _TAG_OF_BLOCKS, _TAG_OF_ARRAYS, _TAG_OF_NOTICES = 1, 2, 3, 4
# The most bytes of one message or broadcast of MPI, as many as each process has memory for that it drops; and of the
# result of one all-gather.
_LARGEST, _GATHERED = 1 << 22, 1 << 30
# Seconds after which a process reports for whom it waits; then again each time the wait has doubled.
_REPORT_S = 30.0
# A process that waits polls: at first so many times at once, for 10 to 20 us; then it lets other processes run in
# between; and where others may take long to arrive it sleeps, for a small part of the time waited.  A sleep takes 60 us
# at least.
_SPINS, _YIELD_S, _SLEEP_SHARE, _SLEEP_S = 100, 2e-3, 0.05, 1e-3
# A process sends notices so long before it reports, or looks who makes progress, and receives those of others in such
# intervals.
_NOTICE_S, _LOOK_S = 0.5, 0.1


class MpiCommunicator(Communicator):
    """A group of processes with a communicator of mpi4py, or an `Endpoint` of `sockets`.

    channel: what two communicators of the same processes share, so that their calls are compared with each other.
    """

    def __init__(self, channel: _Channel, between_hosts: bool, traffic: Traffic | None = None) -> None:
        self._channel, self.between_hosts = channel, between_hosts
        self.rank, self.size, self.grids = channel.rank, channel.size, channel.grids
        self.traffic = Traffic() if traffic is None else traffic

    def _sum(self, count: int) -> int:
        return self._channel.sum(count)

    def _allgather_array(self, array: NDArray[Any]) -> NDArray[Any]:
        return self._channel.allgather_array(array)

    def _allgather(self, message: Any) -> list[Any]:
        found = self._channel.allgather(None if message is None else pack(message, whole=True).block)
        found[self.rank] = message
        return found

    def _bcast(self, message: Any, root: int) -> Any:
        mine = None if message is None or self.rank != root else pack(message, whole=True).block
        found = self._channel.bcast(mine, root)
        return message if self.rank == root else found

    def _exchange(self, messages: Mapping[int, Any], sources: Collection[int] | None) -> dict[int, Any]:
        packed: dict[int, Packed] = {}  # a message to several is packed once
        away: dict[int, Packed | None] = {}
        for rank, message in messages.items():
            if rank != self.rank:
                away[rank] = None if message is None else packed.get(id(message))
                if message is not None and away[rank] is None:
                    away[rank] = packed[id(message)] = pack(message)
        found = self._channel.exchange(away, sources)
        if messages.get(self.rank) is not None:
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


class _Link:
    """The first message to and from another process: buffers, and requests that MPI prepares once."""

    def __init__(self, comm: Any, rank: int) -> None:
        self.outgoing, self.incoming = memoryview(bytearray(_LONG)), memoryview(bytearray(_LONG))
        self.short, self.long = (
            comm.Send_init(self.outgoing[:length], rank, _TAG_OF_FIRST) for length in (_SHORT, _LONG)
        )
        self.receipt = comm.Recv_init(self.incoming, rank, _TAG_OF_FIRST)

    def written(self, message: Packed | None) -> Any:
        """Write the first message; return the request that sends it."""
        size = 0 if message is None else len(message.block)
        _SIZE.pack_into(self.outgoing, 0, size)
        end = _SIZE.size
        if message is not None and size <= _ROOM:
            end += size
            self.outgoing[_SIZE.size : end] = message.block
        return self.short if end <= _SHORT else self.long


class _Channel:
    """The collectives of an MPI communicator, and their number."""

    def __init__(self, comm: Any) -> None:
        self.comm, self.rank, self.size = comm, int(comm.Get_rank()), int(comm.Get_size())
        self.number = 0
        self.grids: dict[Any, Any] = {}
        # Why no further collective is possible, if one has failed: messages may still be on their way.
        self.broken: str | None = None
        self.others = [rank for rank in range(self.size) if rank != self.rank]
        # Where the processes reply whether they make progress.
        self.addresses: list[heartbeat.Address | None] = [None] * self.size
        self._spare = _spare() if self.others else memoryview(b"")
        # The numbers of the sum, of this process and of all, as bytes and as arrays of the same memory.
        self._numbers, self._sums = bytearray(_NUMBERS.size), bytearray(_NUMBERS.size)
        self._arrays = np.frombuffer(self._numbers, np.uint64), np.frombuffer(self._sums, np.uint64)
        self._links: dict[int, _Link] = {}
        # Of the notices: the last collective in which each other process has waited for long, the collective of which
        # this one has sent notices, to whom, and the requests that send them.
        self._latest = dict.fromkeys(self.others, 0)
        self._noticed: tuple[int, set[int]] = 0, set()
        self._notices: list[Any] = []

    def exchange_addresses(self) -> _Channel:
        """Let each process find out whether those that it waits for make progress.  Collective."""
        if self.others:
            self.addresses = self.allgather(pack(heartbeat.address(), whole=True).block)
        return self

    def sum(self, count: int) -> int:
        """Return the sum of the counts."""
        return self._collective("sum", lambda call, sent, total: total, count=count)

    def allgather_array(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the arrays of all processes, stacked by rank."""
        array = np.ascontiguousarray(array)
        whole = np.empty((self.size, *array.shape), array.dtype)

        def gathered(call: Call, sent: int, total: int) -> NDArray[Any]:
            if array.nbytes:
                self._wait([self.comm.Iallgather(_bytes(array), _bytes(whole))], call)
            return whole

        return self._collective(f"allgather of {array.dtype.str} {array.shape}", gathered)

    def allgather(self, block: bytes | None) -> list[Any]:
        """Return what is in the blocks of the others, None where that is nothing."""

        def gathered(call: Call, sent: int, total: int) -> list[Any]:
            found: list[Any] = [None] * self.size
            if not sent:
                return found
            mine = block or b""
            request, slots = self._slots(mine, _SLOT)
            self._wait([request], call)
            sizes = slots[:, : _SIZE.size].view(np.int64)[:, 0]
            large = np.where(sizes > _SLOT - _SIZE.size, sizes, 0)
            blocks = self._large(mine, large, call) if large.any() else {}
            for rank in np.flatnonzero(sizes).tolist():
                if rank != self.rank:
                    here = slots[rank, _SIZE.size : _SIZE.size + int(sizes[rank])]
                    found[rank] = unpack(blocks[rank] if large[rank] else bytearray(here), [])
            return found

        return self._collective("allgather", gathered, sent=block is not None)

    def bcast(self, block: bytes | None, root: int) -> Any:
        """Return what is in the block of a process, which alone has one."""

        def received(call: Call, sent: int, total: int) -> Any:
            if not total:
                return None
            memory, failure = _memory(call, [total]) if block is None else ([block], None)
            for part in self._parts_to_drop(total) if failure else _divided(memory[0]):
                self._wait([self.comm.Ibcast(part, root)], call)
            if failure:
                raise failure
            with allocating(call[0], "cpu"):
                return unpack(memory[0], []) if block is None else None

        return self._collective(f"bcast of rank {root}", received, count=0 if block is None else len(block))

    def exchange(self, messages: Mapping[int, Packed | None], sources: Collection[int] | None) -> dict[int, Any]:
        """Send messages to other ranks; return those of others, without empty ones."""

        def exchanged(call: Call, sent: int, total: int) -> dict[int, Any]:
            if not sent:
                return {}
            if sources is not None:
                return self._sparse(messages, [rank for rank in sources if rank != self.rank], call)
            present = {rank: message for rank, message in messages.items() if message is not None}
            to, by = bytearray(self.size), np.empty(self.size, np.uint8)
            for rank in present:
                to[rank] = 1
            self._wait([self.comm.Ialltoall(np.frombuffer(to, np.uint8), by)], call)
            return self._sparse(present, np.flatnonzero(by).tolist(), call)

        kind = "exchange" if sources is None else "exchange with known ranks"
        return self._collective(kind, exchanged, sent=sum(message is not None for message in messages.values()))

    def report(self, error: Any) -> Callable[[], list[Any]]:
        """Send an error in place of what is called; return a function that waits for the errors of the others."""
        self.number += 1
        requests = [self._summed(0, failed=1)]
        request, slots = self._slots(pack(error).block, _REPORT_SLOT)
        requests.append(request)

        def wait() -> list[Any]:
            try:
                self._wait(requests, _REPORT, sleep=True)
                found = _contents(slots)
                found[self.rank] = error
                return found
            except BaseException as failure:
                self.broken = str(failure) or type(failure).__name__
                raise

        return wait

    def _collective(
        self, kind: str, then: Callable[[Call, int, int], T], *, sent: int = 0, count: int = 0, operation: str = ""
    ) -> T:
        """Make the first step, and then the others with the sums of `sent` and `count`."""
        if self.broken is not None:
            raise InvalidValue(f"a collective cannot follow one that has failed: {self.broken}")
        self.number += 1
        try:
            call = operation or call_ids.operation(), kind, self.number
            code = _code(call[0], kind)
            self._wait([self._summed(code, sent=sent, count=count)], call, sleep=True)
            codes, failed, sent, total = _NUMBERS.unpack(self._sums)
            if failed:
                request, slots = self._slots(b"", _REPORT_SLOT)
                self._wait([request], _REPORT)
                raise Failed(_contents(slots))
            if codes != code * self.size % _MODULUS:
                self._mismatch(call)
            return then(call, sent, total)
        except (Failed, OutOfMemory):
            raise  # no message is on its way
        except BaseException as error:
            self.broken = str(error) or type(error).__name__
            raise

    def _summed(self, code: int, *, failed: int = 0, sent: int = 0, count: int = 0) -> Any:
        """Begin the first step; return the request."""
        _NUMBERS.pack_into(self._numbers, 0, code, failed, sent, count)
        return self.comm.Iallreduce(*self._arrays)

    def _slots(self, content: bytes, size: int) -> tuple[Any, NDArray[np.uint8]]:
        """Begin to gather a slot of each process; return the request, and the slots.

        A slot begins with the bytes of the content, which is in it if it fits.
        """
        mine, slots = bytearray(size), np.empty((self.size, size), np.uint8)
        _SIZE.pack_into(mine, 0, len(content))
        if len(content) <= size - _SIZE.size:
            mine[_SIZE.size : _SIZE.size + len(content)] = content
        return self.comm.Iallgather(np.frombuffer(mine, np.uint8), slots), slots

    def _large(self, mine: bytes, sizes: NDArray[np.int64], call: Call) -> dict[int, Any]:
        """Return the blocks of all processes of these sizes, gathered in rounds of bounded size."""
        step, total = _GATHERED // self.size // ALIGNED * ALIGNED, int(sizes.sum())
        rounds = [np.clip(sizes - begin, 0, step) for begin in range(0, int(sizes.max()), step)]
        arrived, failure = _memory(call, [int(counts.sum()) for counts in rounds])
        if total > _LARGEST:  # too much to be dropped
            if failure:
                raise failure
            self.sum(0)
        content, parts = np.frombuffer(mine, np.uint8), dict[int, list[Any]]()
        for number, counts in enumerate(rounds):
            ends = np.cumsum(counts)
            whole = np.frombuffer(self._spare, np.uint8)[: ends[-1]] if failure else arrived[number]
            sent = content[number * step : number * step + int(counts[self.rank])]
            places = counts.tolist(), (ends - counts).tolist()
            self._wait([self.comm.Iallgatherv(sent, [whole, places])], call)
            for rank in np.flatnonzero(counts).tolist():
                parts.setdefault(rank, []).append(whole[ends[rank] - counts[rank] : ends[rank]])
        if failure:
            raise failure
        with allocating(call[0], "cpu"):
            return {rank: each[0] if len(each) == 1 else np.concatenate(each) for rank, each in parts.items()}

    def _sparse(self, messages: Mapping[int, Packed | None], sources: Sequence[int], call: Call) -> dict[int, Any]:
        """Send messages to some ranks, and return those of the sources."""
        for rank in messages.keys() | sources:
            if rank not in self._links:
                self._links[rank] = _Link(self.comm, rank)
        receipts = [self._links[rank].receipt for rank in sources]
        pending = [self._links[rank].written(message) for rank, message in messages.items()]
        if receipts or pending:
            type((receipts or pending)[0]).Startall(receipts + pending)
        for rank, message in messages.items():
            if message is not None:
                if len(message.block) > _ROOM:
                    pending += self._sent(message.block, rank, _TAG_OF_BLOCKS)
                for array in message.arrays:
                    pending += self._sent(array, rank, _TAG_OF_ARRAYS)
        self._wait(receipts, call)
        blocks, left = dict[int, Any](), dict[int, int]()
        for rank in sources:
            first = self._links[rank].incoming
            (size,) = _SIZE.unpack_from(first)
            if size > _ROOM:
                left[rank] = size
            elif size:
                blocks[rank] = bytearray(first[_SIZE.size : _SIZE.size + size])
        made, failure = _memory(call, list(left.values())) if left else ([], None)
        blocks.update(zip(left, made, strict=False))  # none are made in a failure
        sizes = {rank: self._drop(rank, size, _TAG_OF_BLOCKS, call) for rank, size in left.items()} if failure else {}
        self._wait([each for rank in left if made for each in self._received(blocks[rank], rank, _TAG_OF_BLOCKS)], call)
        sizes |= {rank: large_sizes(block) for rank, block in blocks.items()}
        large = dict[int, list[Bytes]]()
        if any(sizes.values()):
            if failure is None:
                made, failure = _memory(call, [size for each in sizes.values() for size in each])
                rest = iter(made)
                large = {} if failure else {rank: [next(rest) for _ in each] for rank, each in sizes.items()}
            for rank, arrays in large.items():
                for array in arrays:
                    pending += self._received(array, rank, _TAG_OF_ARRAYS)
            if failure:
                blocks.clear()
                for rank, each in sizes.items():
                    for size in each:
                        self._drop(rank, size, _TAG_OF_ARRAYS, call)
        self._wait(pending, call)
        if failure:
            raise failure
        with allocating(call[0], "cpu"):
            return {rank: unpack(blocks[rank], large.get(rank, ())) for rank in sources if rank in blocks}

    def _drop(self, rank: int, size: int, tag: int, call: Call) -> list[int]:
        """Receive what there is no memory for; return the bytes of the arrays that follow, if it was a block."""
        sizes: list[int] = []
        for number, part in enumerate(self._parts_to_drop(size)):
            self._wait([self.comm.Irecv(part, rank, tag)], call)
            if tag == _TAG_OF_BLOCKS and number == 0:
                sizes = large_sizes(part)
        return sizes

    def _parts_to_drop(self, size: int) -> list[memoryview]:
        """Return memory for bytes in parts, as `_divided` makes them; it is the same for each part."""
        return [self._spare[: min(size - begin, _LARGEST)] for begin in range(0, size, _LARGEST)]

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
        begin, report, look = time.perf_counter(), _REPORT_S, _LOOK_S
        while time.perf_counter() - begin < _YIELD_S:
            if all(request.Test() for request in requests):
                return
            process.yield_processor()
        with heartbeat.Wait(self.addresses) as wait:
            while not all(request.Test() for request in requests):
                process.yield_processor()
                waited = time.perf_counter() - begin
                if sleep:
                    time.sleep(min(waited * _SLEEP_SHARE, _SLEEP_S))
                limit = config.collective_timeout or float("inf")
                if waited > look:
                    self._notice(ask=waited > min(limit / heartbeat.REQUESTS, report) - _NOTICE_S)
                    look = waited + _LOOK_S
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
        """Return the ranks that have not been found to wait in this collective, or in a later one."""
        return [rank for rank in self.others if self._latest[rank] < self.number]

    def _notice(self, *, ask: bool) -> None:
        """Receive notices of processes that wait, and reply to those in this collective.  ask: send one to all."""
        if self._noticed[0] != self.number:
            self._noticed = self.number, set()
        noticed = self._noticed[1]
        self._notices = [(request, content) for request, content in self._notices if not request.Test()]
        for rank in self.others:
            while self.comm.Iprobe(rank, _TAG_OF_NOTICES):
                content = bytearray(_SIZE.size)
                request = self.comm.Irecv(content, rank, _TAG_OF_NOTICES)
                while not request.Test():
                    process.yield_processor()
                (number,) = _SIZE.unpack(content)
                self._latest[rank] = max(self._latest[rank], number)
            if (ask or self._latest[rank] == self.number) and rank not in noticed:
                noticed.add(rank)
                content = bytearray(_SIZE.pack(self.number))
                self._notices.append((self.comm.Isend(content, rank, _TAG_OF_NOTICES), content))

    def _waits(self, waited: float, call: Call | str) -> str:
        missing = self._missing()
        whom = f" for {_ranks(missing)}" if missing else ""
        return f"rank {self.rank} of {self.size} has waited {waited:.0f} s in {_located(call)}{whom}"

    def _mismatch(self, call: Call) -> NoReturn:
        """Exchange what each process calls, and raise the same error on all."""
        mine = call[0] if call[0] == _END else f"called {_located(call)}"
        request, slots = self._slots(pack(mine[:_LONGEST_TEXT]).block, _REPORT_SLOT)
        self._wait([request], call)
        calls: dict[str, list[int]] = {}
        for rank, text in enumerate(_contents(slots)):
            calls.setdefault(text, []).append(rank)
        shown = [
            f"rank {ranks[0]}{f' (and {len(ranks) - 1} more)' if len(ranks) > 1 else ''} {text}"
            for text, ranks in calls.items()
        ]
        raise InvalidValue(f"every rank must make the same calls in the same order: {'; '.join(shown[:8])}")

    def end(self) -> None:
        """Wait until all processes have ended their programs: one that calls a collective instead raises an error."""
        if self.broken is not None:
            return
        try:
            self._collective("", lambda call, sent, total: None, operation=_END)
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
_MODULUS = 1 << 64
# Characters of the text of a call.
_LONGEST_TEXT = 4000

# What is called: the operation, the kind of collective, and its number.
Call = tuple[str, str, int]


@functools.lru_cache(maxsize=4096)
def _code(operation: str, kind: str) -> int:
    """Return 64 bits that stand for a call, the same on all processes."""
    return int.from_bytes(hashlib.blake2b(f"{operation} {kind}".encode(), digest_size=8).digest(), "little")


def _contents(slots: NDArray[np.uint8]) -> list[Any]:
    """Return what is in the slots of all processes, None where that is nothing."""
    sizes = slots[:, : _SIZE.size].view(np.int64)[:, 0].tolist()
    return [
        unpack(bytearray(slot[_SIZE.size : _SIZE.size + size]), []) if size else None
        for slot, size in zip(slots, sizes, strict=True)
    ]


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)


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


def _memory(call: Call, sizes: Sequence[int]) -> tuple[list[Bytes], OutOfMemory | None]:
    """Return memory for what other processes send, or none and the error if there is not enough."""
    try:
        with allocating(call[0], "cpu"):
            require(call[0], "cpu", sum(sizes))
            return [_empty(size) for size in sizes], None
    except OutOfMemory as error:
        return [], error


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
