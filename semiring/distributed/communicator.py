"""What a group of processes offers: collectives, and counters of the traffic.

The methods are named as those of mpi4py for objects.  `allgather` gives every process what each of them holds;
`alltoall` gives every process what each of them has for it; the others are composed of these two.
Messages are Python objects whose arrays are sent without a copy where the transport can; None is an empty message.
Both are collective: every process of the group calls them, in the same order.  A process that cannot make the call of
the others reports its error in place of a message (`report`); then the collective raises `Failed` on all of them.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any

__all__ = ["Communicator", "Failed", "Traffic", "message_bytes"]


@dataclass
class Traffic:
    """What this process has sent to others since the account was opened.

    Attributes
    ----------
    collectives : int
        Calls in which all processes took part.
    messages, bytes : int
        Messages to other processes that were not empty, and the bytes of the arrays in them.
    seconds : float
        The time in collectives, with that of waiting for the others.  Transfers between GPUs are queued within this
        time and may end later.

    Examples
    --------
    >>> sr.distributed.Traffic()
    Traffic(collectives=0, messages=0, bytes=0, seconds=0.0)
    """

    collectives: int = 0
    messages: int = 0
    bytes: int = 0
    seconds: float = 0.0


class Failed(Exception):
    """Raised by a collective in which processes have reported errors: `errors` by rank of the group, else None."""

    def __init__(self, errors: Sequence[Any]) -> None:
        super().__init__("an error on another process")
        self.errors = list(errors)
        self.group: Communicator | None = None

    @property
    def first(self) -> Any:
        """The error of the lowest rank."""
        return next(each for each in self.errors if each is not None)


class Communicator(ABC):
    """A group of processes: `rank` is the number of this one, `size` their count."""

    rank: int
    size: int
    traffic: Traffic
    # Whether the processes are threads of one.
    threads: bool = False
    # Whether messages may go to other hosts.
    between_hosts: bool = True
    # Whether arrays go from one GPU to another at the rate of a link between them.
    direct: bool = False

    @cached_property
    def grids(self) -> dict[Any, Any]:
        """The grids of these processes, by their shape and the device of the parts."""
        return {}

    @abstractmethod
    def _allgather(self, message: Any) -> list[Any]:
        """Return the messages of all processes, by rank."""

    @abstractmethod
    def _alltoall(self, messages: Sequence[Any]) -> list[Any]:
        """Send message k to process k; return what each process had for this one."""

    @abstractmethod
    def _report(self, error: Any) -> Callable[[], list[Any]]:
        """Send an error in place of the next message; return a function that waits and returns all errors, by rank."""

    @property
    @abstractmethod
    def broken(self) -> bool:
        """Whether no further collective is possible, because one has failed."""

    @abstractmethod
    def split(self, color: int, key: int) -> Communicator:
        """Return the group of the processes that gave this color, ordered by key.  Collective."""

    @abstractmethod
    def abort(self, message: str) -> None:
        """End all processes, with a message on standard error."""

    def allgather(self, message: Any) -> list[Any]:
        """Return the messages of all processes, by rank.  Collective."""
        if self.size == 1:
            return [message]
        traffic = self.traffic
        traffic.collectives += 1
        if message is not None:
            traffic.messages += self.size - 1
            traffic.bytes += message_bytes(message) * (self.size - 1)
        return self._timed(self._allgather, message)

    def alltoall(self, messages: Sequence[Any]) -> list[Any]:
        """Send message k to process k, and return what each process had for this one, by rank.  Collective."""
        assert len(messages) == self.size
        if self.size == 1:
            return list(messages)
        traffic = self.traffic
        traffic.collectives += 1
        for rank, message in enumerate(messages):
            if message is not None and rank != self.rank:
                traffic.messages += 1
                traffic.bytes += message_bytes(message)
        return self._timed(self._alltoall, messages)

    def report(self, error: Any) -> Callable[[], list[Any]]:
        """Send an error in place of the next message, which raises Failed on the processes that wait for it.

        The function that is returned waits for the next messages of the others, and returns their errors by rank, None
        for those who have sent none.  An error may be reported to several groups before the first wait.
        """
        return self._report(error) if self.size > 1 else lambda: [error]

    def bcast(self, message: Any, root: int) -> Any:
        """Return the message of process `root`.  Collective."""
        return self.alltoall([message if self.rank == root else None] * self.size)[root]

    def barrier(self) -> None:
        """Return once all processes have called it."""
        self.allgather(None)

    def _timed(self, collective: Callable[[Any], list[Any]], sent: Any) -> list[Any]:
        """Return what a collective returns; count its time, and note in `Failed` in which group it arrived."""
        begin = time.perf_counter()
        try:
            return collective(sent)
        except Failed as failed:
            failed.group = self
            raise
        finally:
            self.traffic.seconds += time.perf_counter() - begin


_NUMBERS = frozenset({int, bool, float})


def message_bytes(message: Any) -> int:
    """Return the bytes of the arrays in a message; 8 for every number."""
    if message is None:
        return 0
    if type(message) in _NUMBERS:
        return 8
    if isinstance(message, (list, tuple)):
        return sum(map(message_bytes, message))
    if hasattr(message, "nbytes"):
        return int(message.nbytes)
    if is_dataclass(message):
        return sum(message_bytes(getattr(message, item.name)) for item in fields(message))
    return 8
