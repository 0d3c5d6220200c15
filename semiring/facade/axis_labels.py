"""Labels of the axes of an object: names as indices, and which labels the result of an operation has.

An object holds its labels as a tuple of ``ndim + 1`` members, or None where it has none at all: of the positions of a
Vector, of the rows and the columns of a Matrix, and last of its values, where these are vertices.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np

from ..devices import whole_of
from ..engines.requests.operands import Index
from ..exceptions import DimensionMismatch, DuplicateIndex, IndexOutOfBound, InvalidType, InvalidValue
from ..formats import VectorStore, dense_values
from ..memory.arrays import to_host
from ..ops import check
from .operand import is_scalar

if TYPE_CHECKING:
    from ..labels import Labels

AxisLabels: TypeAlias = "tuple[Labels | None, ...]"


def _same(a: Labels | None, b: Labels | None) -> bool:
    return a is b or (a is not None and b is not None and a == b)


def shared(labels: AxisLabels | None) -> Labels | None:
    """Return the labels that all axes have."""
    if labels is None:
        return None
    first = labels[0]
    return first if len(labels) == 2 or _same(first, labels[1]) else None


def known(labels: AxisLabels) -> AxisLabels | None:
    """Return the labels, None if there are none at all."""
    return None if all(part is None for part in labels) else labels


def of_elements(ndim: int, operands: Iterable[Any]) -> AxisLabels | None:
    """Return the labels of an element-wise result: an axis has those of the operands that have any, if they agree.

    A Vector beside a Matrix is every row of a matrix, on its left every column.
    """
    found: list[list[Labels]] = [[] for _ in range(ndim)]
    for at, operand in enumerate(operands):
        held = getattr(operand, "_labels", None)
        if held is None:
            continue
        first = ndim - 1 if operand.ndim < ndim and at else 0
        for axis, labels in enumerate(held[:-1], first):
            if labels is not None:
                found[axis].append(labels)
    agreed = [axis[0] if axis and all(_same(axis[0], other) for other in axis[1:]) else None for axis in found]
    return known((*agreed, None))


def of_product(a: Any, b: Any) -> AxisLabels | None:
    """Return the labels of a product: of the rows of `a` and the columns of `b`; none if the inner ones differ.

    A square matrix without labels is taken to keep the numbering of the other operand.
    """
    left, right = a._labels, b._labels
    if left is None and right is None:
        return None
    left, right = _ends(a, left, right, 0), _ends(b, right, left, -2)
    if left[-1] is not None and right[0] is not None and left[-1] != right[0]:
        return None
    return known((*left[:-1], *right[1:], None))


def _ends(x: Any, held: AxisLabels | None, other: AxisLabels | None, near: int) -> AxisLabels:
    """Return the labels of the axes of one operand; near: the axis of the other one that it meets."""
    if held is not None:
        return held[:-1]
    square = x.ndim == 2 and x.nrows == x.ncols and other is not None
    return (other[near],) * 2 if square and other is not None else (None,) * x.ndim


def transposed(labels: AxisLabels | None) -> AxisLabels | None:
    """Return the labels of the transpose."""
    return None if labels is None else (labels[1], labels[0], labels[2])


def taken(labels: Labels | None, index: Index) -> Labels | None:
    """Return the labels at the positions of an index; None if one occurs twice.  Synchronizes."""
    if labels is None or index.is_all:
        return labels
    if index.array is None:
        rows: Any = np.arange(index.count) * index.step + index.start
    else:
        array = index.array
        rows = to_host(dense_values(whole_of(array)) if isinstance(array, VectorStore) else array)
        if len(np.unique(rows)) < len(rows):
            return None
    return labels.take(rows)


def fitting(labels: AxisLabels, shape: tuple[int, ...]) -> AxisLabels | None:
    """Return the labels without those of an axis whose length has changed."""
    axes = [part if part is not None and len(part) == size else None for part, size in zip(labels, shape, strict=False)]
    return known((*axes, labels[-1]))


def located(labels: Labels | None, key: Any, where: str) -> Any:
    """Return an index of an axis with positions for its names; InvalidValue for a name where there are no labels."""
    if labels is not None:
        if isinstance(key, (int, np.integer)) and not -len(labels) <= key < len(labels) and key in labels:
            raise IndexOutOfBound(
                f"index {key} is out of bounds for {where} with size {len(labels)}; "
                f"{key} is a label, of the position labels.row({key})"
            )
        return labels.index(key)
    if isinstance(key, (str, bytes)):
        raise InvalidValue(f"{where}: {key!r} is a name, and these have no labels")
    return key


def named_duplicate(where: str, error: DuplicateIndex, rows: Labels | None, columns: Labels | None) -> DuplicateIndex:
    """Return the error for an edge that is given twice, with the names of its ends where these have any."""
    if error.place is None or (rows is None and columns is None):
        return error
    ends = (index if its is None else its[index] for index, its in zip(error.place, (rows, columns), strict=True))
    text = f"{where}the edge ({', '.join(map(repr, ends))}) is given more than once"
    return DuplicateIndex(f"{text}; say how to combine values with dup_op=", place=error.place)


class Labeled:
    """The labels of the axes and the values of an object."""

    __slots__ = ("_labels",)

    _labels: AxisLabels | None
    ndim: ClassVar[int]
    # The object that describes it: `ops.check.shape_of` accepts it.
    _described: Any

    @property
    def labels(self) -> Labels | None:
        """The names of the vertices: of the positions of a Vector, of the rows and columns of a square Matrix.

        None if there are none, or rows and columns have different ones: `Matrix.row_labels`, `Matrix.column_labels`.
        Names are indices (``A["ann", "bob"]``, ``v[["ann", "eve"]]``), arguments of algorithms (``sssp(A, "ann")``),
        and shown in previews.  Operations that keep the numbering pass them on: products, element-wise operations,
        `apply`, `select`, `selectk`, reductions to a Vector, transposes, copies and conversions; parts have the
        names of their positions, and the results of algorithms those of the vertices that they are about.  Where
        operands disagree on the labels of an axis, the result has none there.

        Raises
        ------
        DimensionMismatch
            If there are more or fewer labels than vertices, or the Matrix is not square.
        InvalidType
            If the value set is neither Labels nor None.

        Examples
        --------
        >>> A = Matrix.from_edgelist([("ann", "bob"), ("bob", "eve")], relabel=True)
        >>> levels = sr.algorithms.bfs_levels(A, A.labels.row("ann"))
        >>> levels.labels.to_dict(levels)
        {'ann': 0, 'bob': 1, 'eve': 2}
        """
        return shared(self._labels)

    @labels.setter
    def labels(self, labels: Labels | None) -> None:
        shape = check.shape_of(self._described)
        if labels is not None and len(set(shape)) > 1:
            raise DimensionMismatch(
                f"labels: rows and columns of a matrix of {shape[0]} x {shape[1]} have labels of their own: "
                f"set .row_labels and .column_labels"
            )
        for axis in range(self.ndim):
            self._set_labels("labels", axis, labels)

    @property
    def value_labels(self) -> Labels | None:
        """The names of the vertices, or kinds, that its values are; None if the values are neither, or have no names.

        Algorithms that return vertices (parents, components, orders, walks) set it where their graph has labels;
        readers of names of edges (``value_labels=True``) set it too.  Values are rows of it: numbers to operations.
        Copies, selections, parts and transposes keep it; operations that make new values do not.

        Raises
        ------
        InvalidType
            If the value set is neither Labels nor None.

        Examples
        --------
        >>> A = Matrix.from_edgelist([("ann", "bob"), ("bob", "eve")], relabel=True)
        >>> parents = sr.algorithms.bfs_parents(A, "ann")
        >>> parents.value_labels[parents["eve"].value]
        'bob'
        """
        return None if self._labels is None else self._labels[-1]

    @value_labels.setter
    def value_labels(self, labels: Labels | None) -> None:
        self._set_labels("value_labels", -1, labels)

    def _axis_labels(self, axis: int) -> Labels | None:
        return None if self._labels is None else self._labels[axis]

    def _set_labels(self, name: str, axis: int, labels: Labels | None) -> None:
        if labels is not None:
            from ..labels import Labels

            if not isinstance(labels, Labels):
                raise InvalidType(f"{name}: expected semiring.Labels, got {type(labels).__name__}: Labels(values)")
            if axis >= 0:
                labels.check_size(name, check.shape_of(self._described)[axis])
        held = list(self._labels or (None,) * (self.ndim + 1))
        held[axis] = labels
        self._labels = known(tuple(held))

    def _labeled(self, *operands: Any) -> Self:
        """Pass on the labels of the operands of an element-wise operation; returns this."""
        for operand in operands:
            if getattr(operand, "_labels", None) is not None:
                self._labels = of_elements(self.ndim, operands)
                break
        return self

    def _labeled_as(self, other: Any) -> Self:
        """Pass on the labels of axes and values of an object of the same kind and shape; returns this."""
        if other._labels is not None:
            self._labels = other._labels
        return self

    def _labeled_product(self, a: Any, b: Any) -> Self:
        """Pass on the labels of the outer axes of the operands of a product; returns this."""
        if a._labels is not None or b._labels is not None:
            self._labels = of_product(a, b)
        return self


class LabeledMatrix(Labeled):
    """The labels of rows and of columns."""

    __slots__ = ()

    # Of a Matrix: the index of rows, of columns, and both.
    _rows: Any
    _cols: Any
    _region: Any

    @property
    def row_labels(self) -> Labels | None:
        """The names of the rows; None if there are none.  `labels` is both, where rows and columns have the same.

        Raises
        ------
        DimensionMismatch
            If there are more or fewer labels than rows.
        InvalidType
            If the value set is neither Labels nor None.

        Examples
        --------
        >>> A = Matrix.from_coo([0, 1], [2, 0], [5, 6], shape=(2, 3))
        >>> A.row_labels, A.column_labels = sr.Labels(["ann", "bob"]), sr.Labels(["tea", "milk", "rice"])
        >>> A["ann", "rice"].value, list(A.T.row_labels)
        (5, ['tea', 'milk', 'rice'])
        """
        return self._axis_labels(0)

    @row_labels.setter
    def row_labels(self, labels: Labels | None) -> None:
        self._set_labels("row_labels", 0, labels)

    @property
    def column_labels(self) -> Labels | None:
        """The names of the columns, as `row_labels`.

        Examples
        --------
        >>> A = Matrix.from_edgelist([("ann", "bob")], relabel=True)
        >>> list(A[0:1, :].row_labels), list(A[0:1, :].column_labels)
        (['ann'], ['ann', 'bob'])
        """
        return self._axis_labels(1)

    @column_labels.setter
    def column_labels(self, labels: Labels | None) -> None:
        self._set_labels("column_labels", 1, labels)

    def _split(self, key: Any) -> tuple[Any, Any]:
        """Return the indices of rows and of columns, names replaced by positions."""
        rows, cols = key if isinstance(key, tuple) and len(key) == 2 else (key, slice(None))
        if isinstance(rows, tuple) and rows is key:
            raise InvalidValue(f"a Matrix takes two indices, got {len(key)}")
        if self._labels is None:
            return rows, cols
        top, left, _ = self._labels
        at = located(top, rows, "rows")
        return at, at if rows is cols and top is left else located(left, cols, "columns")

    def _name_part(self, made: Any, rows: Any, cols: Any) -> Any:
        """Set the labels of a part; returns the part."""
        assert self._labels is not None
        if made.ndim == 2:
            made._labels = self._labels_at(*self._region(rows, cols))
        else:
            across = is_scalar(rows)
            at = self._cols(cols) if across else self._rows(rows)
            made._labels = known((taken(self._labels[across], at), self._labels[-1]))
        return made

    def _labels_at(self, rows: Index, cols: Index) -> AxisLabels | None:
        """Return the labels of a part: one set for both axes where the whole has one, and the indices are the same."""
        if self._labels is None:
            return None
        top, left, values = self._labels
        of_rows = taken(top, rows)
        both = top is left and rows is cols
        return known((of_rows, of_rows if both else taken(left, cols), values))
