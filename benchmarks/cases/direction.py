"""The costs of pushes and pulls on the CPU, and how good the directions are that they choose.

A search stops before each level, runs it in one direction and continues as the tuning table chooses, so that the caches
are those of a search.  A fit of the cost model (`engines.shared.direction`) to the times gives the costs, in units of
a probe, by least squares of relative errors.

Costs serve to choose.  So other rows divide the time in the chosen directions by the time in the faster ones, for the
costs of the table, for the fitted ones and for variations of the table, both for levels and for steps by `vxm`.

Everything runs on one thread.  A time is the least of many, and processor time: other load on the machine affects it
only through the caches.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import product
from typing import Any, NamedTuple
from unittest import mock

import numba
import numpy as np
from scipy.optimize import nnls

import semiring as sr
from semiring.engines.cpu import closure, closure_state
from semiring.engines.cpu.atomics import CONTROL_SIZE
from semiring.engines.cpu.tuning import COSTS
from semiring.engines.shared.direction import Costs, Work, expected_probes, prefers_pull

from .. import checks, graphs
from ..case import Run

GRAPHS = ("kron14", "kron16", "kron18", "uniform100000x2", "uniform300000x4", "uniform100000x8", "uniform100000x32")
# Values of state[PULL_ALLOWED].
_PUSHES, _PULLS = 0, 3
_DENSITIES = (1e-3, 1e-2, 3e-2, 1e-1, 3e-1)
# The costs that are measured in units of a probe, by their names in the tuning table.
_MEASURED = {"EDGE_COST": "edge", "FRONTIER_ROW_COST": "frontier_row", "ROW_COST": "row", "WORD_COST": "word"}
# Levels that take less are not fitted: the resolution of the clock and the cost of a call determine their times.
_LEAST_NS = 2000.0


class Inputs(NamedTuple):
    """The inputs of the cost model."""

    rows: int
    edges: int
    work: Work


class Level(NamedTuple):
    """A level: the inputs of the cost model, and nanoseconds in each direction."""

    inputs: Inputs
    push_ns: float
    pull_ns: float

    def chosen_ns(self, costs: Costs) -> float:
        """The time in the direction that these costs choose."""
        rows, edges, work = self.inputs
        return self.pull_ns if prefers_pull(costs, work, rows, edges) else self.push_ns

    def terms(self) -> Iterator[tuple[tuple[float, ...], float]]:
        """What each direction does, as numbers of the units of `Costs`, and its time."""
        rows, edges, work = self.inputs
        yield (edges, 0, rows, 0, work.push_words), self.push_ns
        yield (0, expected_probes(work, edges), 0, work.pull_rows, work.pull_words), self.pull_ns


class _Timed(closure._Search):
    """A search that times each level in one direction before it continues as the table chooses.

    allowed: a value of state[PULL_ALLOWED], 0 for pushes and 3 for pulls.  found: for each level the inputs, and the
    nanoseconds of a call that computes nothing and of one that computes the level.
    """

    def __init__(self, q: Any, allowed: int, found: list[tuple[Inputs, float, float]]) -> None:
        super().__init__(q)
        self._allowed, self._found = allowed, found

    def _drive(self, kernel: Any, threads: int, arguments: Callable[[int], tuple[Any, ...]]) -> None:
        self._allow_pull()
        state, (*operands, limit) = self.state, arguments(1)
        # Behind the matrix, in both directions or in one: arrays, and tuples of them.
        nested = [operand if isinstance(operand, tuple) else (operand,) for operand in operands[2:]]
        vectors = [each for group in nested for each in group if isinstance(each, np.ndarray)]
        control = np.zeros(CONTROL_SIZE, np.int64)

        def run(allowed: int, steps: int) -> float:
            state[closure_state.PULL_ALLOWED], state[closure_state.VISITED] = allowed, 0
            start = time.process_time_ns()
            last = state[closure_state.STEPS] + steps
            kernel(0, 1, control, *operands, (*limit[:-1], last) if isinstance(limit, tuple) else last)
            return time.process_time_ns() - start

        while state[closure_state.FRONTIER_SIZE]:
            kept = [vector.copy() for vector in vectors]
            self._found.append((self._inputs(), run(self._allowed, 0), run(self._allowed, 1)))
            for vector, before in zip(vectors, kept, strict=True):
                vector[...] = before
            run(2, 1)

    def _inputs(self) -> Inputs:
        """The inputs as the kernel computes them."""
        state, nwords = self.state.tolist(), self.words.size
        rows, edges = state[closure_state.FRONTIER_SIZE], state[closure_state.FRONTIER_EDGES]
        open_rows = max(state[closure_state.ROWS] - state[closure_state.REACHED], 0)
        listed = nwords * state[closure_state.PULLING] // 4
        open_edges = state[closure_state.UNSEEN_EDGES] - edges
        return Inputs(rows, edges, Work(self.a.nvals, open_rows, open_edges, True, listed, open_rows, nwords))


def levels(A: sr.Matrix, source: int, runs: int) -> list[Level]:
    """The levels of a search."""
    least: dict[int, Any] = {}
    check = checks.parents(A)
    for _, allowed in product(range(runs), (_PUSHES, _PULLS)):
        found: list[tuple[Inputs, float, float]] = []
        with mock.patch.object(closure, "_Search", partial(_Timed, allowed=allowed, found=found)):
            parents = sr.algorithms.bfs_parents(A, source)
        inputs, *times = zip(*found, strict=True)
        least[allowed] = np.minimum(least.get(allowed, np.inf), times)
    check(source, parents)
    # A level of a few nanoseconds may measure as less than a call that does nothing.
    push, pull = (np.maximum(level - nothing, 1.0) for nothing, level in (least[_PUSHES], least[_PULLS]))
    return [Level(*level) for level in zip(inputs, push.tolist(), pull.tolist(), strict=True)]


def steps(A: sr.Matrix, runs: int) -> Iterator[Level]:
    """Products of a sparse vector: any_pair under a mask of half of the columns, and plus_times without one."""
    draw = graphs.dense(A, np.float32) - np.float32(0.5)
    indptr, _ = graphs.arrays(A)
    weighted = graphs.floats(A, np.float32)
    seen = ~sr.Vector.from_coo(np.flatnonzero(draw < 0.5), True, size=A.ncols).convert("bitmap").S
    for density in _DENSITIES:
        rows = np.flatnonzero(draw < density)
        f = sr.Vector.from_coo(rows, np.float32(1), size=A.nrows)
        edges = int((indptr[rows + 1] - indptr[rows]).sum())
        open_rows = int((draw >= 0.5).sum())
        early = Work(A.nvals, open_rows, A.nvals * open_rows // A.ncols, True, pull_rows=A.ncols)
        late = Work(A.nvals, A.ncols, A.nvals, False, pull_rows=A.ncols)
        for work, call in (
            (early, partial(f.vxm, A, "any_pair", mask=seen)),
            (late, partial(f.vxm, weighted, "plus_times")),
        ):
            yield Level(Inputs(rows.size, edges, work), *_both_ways(call, runs))


def _both_ways(call: Callable[[], sr.Vector], runs: int) -> list[float]:
    """Nanoseconds of a product pushed and pulled, in turns."""
    least = {"push": np.inf, "pull": np.inf}
    for _, direction in product(range(runs), least):
        with sr.config.set(direction=direction):
            start = time.process_time_ns()
            call().wait()
            least[direction] = min(least[direction], time.process_time_ns() - start)
    return list(least.values())


def fit(found: Sequence[Level]) -> tuple[Costs, float, float]:
    """The costs in units of a probe, the nanoseconds of a probe, and the median relative error of the model."""
    terms = [(units, ns) for level in found for units, ns in level.terms() if ns >= _LEAST_NS]
    relative = np.array([np.divide(units, ns) for units, ns in terms])
    costs, _ = nnls(relative, np.ones(len(terms)))
    error = float(np.median(np.abs(relative @ costs - 1)))
    return Costs(*(costs / costs[1]).tolist()), float(costs[1]), error


def slowdown(found: Sequence[Level], costs: Costs) -> float:
    """The time of all levels in the directions that these costs choose, over that in the faster ones."""
    best = sum(min(level.push_ns, level.pull_ns) for level in found)
    return sum(level.chosen_ns(costs) for level in found) / best


def add_costs(run: Run, name: str, found: Sequence[Level]) -> Costs:
    """Report the fitted costs; return them."""
    costs, probe_ns, error = fit(found)
    facts = {word: getattr(costs, unit) for word, unit in _MEASURED.items()}
    note = ", ".join(f"{word} {value:.1f}" for word, value in facts.items())
    note += f" probes; median error of the model {error:.0%}"
    run.add(f"a probe, {name}", "ns", probe_ns, note=note, facts=facts)
    return costs


def add_choices(run: Run, what: str, found: Mapping[str, Sequence[Level]], costs: Mapping[str, Costs]) -> None:
    """Report how much slower the choices of each set of costs are than the faster directions, over all graphs."""
    for label, chosen in costs.items():
        each = {name: slowdown(some, chosen) for name, some in found.items()}
        note = ", ".join(f"{name} {ratio:.3f}" for name, ratio in each.items())
        run.add(f"{what}, {label}", "x the least", statistics.geometric_mean(each.values()), note=note)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Run the CPU engine on the calling thread."""
    settings: Any = numba.config
    before = settings.NUMBA_NUM_THREADS
    settings.NUMBA_NUM_THREADS = 1
    try:
        yield
    finally:
        settings.NUMBA_NUM_THREADS = before


DEVICE = "cpu"
OPTIONS = {
    "graphs": (GRAPHS, "searched"),
    "sources": (5, "searches of each graph"),
    "runs": (25, "of each search"),
}


def main(run: Run) -> None:
    """Levels and products in both directions, the costs that fit them, and the choices of each set of costs."""
    searches: dict[str, list[Level]] = {}
    products: dict[str, list[Level]] = {}
    with _one_thread():
        for name in run.options.graphs:
            A = graphs.make(name)
            sources = graphs.sources(A, run.options.sources)
            searches[name] = [level for source in sources for level in levels(A, source, run.options.runs)]
            products[name] = list(steps(A, run.options.runs))
            add_costs(run, name, searches[name])
    fitted = add_costs(run, "all graphs", [level for found in searches.values() for level in found])
    costs = {"the table": COSTS, "the fitted costs": fitted}
    for word, unit in _MEASURED.items():
        for label, factor in (("halved", 0.5), ("doubled", 2)):
            costs[f"{word} {label}"] = COSTS._replace(**{unit: getattr(COSTS, unit) * factor})
    add_choices(run, "levels", searches, costs)
    without_words = {label: chosen for label, chosen in costs.items() if "WORD" not in label}  # products pass over none
    add_choices(run, "vxm", products, without_words)
