"""Matrix from and to edges: pairs, triples and tables of them, and nested dictionaries."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .engines.memory import allocating
from .exceptions import InvalidValue
from .formats import array_module
from .formats.arrays import to_host
from .matrix_arrays import MatrixArrays
from .ops.build import bounded_indices
from .ops.check import sizes
from .ops.given import as_array, as_indices, size_for


class MatrixEdges(MatrixArrays):
    """The constructors and exports of `Matrix` that speak of edges."""

    __slots__ = ()

    @classmethod
    def from_edgelist(
        cls,
        edges: Any,
        values: Any = None,
        dtype: Any = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        shape: tuple[int, int] | None = None,
        dup_op: Any = None,
        name: str | None = None,
    ) -> Self:
        """A(i, j) = True, or the value, for every edge (i, j) or (i, j, value).

        Parameters
        ----------
        edges : list of tuples, or array of 2 or 3 columns
        values : as many values, or one for all, where the edges hold none
        dtype : type of the values; by default theirs
        nrows, ncols (or shape) : by default the largest index + 1
        dup_op : binary operator that combines repeated edges

        Raises
        ------
        DuplicateIndex, IndexOutOfBound, InvalidValue, DomainMismatch
        """
        if not hasattr(edges, "ndim"):
            try:
                edges = [tuple(edge) for edge in edges]
            except TypeError as error:
                raise InvalidValue(f"from_edgelist: expected edges (i, j) or (i, j, value) ({error})") from error
            widths = {len(edge) for edge in edges}
            if not widths <= {2} and widths != {3}:
                raise InvalidValue(f"from_edgelist: expected edges of 2 or 3 parts each, got {sorted(widths)}")
            given = [edge[2] for edge in edges] if widths == {3} else None
            edges = as_array("edges", [edge[:2] for edge in edges], np.int64).reshape(-1, 2)
        elif edges.ndim != 2 or edges.shape[1] not in (2, 3):
            raise InvalidValue(f"from_edgelist: expected an array of 2 or 3 columns, got shape {edges.shape}")
        else:
            given = edges[:, 2] if edges.shape[1] == 3 else None
        if given is not None:
            if values is not None:
                raise InvalidValue("from_edgelist: the edges hold values already; values= must be left out")
            values = given
        ends = edges[:, :2]
        if ends.dtype.kind == "f":  # an array that holds values too
            whole = ends.astype(np.int64)
            if bool(to_host((ends == whole).all())):  # synchronises on the GPU
                ends = whole
        rows, columns = (as_indices(name, ends[:, k]) for k, name in enumerate(("edges[:, 0]", "edges[:, 1]")))
        nrows, ncols = sizes("from_edgelist", shape, nrows=nrows, ncols=ncols)
        return cls.from_coo(rows, columns, values, dtype, nrows=nrows, ncols=ncols, dup_op=dup_op, name=name)

    def to_edgelist(self, *, index_dtype: Any = np.int64) -> tuple[Any, Any]:
        """(array of nvals [row, column] pairs, the caller's own; values as `to_coo`).

        Parameters
        ----------
        index_dtype : type of the pairs; None: the narrower of int32 and int64 that holds both

        Raises
        ------
        InvalidValue
            If the type cannot hold the last row or column.
        DomainMismatch, OutOfMemory

        Notes
        -----
        Cost O(nvals); 32 bytes an entry for int64 pairs, half of them while it runs.
        """
        rows, columns, values = self.to_coo(index_dtype=index_dtype)
        with allocating("to_edgelist", self.device):
            return array_module(self.device).stack([rows, columns], axis=1), values

    def to_dicts(self) -> dict[int, dict[int, Any]]:
        """{row: {column: value}}, for rows that have entries.  Cost O(nvals) objects; synchronises on the GPU."""
        answer: dict[int, dict[int, Any]] = {}
        rows, columns, values = (to_host(part).tolist() for part in self.to_coo(index_dtype=None))
        for i, j, x in zip(rows, columns, values, strict=True):
            answer.setdefault(i, {})[j] = x
        return answer

    @classmethod
    def from_dicts(
        cls,
        nested: dict[int, dict[int, Any]],
        dtype: Any = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        shape: tuple[int, int] | None = None,
    ) -> Self:
        """A(i, j) = nested[i][j].

        Parameters
        ----------
        nested : {row: {column: value}}
        dtype : type of the values; by default theirs
        nrows, ncols (or shape) : by default the largest row of `nested` + 1, whether it has entries or not, and the
            largest column + 1

        Raises
        ------
        IndexOutOfBound, InvalidValue, DomainMismatch, OutOfMemory
        """
        try:
            triples = [(i, j, x) for i, row in nested.items() for j, x in row.items()]
        except AttributeError as error:
            raise InvalidValue(f"from_dicts: expected {{row: {{column: value}}}} ({error})") from error
        listed = as_indices("rows", list(nested))  # those without entries count too
        nrows, ncols = sizes("from_dicts", shape, nrows=nrows, ncols=ncols)
        nrows = size_for(listed) if nrows is None else nrows
        bounded_indices("rows", listed, nrows, "cpu")
        rows, columns, values = ([part[k] for part in triples] for k in range(3))
        return cls.from_coo(rows, columns, values, dtype, nrows=nrows, ncols=ncols)
