"""Labels: names of vertices, and the rows that stand for them.

A graph whose vertices are text, sparse integers or UUIDs becomes a matrix by a numbering of its labels.  `Labels` holds
the numbering and maps both ways; a Matrix or Vector carries one in ``.labels``, and so do the results of algorithms and
of those operations that keep the numbering.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ..exceptions import DimensionMismatch, IndexOutOfBound, InvalidType, InvalidValue
from . import attributes as tables
from .integer_rows import IntegerRows
from .numbering import as_column, first_repeated, number_columns
from .similar import similar


def _first(column: Any) -> Any:
    """Return the first element of a sequence, an array, or a column of a frame."""
    first = getattr(column, "iloc", column)[0]
    return first.as_py() if hasattr(first, "as_py") else first


class Labels:
    """A one-to-one map between labels and the rows 0 to n - 1.

    Parameters
    ----------
    values : the label of each row, in order: a sequence or a column of a frame; integers, text, or any hashable objects
    attributes : table of what else is known of each vertex: a dictionary of columns, or a frame, as long as `values`

    Raises
    ------
    InvalidValue
        If a label occurs twice or is missing (None, NaN).
    DimensionMismatch
        If a column of attributes has another length.

    Notes
    -----
    Cost O(n).  Integers are compared as integers; ``1`` and ``"1"`` are different labels, ``1`` and ``1.0`` are the
    same, as in a dictionary.  A numbering does not change; ``==`` compares labels and order, and not attributes.

    Examples
    --------
    >>> labels = sr.Labels(["ann", "bob", "eve"])
    >>> labels.row("bob"), labels[2], "zoe" in labels, len(labels)
    (1, 'eve', False, 3)
    """

    __slots__ = ("_attributes", "_index", "_integers", "_values")

    _values: np.ndarray[Any, Any]
    _attributes: Mapping[str, np.ndarray[Any, Any]]
    # Of integer labels, and of others: {label: row}.  None before the first look-up.
    _integers: IntegerRows | None
    _index: dict[Any, int] | None

    def __init__(self, values: Any, attributes: Any = None) -> None:
        column = np.array(as_column("Labels", "labels", values, fractions=True))  # the caller may change theirs
        self._set(column, {} if attributes is None else tables.checked("Labels", attributes, len(column)))
        if column.dtype.kind in "iu" or len(self._by_label()) < len(column):
            repeated = first_repeated(column)
            if repeated is not None:
                raise InvalidValue(f"Labels: expected each label once, got {repeated!r} twice")

    def _set(self, values: np.ndarray[Any, Any], attributes: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self._values, self._attributes, self._index, self._integers = values, attributes, None, None
        values.setflags(write=False)

    @classmethod
    def of_distinct(cls, values: np.ndarray[Any, Any]) -> Labels:
        """Return the numbering of an array of labels that are known to differ; nothing is checked.

        Parameters
        ----------
        values : array of int64, uint64 or objects, which must not change afterwards

        Notes
        -----
        Cost O(1).

        Examples
        --------
        >>> len(sr.Labels.of_distinct(np.array([30, 10])))
        2
        """
        return _made(values, {})

    @classmethod
    def from_frame(cls, frame: Any, key: Any = None) -> Labels:
        """Return the numbering of the vertices of a table, with its other columns as their attributes.

        Parameters
        ----------
        frame : a frame of pandas or polars, an Arrow table, a dictionary of columns
        key : the column that holds the labels; by default the first

        Raises
        ------
        InvalidValue
            If there is no such column, or for its labels as of `Labels`.

        Notes
        -----
        Cost O(n) a column.  Rows are vertices in their order: pass the result as ``relabel=`` to
        `Matrix.from_edgelist`, and vertices without edges are in the graph.

        Examples
        --------
        >>> people = {"id": ["ann", "bob", "eve"], "age": [31, 44, 25]}
        >>> A = Matrix.from_edgelist([("ann", "bob")], relabel=sr.Labels.from_frame(people))
        >>> A.shape, A.labels.attributes["age"][A.labels.row("eve")].item()
        ((3, 3), 25)
        """
        return cls(*tables.split("Labels.from_frame", frame, key))

    @classmethod
    def number(cls, *columns: Any) -> tuple[Any, ...]:
        """(labels, rows, ...): number the distinct labels of columns in ascending order, and return each as rows.

        Parameters
        ----------
        *columns : sequences, arrays, or columns of pandas, polars or Arrow, which share one numbering

        Returns
        -------
        Labels, and an int64 array of as many rows for each column.

        Raises
        ------
        InvalidValue
            If labels are missing (None, NaN), of several types, or fractions.

        Notes
        -----
        Cost O(k) for k integers whose range is small, else O(k) and the sort of n distinct labels; k integers of a wide
        range are sorted.  Labels that have no order are numbered as they occur.

        Examples
        --------
        >>> labels, source, target = sr.Labels.number(["eve", "ann"], ["bob", "eve"])
        >>> list(labels), source.tolist(), target.tolist()
        (['ann', 'bob', 'eve'], [2, 0], [1, 2])
        """
        values, rows = number_columns("Labels.number", {f"columns[{k}]": c for k, c in enumerate(columns)})
        return (cls.of_distinct(values), *(row.astype(np.int64, copy=False) for row in rows))

    # -- from label to row -------------------------------------------------------------------------------

    def row(self, label: Hashable) -> int:
        """Return the row of one label.

        Parameters
        ----------
        label : of the type of the labels

        Raises
        ------
        InvalidValue
            If there is no such label; the message names similar ones.

        Notes
        -----
        Cost O(1); the first call indexes the labels, O(n).

        Examples
        --------
        >>> sr.Labels([10, 30, 20]).row(20)
        2
        """
        found = self._find(label)
        if found is None:
            raise InvalidValue(f"no vertex is labeled {label!r}{similar(self, label)}")
        return found

    def rows(self, labels: Any) -> np.ndarray[Any, Any]:
        """Return the rows of labels, an int64 array.

        Parameters
        ----------
        labels : a sequence, an array, or a column of a frame

        Raises
        ------
        InvalidValue
            If one of them is not here.

        Notes
        -----
        Cost O(k) for k labels; O(k log n) for integers of a wide range.

        Examples
        --------
        >>> sr.Labels(["ann", "bob", "eve"]).rows(["eve", "ann"]).tolist()
        [2, 0]
        """
        wanted = as_column("Labels.rows", "labels", labels, fractions=True)
        if self._values.dtype.kind in "iu" and wanted.dtype.kind in "iu":
            rows = self._by_integer().of(wanted)
        else:
            index = self._by_label()
            rows = np.fromiter((index.get(label, -1) for label in wanted.tolist()), np.int64, len(wanted))
        unknown = np.flatnonzero(rows < 0)
        if unknown.size:
            label = wanted[int(unknown[0])]
            label = label.item() if isinstance(label, np.generic) else label
            raise InvalidValue(f"no vertex is labeled {label!r}{similar(self, label)}")
        return rows

    def extended(self, labels: Any) -> Labels:
        """Return the numbering with the labels that are not here added behind the last row, in their order.

        Parameters
        ----------
        labels : as `rows`, each once

        Raises
        ------
        InvalidValue
            If one is missing (None, NaN), or occurs twice.

        Notes
        -----
        Cost O(n + k) for k labels; this numbering if all are here.  The new rows lack the attributes: NaN in a column
        of floats, None in others, which become columns of objects.

        Examples
        --------
        >>> list(sr.Labels(["ann", "bob"]).extended(["eve", "ann"]))
        ['ann', 'bob', 'eve']
        """
        given = as_column("Labels.extended", "labels", labels, fractions=True)
        new = [label for label in given.tolist() if label not in self]
        if not new:
            return self
        attributes = {name: tables.lengthened(column, len(new)) for name, column in self._attributes.items()}
        return Labels([*self._values.tolist(), *new], attributes or None)

    def index(self, key: Any) -> Any:
        """Return an index in which labels are replaced by rows; anything else, integers among it, is a position.

        Parameters
        ----------
        key : text, or another label that is neither a number nor an index; a list, an array or a column of text; or
            any index, which is returned as it is

        Raises
        ------
        InvalidValue
            If no vertex has that label.

        Notes
        -----
        Cost as `row` and `rows`.  ``A[key]``, ``v[key]`` and the parameters of algorithms that are vertices are read
        so; integer labels are mapped by `row` alone.

        Examples
        --------
        >>> labels = sr.Labels(["ann", "bob", "eve"])
        >>> labels.index("eve"), labels.index(["bob", "ann"]).tolist(), labels.index(1)
        (2, [1, 0], 1)
        """
        if isinstance(key, (str, bytes)):
            return self.row(key)
        if isinstance(key, (int, float, complex, slice, range, np.generic)) or hasattr(type(key), "store"):
            return key
        if isinstance(key, Hashable) and self._find(key) is not None:
            return self.row(key)
        if isinstance(key, (list, tuple, np.ndarray)) or hasattr(key, "to_numpy") or hasattr(key, "to_pylist"):
            return self.rows(key) if len(key) and self._is_name(_first(key)) else key
        return key

    def _is_name(self, key: Any) -> bool:
        if isinstance(key, (str, bytes)):
            return True
        return not isinstance(key, (int, float, complex, np.generic)) and self._find(key) is not None

    def __contains__(self, label: object) -> bool:
        return self._find(label) is not None

    def _find(self, label: Any) -> int | None:
        if self._values.dtype.kind in "iu":
            return self._by_integer().row(label)
        try:
            return self._by_label().get(label)
        except TypeError:  # not hashable
            return None

    def _by_integer(self) -> IntegerRows:
        if self._integers is None:
            self._integers = IntegerRows(self._values)
        return self._integers

    def _by_label(self) -> dict[Any, int]:
        if self._index is None:
            try:
                self._index = {label: row for row, label in enumerate(self._values.tolist())}
            except TypeError as error:
                raise InvalidValue(f"labels must be hashable: {error}") from error
        return self._index

    # -- from row to label -------------------------------------------------------------------------------

    def __getitem__(self, rows: Any) -> Any:
        """Return the label of a row, or an array of the labels of several.

        Parameters
        ----------
        rows : an integer, a slice, or an array of integers, of a GPU too

        Raises
        ------
        IndexOutOfBound

        Notes
        -----
        Cost O(k) for k rows.  Synchronizes for an array of a GPU.

        Examples
        --------
        >>> labels = sr.Labels(["ann", "bob", "eve"])
        >>> labels[1], labels[[2, 0]].tolist()
        ('bob', ['eve', 'ann'])
        """
        if isinstance(rows, (int, np.integer)) and not isinstance(rows, (bool, np.bool_)):
            if not -len(self) <= rows < len(self):
                raise IndexOutOfBound(f"labels: row {rows} of {len(self)}")
            label = self._values[rows]
            return label.item() if isinstance(label, np.generic) else label
        if hasattr(rows, "get") and not isinstance(rows, np.ndarray):  # an array of a GPU
            rows = rows.get()
        try:
            return self._values[rows]
        except IndexError as error:
            raise IndexOutOfBound(f"labels: {error}") from error

    def take(self, rows: Any) -> Labels:
        """Return the numbering of some of the labels: row k has the label of row ``rows[k]``.

        Parameters
        ----------
        rows : a slice, or an array of integers in which none occurs twice

        Raises
        ------
        IndexOutOfBound

        Notes
        -----
        Cost O(k) for k rows; that none occurs twice is not checked.

        Examples
        --------
        >>> list(sr.Labels(["ann", "bob", "eve"]).take([2, 0]))
        ['eve', 'ann']
        """
        rows = rows if isinstance(rows, slice) or hasattr(rows, "dtype") else np.asarray(rows, np.int64)
        found = self[rows]
        return _made(np.array(found), {name: column[rows] for name, column in self._attributes.items()})

    @property
    def attributes(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """{name: array of one value for each row}: what else is known of the vertices; empty if nothing is.

        Arrays cannot be written, and missing values are None, of floats NaN.  `take` and subgraphs keep those of their
        vertices, ``==`` ignores them, and where operands have equal labels a result has the attributes of the first.

        Examples
        --------
        >>> labels = sr.Labels(["ann", "bob"], {"age": [31, 44]})
        >>> labels.attributes["age"].tolist(), labels.take([1]).attributes["age"].tolist()
        ([31, 44], [44])
        """
        return MappingProxyType(self._attributes)

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values.tolist())

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Return the label of each row: an array of integers or of objects, which cannot be written.

        Notes
        -----
        Cost O(1).

        Examples
        --------
        >>> sr.Labels([30, 10]).to_numpy().tolist()
        [30, 10]
        """
        return self._values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self._values, dtype=dtype, copy=bool(copy) or dtype is not None)

    # -- results by label --------------------------------------------------------------------------------

    def to_dict(self, v: Any) -> dict[Any, Any]:
        """{label of i: v(i)} for the entries of a vector.

        Parameters
        ----------
        v : Vector of as many positions as there are labels

        Raises
        ------
        DimensionMismatch, InvalidType

        Notes
        -----
        Cost O(nvals) objects.  Synchronizes on the GPU.

        Examples
        --------
        >>> labels = sr.Labels(["ann", "bob", "eve"])
        >>> labels.to_dict(Vector.from_coo([2, 0], [1.5, 2.5], size=3))
        {'ann': 2.5, 'eve': 1.5}
        """
        if getattr(v, "ndim", None) != 1 or not hasattr(v, "to_dict"):
            raise InvalidType(f"Labels.to_dict: expected a Vector, got {type(v).__name__}")
        self.check_size("Labels.to_dict", v.size)
        entries = v.to_dict()
        return dict(zip(self._values[list(entries)].tolist(), entries.values(), strict=True))

    def check_size(self, where: str, size: int) -> None:
        """Raise DimensionMismatch unless there are `size` labels.

        Parameters
        ----------
        where : the operation that the message names
        size : the number of vertices

        Raises
        ------
        DimensionMismatch

        Examples
        --------
        >>> sr.Labels(["ann", "bob"]).check_size("example", 2)
        """
        if len(self) != size:
            raise DimensionMismatch(f"{where}: {len(self):,} labels for {size:,} vertices")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Labels):
            return NotImplemented
        a, b = self._values, other._values
        return len(a) == len(b) and (a.dtype.kind in "iu") == (b.dtype.kind in "iu") and bool((a == b).all())

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return _made, (np.array(self._values), self._attributes)

    to_pandas = tables.to_pandas
    to_polars = tables.to_polars
    to_arrow = tables.to_arrow

    def __repr__(self) -> str:
        shown = [repr(label) for label in self._values[:6].tolist()]
        return f"Labels([{', '.join(shown)}{', ...' if len(self) > 6 else ''}], {len(self):,} in all)"


def _made(values: np.ndarray[Any, Any], attributes: Mapping[str, np.ndarray[Any, Any]]) -> Labels:
    made = object.__new__(Labels)
    made._set(values, {name: tables.frozen(column) for name, column in attributes.items()})
    return made
