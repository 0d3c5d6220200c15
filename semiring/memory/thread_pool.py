"""Threads that move bytes within host memory: one core copies 10 GB/s, a link takes 50."""

from __future__ import annotations

import collections
import functools
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..apart import apart

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

# What one thread takes at a time: long enough to be worth a call, short enough to even out.
_PIECE = 16 << 20
PAGE = 4096


def members() -> int:
    """How many threads a team has."""
    return min(12, os.cpu_count() or 1)


@functools.cache
def team() -> ThreadPoolExecutor:
    """The threads, which are started when first needed and then wait."""
    from concurrent.futures import ThreadPoolExecutor  # a seventh of what importing this package may cost

    return ThreadPoolExecutor(members(), thread_name_prefix="semiring-copy")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=team.cache_clear)  # the threads of the parent are not there


def copied(target: np.ndarray[Any, Any], source: np.ndarray[Any, Any]) -> None:
    """Copy all elements; both are contiguous and of one type."""
    to, of = target.view(np.uint8), source.view(np.uint8)
    each(of.nbytes, lambda begin, end: np.copyto(to[begin:end], of[begin:end]))


def filled(array: np.ndarray[Any, Any]) -> None:
    """Write one byte of every page, so that the system gives the memory."""

    def fill(begin: int, end: int) -> None:
        array[begin:end:PAGE] = 0

    each(array.nbytes, fill)


def touched(array: np.ndarray[Any, Any]) -> None:
    """Read one byte of every page, so that the system brings a mapped file into memory."""
    seen = array.view(np.uint8)
    each(seen.nbytes, lambda begin, end: seen[begin:end:PAGE].max())


def each(nbytes: int, work: Callable[[int, int], Any]) -> None:
    """Call ``work(begin, end)`` for all pieces of so many bytes, by several threads.

    Nobody works any more when this returns, nor when it raises: what a piece raised, or an interrupt.
    """
    if nbytes <= _PIECE:
        work(0, nbytes)
        return
    left = iter(range(0, nbytes, _PIECE))
    apart(lambda: _each(nbytes, left, work), lambda: collections.deque(left, maxlen=0))


def _each(nbytes: int, left: Iterator[int], work: Callable[[int, int], Any]) -> None:
    """Have the team take pieces until none is left: they all share one iterator, which whoever gives up empties."""
    from concurrent.futures import wait

    def member() -> None:
        for begin in left:
            work(begin, min(begin + _PIECE, nbytes))

    given = [team().submit(member) for _ in range(min(members(), -(-nbytes // _PIECE)))]
    try:
        for done in given:
            done.result()
    finally:
        collections.deque(left, maxlen=0)
        wait(given)
