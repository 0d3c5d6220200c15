"""Products beyond 2^31 entries, within a budget and beyond it, verified by their sums.

A has two entries a row, B has few rows of many entries, so C = A B has about as many entries as products.  Verified:
C 1 = A (B 1), the number of entries of C from the intersections of rows of B, and the last rows of C by another method.
Exits with 1 if a result is wrong.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np

import semiring as sr

from .. import graphs, machine
from ..case import Run

# More than 2^31 entries, where offsets need 64 bits.
ENTRIES = (1 << 31) + (1 << 24)
BUDGET = 4_000_000_000
# Rows of B, and columns, of which each row has about half.
_HUBS, _COLUMNS = 16, 1 << 16
_BYTES_AN_ENTRY = 8


class Wrong(Exception):
    """A result differs from what it must be."""


class Fan:
    """A and B with a product of at least `entries` entries, and what is known of it."""

    def __init__(self, entries: int) -> None:
        rng = np.random.default_rng(graphs.SEED)
        columns = min(_COLUMNS, max(64, entries // 64))
        present = rng.random((_HUBS, columns)) < 0.5
        hubs, at = np.nonzero(present)
        self.B = sr.Matrix.from_coo(hubs, at, rng.integers(1, 5, at.size).astype(np.int32), shape=present.shape)
        pairs = np.array([(i, j) for i in range(_HUBS) for j in range(i)])
        sizes = np.count_nonzero(present[pairs[:, 0]] | present[pairs[:, 1]], axis=1)
        rows = entries // int(sizes.min()) + 1
        chosen = rng.integers(0, len(pairs), rows)
        self.entries = int(sizes[chosen].sum())
        values = rng.integers(1, 5, 2 * rows).astype(np.int32)
        self.A = sr.Matrix.from_coo(np.repeat(np.arange(rows), 2), pairs[chosen].ravel(), values, shape=(rows, _HUBS))

    def product(self, method: str) -> sr.Matrix:
        """The product by a method, computed."""
        return self.A.mxm(self.B, method=method).wait()

    def check(self, C: sr.Matrix) -> None:
        """Raise Wrong unless C is the product."""
        if C.nvals != self.entries:
            raise Wrong(f"{C.nvals:,} entries in place of {self.entries:,}")
        ones = sr.Vector.full(np.int32(1), C.ncols)
        if not C.mxv(ones).isequal(self.A.mxv(self.B.mxv(ones))):
            raise Wrong("the sums of rows differ")
        if not C[-3:, :].isequal(self.A[-3:, :].mxm(self.B, method="sort")):
            raise Wrong("the last rows differ")


def beyond(entries: int, methods: tuple[str, ...]) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the checks of a product whose entries need offsets of 64 bits, by each method."""
    fan = Fan(entries)

    def call(method: str) -> None:
        fan.check(fan.product(method))

    for method in methods:
        yield f"{fan.entries:,} entries, {method}", partial(call, method)


def within(entries: int, budget: int | None, methods: tuple[str, ...]) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the checks of a product that fits in the budget, and whose sorted products do not."""
    fan = Fan(entries)

    def call(method: str) -> None:
        with nullcontext() if budget is None else sr.config.set(device_memory=budget):
            C = fan.product(method)
        fan.check(C)

    for method in methods:
        yield f"{fan.entries:,} entries within {budget or 'all memory'}, {method}", partial(call, method)


def refused(entries: int, budget: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the check that a product larger than the budget raises OutOfMemory, and that everything works after it."""
    fan, small = Fan(entries), Fan(10_000)

    def call() -> None:
        with sr.config.set(device_memory=budget):
            try:
                fan.product("auto")
            except sr.exceptions.OutOfMemory as error:
                asked, free = error.asked_bytes, error.free_bytes
                if asked is None or free is None or not 0 <= free <= min(budget, asked):
                    raise Wrong(f"asked for {asked}, free {free}") from error
                print(f"    {error}")
            else:
                raise Wrong("no OutOfMemory")
            small.check(small.product("auto"))
        fan.check(fan.product("auto"))

    yield f"{fan.entries:,} entries refused within {budget:,} bytes, and made without a budget", call


def _passes(what: str, check: Callable[[], Any]) -> bool:
    start = time.perf_counter()
    try:
        check()
    except Exception:
        traceback.print_exc(limit=3)
        print(f"WRONG  {what}", flush=True)
        return False
    print(f"right  {what}, {time.perf_counter() - start:.1f} s", flush=True)
    return True


OPTIONS = {
    "entries": (float(ENTRIES), "of the largest product"),
    "methods": (("auto", "hash", "rows"), "of the product"),
}


def main(run: Run) -> int:
    """Verify every product; 1 if any is wrong."""
    entries, methods = int(run.options.entries), tuple(run.options.methods)
    print(machine.describe(run.device))
    budget = BUDGET if run.on_gpu else None
    steps: list[Iterator[tuple[str, Callable[[], None]]]] = [
        within(min(entries, BUDGET // 2 // _BYTES_AN_ENTRY), budget, methods),
        within(min(entries, BUDGET // 4 // _BYTES_AN_ENTRY), budget, ("sort",)),  # holds its result twice
        beyond(entries, methods),
    ]
    if budget is not None and entries * _BYTES_AN_ENTRY > budget:
        steps.append(refused(min(entries, 2 * BUDGET // _BYTES_AN_ENTRY), budget))
    wrong = [what for step in steps for what, check in step if not _passes(what, check)]
    return int(bool(wrong))
