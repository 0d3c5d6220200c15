"""What a group of processes offers: two collectives, from which everything else is composed, and an account of traffic.

`gather_all` gives every process what each of them holds; `exchange` gives every process what each of them has for it.
Messages are Python objects whose arrays are sent without a copy where the transport can; None is an empty message.
Both are collective: every process of the group calls them, in the same order.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

__all__ = ["Communicator", "Traffic", "message_bytes"]


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
        The time in collectives, with that of waiting for the others.  Transfers by NCCL are queued within this time
        and may end later.

    Examples
    --------
    >>> sr.distributed.Traffic()
    Traffic(collectives=0, messages=0, bytes=0, seconds=0.0)
    """

    collectives: int = 0
    messages: int = 0
    bytes: int = 0
    seconds: float = 0.0


class Communicator(ABC):
    """A group of processes: `rank` is the number of this one, `size` their count."""

    rank: int
    size: int
    traffic: Traffic
    # Whether the processes are threads of one.
    threads: bool = False

    @abstractmethod
    def _gather_all(self, message: Any) -> list[Any]:
        """Return the messages of all processes, by rank."""

    @abstractmethod
    def _exchange(self, messages: Sequence[Any]) -> list[Any]:
        """Send message k to process k; return what each process had for this one."""

    @abstractmethod
    def split(self, color: int, key: int) -> Communicator:
        """Return the group of the processes that gave this color, ordered by key.  Collective."""

    @abstractmethod
    def abort(self, message: str) -> None:
        """End all processes, with a message on standard error."""

    def gather_all(self, message: Any) -> list[Any]:
        """Return the messages of all processes, by rank.  Collective."""
        if self.size == 1:
            return [message]
        self._count([message] * (self.size - 1))
        begin = time.perf_counter()
        found = self._gather_all(message)
        self.traffic.seconds += time.perf_counter() - begin
        return found

    def exchange(self, messages: Sequence[Any]) -> list[Any]:
        """Send message k to process k, and return what each process had for this one, by rank.  Collective."""
        assert len(messages) == self.size
        if self.size == 1:
            return list(messages)
        self._count([message for rank, message in enumerate(messages) if rank != self.rank])
        begin = time.perf_counter()
        found = self._exchange(messages)
        self.traffic.seconds += time.perf_counter() - begin
        return found

    def broadcast(self, message: Any, root: int) -> Any:
        """Return the message of process `root`.  Collective."""
        return self.exchange([message if self.rank == root else None] * self.size)[root]

    def barrier(self) -> None:
        """Return once all processes have called it."""
        self.gather_all(None)

    def _count(self, messages: Sequence[Any]) -> None:
        traffic = self.traffic
        traffic.collectives += 1
        for message in messages:
            if message is not None:
                traffic.messages += 1
                traffic.bytes += message_bytes(message)


def message_bytes(message: Any) -> int:
    """Return the bytes of the arrays in a message; 8 for every number."""
    if isinstance(message, (list, tuple)):
        return sum(map(message_bytes, message))
    if hasattr(message, "nbytes"):
        return int(message.nbytes)
    if is_dataclass(message):
        return sum(message_bytes(getattr(message, item.name)) for item in fields(message))
    return 0 if message is None else 8
