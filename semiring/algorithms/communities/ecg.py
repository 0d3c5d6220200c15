"""Ensemble clustering: Louvain's method on weights that count in how many partitions an edge is within a group."""

from __future__ import annotations

from semiring import Matrix, ops
from semiring.exceptions import InvalidValue

from ..checks import count, number, seed_of
from ..cohesion import k_core
from ..progress import Progress, reporter
from ..vertex_labels import algorithm
from .coarsening import agreement, grouped
from .louvain import louvain
from .moving import Communities, first_level, moved

# Steps of random numbers of a partition.
_PARTITION = 64


@algorithm(labels="v", levels="v")
@ops.small_as_whole
def ensemble_clustering(
    A: Matrix,
    *,
    partitions: int = 16,
    min_weight: float = 0.05,
    resolution: float = 1.0,
    tol: float = 1e-4,
    seed: int = 0,
    progress: Progress | None = None,
) -> Communities:
    """Louvain's method on  W(u, v) = w + (1 - w) a(u, v) / k  in the 2-core, and w elsewhere (ECG).

    a(u, v) is the number of k partitions of the graph in which u and v are in one group, and w the least weight.  The
    partitions are those of the first level of Louvain's method, from k seeds.  Communities are more stable than those
    of one run, as weak edges between them are rarely within a group.

    Parameters
    ----------
    A : Matrix, n x n, symmetric
        Values are finite weights, of at least 0, for the partitions; a self-loop counts twice.
    partitions : k, at least 1
    min_weight : w, in [0, 1]
    resolution, tol, seed : as in `louvain`
        Equal seeds find equal communities on every engine.
    progress : callable
        Called as ``progress(steps done, partitions + 1)``: the partitions, and the communities.

    Returns
    -------
    Communities : `modularity` is that of A, not of W.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue, OutOfMemory

    Notes
    -----
    Cost: k times the first level of `louvain`, and one call of it.  Synchronizes.

    Source: Poulin, Theberge, "Ensemble Clustering for Graphs", Complex Networks 2018.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)])
    >>> sr.algorithms.ensemble_clustering(A | A.T).labels.to_dict()
    {0: 0, 1: 0, 2: 0, 3: 1, 4: 1, 5: 1}
    """
    name = "ensemble_clustering"
    finest = first_level(name, A, resolution)
    partitions, min_weight = count(name, "partitions", partitions), number(name, "min_weight", min_weight, high=1)
    seed, report = seed_of(name, seed), reporter(name, progress)
    if partitions < 1:
        raise InvalidValue(f"{name}: partitions must be at least 1, got {partitions}")
    tol = number(name, "tol", tol)
    alone, edges = ops.singletons(finest.mass), finest.edges.select(">", 0)
    if finest.total == 0:
        report(0, 0)
        return Communities(alone, float("nan"), (alone,))
    votes = edges
    for partition in range(partitions):
        together = agreement(edges, moved(finest, alone, seed, partition * _PARTITION))
        votes = together.dup("float64") if partition == 0 else votes.ewise_add(together, "plus")
        report(partition + 1, partitions + 1)
    raised = votes.apply("times", right=(1 - min_weight) / partitions).apply("plus", right=min_weight)
    core = raised.ewise_mult(k_core(edges, 2), "first")
    weights = edges.apply("second", right=min_weight).ewise_add(core, "second")
    found = louvain(weights, resolution=resolution, tol=tol, seed=seed)
    report(partitions + 1, partitions + 1)
    k = found.labels.reduce("max").value + 1
    reached = finest.coarser(grouped(finest.whole, found.labels, k)).modularity()
    return Communities(found.labels, reached, found.levels)
