"""A thread pool for copies within host memory: one core copies 10 GB/s, the interconnect (PCIe) transfers 50."""

from __future__ import annotations

import collections
import functools
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..worker_thread import apart

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

T = TypeVar("T")

# Bytes of one chunk: long enough to amortize a call, short enough to balance the threads.
_CHUNK = 16 << 20
PAGE = 4096


def pool_size() -> int:
    """Return the number of threads of the pool."""
    return min(12, os.cpu_count() or 1)


@functools.cache
def pool() -> ThreadPoolExecutor:
    """Return the thread pool, whose threads are started on first use and kept."""
    from concurrent.futures import ThreadPoolExecutor  # a seventh of the permitted import time of this package

    return ThreadPoolExecutor(pool_size(), thread_name_prefix="semiring-copy")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)  # a child process has no threads of the parent


def parallel_copy(target: np.ndarray[Any, Any], source: np.ndarray[Any, Any]) -> None:
    """Copy all elements; both arrays are contiguous and of one dtype."""
    to, of = target.view(np.uint8), source.view(np.uint8)
    parallel_for(of.nbytes, lambda begin, end: np.copyto(to[begin:end], of[begin:end]))


def commit_pages(array: np.ndarray[Any, Any]) -> None:
    """Write one byte of every page, so that the system allocates the memory."""

    def fill(begin: int, end: int) -> None:
        array[begin:end:PAGE] = 0

    parallel_for(array.nbytes, fill)


def read_pages(array: np.ndarray[Any, Any]) -> None:
    """Read one byte of every page, so that the system loads a mapped file into memory."""
    content = array.view(np.uint8)
    parallel_for(content.nbytes, lambda begin, end: content[begin:end:PAGE].max())


def parallel_for(nbytes: int, work: Callable[[int, int], Any]) -> None:
    """Call ``work(begin, end)`` for all chunks of `nbytes` bytes, on several threads.

    No thread is active when this returns, nor when it raises an exception of a chunk or an interrupt.
    """
    if nbytes <= _CHUNK:
        work(0, nbytes)
        return
    parallel_each(range(0, nbytes, _CHUNK), lambda begin: work(begin, min(begin + _CHUNK, nbytes)))


def parallel_each(items: Sequence[T], work: Callable[[T], Any]) -> None:
    """Call ``work(item)`` for all items, on several threads.

    No thread is active when this returns, nor when it raises an exception of an item or an interrupt.
    """
    remaining = iter(items)
    apart(lambda: _each(len(items), remaining, work), lambda: collections.deque(remaining, maxlen=0))


def _each(count: int, remaining: Iterator[T], work: Callable[[T], Any]) -> None:
    """Run the items on the pool; all threads share one iterator, which is emptied on an exception."""
    from concurrent.futures import wait

    def run_items() -> None:
        for item in remaining:
            work(item)

    futures = [pool().submit(run_items) for _ in range(min(pool_size(), count))]
    try:
        for future in futures:
            future.result()
    finally:
        collections.deque(remaining, maxlen=0)
        wait(futures)
