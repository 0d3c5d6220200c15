"""Ranks as threads of one process: the same programs and collectives without MPI.

One thread runs at a time; it passes the turn on where it waits for the others.  So a program takes as long as its ranks
one after another, runs in the same order every time, and needs no more of the library than one thread does.  It is for
tests, for examples, and for counting what a program would send on a grid of any size.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..exceptions import InvalidValue
from .calls import operation
from .communicator import Communicator, Traffic

T = TypeVar("T")


class Aborted(RuntimeError):
    """Raised in the ranks that wait for one that has failed."""


class _Turns:
    """The turn of one rank at a time, and the first failure."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.failure: str | None = None
        # Ranks that can go on, and ranks that wait for others.
        self.active = 0
        self.waiting = 0

    def fail(self, message: str) -> None:
        """Let every rank that waits raise the message; the first one counts."""
        self.failure = self.failure or message
        self.changed.notify_all()


class _Meeting:
    """Where the ranks of one group meet: each leaves its messages, and the last to arrive lets all go on."""

    def __init__(self, size: int, turns: _Turns) -> None:
        self.size, self.turns = size, turns
        self.left: dict[int, Any] = {}
        self.call: str | None = None
        self.round = 0
        self.result: dict[int, Any] = {}
        self.children: dict[Any, _Meeting] = {}

    def meet(self, rank: int, call: str, message: Any) -> dict[int, Any]:
        """Leave a message and return those of all ranks.  The caller holds the turn; it is free while it waits."""
        turns = self.turns
        if self.left and self.call != call:
            raise _mismatch(rank, call, self.call)
        self.call, self.left[rank] = call, message
        if len(self.left) == self.size:
            self.result, self.left, self.call = self.left, {}, None
            self.round += 1
            turns.active += self.size - 1
            turns.waiting -= self.size - 1
            turns.changed.notify_all()
            return self.result
        mine = self.round
        turns.active -= 1
        turns.waiting += 1
        if not turns.active:
            turns.fail(_stuck(f"rank {rank} waits in {call}"))
        while self.round == mine:
            if turns.failure is not None:
                raise Aborted(turns.failure)
            turns.changed.wait()
        return self.result


def _mismatch(rank: int, call: str, other: str | None) -> InvalidValue:
    return InvalidValue(
        f"rank {rank} called {call} where another called {other}: every rank must make the same calls in the same order"
    )


def _stuck(who: str) -> str:
    return f"{who} for ranks that do not call it: every rank must make the same calls in the same order"


class ThreadCommunicator(Communicator):
    """A group of the ranks that `run_ranks` started."""

    threads = True

    def __init__(self, rank: int, meeting: _Meeting, traffic: Traffic | None = None) -> None:
        self.rank, self.size, self._meeting = rank, meeting.size, meeting
        self.traffic = Traffic() if traffic is None else traffic

    def _gather_all(self, message: Any) -> list[Any]:
        found = self._meeting.meet(self.rank, f"{operation()} (gather_all)", message)
        return [found[rank] for rank in range(self.size)]

    def _exchange(self, messages: Sequence[Any]) -> list[Any]:
        found = self._meeting.meet(self.rank, f"{operation()} (exchange)", list(messages))
        return [found[rank][self.rank] for rank in range(self.size)]

    def split(self, color: int, key: int) -> ThreadCommunicator:
        """Return the group of the ranks that gave this color, ordered by key."""
        everyone = self.gather_all((color, key))
        members = sorted((k, rank) for rank, (c, k) in enumerate(everyone) if c == color)
        ranks = tuple(rank for _, rank in members)
        meeting = self._meeting.children.setdefault(ranks, _Meeting(len(ranks), self._meeting.turns))
        return ThreadCommunicator(ranks.index(self.rank), meeting, self.traffic)

    def abort(self, message: str) -> None:
        """Let every rank that waits raise the message."""
        self._meeting.turns.fail(message)


def run_ranks(count: int, program: Callable[[Communicator], T]) -> list[T]:
    """Run ``program(communicator)`` as `count` ranks; return their results.  The first exception is raised again."""
    turns = _Turns()
    turns.active = count
    meeting = _Meeting(count, turns)
    results: list[Any] = [None] * count
    errors: list[tuple[int, BaseException]] = []

    def run(rank: int) -> None:
        with turns.lock:
            try:
                if turns.failure is None:
                    results[rank] = program(ThreadCommunicator(rank, meeting))
            except BaseException as error:
                errors.append((rank, error))
                turns.fail(f"rank {rank} failed: {type(error).__name__}: {error}")
            finally:
                turns.active -= 1
                if not turns.active and turns.waiting:
                    turns.fail(_stuck("ranks wait in a collective"))

    threads = [threading.Thread(target=run, args=(rank,), name=f"rank {rank}") for rank in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first = next((error for _, error in errors if not isinstance(error, Aborted)), errors[0][1] if errors else None)
    if first is not None:
        raise first
    return results
