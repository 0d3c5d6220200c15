"""Ranks as threads of one process: the same programs and collectives without MPI.

One thread runs at a time; it passes the turn on where it waits for the others.  So a program takes as long as its ranks
one after another, runs in the same order every time, and needs no more of the library than one thread does.  It is for
tests, for examples, and for counting what a program would send on a grid of any size.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from ..exceptions import InvalidValue
from .call_ids import operation
from .communicator import Communicator, Failed, Traffic

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
        self.round = self.waiting = 0
        self.result: dict[int, Any] = {}
        self.children: dict[Any, _Meeting] = {}

    def meet(self, rank: int, call: str, message: Any) -> dict[int, Any]:
        """Leave a message and return those of all ranks.  The caller holds the turn; it is free while it waits."""
        if self.call not in (None, call):
            mismatch = _mismatch(rank, call, self.call)
            self.turns.fail(str(mismatch))
            raise mismatch
        self.call = call
        found = self.wait(self.leave(rank, message), f"rank {rank} waits in {call}")
        errors = _errors(found)
        if any(each is not None for each in errors):
            raise Failed(errors)
        return found

    def leave(self, rank: int, message: Any) -> int:
        """Leave a message; return the number of the round.  The last one lets those go on who wait."""
        turns, mine = self.turns, self.round
        self.left[rank] = message
        if len(self.left) == self.size:
            self.result, self.left, self.call = self.left, {}, None
            self.round += 1
            turns.active += self.waiting
            turns.waiting -= self.waiting
            self.waiting = 0
            turns.changed.notify_all()
        return mine

    def wait(self, mine: int, who: str) -> dict[int, Any]:
        """Return the messages of a round once all have left theirs."""
        turns = self.turns
        if self.round == mine:
            turns.active -= 1
            turns.waiting += 1
            self.waiting += 1
            if not turns.active:
                turns.fail(_stuck(who))
        while self.round == mine:
            if turns.failure is not None:
                raise Aborted(turns.failure)
            turns.changed.wait()
        return self.result


class _Reported:
    """An error in place of a message."""

    def __init__(self, error: Any) -> None:
        self.error = error


def _errors(found: dict[int, Any]) -> list[Any]:
    """Return the errors among the messages of all ranks, None where there is none."""
    return [found[rank].error if isinstance(found[rank], _Reported) else None for rank in range(len(found))]


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

    def _sum(self, count: int) -> int:
        return sum(self._meeting.meet(self.rank, f"{operation()} (sum)", count).values())

    def _allgather(self, message: Any) -> list[Any]:
        found = self._meeting.meet(self.rank, f"{operation()} (allgather)", message)
        return [found[rank] for rank in range(self.size)]

    def _exchange(self, messages: Mapping[int, Any], sources: Collection[int] | None) -> dict[int, Any]:
        found = self._meeting.meet(self.rank, f"{operation()} (exchange)", dict(messages))
        arrived = {rank: found[rank][self.rank] for rank in range(self.size) if self.rank in found[rank]}
        # Other transports would wait for a message, or leave it for the next call.
        assert sources is None or set(sources) | {self.rank} == arrived.keys() | {self.rank}, (sources, arrived.keys())
        return {rank: message for rank, message in arrived.items() if message is not None}

    def _report(self, error: Any) -> Callable[[], list[Any]]:
        meeting = self._meeting
        mine = meeting.leave(self.rank, _Reported(error))
        return lambda: _errors(meeting.wait(mine, f"rank {self.rank} has failed and waits"))

    @property
    def broken(self) -> bool:
        """Whether a rank has failed."""
        return self._meeting.turns.failure is not None

    def split(self, color: int, key: int) -> ThreadCommunicator:
        """Return the group of the ranks that gave this color, ordered by key."""
        everyone = self.allgather((color, key))
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
