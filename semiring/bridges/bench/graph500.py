"""Graph500: construction from an edge list, breadth-first search, single-source shortest paths (graph500.org, 2.0).

The edge list is drawn here, in the order of the specification's sample generator: `semiring.random.kronecker` returns a
matrix without repetitions and self-loops, which kernel 1 is to build.  Kernels are called once untimed.  Kernel 1 runs
from the edge list on the device to a `Matrix` with both directions of each edge and the least weight of repeated ones;
kernels 2 and 3 until the parents (and distances) are complete on the device.  Every result is validated by the five
rules against the edge list.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

import semiring as sr
from semiring.bridges.bench import validation
from semiring.bridges.bench.ceilings import least_bytes, module_on
from semiring.bridges.bench.measuring import Contender, measure, unchecked
from semiring.bridges.bench.peers import finite_sum
from semiring.bridges.bench.suite import Kernel, Run
from semiring.exceptions import InvalidValue

# Probabilities of the quadrants.
_A, _B, _C = 0.57, 0.19, 0.19
# The specification has one; construction_time is the median.
_CONSTRUCTIONS: Final = 3
_QUANTITIES: Final = ("min", "firstquartile", "median", "thirdquartile", "max", "mean", "stddev")


@dataclass(frozen=True)
class EdgeList:
    """The tuples of kernel 1: both ends and the weight of each edge, in no order, with repetitions and self-loops."""

    n: int
    ends: tuple[Any, Any]
    weights: Any

    @property
    def degrees(self) -> Any:
        """Return how many edges each vertex has, self-loops not counted."""
        i, j = self.ends
        apart = i != j
        xp = validation.module_of(i)
        return xp.bincount(i[apart], minlength=self.n) + xp.bincount(j[apart], minlength=self.n)


def edge_list(scale: int, edgefactor: int, seed: int, device: str) -> EdgeList:
    """Draw the edge list: Kronecker edges, vertices renumbered at random; weights uniform in [0, 1), float32."""
    xp = module_on(device)
    n, count = 1 << scale, edgefactor << scale
    generator = xp.random.default_rng(seed)
    i, j = xp.zeros(count, np.int32), xp.zeros(count, np.int32)
    for _ in range(scale):
        low = generator.random(count, dtype=np.float32) > _A + _B
        right = generator.random(count, dtype=np.float32) > xp.where(low, _C / (1 - _A - _B), _A / (_A + _B))
        i, j = 2 * i + low, 2 * j + right
    label = xp.argsort(generator.random(n)).astype(np.int32)
    # The edges are independent draws: their order is random already.
    return EdgeList(n, (label[i], label[j]), generator.random(count, dtype=np.float32))


def construct(edges: EdgeList) -> sr.Matrix:
    """Return the graph with both directions of each edge and the least weight of repeated ones: kernel 1."""
    xp = validation.module_of(edges.weights)
    i, j = edges.ends
    rows, columns = xp.concatenate([i, j]), xp.concatenate([j, i])
    weights = xp.concatenate([edges.weights, edges.weights])
    return sr.Matrix.from_coo(rows, columns, weights, shape=(edges.n, edges.n), dup_op="min").wait()


def roots_of(edges: EdgeList, count: int, generator: np.random.Generator) -> list[int]:
    """Return random distinct vertices that have an edge to another vertex; fewer than `count` if there are fewer."""
    able = np.asarray((edges.degrees > 0).nonzero()[0].tolist())
    if not able.size:
        raise InvalidValue("graph500: the graph has no edge between two vertices, so no root: increase the scale")
    return [int(root) for root in generator.choice(able, size=min(count, able.size), replace=False)]


def statistics(values: Sequence[float]) -> dict[str, float]:
    """Return the seven quantities of the specification, with the quartiles of its reference program."""
    x, n = sorted(values), len(values)
    mean = math.fsum(x) / n
    stddev = math.sqrt(math.fsum((value - mean) ** 2 for value in x) / (n - 1)) if n > 1 else 0.0
    pairs = (((n - 1) // 4, n // 4), ((n - 1) // 2, n // 2), (n - 1 - (n - 1) // 4, n - 1 - n // 4))
    quartiles = [(x[low] + x[high]) / 2 for low, high in pairs]
    return dict(zip(_QUANTITIES, (x[0], *quartiles, x[-1], mean, stddev), strict=True))


def teps_statistics(seconds: Sequence[float], edges: Sequence[int]) -> dict[str, float]:
    """Return the quantities of edges a second: those of seconds an edge, inverted; the mean is harmonic.

    The standard deviation of a harmonic mean: Norris, "The Standard Errors of the Geometric and Harmonic Means", 1940.
    """
    inverse = statistics([spent / count for spent, count in zip(seconds, edges, strict=True)])
    swapped = dict(zip(_QUANTITIES[:5], reversed(_QUANTITIES[:5]), strict=True))
    found = {name: 1 / inverse[other] for name, other in swapped.items()}
    deviation = inverse["stddev"] / (inverse["mean"] ** 2 * math.sqrt(max(len(edges) - 1, 1)))
    return found | {"harmonic_mean": 1 / inverse["mean"], "harmonic_stddev": deviation}


@dataclass
class Searches:
    """The searches of one kernel: seconds, input edges of the component, and seconds of validation, for each root."""

    seconds: Sequence[float]
    edges: list[int]
    validation: list[float]


def block(
    scale: int, edgefactor: int, generation_s: float, construction_s: float, bfs: Searches, sssp: Searches
) -> str:
    """Return the output block of the specification, as the reference program prints it."""
    rows: list[tuple[str, str]] = [
        ("SCALE", f"{scale}"),
        ("edgefactor", f"{edgefactor}"),
        ("NBFS", f"{len(bfs.edges)}"),
        ("graph_generation", f"{generation_s:g}"),
        ("num_mpi_processes", "1"),
        ("construction_time", f"{construction_s:g}"),
    ]
    both = (("bfs  ", bfs), ("sssp ", sssp))
    for name, found in both:
        rows += [(f"{name}{key}_time", f"{value:g}") for key, value in statistics(found.seconds).items()]
    rows += [(f"{key}_nedge", f"{value:.11g}") for key, value in statistics(bfs.edges).items()]
    for name, found in both:
        rows += [(f"{name}{key}_TEPS", f"{x:g}") for key, x in teps_statistics(found.seconds, found.edges).items()]
    for name, found in both:
        rows += [(f"{name}{key}_validate", f"{value:g}") for key, value in statistics(found.validation).items()]
    return "\n".join(f"{key + ':':<29}{'!' if 'harmonic_mean' in key else ' '}  {value}" for key, value in rows)


def graph500(run: Run, scale: int, edgefactor: int, roots: int) -> None:
    """Run the benchmark and add its rows and its output block."""
    with run.progress.step(f"drawing the edge list of scale {scale}"):
        start = time.perf_counter()
        edges = edge_list(scale, edgefactor, run.seed, run.device)
        keys = roots_of(edges, roots, np.random.default_rng(run.seed))
        generation_s = time.perf_counter() - start
    name = f"kron{scale}"
    with run.progress.step("kernel 1: construction"):
        built = measure(lambda _: construct(edges), unchecked, range(_CONSTRUCTIONS), run.device)
        A = construct(edges)
    entries, width = 2 * int(edges.weights.size), 4
    run.add(
        f"construction {name}",
        built,
        [edgefactor << scale] * _CONSTRUCTIONS,
        least_bytes("construction", edges.n, entries, 4, width),
    )
    others = run.programs(A)
    found = {}
    calls: dict[str, tuple[Callable[[int], Any], Callable[[Any], Any]]] = {
        "bfs": (lambda root: sr.algorithms.bfs_parents(A, root).wait(), lambda parents: parents.nvals),
        "sssp": (partial(_tree, A), lambda tree: finite_sum(tree.distance.to_coo(device="cpu")[1].astype(np.float64))),
    }
    for kernel, (call, number) in calls.items():
        searches = found[kernel] = Searches((), [], [])
        check = partial(_validate, edges, searches)
        # All roots are of one component almost always: the model is that of the first one's.
        rows, stored = _reached(A, keys[0])
        least = least_bytes(kernel, rows, stored, 4, width)
        run.measure(name, Kernel(kernel, Contender(call, check), number, keys, least=least), others)
        searches.seconds = [1e-3 * ms for ms in run.rows[-1].samples]
        rate = teps_statistics(searches.seconds, searches.edges)["harmonic_mean"]
        run.rows[-1].facts.update(rate=rate, nedge=searches.edges, roots=keys, scale=scale)
    run.text.append(block(scale, edgefactor, generation_s, 1e-3 * built.median, found["bfs"], found["sssp"]))


def _tree(A: sr.Matrix, root: int) -> Any:
    found = sr.algorithms.shortest_path_tree(A, root)
    found.distance.wait()
    found.parent.wait()
    return found


def _validate(edges: EdgeList, searches: Searches, root: int, result: Any) -> None:
    """Validate the result of kernel 2 or 3, and count the edges of its component."""
    start = time.perf_counter()
    if isinstance(result, sr.Vector):
        inside = validation.graph500_tree(edges.ends, root, result.to_dense(-1))
    else:
        distance, parent = result.distance.to_dense(-1), result.parent.to_dense(-1)
        inside = validation.graph500_tree(edges.ends, root, parent, edges.weights, distance)
    searches.edges.append(inside)
    searches.validation.append(time.perf_counter() - start)


def _reached(A: sr.Matrix, source: int) -> tuple[int, int]:
    """Return the rows that a search reaches, and their entries."""
    indptr = A.to_csr(index_dtype=None)[0]
    found = sr.algorithms.bfs_levels(A, source).to_coo(index_dtype=None)[0]
    return int(found.size), int((indptr[found + 1] - indptr[found]).sum())
