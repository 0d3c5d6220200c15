"""Groups of MPI processes, through mpi4py.

A collective has two steps.  First every process sends a *header* to every other: 512 bytes with what it calls, how much
follows, and the message itself if that is small.  Then follow the messages that did not fit, and large arrays from
where they are.  The headers show who has arrived, and whether all call the same: a mismatch raises on every process,
and one that waits reports for whom.  A process that has failed sends the header of an error, and nothing else follows.
The wait is a loop in Python, in which signal handlers run.

Headers go directly from each process to each other: for tens of processes that is as fast as a tree.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..config import config
from ..exceptions import CollectiveTimeout, InvalidValue, NotSupported
from ..optional import needed
from . import calls, process
from .communicator import Communicator, Failed, Traffic
from .packing import Bytes, Packed, packed, sizes_of_large, unpacked

_HEADER = 512
# The numbers of a header: what is called, the bytes of the block, whether the block is in the header.
_NUMBERS = 24
_TAG_OF_HEADERS, _TAG_OF_BLOCKS, _TAG_OF_ARRAYS = 1, 2, 3
# What is called, in the header of an error: no checksum of 32 bits.
_ERROR = -1
# The largest count of bytes in one MPI message.
_LARGEST = 1 << 30
# Seconds after which a process reports for whom it waits; then again each time the wait has doubled.
_REPORT_S = 30.0
# A process that waits polls: at first at once; then it lets other processes run in between; and where others may take
# long to arrive it sleeps, for a small part of the time waited.
_SPIN_S, _YIELD_S, _SLEEP_SHARE, _SLEEP_S = 20e-6, 200e-6, 0.05, 1e-3


class MpiCommunicator(Communicator):
    """A group of MPI processes.

    channel: what two communicators of the same processes share, so that their calls are compared with each other.
    """

    def __init__(self, channel: _Channel, between_hosts: bool, traffic: Traffic | None = None) -> None:
        self._channel, self.between_hosts = channel, between_hosts
        self.rank, self.size = channel.rank, channel.size
        self.traffic = Traffic() if traffic is None else traffic

    def _gather_all(self, message: Any) -> list[Any]:
        mine = packed(message)
        found = self._channel.collective("gather_all", [mine] * self.size)
        found[self.rank] = message
        return found

    def _exchange(self, messages: Sequence[Any]) -> list[Any]:
        away: list[Packed | None] = [None if message is None else packed(message) for message in messages]
        found = self._channel.collective("exchange", away)
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
        self.barrier()  # MPI's own split waits without an end for a process that does not call it
        return MpiCommunicator(_Channel(self._channel.comm.Split(color, key)), self.between_hosts, self.traffic)

    def abort(self, message: str) -> None:
        """End all processes, with a message on standard error."""
        print(message, file=sys.stderr, flush=True)
        process.end_all(1)


class _Channel:
    """Buffers and requests of the headers between the processes of an MPI communicator, and the number of calls."""

    def __init__(self, comm: Any) -> None:
        self.comm, self.rank, self.size = comm, int(comm.Get_rank()), int(comm.Get_size())
        self.number = 0
        # Why no further collective is possible, if one has failed: messages may still be on their way.
        self.broken: str | None = None
        self.others = [rank for rank in range(self.size) if rank != self.rank]
        self.outgoing = np.zeros((self.size, _HEADER), np.uint8)
        self.incoming = np.zeros((self.size, _HEADER), np.uint8)
        self.receipts = [comm.Recv_init(self.incoming[rank], rank, _TAG_OF_HEADERS) for rank in self.others]
        self.requests = [
            *self.receipts,
            *(comm.Send_init(self.outgoing[rank], rank, _TAG_OF_HEADERS) for rank in self.others),
        ]

    def collective(self, kind: str, messages: Sequence[Packed | None]) -> list[Any]:
        """Send message k to process k; return what they have sent, None where that was nothing."""
        if self.broken is not None:
            raise InvalidValue(f"a collective cannot follow one that has failed: {self.broken}")
        self.number += 1
        call = f"{calls.operation()} ({kind} {self.number})"
        try:
            return self._collective(call, messages)
        except Failed:
            raise
        except BaseException as error:
            self.broken = str(error) or type(error).__name__
            raise

    def report(self, error: Any) -> Callable[[], list[Any]]:
        """Send the header of an error; return a function that waits for the headers of the others."""
        mine = packed(error)
        self.number += 1
        self._fill(_ERROR, [mine] * self.size)
        self._start()
        sent: list[Any] = []
        if mine.block.size > _HEADER - _NUMBERS:
            for rank in self.others:  # now: another process may wait for it before it reports to other groups
                sent += self._sent(mine.block, rank, _TAG_OF_BLOCKS)

        def wait() -> list[Any]:
            try:
                self._wait(self.requests, _REPORT, sleep=True)
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
        numbers = self.incoming[:, :_NUMBERS].view(np.int64)
        found: list[Any] = [None] * self.size
        pending: list[Any] = []
        blocks = {}
        for rank in self.others:
            code, size, inside = numbers[rank].tolist()
            if code == _ERROR:
                blocks[rank] = (
                    self.incoming[rank, _NUMBERS : _NUMBERS + size].copy() if inside else np.empty(size, np.uint8)
                )
                pending += [] if inside else self._received(blocks[rank], rank, _TAG_OF_BLOCKS)
        self._wait(pending, _REPORT)
        for rank, block in blocks.items():
            found[rank] = unpacked(block, [])
        return found

    def _fill(self, code: int, messages: Sequence[Packed | None]) -> None:
        """Write the headers."""
        for rank in self.others:
            message, header = messages[rank], self.outgoing[rank]
            size = 0 if message is None else message.block.size
            inside = size <= _HEADER - _NUMBERS
            header[:_NUMBERS].view(np.int64)[:] = code, size, inside
            if message is not None and inside:
                header[_NUMBERS : _NUMBERS + size] = message.block

    def _collective(self, call: str, messages: Sequence[Packed | None]) -> list[Any]:
        code = zlib.crc32(call.encode())
        pending: list[Any] = []
        self._fill(code, messages)
        self._headers(call)
        numbers = self.incoming[:, :_NUMBERS].view(np.int64)
        codes = [int(numbers[rank, 0]) for rank in self.others]
        if _ERROR in codes:
            raise Failed(self._errors())
        if any(each != code for each in codes):
            self._mismatch(call)
        for rank in self.others:
            message = messages[rank]
            if message is not None:
                if message.block.size > _HEADER - _NUMBERS:
                    pending += self._sent(message.block, rank, _TAG_OF_BLOCKS)
                for array in message.arrays:
                    pending += self._sent(array, rank, _TAG_OF_ARRAYS)
        blocks: dict[int, Bytes] = {}
        expected: list[Any] = []
        for rank in self.others:
            _, size, inside = numbers[rank].tolist()
            if inside and size:
                blocks[rank] = self.incoming[rank, _NUMBERS : _NUMBERS + size].copy()
            elif size:
                blocks[rank] = np.empty(size, np.uint8)
                expected += self._received(blocks[rank], rank, _TAG_OF_BLOCKS)
        self._wait(expected, call)
        large: dict[int, list[Bytes]] = {}
        for rank, block in blocks.items():
            large[rank] = [np.empty(size, np.uint8) for size in sizes_of_large(block)]
            for array in large[rank]:
                pending += self._received(array, rank, _TAG_OF_ARRAYS)
        self._wait(pending, call)
        return [unpacked(blocks[rank], large[rank]) if rank in blocks else None for rank in range(self.size)]

    def _sent(self, array: Bytes, rank: int, tag: int) -> list[Any]:
        return [self.comm.Isend(array[k : k + _LARGEST], rank, tag) for k in range(0, array.size, _LARGEST)]

    def _received(self, array: Bytes, rank: int, tag: int) -> list[Any]:
        return [self.comm.Irecv(array[k : k + _LARGEST], rank, tag) for k in range(0, array.size, _LARGEST)]

    def _headers(self, call: str) -> None:
        """Exchange the headers."""
        self._start()
        self._wait(self.requests, call, sleep=True)

    def _start(self) -> None:
        if self.requests:
            type(self.requests[0]).Startall(self.requests)

    def _wait(self, requests: Sequence[Any], call: str, *, sleep: bool = False) -> None:
        """Return once all requests are done.  sleep: others may take long to arrive, else only data is on its way."""
        if not requests:
            return
        all_done = type(requests[0]).Testall
        begin, report = time.perf_counter(), _REPORT_S
        while not all_done(requests):
            waited = time.perf_counter() - begin
            if waited < _SPIN_S:
                continue
            process.yield_processor()
            if waited < _YIELD_S:
                continue
            if sleep:
                time.sleep(min(waited * _SLEEP_SHARE, _SLEEP_S))
            limit = config.collective_timeout
            if limit and waited > limit:
                raise CollectiveTimeout(
                    f"{self._waits(waited, call)}; the setting collective_timeout ({limit:g} s) ends the program"
                )
            if waited > report:
                report *= 2
                print(f"semiring: {self._waits(waited, call)}", file=sys.stderr, flush=True)

    def _waits(self, waited: float, call: str) -> str:
        missing = [rank for rank, receipt in zip(self.others, self.receipts, strict=True) if not receipt.Test()]
        whom = f" for rank{'s' if len(missing) > 1 else ''} {', '.join(map(str, missing[:8]))}" if missing else ""
        more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
        return f"rank {self.rank} of {self.size} has waited {waited:.0f} s in {_located(call)}{whom}{more}"

    def _mismatch(self, call: str) -> None:
        """Exchange what each process calls, and raise the same error on all."""
        mine = (call if call == _END else f"called {_located(call)}").encode()[: _HEADER - _NUMBERS]
        self.outgoing[:] = 0
        self.outgoing[:, _NUMBERS : _NUMBERS + len(mine)] = np.frombuffer(mine, np.uint8)
        self._headers(call)
        self.incoming[self.rank] = self.outgoing[self.rank]
        said = [bytes(row[_NUMBERS:]).rstrip(b"\0").decode(errors="replace") for row in self.incoming]
        shown = "; ".join(f"rank {rank} {what}" for rank, what in enumerate(said[:8]))
        raise InvalidValue(f"every rank must make the same calls in the same order: {shown}")

    def end(self) -> None:
        """Wait until all processes have ended their programs: one that calls a collective instead raises an error."""
        if self.broken is not None:
            return
        self.number += 1
        try:
            self._collective(_END, [None] * self.size)
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


def _located(call: str) -> str:
    where = calls.place() if call not in (_END, _REPORT) else ""
    return f"{call} at {where}" if where else call


_everyone: _Channel | None = None


def world() -> MpiCommunicator:
    """Return the group of all processes that the launcher started; one process without a launcher.

    NotSupported if mpi4py or MPI itself is missing.  From the first call on, an exception that ends one process ends
    all of them.
    """
    global _everyone
    if _everyone is None:
        process.choose_gpu()
        try:
            MPI = needed("a grid of processes", "mpi4py.MPI")
        except RuntimeError as error:
            if isinstance(error, NotSupported):
                raise
            raise NotSupported(
                f"a grid of processes needs an MPI library ({error}); pip install 'semiring[mpi]' brings one"
            ) from error
        _everyone = _Channel(MPI.COMM_WORLD.Dup())
        if _everyone.size > 1:
            process.end_all_on_errors(_everyone.rank, _everyone.size)
            atexit.register(_everyone.end)
    place = process.local_place(os.environ)
    return MpiCommunicator(_everyone, place is None or place[1] < _everyone.size)
