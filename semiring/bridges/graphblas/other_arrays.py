"""Awkward Array and PyData Sparse, by python-graphblas's names and in its layout; both packages are optional."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from semiring.bridges.graphblas.objects import Matrix, Vector
from semiring.exceptions import InvalidType, InvalidValue
from semiring.optional import needed

__all__ = ["from_awkward", "from_pydata_sparse", "to_awkward", "to_pydata_sparse"]

# A matrix format -> the methods that export and import its arrays, and the dimension that its offsets leave open.
_MATRICES = {
    "csr": ("to_csr", "from_csr", ("ncols",)),
    "csc": ("to_csc", "from_csc", ("nrows",)),
    "hypercsr": ("to_dcsr", "from_dcsr", ("nrows", "ncols")),
    "hypercsc": ("to_dcsc", "from_dcsc", ("nrows", "ncols")),
}


def to_awkward(A: Any, format: str | None = None) -> Any:
    """Return an Awkward Array of records ``indices`` and ``values``, one list a row (column) of a Matrix.

    Parameters
    ----------
    A : Matrix or Vector
    format : ``"csr"``, ``"csc"``, ``"hypercsr"`` or ``"hypercsc"`` of a Matrix; ``"vec"`` of a Vector.  The hypersparse
        ones have the lists as field ``data``, and the numbers of their rows (columns) as field ``offset_labels``

    Returns
    -------
    awkward.Array, with the parameters ``format`` and ``shape``

    Raises
    ------
    InvalidType
        For neither a Matrix nor a Vector.
    InvalidValue
        For another format.
    NotSupported
        If awkward is not installed.

    Examples
    --------
    >>> import semiring.compat.graphblas as gb
    >>> gb.io.to_awkward(gb.Matrix.from_coo([0, 2], [1, 0], [5, 6])).indices.to_list()
    [[1], [], [0]]
    """
    ak = needed("to_awkward", "awkward")
    kinds = {"vec": 1} | dict.fromkeys(_MATRICES, 2)
    dimensions = getattr(A, "ndim", 0)
    if dimensions not in (1, 2):
        raise InvalidType(f"to_awkward: expected a Matrix or a Vector, got {type(A).__name__}")
    format = ("vec" if dimensions == 1 else "csr") if format is None else format.lower()
    if kinds.get(format) != dimensions:
        raise InvalidValue(f"Invalid format for {'Vector' if dimensions == 1 else 'Matrix'}: {format}")
    A = A.to("cpu")
    if dimensions == 1:
        made = _records(ak, *A.to_coo())
    else:
        *labels, offsets, indices, values = getattr(A, _MATRICES[format][0])()
        lists = ak.contents.ListOffsetArray(
            ak.index.Index64(offsets.astype(np.int64)), _records(ak, indices, values).layout
        )
        made = ak.Array(lists)
        if labels:
            parts = [lists, ak.contents.NumpyArray(labels[0].astype(np.int64))]
            made = ak.with_name(ak.contents.RecordArray(parts, ["data", "offset_labels"]), _hypersparse(ak))
    return ak.with_parameter(ak.with_parameter(made, "format", format), "shape", list(A.shape))


def _hypersparse(ak: Any) -> str:
    """Return the name of records whose ``indices`` and ``values`` are those of the lists in their field ``data``."""
    name = "semiring.Hypersparse"
    if ("*", name) not in ak.behavior:
        fields = {key: property(partial(_field, key=key)) for key in ("indices", "values")}
        ak.behavior["*", name] = type("Hypersparse", (ak.Array,), fields)
    return name


def _field(made: Any, key: str) -> Any:
    return made["data", key]


def _records(ak: Any, indices: Any, values: Any) -> Any:
    parts = [ak.contents.NumpyArray(part) for part in (indices.astype(np.int64), np.ascontiguousarray(values))]
    return ak.Array(ak.contents.RecordArray(parts, ["indices", "values"]))


def from_awkward(A: Any, *, name: str | None = None) -> Any:
    """Return the Matrix or Vector of an Awkward Array in the layout of `to_awkward`, of this library or of theirs.

    Parameters
    ----------
    A : awkward.Array with the parameters ``format`` and ``shape``
    name : shown by `repr`

    Raises
    ------
    InvalidValue
        If a parameter is missing, or the format is none of the shape.
    InvalidFormat
        For arrays that are no rows.

    Examples
    --------
    >>> import semiring.compat.graphblas as gb
    >>> v = gb.Vector.from_coo([1, 3], [5, 6], size=4)
    >>> gb.io.from_awkward(gb.io.to_awkward(v)).isequal(v)
    True
    """
    parameters = A.layout.parameters
    if missing := {"format", "shape"} - parameters.keys():
        raise InvalidValue(f"Missing parameters: {', '.join(sorted(missing))}")
    format, shape = parameters["format"], tuple(parameters["shape"])
    if len(shape) == 1:
        if format != "vec":
            raise InvalidValue(f"Invalid format for Vector: {format}")
        return Vector.from_coo(_array(A["indices"]), _array(A["values"]), size=shape[0], name=name)
    if format not in _MATRICES:
        raise InvalidValue(f"Invalid format for Matrix: {format}")
    _, method, open_sizes = _MATRICES[format]
    labels = [_array(A["offset_labels"])] if format.startswith("hyper") else []
    lists = A["data"] if labels else A
    arrays = [np.asarray(lists.layout.offsets.data), _array(lists["indices"]), _array(lists["values"])]
    sizes = {"nrows": shape[0], "ncols": shape[1]}
    return getattr(Matrix, method)(*labels, *arrays, **{side: sizes[side] for side in open_sizes}, name=name)


def _array(part: Any) -> Any:
    """Return the numbers of a field, of all lists together."""
    layout = part.layout
    return np.asarray((layout.content if layout.is_list else layout).data)


def from_pydata_sparse(s: Any, *, dup_op: Any = None, name: str | None = None) -> Any:
    """Return the Matrix or Vector of an array of PyData Sparse.

    Parameters
    ----------
    s : sparse.COO, sparse.DOK or sparse.GCXS, of one or two dimensions
    dup_op : binary operator that combines entries at the same position
    name : shown by `repr`

    Raises
    ------
    InvalidType
        For another object.
    InvalidValue
        For more than two dimensions.
    DuplicateIndex
        If a position repeats and there is no `dup_op`.
    NotSupported
        If sparse is not installed.

    Examples
    --------
    >>> import sparse
    >>> import semiring.compat.graphblas as gb
    >>> gb.io.from_pydata_sparse(sparse.COO([[0, 1], [2, 0]], [5, 6], shape=(2, 3))).to_dicts()
    {0: {2: 5}, 1: {0: 6}}
    """
    if not isinstance(s, needed("from_pydata_sparse", "sparse").SparseArray):
        raise InvalidType(f"from_pydata_sparse: expected an array of sparse, got {type(s).__name__}")
    if s.ndim not in (1, 2):
        raise InvalidValue(f"from_pydata_sparse: expected one or two dimensions, got {s.ndim}")
    entries = s.asformat("coo")
    sizes = {"size": s.shape[0]} if s.ndim == 1 else {"shape": s.shape}
    kind: Any = Vector if s.ndim == 1 else Matrix
    return kind.from_coo(*entries.coords, entries.data, s.dtype, **sizes, dup_op=dup_op, name=name)


def to_pydata_sparse(A: Any, format: str = "coo") -> Any:
    """Return an array of PyData Sparse with the entries of a Matrix or Vector.

    Parameters
    ----------
    A : Matrix or Vector
    format : ``"coo"``, ``"dok"`` or ``"gcxs"``

    Raises
    ------
    InvalidValue
        For another format.
    NotSupported
        If sparse is not installed.

    Examples
    --------
    >>> import semiring.compat.graphblas as gb
    >>> gb.io.to_pydata_sparse(gb.Vector.from_coo([0, 2], [5, 6])).todense().tolist()
    [5, 0, 6]
    """
    sparse = needed("to_pydata_sparse", "sparse")
    if format.lower() not in ("coo", "dok", "gcxs"):
        raise InvalidValue(f"Invalid format: {format}")
    *places, values = A.to("cpu").to_coo(index_dtype=np.int64)
    return sparse.COO(np.stack(places), values, shape=A.shape).asformat(format.lower())
