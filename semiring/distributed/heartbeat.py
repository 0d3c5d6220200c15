"""Whether the processes that others wait for make progress.

A process that waits in a collective sends requests over UDP to those that it waits for.  A thread of each, which sleeps
in between, replies how long the process has been *idle*: has used less than `_SHARE` of a processor in all its threads,
transfers of disks included.  A process that waits has the largest idle time of those that it waits for.  So where the
last of a chain computes, none is idle; where processes wait for each other, or for one that is stopped, their idle
times grow.

That of a process that does not reply grows too: it has ended or is stopped, cannot be reached, or runs native code that
holds the interpreter's lock.  A request of another program has no key, and gets no reply.
"""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

# The share of a processor that a process uses at least while it makes progress: threads that serve a program, such as
# those of the workers of Dask and Ray, use less.  Bytes of a disk that count as a second of a processor.
_SHARE, _BYTES = 1 / 20, 16e6
# Seconds for which the use of processors is measured at least.
_MEASURED_S = 0.1
# Requests are sent so many times in the time that a process may be idle.
REQUESTS = 20
# Seconds that count at most between two steps of a wait: more have passed if this process was stopped, and others may
# have been so too.
_STEP_S = 1.0
# A request: the key of the receiver, and a number.  The reply: the number, and the seconds.
_REQUEST, _REPLY = struct.Struct("<QQ"), struct.Struct("<Qd")


class Address(NamedTuple):
    """Where a process replies to requests with its key."""

    host: str
    port: int
    key: int


def address() -> Address | None:
    """Return the address of this process, which replies from then on; None without a network."""
    return _serve(os.getpid())


@functools.cache
def _serve(pid: int) -> Address | None:
    """Start the thread of this process that replies; another one after a fork."""
    try:
        connection = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        connection.bind(("", 0))
    except OSError:
        return None
    key = int.from_bytes(os.urandom(8), "little")
    threading.Thread(target=_reply, args=(connection, key), name="semiring heartbeat", daemon=True).start()
    return Address(_host(), connection.getsockname()[1], key)


def _host() -> str:
    """Return the address of this host from which packets to others are sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address for documentation; nothing is sent
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def _reply(connection: socket.socket, key: int) -> None:
    while True:
        with contextlib.suppress(OSError, struct.error):
            request, sender = connection.recvfrom(64)
            found, number = _REQUEST.unpack(request)
            if found == key:
                connection.sendto(_REPLY.pack(number, _progress.idle()), sender)


def _work() -> float:
    """Return the seconds of processors that this process has used, without the calling thread, and its transfers."""
    blocks = 0
    with contextlib.suppress(ImportError):  # Windows
        import resource

        usage = resource.getrusage(resource.RUSAGE_SELF)
        blocks = usage.ru_inblock + usage.ru_oublock
    return time.process_time() - time.thread_time() + blocks * 512 / _BYTES


class Progress:
    """How long this process has been idle."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, work: Callable[[], float] = _work) -> None:
        self._clock, self._work = clock, work
        self.wait: Wait | None = None
        self.begin()

    def begin(self) -> None:
        """Note that the program goes on."""
        self._last = self._at = self._clock()
        self._used = self._work()

    def idle(self) -> float:
        """Return the seconds."""
        wait = self.wait
        if wait is not None:
            return wait.idle
        now = self._clock()
        if now - self._at >= _MEASURED_S:
            used = self._work()
            if used - self._used >= _SHARE * (now - self._at):
                self._last = now
            self._at, self._used = now, used
        return now - self._last


_progress = Progress()


class Wait:
    """A wait of this process for others, as a context."""

    def __init__(self, addresses: Sequence[Address | None]) -> None:
        self._addresses = addresses
        self._at = self._sent = time.perf_counter()
        self._waited = 0.0
        # By rank the seconds for which a process has been idle in this wait, once requests have been sent.
        self._idle: dict[int, float] = {}
        self._socket: socket.socket | None = None
        self._outer: Wait | None = None

    def __enter__(self) -> Wait:
        """Begin to wait."""
        self._outer, _progress.wait = _progress.wait, self
        return self

    def __exit__(self, *_: object) -> None:
        _progress.wait = self._outer
        _progress.begin()
        if self._socket is not None:
            self._socket.close()

    @property
    def idle(self) -> float:
        """The seconds for which one of the processes has been idle."""
        return max(self._idle.values(), default=self._waited)

    def idle_ranks(self, limit: float, missing: Callable[[], Sequence[int]]) -> list[int]:
        """Return which processes have been idle for `limit` seconds; called again and again while the wait lasts.

        missing: returns the ranks of those that this process waits for.
        """
        now = time.perf_counter()
        step, self._at = min(now - self._at, _STEP_S), now
        self._waited += step
        for rank in self._idle:
            self._idle[rank] += step
        if now - self._sent > limit / REQUESTS:
            self._sent = now
            unknown = 0.0 if self._idle else self._waited
            self._idle = {rank: self._idle.get(rank, unknown) for rank in missing()}
            self._send()
        self._receive()
        idle = [rank for rank, seconds in self._idle.items() if seconds > limit]
        if idle:
            self._idle = {rank: self._idle.get(rank, 0.0) for rank in missing()}
        return [rank for rank in idle if rank in self._idle]

    def _send(self) -> None:
        if self._socket is None:
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._socket.setblocking(False)
        for rank in self._idle:
            found = self._addresses[rank]
            if found is not None:
                with contextlib.suppress(OSError):
                    self._socket.sendto(_REQUEST.pack(found.key, rank), (found.host, found.port))

    def _receive(self) -> None:
        while self._socket is not None:
            try:
                reply: Any = self._socket.recv(64)
            except ConnectionError:  # a process that has ended
                continue
            except OSError:
                return
            if len(reply) == _REPLY.size:
                rank, seconds = _REPLY.unpack(reply)
                if rank in self._idle:
                    self._idle[rank] = min(self._idle[rank], seconds)
