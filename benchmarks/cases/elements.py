"""Writes to single elements of an object of 10^6 entries and reads of them, beside SuiteSparse.

A write is measured with its share of the application: 1,000 writes, and then a read of the whole object (its number of
entries, or on a GPU until the device has finished).  SuiteSparse finishes its pending writes by ``wait``.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np

import semiring as sr

from .. import peers
from ..case import Run
from ..report import Peer

_ENTRIES, _WRITES, _RUNS = 10**6, 1000, 7
_TARGET_US = 20


def vector(library: Any, kind: str, rng: np.random.Generator) -> Any:
    """A vector of 10^6 entries: of as many positions, of two times, or of fifty times as many."""
    size = {"full": 1, "bitmap": 2, "index": 50}[kind] * _ENTRIES
    indices = np.arange(_ENTRIES) if kind == "full" else np.sort(rng.choice(size, _ENTRIES, replace=False))
    made = library.Vector.from_coo(indices, rng.random(_ENTRIES), size=size)
    return made.convert(kind) if library is sr else made


def matrix(library: Any, kind: str, rng: np.random.Generator) -> Any:
    """A matrix of 10^6 entries: 10^5 rows and columns, or full."""
    if kind == "full":
        return library.Matrix.from_dense(rng.random((1000, 1000)))
    at = np.sort(rng.choice(10**10, _ENTRIES, replace=False))
    made = library.Matrix.from_coo(at // 10**5, at % 10**5, rng.random(_ENTRIES), nrows=10**5, ncols=10**5)
    return made.compress() if kind == "compressed" and library is sr else made


OBJECTS = [(vector, kind) for kind in ("full", "bitmap", "index")]
OBJECTS += [(matrix, kind) for kind in ("csr", "compressed", "full")]


def positions(x: Any, rng: np.random.Generator, *, stored: bool) -> list[Any]:
    """Random positions, all of them stored, or any."""
    if stored:
        *axes, _ = (part.get() if hasattr(part, "get") else part for part in x.to_coo())
        chosen = rng.choice(_ENTRIES, _WRITES, replace=False)
        found = [axis[chosen].tolist() for axis in axes]
    else:
        found = [rng.integers(0, size, _WRITES).tolist() for size in x.shape]
    return list(zip(*found, strict=True)) if len(found) == 2 else found[0]


def write(x: Any, at: list[Any], accum: Any) -> None:
    """Write to each position."""
    for place in at:
        x[place] = 1.5


def accumulate(x: Any, at: list[Any], accum: Any) -> None:
    """Add to each position."""
    for place in at:
        x[place](accum) << 1.5


def delete(x: Any, at: list[Any], accum: Any) -> None:
    """Delete each position."""
    for place in at:
        del x[place]


def read(x: Any, at: list[Any], accum: Any) -> None:
    """Read each position."""
    for place in at:
        x[place].value  # noqa: B018


ACTIONS = {"write stored": write, "write any": write, "accumulate": accumulate, "delete": delete, "read": read}


def measured(make: Any, at: list[Any], action: Any, accum: Any) -> list[float]:
    """Microseconds for each position, of several runs on copies."""
    times = []
    for _ in range(_RUNS):
        x = make.dup()
        x.wait()
        start = time.perf_counter()
        action(x, at, accum)
        x.wait()
        times.append(1e6 * (time.perf_counter() - start) / _WRITES)
    return times


def main(run: Run) -> None:
    """Every action on every kind of object, and SuiteSparse beside it where python-graphblas is installed."""
    gb = peers.graphblas() if peers.graphblas_available() else None
    for make, kind in OBJECTS:
        name = f"{make.__name__}, {kind}"
        ours, theirs = (None if lib is None else make(lib, kind, np.random.default_rng(1)) for lib in (sr, gb))
        measured(ours, positions(ours, np.random.default_rng(3), stored=False)[:9], write, None)  # compiles
        for action, function in ACTIONS.items():
            at = positions(ours, np.random.default_rng(2), stored=action == "write stored")
            times = measured(ours, at, function, "plus")
            beside = []
            if gb is not None:
                taken = measured(theirs, at, function, gb.binary.plus)
                beside.append(Peer("SuiteSparse", statistics.median(taken), "us", samples=tuple(taken)))
            bound, value = _TARGET_US if action.startswith("write") else None, statistics.median(times)
            run.add(f"{name}: {action}", "us", value, bound, peers=tuple(beside), samples=tuple(times))
