"""Operations on the entries of each row or column in order: running totals, sorting, a choice of k entries.

`Matrix` and `Vector` bind these functions as their methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast

from ..ops import order as ordering
from ..ops.scan import scan as scanned
from ..ops.scan import scan_vector as scanned_vector
from ..storage.coerce import extent
from .axis_labels import known
from .concatenation import by_columns, stored
from .writing import Writing

if TYPE_CHECKING:
    from .matrix import Matrix
    from .vector import Vector

M = TypeVar("M", bound="Matrix")


def scan(self: M, op: Any = "plus", order: str = "rowwise", **writing: Unpack[Writing]) -> M:
    """C(i, j) = (+)_l self(i, l) over the entries with l <= j: the running totals of each row.

    Parameters
    ----------
    op : monoid, by object or name
    order : ``"rowwise"``, or ``"columnwise"`` for the running totals of each column
    **writing : mask, accum, replace, out

    Returns
    -------
    Matrix with the structure of this one, of the monoid's type.

    Raises
    ------
    DomainMismatch, UnknownOperator, InvalidValue, OutOfMemory

    Notes
    -----
    Cost O(nrows + nvals), however skewed the rows are; by columns it also transposes twice.  Floating totals depend on
    the order of additions, which differs between engines.

    Examples
    --------
    >>> Matrix.from_coo([0, 0, 0], [0, 2, 3], [5, 1, 2]).scan().to_dicts()
    {0: {0: 5, 2: 6, 3: 8}}
    """
    plan = scanned(stored(self), op, by_columns=by_columns("scan", order))
    return cast(M, self._deliver(plan, writing)._labeled(self))


def scan_vector(self: Vector, op: Any = "plus", **writing: Unpack[Writing]) -> Vector:
    """w(i) = (+)_k self(k) over the entries with k <= i: the running totals.

    Parameters
    ----------
    op : monoid, by object or name
    **writing : mask, accum, replace, out

    Raises
    ------
    DomainMismatch, UnknownOperator

    Notes
    -----
    Cost O(nvals).

    Examples
    --------
    >>> Vector.from_coo([0, 2], [5, 1], size=4).scan().to_dict()
    {0: 5, 2: 6}
    """
    return cast("Vector", self._deliver(scanned_vector(self.store, op), writing)._labeled(self))


def sort(self: M, op: Any = "lt", order: str = "rowwise") -> tuple[M, M]:
    """Return (C, P): C(i, k) is the k-th smallest value of row i, P(i, k) its column, for k from 0.

    Parameters
    ----------
    op : ``"lt"`` or ``"<"``, ascending; ``"gt"`` or ``">"``, descending; or that binary operator
    order : ``"rowwise"``, or ``"columnwise"``: each column is sorted, from row 0, and P holds rows

    Returns
    -------
    Two matrices of the shape of this one: the sorted values, and where they were, of int64.

    Raises
    ------
    InvalidValue
        For another order.
    OutOfMemory

    Notes
    -----
    Equal values keep their order, and NaN is behind all numbers.  Cost O(nvals log degree).  Rows are sorted by the
    method of their length.  Synchronizes on the GPU.

    Examples
    --------
    >>> C, P = Matrix.from_coo([0, 0, 0], [1, 2, 4], [7, 3, 5]).sort()
    >>> C.to_dicts(), P.to_dicts()
    ({0: {0: 3, 1: 5, 2: 7}}, {0: {0: 2, 1: 4, 2: 1}})
    """
    columns = by_columns("sort", order)
    values, places = (self._new(part) for part in ordering.sort(stored(self), op, by_columns=columns))
    if self._labels is not None:  # the entries of a row move, so the other axis has ranks
        of_rows, of_columns, of_values = self._labels
        kept = (None, of_columns) if columns else (of_rows, None)
        values._labels, places._labels = known((*kept, of_values)), known((*kept, of_rows if columns else of_columns))
    return values, places


def sort_vector(self: Vector, op: Any = "lt") -> tuple[Vector, Vector]:
    """Return (w, p): w(k) is the k-th smallest value, p(k) its index, for k from 0.

    Parameters
    ----------
    op : ``"lt"`` or ``"<"``, ascending; ``"gt"`` or ``">"``, descending; or that binary operator

    Raises
    ------
    InvalidValue
        For another order.

    Notes
    -----
    Equal values keep their order, and NaN is behind all numbers.  Cost O(nvals log nvals).  Synchronizes on the GPU.

    Examples
    --------
    >>> w, p = Vector.from_coo([0, 2, 3], [7, 3, 5], size=4).sort(">")
    >>> w.to_dict(), p.to_dict()
    ({0: 7, 1: 5, 2: 3}, {0: 0, 1: 3, 2: 2})
    """
    values, places = (self._new(part) for part in ordering.sort_vector(self.store, op))
    if self._labels is not None:  # positions of the result are ranks
        values.value_labels, places.value_labels = self.value_labels, self.labels
    return values, places


def selectk(self: M, how: str, k: int, order: str = "rowwise", *, seed: int = 0, **writing: Unpack[Writing]) -> M:
    """Select up to k entries of each row, which stay where they are.

    Parameters
    ----------
    how : ``"first"`` or ``"last"``, by column; ``"smallest"`` or ``"largest"``, by value (of equal values the first
        ones; NaN only where there are fewer than k numbers); ``"random"``, without replacement
    k : integer from 0
    order : ``"rowwise"``, or ``"columnwise"`` for up to k entries of each column
    seed : integer from 0, of ``"random"``: the choice depends on it and on the positions alone, so all engines make the
        same one
    **writing : mask, accum, replace, out

    Raises
    ------
    InvalidValue, OutOfMemory

    Notes
    -----
    Cost O(nrows + nvals) for the first and the last, else O(nvals log degree).  Synchronizes on the GPU.  Each
    neighbor of a vertex is sampled with equal probability: ``A.selectk("random", 10, seed=1)``.

    Examples
    --------
    >>> Matrix.from_coo([0, 0, 0], [1, 2, 4], [7, 3, 5]).selectk("largest", 2).to_dicts()
    {0: {1: 7, 4: 5}}
    """
    count, chosen = extent("selectk: k", k), extent("selectk: seed", seed)
    plan = ordering.select_k(stored(self), how, count, chosen, by_columns=by_columns("selectk", order))
    return cast(M, self._deliver(plan, writing)._labeled_as(self))


def selectk_vector(self: Vector, how: str, k: int, *, seed: int = 0, **writing: Unpack[Writing]) -> Vector:
    """Select up to k entries, which stay where they are.

    Parameters
    ----------
    how : ``"first"``, ``"last"``, ``"smallest"``, ``"largest"`` or ``"random"``, as `Matrix.selectk`
    k : integer from 0
    seed : integer from 0, of ``"random"``
    **writing : mask, accum, replace, out

    Raises
    ------
    InvalidValue, OutOfMemory

    Notes
    -----
    Cost O(nvals) for the first and the last, else O(nvals log nvals).  Synchronizes on the GPU.

    Examples
    --------
    >>> Vector.from_coo([0, 2, 3], [7, 3, 5], size=4).selectk("smallest", 2).to_dict()
    {2: 3, 3: 5}
    """
    count, chosen = extent("selectk: k", k), extent("selectk: seed", seed)
    plan = ordering.select_k_vector(self.store, how, count, chosen)
    return cast("Vector", self._deliver(plan, writing)._labeled_as(self))
