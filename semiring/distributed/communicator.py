"""What a group of processes offers: collectives, and counters of the traffic.

    method            every process has        every process receives
    sum               a number                 the sum of all
    allgather_array   an array                 those of all, of one shape and type
    allgather         a message                those of all
    bcast             -, `root` a message      that of `root`
    exchange          messages for some ranks  those that others have for it

Messages are Python objects whose arrays are sent without a copy where the transport can; None is an empty message.
All are collective: every process of the group calls them, in the same order.  A process that cannot make the call of
the others reports its error in place of a message (`report`); then the collective raises `Failed` on all of them.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Communicator", "Failed", "Traffic", "message_bytes"]

T = TypeVar("T")


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
    def _sum(self, count: int) -> int:
        """Return the sum of the numbers of all processes, modulo 2^64, as one with a sign."""

    @abstractmethod
    def _allgather(self, message: Any) -> list[Any]:
        """Return the messages of all processes, by rank."""

    @abstractmethod
    def _exchange(self, messages: Mapping[int, Any], sources: Collection[int] | None) -> dict[int, Any]:
        """Send messages by rank; return those for this process, without empty ones."""

    def _allgather_array(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the arrays of all processes, stacked by rank."""
        return np.stack(self._allgather(array))

    def _bcast(self, message: Any, root: int) -> Any:
        """Return the message of process `root`."""
        if self.rank != root:
            return self._exchange({}, (root,)).get(root)
        self._exchange({rank: message for rank in range(self.size) if rank != root}, ())
        return message

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

    def sum(self, count: int) -> int:
        """Return the sum of the numbers of all processes, of 64 bits with a sign.  Collective.

        It is counted as messages to log2 of the number of processes.
        """
        if self.size == 1:
            return count
        rounds = (self.size - 1).bit_length()
        return self._timed(self._sum, count, messages=rounds, nbytes=8 * rounds)

    def allgather_array(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the arrays of all processes, of one shape and type and on the host, stacked by rank.  Collective."""
        if self.size == 1:
            return array[None]
        others = self.size - 1
        return self._timed(self._allgather_array, array, messages=others, nbytes=array.nbytes * others)

    def allgather(self, message: Any) -> list[Any]:
        """Return the messages of all processes, by rank.  Collective."""
        if self.size == 1:
            return [message]
        return self._timed(self._allgather, message, **self._to_all(message))

    def exchange(self, messages: Mapping[int, Any], sources: Collection[int] | None = None) -> dict[int, Any]:
        """Send messages by rank, and return those for this process by rank, without empty ones.  Collective.

        sources: the ranks that may send to this process, if it has their numbers: of each that is among them this
        process is a key of the messages, with None if there is nothing to send.  So nothing else is exchanged to find
        out who sends.  None: any may.
        """
        if self.size == 1:
            return {rank: message for rank, message in messages.items() if message is not None}
        away = [message for rank, message in messages.items() if message is not None and rank != self.rank]
        return self._timed(self._exchange, messages, sources, messages=len(away), nbytes=sum(map(message_bytes, away)))

    def alltoall(self, messages: Sequence[Any]) -> list[Any]:
        """Send message k to process k, and return what each process had for this one, by rank.  Collective."""
        assert len(messages) == self.size
        found = self.exchange({rank: message for rank, message in enumerate(messages) if message is not None})
        return [found.get(rank) for rank in range(self.size)]

    def report(self, error: Any) -> Callable[[], list[Any]]:
        """Send an error in place of the next message, which raises Failed on the processes that wait for it.

        The function that is returned waits for the next messages of the others, and returns their errors by rank, None
        for those who have sent none.  An error may be reported to several groups before the first wait.
        """
        return self._report(error) if self.size > 1 else lambda: [error]

    def bcast(self, message: Any, root: int) -> Any:
        """Return the message of process `root`.  Collective."""
        if self.size == 1:
            return message
        return self._timed(self._bcast, message, root, **self._to_all(message if self.rank == root else None))

    def barrier(self) -> None:
        """Return once all processes have called it."""
        if self.size > 1:
            self._timed(self._sum, 0)

    def _to_all(self, message: Any) -> dict[str, int]:
        """Return what is counted of a message to all others."""
        others = 0 if message is None else self.size - 1
        return {"messages": others, "nbytes": message_bytes(message) * others}

    def _timed(self, collective: Callable[..., T], *sent: Any, messages: int = 0, nbytes: int = 0) -> T:
        """Return what a collective returns; count what it sends, and note in `Failed` in which group it arrived."""
        traffic = self.traffic
        traffic.collectives += 1
        traffic.messages += messages
        traffic.bytes += nbytes
        begin = time.perf_counter()
        try:
            return collective(*sent)
        except Failed as failed:
            failed.group = self
            raise
        finally:
            traffic.seconds += time.perf_counter() - begin


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
