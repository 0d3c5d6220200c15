"""The public function of sums along the paths of a forest, on Vector objects."""

from __future__ import annotations

from typing import Any

from ..memory.allocation import reports_memory
from .public import V
from .treefix import treefix as _treefix

__all__ = ["treefix"]


@reports_memory
def treefix(parent: V, values: V, op: Any = "plus", *, towards: str = "roots") -> V:
    """t(v) = (+) of values(w) over the vertices w of the subtree of v, or over those on the path from v to its root.

    Both include v.  Sizes of subtrees, depths, preorder numbers and the extremes of subtrees are such sums.

    Parameters
    ----------
    parent : Vector of size n, full, int32 or int64
        A forest: a number from 0 to n - 1 for each vertex; a root is its own parent.
    values : Vector of size n, full
    op : monoid, by object or name
        Commutative; not ``any``.
    towards : ``"roots"`` or ``"leaves"``
        Sums over subtrees, or over the paths to the roots.

    Returns
    -------
    Vector of size n, full, of the type of the monoid.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue, NotSupported, UnknownOperator, DeviceMismatch, OutOfMemory
        InvalidValue also for a parent out of range, and for a cycle.

    Notes
    -----
    Cost O(n) on a CPU, with one thread, and towards the roots on a GPU, there in a time that grows with the height;
    towards the leaves O(n log height) on a GPU.  Synchronises once on a GPU, where values have 8 bytes or fewer.  Sums
    of floats depend on their order.

    Source: Leiserson, Maggs, "Communication-Efficient Parallel Algorithms for Distributed Random-Access Machines",
    Algorithmica 3, 1988, where these sums are named leaffix and rootfix.

    Examples
    --------
    >>> parent = Vector.from_dense([0, 0, 0, 2])
    >>> ones = Vector.full(1, 4)
    >>> sr.ops.treefix(parent, ones).to_dict()
    {0: 4, 1: 1, 2: 2, 3: 1}
    >>> sr.ops.treefix(parent, ones, towards="leaves").to_dict()
    {0: 1, 1: 2, 2: 2, 3: 3}
    """
    return parent.with_store(_treefix(parent.store, values.store, op, towards=towards))  # type: ignore[no-any-return]
