"""The public functions of votes, on Matrix and Vector objects."""

from __future__ import annotations

from ..memory.allocation import reports_memory
from .api import HasMatrix, HasVector, V, operand_of
from .vote import local_moving as _local_moving
from .vote import vote as _vote

__all__ = ["local_moving", "vote"]


@reports_memory
def vote(
    a: HasMatrix,
    labels: V,
    *,
    mass: HasVector | None = None,
    totals: HasVector | None = None,
    rate: float = 1.0,
    rows: HasVector | None = None,
    ties: str = "smallest",
) -> V:
    """w(i) = argmax over G of  sum of A(i, j) over label(j) = G  -  rate mass(i) total(G without i).

    The step of label propagation and of Louvain's method: every row moves to the group, the columns of one label, with
    the largest sum of entries, less a penalty for the mass that is in the group already.  Without `mass` the sum alone
    decides; over a pattern of ones that is the most frequent label of the neighbors.

    Parameters
    ----------
    a : Matrix, n x n (or its ``.T``)
        Real values.  Entries of the diagonal count for the row's own group.
    labels : Vector of size n, full, int32 or int64
        The groups, numbers from 0 to n - 1.  Any other label is no group: entries in these columns have no effect.
    mass, totals : Vectors of size n, full, float64, or both None
        The mass of each row, and of each group; the row's own mass is subtracted from that of its own group.
    rate : float
    rows : Vector of size n, full, bool
        The rows that move; the others keep their labels.  None: all.
    ties : ``"smallest"`` or ``"own"``
        Of several best groups the smallest number wins.  Under ``"own"`` a row moves only if another group is strictly
        better than its own, to which it may have no entry; if it moves, to the smallest.

    Returns
    -------
    Vector of size n, full, of the type of `labels`.  Rows without a candidate keep their labels.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue, DeviceMismatch, OutOfMemory

    Notes
    -----
    Cost O(n + nvals), one pass; rows above 4,096 entries on a GPU are read several times.  Memory on a CPU: 16 to 24
    bytes a row and thread.  Sums are float64: if they are exact, as for integers, all engines return the same groups.
    A score that is NaN never wins.  Synchronizes the first time that a matrix is used.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (0, 3), (1, 2)])
    >>> label = Vector.from_dense([0, 1, 2, 2], dtype="int32")
    >>> sr.ops.vote(A, label).to_dict()
    {0: 2, 1: 2, 2: 2, 3: 2}
    """
    matrix, transposed = operand_of("vote", a)
    stores = (None if v is None else v.store for v in (mass, totals, rows))
    given = dict(zip(("mass", "totals", "rows"), stores, strict=True))
    found = _vote(matrix, labels.store, transposed=transposed, rate=rate, ties=ties, **given)
    return labels.with_store(found)  # type: ignore[no-any-return]


@reports_memory
def local_moving(
    a: HasMatrix,
    labels: V,
    *,
    mass: HasVector | None = None,
    rate: float = 1.0,
    parts: int = 4,
    seed: int = 0,
    max_passes: int = 100,
    few: int = 0,
    ties: str = "own",
) -> V:
    """w = labels, then w(I) <- vote(A, w)(I) for random parts I of the active rows, until no row moves.

    Repeated `vote` with the totals of the moment: with the degrees as masses the local moving of
    Louvain's method, without masses label propagation.  Each pass divides the rows into parts at random; the rows of a
    part vote at once, and the parts in turn, so that most neighbors of a row stay while it moves.  All rows are active
    at first; a row that has voted is active again in the next pass if a neighbor outside its group has moved since.

    Parameters
    ----------
    a : Matrix, n x n (or its ``.T``)
        Real values.  Rows j with an entry a(i, j) are the neighbors of row i; usually the matrix is symmetric.
    labels : Vector of size n, full, int32 or int64
        The groups at first, as in `vote`.
    mass : Vector of size n, full, float64, or None
    rate : float
    parts : int, from 1
    seed : int
        Chooses the parts; a pass continues the numbers of the last.
    max_passes : int
    few : int
        The end is also reached when at most so many rows move in a pass.
    ties : ``"own"`` or ``"smallest"``
        As in `vote`.

    Returns
    -------
    Vector of size n, full, of the type of `labels`.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue, DeviceMismatch, OutOfMemory

    Notes
    -----
    With masses a row may gain at the end, as a change of totals alone makes no row active.

    Cost O(n) a pass, and the entries of the rows that vote.  Memory: that of `vote`, and 26 bytes a row.  Sums are
    float64: if they are exact, as for integers, all engines return the same groups.  Synchronizes once a pass on a GPU.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)])
    >>> A = A | A.T
    >>> degree = A.dup("float64").reduce_rowwise("plus")
    >>> label = Vector.from_dense([0, 1, 2, 3, 4, 5])
    >>> sr.ops.local_moving(A, label, mass=degree, rate=1 / 14).to_dict()
    {0: 1, 1: 1, 2: 1, 3: 4, 4: 4, 5: 4}
    """
    matrix, transposed = operand_of("local_moving", a)
    store = None if mass is None else mass.store
    found = _local_moving(
        matrix, labels.store, transposed=transposed, mass=store, rate=rate, parts=parts, seed=seed,
        max_passes=max_passes, few=few, ties=ties,
    )  # fmt: skip
    return labels.with_store(found)  # type: ignore[no-any-return]
