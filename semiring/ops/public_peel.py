"""The public function of peeling, on Matrix and Vector objects."""

from __future__ import annotations

from ..memory.allocation import reports_memory
from .peel import peel as _peel
from .public import HasMatrix, V, operand_of

__all__ = ["peel"]


@reports_memory
def peel(counts: V, a: HasMatrix, *, least: int | None = None) -> V:
    """t(i) = the largest k such that i is in a set S of rows with  counts(i) - lost(i) >= k,  or 0 if it is negative.

    lost(i) is the number of entries of row i in columns outside S.  Rows whose counts are below k are removed, and
    their columns subtracted from the counts of the others, until there are none; those that are left have level k.
    With the numbers of entries as counts, the levels of a symmetric matrix are the core numbers of its graph.

    Parameters
    ----------
    counts : Vector of size n, full, int32 or int64
    a : Matrix, n x n (or its ``.T``)
        Values are not read.
    least : int, optional
        One level alone: t(i) = least where i has this level or a higher one, and 0 elsewhere.

    Returns
    -------
    Vector of size n, full, of the type of `counts`.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue, DeviceMismatch, OutOfMemory

    Notes
    -----
    Each entry is visited once, and a row once for each level up to its own: of core numbers both together are
    O(n + nvals).  On a CPU with one thread, on a GPU in one launch.  The transpose is derived and cached unless the
    structure is symmetric.  Memory beside it: four indices a row and the counts.  Synchronises for facts of the
    structure, the first time that a matrix is used.  Entries that kernels do not address, and that do not fit in the
    memory of the device, are read in slices, once a round.

    Sources: Matula, Beck, "Smallest-last ordering and clustering and graph coloring algorithms", Journal of the ACM 30,
    1983; by levels: Dasari, Desh, Zubair, "ParK: An efficient algorithm for k-core decomposition on multicore
    processors", IEEE Big Data 2014.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> degree = Vector.from_dense([2, 2, 3, 1])
    >>> sr.ops.peel(degree, A | A.T).to_dict(), sr.ops.peel(degree, A | A.T, least=2).to_dict()
    ({0: 2, 1: 2, 2: 2, 3: 1}, {0: 2, 1: 2, 2: 2, 3: 0})
    """
    matrix, transposed = operand_of("peel", a)
    return counts.with_store(_peel(counts.store, matrix, transposed=transposed, least=least))  # type: ignore[no-any-return]
