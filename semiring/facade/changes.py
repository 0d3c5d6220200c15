"""Matrices whose entries change in batches: insert, upsert, delete, batch, snapshot, compact (`storage.changes`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from ..config import engine_for
from ..engines.programs import traced
from ..exceptions import DimensionMismatch, DomainMismatch, InvalidType, InvalidValue
from ..formats import CSR, structure_only
from ..memory.allocation import allocating
from ..memory.arrays import copied, to_host
from ..ops import check
from ..ops.build import checked_triples, duplicate_operator, is_mean
from ..ops.cast import cast_store
from ..storage.changes import Batch, Changes, UnsortedEdges, count, positions
from .edges import Edges, check_nan, edges_of, in_both_directions
from .operand import as_values

if TYPE_CHECKING:
    from ..labels import Labels
    from .matrix import Matrix

M = TypeVar("M", bound="Matrix")


class BatchCounts:
    """The positions of a batch, and how many of them had an entry before it, counted when that is first read.

    Until then it keeps what the matrix held before.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> counts = A.insert([(0, 1), (2, 0), (2, 1)])
    >>> counts.positions, counts.found, counts.missing
    (3, 1, 2)
    """

    __slots__ = ("_before", "_change", "_found", "_positions", "_structure")

    def __init__(self, before: Changes, change: Batch | UnsortedEdges) -> None:
        self._before: Changes | None = before
        self._change: Batch | UnsortedEdges | None = change
        self._structure: CSR | None = None
        self._positions = self._found = 0

    @property
    def positions(self) -> int:
        """Distinct positions of the batch.  O(batch log batch), the first time."""
        if self._change is not None:
            assert self._before is not None
            self._structure = positions(self._change, self._before.base)
            self._positions, self._change = self._structure.nvals, None
        return self._positions

    @property
    def found(self) -> int:
        """Those that had an entry: combined with the new one, or deleted.  O(batch), the first time; synchronizes."""
        _ = self.positions
        before, structure = self._before, self._structure
        if before is not None and structure is not None:
            self._found = count(before, structure)
            self._before = self._structure = None
        return self._found

    @property
    def missing(self) -> int:
        """Those that had none: inserted, or nothing to delete."""
        return self.positions - self.found

    def edges(self) -> UnsortedEdges:
        """Return the edges of the batch, which is to be called before the counts are read."""
        change = self._change
        assert change is not None
        return change if isinstance(change, UnsortedEdges) else change.edges()

    def __repr__(self) -> str:
        return f"BatchCounts(positions={self.positions}, found={self.found}, missing={self.missing})"


def insert(
    self: Matrix,
    edges: Any,
    values: Any = None,
    *,
    dup_op: Any = None,
    source: Any = None,
    target: Any = None,
    weight: Any = None,
    symmetric: bool = False,
) -> BatchCounts:
    """A(i, j) = dup_op(A(i, j), value) for every edge (i, j, value) of a batch; = value where A has no entry.

    Parameters
    ----------
    edges : list of tuples; array of 2 or 3 columns; a table, as `from_edgelist`; or a Matrix, whose entries are the
        batch.  Vertices are labels where A has any
    values : as many values, or one for all, where the edges hold none; by default True
    dup_op : associative binary operator that combines the value of an entry with the new one, and those of edges that
        are repeated, from the first on; by default ``"last"``: the new one.  Others work too, but each batch is applied
        before the next
    source, target, weight : columns of a table or an array, as `from_edgelist`
    symmetric : change each edge in both directions

    Returns
    -------
    BatchCounts
        ``.found``: how many positions had an entry; ``.missing``: how many entries are new.

    Raises
    ------
    IndexOutOfBound
        For a vertex beyond the shape; see `resize`, and `upsert` for labels.
    InvalidValue, DimensionMismatch, DomainMismatch, OutOfMemory
        A is unchanged.

    Notes
    -----
    Cost O(k log k) for k edges, and a logarithm of the number of batches: the entries of the matrix are not read.  The
    batch is kept beside them, in at most 24 bytes an entry for values of 8 bytes (and fewer
    than 2^31 vertices), until an operation reads the
    matrix, `compact` is called, or batches have an eighth of its entries; then they are applied, in O(nvals + nrows),
    once for all operations and for all copies.  `explain` records that as ``compact``.  A compressed or pinned matrix
    remains one.  On the GPU the checks synchronize.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1, 2.0), (1, 2, 3.0)])
    >>> A.insert([(1, 2, 5.0), (2, 0, 7.0)], dup_op="plus")
    BatchCounts(positions=2, found=1, missing=1)
    >>> A.to_dicts()
    {0: {1: 2.0}, 1: {2: 8.0}, 2: {0: 7.0}}
    """
    return _write(self, "insert", edges, values, dup_op, (source, target, weight), symmetric)


def upsert(
    self: Matrix,
    edges: Any,
    values: Any = None,
    *,
    source: Any = None,
    target: Any = None,
    weight: Any = None,
    symmetric: bool = False,
) -> BatchCounts:
    """A(i, j) = value for every edge (i, j, value) of a batch, whose vertices may be new: those get the next rows.

    A vertex that A has no label for is added to its labels, and a row and a column (where rows and columns have
    labels of their own: one of both) to A.  Vectors from before have fewer labels, and are as long as they were.

    Parameters
    ----------
    edges, values, source, target, weight, symmetric : as `insert`

    Returns
    -------
    BatchCounts

    Raises
    ------
    InvalidValue, IndexOutOfBound, DomainMismatch, OutOfMemory
        A is unchanged.

    Notes
    -----
    Cost as `insert`; with new vertices O(nrows + ncols) besides.

    Examples
    --------
    >>> A = Matrix.from_edgelist([("ann", "bob", 2)], relabel=True)
    >>> A.upsert([("ann", "bob", 3), ("bob", "eve", 5)])
    BatchCounts(positions=2, found=1, missing=1)
    >>> A.shape, A["bob", "eve"].value, list(A.labels)
    ((3, 3), 5, ['ann', 'bob', 'eve'])
    """
    return _write(self, "upsert", edges, values, None, (source, target, weight), symmetric, grow=True)


def delete(self: Matrix, edges: Any, *, source: Any = None, target: Any = None, symmetric: bool = False) -> BatchCounts:
    """Delete the entry A(i, j) for every edge (i, j) of a batch; positions without one are counted.

    Parameters
    ----------
    edges : as `insert`; values are not read
    source, target : columns of a table or an array, as `from_edgelist`
    symmetric : delete each edge in both directions

    Returns
    -------
    BatchCounts
        ``.found``: how many entries are deleted; ``.missing``: how many positions had none.

    Raises
    ------
    IndexOutOfBound, InvalidValue, DimensionMismatch, OutOfMemory
        A is unchanged.

    Notes
    -----
    Cost as `insert`.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> A.delete([(1, 2), (2, 0)])
    BatchCounts(positions=2, found=1, missing=1)
    >>> A.to_dicts()
    {0: {1: True}}
    """
    before = _changes(self)
    if _is_matrix(edges):
        change: Batch | UnsortedEdges = Batch(structure_only(_same_shape(self, "delete", edges).pattern), None)
    else:
        given = _vertices(self, "delete", edges, (source, target, None), grow=False)
        change = _checked(self, "delete", given._replace(values=True), check.shape_of(before.base), symmetric)
        change = change._replace(values=None, iso=None)
    _hold(self, before.then(change, None))
    return BatchCounts(before, change)


@contextmanager
def batch(self: M) -> Iterator[M]:
    """Change the matrix by several calls at once: all of them, or none if the block raises an error.

    The block changes a snapshot, in any way, and the matrix becomes it when the block ends.  Readers in other
    threads have the matrix from before until then.

    Raises
    ------
    InvalidValue
        When the block ends, if the matrix itself was changed meanwhile; it keeps that change.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> with A.batch() as b:
    ...     b.delete([(0, 1)])
    ...     b.insert([(1, 0)])
    BatchCounts(positions=1, found=1, missing=0)
    BatchCounts(positions=1, found=0, missing=1)
    >>> A.to_dicts()
    {1: {0: True, 2: True}}
    """
    self._check_whole()
    if not isinstance(self._elements, Changes):
        self._become(self.store)  # a log of single elements would change in place
    made, held = snapshot(self), _state(self)
    yield made
    if any(one is not other for one, other in zip(held, _state(self), strict=True)):
        raise InvalidValue("batch: the matrix was changed in another way meanwhile, so the batch is not applied")
    if made._store is None and isinstance(made._elements, Changes):
        _hold(self, made._elements)
    else:
        self._become(made.store)
    self._labels = made._labels


def snapshot(self: M) -> M:
    """Return a matrix with the present entries, which later changes of this one do not reach.

    Notes
    -----
    Cost O(1): both share the entries and the batches that are not applied, which are applied once for both.  After
    writes to single elements (``A[i, j] = x``) it applies these.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> before = A.snapshot()
    >>> _ = A.delete([(0, 1)])
    >>> before.nvals, A.nvals
    (2, 1)
    """
    store = self._store
    elements = self._elements
    if store is None and isinstance(elements, Changes):
        made = changed_matrix(type(self), elements)
        made.name = self.name
    else:
        made = self._new(self.store, name=self.name)
    return made._labeled_as(self)


def compact(self: M) -> M:
    """Apply the batches of changes now, and return this matrix.

    Notes
    -----
    Any operation that reads the matrix does so.  Cost O(nvals + nrows) if there are any.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1)], nrows=3, ncols=3)
    >>> _ = A.insert([(1, 2)])
    >>> A.compact().nvals
    2
    """
    _ = self.store
    return self


def changed_matrix(cls: type[M], changes: Changes) -> M:
    """Return a matrix that holds changes."""
    made = cls._new(None)
    made._elements = changes
    return made


def _write(
    self: Matrix,
    operation: str,
    edges: Any,
    values: Any,
    dup_op: Any,
    columns: tuple[Any, Any, Any],
    symmetric: bool,
    *,
    grow: bool = False,
) -> BatchCounts:
    if dup_op is not None and is_mean(dup_op):
        raise InvalidValue(f"{operation}: dup_op='mean' does not combine an entry with a new value")
    dtype = self.dtype
    op = duplicate_operator("last" if dup_op is None else dup_op, dtype)
    if op.z != dtype:
        raise DomainMismatch(f"{operation}: {op!r} has results of {op.z}, and the matrix holds {dtype}")
    before, labels = _changes(self), self._labels
    if _is_matrix(edges):
        if values is not None or symmetric or columns != (None, None, None):
            raise InvalidType(f"{operation}: a Matrix is a batch as it is; leave out the other arguments")
        written = cast_store(_same_shape(self, operation, edges), dtype, engine_for(self.device))
        change: Batch | UnsortedEdges = Batch(None, written)
    else:
        given = _vertices(self, operation, edges, columns, grow=grow)
        if given.values is None:
            given = given._replace(values=True if values is None else values)
        elif values is not None:
            raise InvalidType(f"{operation}: the edges hold values already; values= must be left out")
        else:
            check_nan(operation, given.values, dtype)
        shape = check.shape_of(before.base)
        if grow and labels is not None:
            labels = (*given.labels, labels[-1])
            nrows, ncols = (n if its is None else len(its) for n, its in zip(shape, given.labels, strict=True))
            shape = nrows, ncols
            before = before.resized(shape)
        change = _checked(self, operation, given, shape, symmetric)
    _hold(self, before.then(change, op))
    self._labels = labels
    return BatchCounts(before, change)


def _vertices(self: Matrix, operation: str, edges: Any, columns: tuple[Any, Any, Any], *, grow: bool) -> Edges:
    """Return the edges of a batch by rows and columns, and the labels of both; grow: with those that are new."""
    own = (None, None) if self._labels is None else self._labels[:2]
    if not grow:
        return edges_of(operation, edges, *columns, (own[0] or False, own[1] or False))
    shared = own[0] is not None and own[0] == own[1]
    numbered: Any = True if shared else tuple(its is not None for its in own)
    given = edges_of(operation, edges, *columns, numbered)
    ends: list[Any] = []
    labels: list[Labels | None] = []
    for end, new, its in zip((given.rows, given.columns), given.labels, own, strict=True):
        if its is None or new is None:
            ends.append(end)
            labels.append(None)
            continue
        labels.append(labels[0] if shared and labels else its.extended(new))
        ends.append(labels[-1].rows(new.to_numpy())[to_host(end)])  # type: ignore[union-attr]
    return Edges(ends[0], ends[1], given.values, (labels[0], labels[1]))


def _checked(self: Matrix, operation: str, given: Edges, shape: tuple[int, ...], symmetric: bool) -> UnsortedEdges:
    """Return the edges of a batch in arrays of their own on the device."""
    if symmetric and shape[0] != shape[1]:
        raise DimensionMismatch(f"{operation}: symmetric=True needs a square matrix, got {shape[0]} x {shape[1]}")
    dtype, device = self.dtype, self.device
    rows, cols, values = given.rows, given.columns, as_values(given.values, dtype)
    if symmetric:
        rows, cols, values = in_both_directions(rows, cols, values)
    made = checked_triples(rows, cols, values, shape, dtype, device)
    with allocating(operation, device):  # views of what the caller passed may be among them
        rows, cols, values = (None if part is None else copied(part) for part in made[:3])
    return UnsortedEdges(rows, cols, values, made[3], symmetric)


def _same_shape(self: Matrix, operation: str, other: Any) -> CSR:
    """Return the store of a batch that is a Matrix."""
    store: CSR = other.store
    check.one_device(operation, self.device, store)
    if store.shape != check.shape_of(self._described):
        raise DimensionMismatch(
            f"{operation}: the matrix is {' x '.join(map(str, check.shape_of(self._described)))}, "
            f"and the batch {store.nrows} x {store.ncols}"
        )
    return store


def _is_matrix(given: Any) -> bool:
    return hasattr(given, "store") and getattr(given, "ndim", 0) == 2


def _changes(self: Matrix) -> Changes:
    """Return the store with the batches that are not applied."""
    if traced.users:
        traced.check_target(self)
        if traced.RECORDER.get() is not None:
            raise traced.Untraceable("a batch of changes")
    self._check_whole()
    store, elements = self._store, self._elements
    return elements if store is None and isinstance(elements, Changes) else Changes.to(self.store)


def _hold(self: Matrix, changes: Changes) -> None:
    """Replace what the matrix holds; a reader in another thread has the state from before or after."""
    self._elements = changes
    self._store = self._plan = self._chain = None


def _state(self: Matrix) -> tuple[Any, ...]:
    return self._store, self._elements, self._labels
