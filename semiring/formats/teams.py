"""Threads that move bytes within host memory: one core copies 10 GB/s, a link takes 50."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

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
    from concurrent.futures import wait

    pieces = range(0, nbytes, _PIECE)
    if len(pieces) == 1:
        work(0, nbytes)
        return
    given = [team().submit(work, begin, min(begin + _PIECE, nbytes)) for begin in pieces]
    try:
        for done in given:
            done.result()
    finally:
        for left in given:
            left.cancel()
        wait(given)
