"""A level-synchronous closure for entries in host memory: the bytes that a level reads determine its cost.

It counts rows and entries in separate words, so it also supports device-resident matrices too large for `packing`.

A level is a few launches and one read-back: first, in device memory alone, unvisited rows are tested for a visited hub
(`hubs.hubs`); the bytes that each direction must read for the remaining rows are then exact, and the cheaper is used.
Rows are read in the order of their addresses, each line once: the interconnect is fast only for contiguous runs.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from itertools import product
from typing import Any

import cupy
import numpy as np

from ....dtypes import FP32, INT8, INT32, INT64
from ....formats import Array, IndexList, word_count
from ....formats.vectors import empty_vector
from ....operators.types import TypedSemiring
from ...recording import note, noting
from ...registry import EVERY_KIND, implements, run
from ...requests.graphs import Closure, ClosureResult, Step
from ...requests.operations import Convert
from ...shared.direction import reading_less
from ...shared.iso_results import arrivals, binary_value
from .. import compile_samples, tuning
from ..arguments import arguments, source_argument
from ..degrees import degrees
from ..hubs import hubs
from ..kernel import Handles
from ..launch import BLOCK, bitmap, grid, read_back, values_of
from ..packing import packable
from ..specialize import constants, semiring, typedefs
from .passes import Passes, entry_types, pass_kernel

_FILE = "outofcore_closure.cuh"
_COUNTS = 5


def _serves(q: Closure) -> bool:
    """Final on arrival, no value of an entry is read, and entries in host memory or too many for `closure_level`."""
    if not q.final_on_arrival:
        return False
    a = q.by_row.get()
    if "y" in q.semiring.mult.uses and a.iso is None:
        return False
    if a.placement != "device" or (q.by_column.ready and q.by_column.get().placement != "device"):
        return True
    return not packable(a.nrows, a.nvals)


@implements(Closure, engine="cuda", when=_serves, accepts=EVERY_KIND, priority=2)
def closure_outofcore(q: Closure) -> ClosureResult:
    """Level by level over entries in host memory: hubs first, then push or pull, whichever reads fewer bytes.

    Memory beyond the matrix and the result: two hubs a row, five bits a row and two an entry's tile of 128, and two
    buffers where the entries are streamed.  Synchronizes once a level, and again where they are streamed.
    """
    f = run(Convert(q.frontier, "index"), "cuda")  # synchronizes where the frontier is a bitmap
    assert isinstance(f, IndexList)
    a = q.by_row.get()
    if f.nvals == 0:
        return ClosureResult(empty_vector(a.nrows, q.semiring.z, "cuda"), True, 0)
    return _Search(q, f).result()


@functools.lru_cache(maxsize=256)
def _prologue(ring: TypedSemiring, element: np.dtype[Any], entered: np.dtype[Any], kind: int) -> str:
    """entered: the type of the sources' values.  kind: `Arrivals.kind`."""
    types = typedefs(A=element, U=entered, Z=ring.z)
    return semiring(ring) + types + constants(VALUES=kind, **tuning.cost_constants(tuning.HOST))


class _Search:
    """The state of one closure."""

    def __init__(self, q: Closure, f: IndexList) -> None:
        self.q, self.f = q, f
        a = self.a = q.by_row.get()
        may_pull = q.direction == "pull" or (q.direction == "auto" and q.by_column.ready)
        t = q.by_column.get() if may_pull else None
        self.y = a.iso if "y" in q.semiring.mult.uses else None
        self.arriving = arrivals(q.semiring, f, a)
        self.iso = values_of(a)[1]  # read only where it is the value of every entry
        n, z, words = a.nrows, q.semiring.z, word_count(a.nrows)
        self.stored = None if self.arriving.kind == 0 else cupy.empty(n, z)
        self.visited, self.frontier, self.next, self.rest = cupy.zeros((4, words), np.uint32)
        self.counts = cupy.zeros(_COUNTS, np.uint64)
        self.pushing = Passes(a.pattern)
        self.pulling: Passes | None = None
        self.nonempty = self.hubs = None
        if t is not None:
            self.pulling = self.pushing if t.pattern is a.pattern else Passes(t.pattern)
            self.nonempty = degrees(t.pattern).words
            self.hubs = hubs(t.pattern, build=True)
        self.push_tiles = None if q.direction == "pull" else cupy.empty(self.pushing.words, np.uint32)
        self.pull_tiles = None if self.pulling is None else cupy.empty(self.pulling.words, np.uint32)
        self.prologue = _prologue(q.semiring, a.dtype, f.dtype, self.arriving.kind)

    def result(self) -> ClosureResult:
        """Compute levels until the frontier is empty, or `max_steps` are done."""
        q, n = self.q, self.a.nrows
        entered = source_argument(_FILE, self.f)
        self._kernel("outofcore_enter")(grid(self.f.nvals), BLOCK, entered, self.next, self.stored)
        level, steps, reached, edges = self.arriving.first, 0, 0, 0
        trace: list[Step] = []
        while True:
            argument = self._argument(level, writes=steps > 0)
            self._advance(argument)
            rows, leaving, push, pull, tested = (int(count) for count in read_back(self.counts))  # synchronizes
            reached, edges = reached + rows, edges + leaving
            if rows == 0 or steps == q.max_steps:
                break
            direction = self._read(argument, push, pull, tested=tested > 0)
            if q.trace:
                trace.append(Step(direction, rows, leaving))
            steps += 1
            if self.arriving.kind == 1:
                level = binary_value(q.semiring.mult, level, self.y)
        values = self.arriving.constant if self.stored is None else self.stored
        store = bitmap(n, q.semiring.z, self.visited, values, reached)
        note(steps=steps, reached=reached, edges=edges)
        if noting():
            passes = {p for p in (self.pushing, self.pulling) if p is not None}
            note(host_bytes=sum(p.host_bytes() for p in passes))  # synchronizes
        return ClosureResult(store, rows == 0, steps, tuple(trace))

    def _kernel(self, entry: str) -> Any:
        return pass_kernel(_FILE, entry, self.pushing.prologue, self.prologue)

    def _argument(self, level: np.generic | None, *, writes: bool) -> Any:
        """Return the argument of the kernels of a level."""
        a, z = self.a, self.q.semiring.z
        return arguments(_FILE, "LevelArguments", A=a.dtype, Z=z)(
            indptr=a.indptr, t_indptr=None if self.pulling is None else self.pulling.pattern.indptr, hubs=self.hubs,
            n=a.nrows, nvals=a.nvals, next=self.next, frontier=self.frontier, visited=self.visited,
            nonempty=self.nonempty, rest=self.rest, push_tiles=self.push_tiles, pull_tiles=self.pull_tiles,
            values=self.stored, a_iso=self.iso, level=z.type(0) if level is None else level, writes=writes,
            counts=self.counts,
        )  # fmt: skip

    def _advance(self, level: Any) -> None:
        """Begin a level: the next frontier, and the tiles that each direction would read."""
        for cleared in (self.counts, self.push_tiles, self.pull_tiles):
            if cleared is not None:
                cleared.data.memset_async(0, cleared.nbytes, cupy.cuda.get_current_stream())
        for entry in ("outofcore_advance", "outofcore_open"):
            self._kernel(entry)(grid(self.a.nrows), BLOCK, level)

    def _read(self, level: Any, push: int, pull: int, *, tested: bool) -> str:
        """Run the pass that reads fewer bytes; return its direction."""
        choices: dict[str, tuple[Passes, Array, Array, int]] = {}
        if self.pulling is not None and tested:
            choices["pull"] = self.pulling, self.rest, self.pull_tiles, pull
        if self.push_tiles is not None:
            choices["push"] = self.pushing, self.frontier, self.push_tiles, push
        plans = {name: passes.plan(tiles, marked) for name, (passes, _, tiles, marked) in choices.items()}
        direction = reading_less(**{name: plan.nbytes for name, plan in plans.items()})
        plan, (passes, rows, tiles, _) = plans[direction], choices[direction]
        if plan.nbytes:
            passes.run(_FILE, f"outofcore_{direction}", self.prologue, rows, tiles, plan, level)
        return direction


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    names = "enter", "advance", "open", "push", "pull"
    for number, columns in enumerate(compile_samples.ALL_COLUMNS):
        ring = compile_samples.SEMIRINGS[number % len(compile_samples.SEMIRINGS)]
        entries = entry_types((INT32, INT64)[number % 2], columns)
        for kind, name in product(sorted({number % 3, 2}), names):
            yield pass_kernel(_FILE, f"outofcore_{name}", entries, _prologue(ring, INT8, FP32, kind))
