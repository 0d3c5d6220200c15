"""Conversion from and to graphs of PyTorch Geometric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.exceptions import DimensionMismatch, InvalidValue
from semiring.optional import needed

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["from_torch_geometric", "to_torch_geometric"]


def from_torch_geometric(data: Any, *, dup_op: Any = None) -> Matrix:
    """Return the adjacency matrix of a graph: ``A(i, j)`` for each column (i, j) of its ``edge_index``.

    Parameters
    ----------
    data : torch_geometric.data.Data, or any object with ``edge_index``
        Values are its ``edge_weight``, or a one-dimensional ``edge_attr``, where it has one; the size is its
        ``num_nodes``.
    dup_op : binary operator, optional
        How to combine repeated edges with values; without values they are one entry.

    Returns
    -------
    Matrix, on the GPU if the tensors are there.

    Raises
    ------
    InvalidValue
        No ``edge_index`` of two rows.
    IndexOutOfBound, DuplicateIndex

    Notes
    -----
    Cost O(k log k) for k edges; tensors are read in place (DLPack).

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> data = SimpleNamespace(edge_index=np.array([[0, 1], [1, 2]]), edge_weight=np.array([0.5, 2.0]), num_nodes=3)
    >>> sr.io.from_torch_geometric(data).to_dicts()
    {0: {1: 0.5}, 1: {2: 2.0}}
    """
    from semiring.facade.matrix import Matrix

    index = getattr(data, "edge_index", None)
    if index is None or getattr(index, "ndim", 0) != 2 or index.shape[0] != 2:
        raise InvalidValue("from_torch_geometric: expected an edge_index of shape (2, number of edges)")
    values = getattr(data, "edge_weight", None)
    if values is None:
        values = getattr(data, "edge_attr", None)
        values = values if getattr(values, "ndim", 0) == 1 else None
    n = getattr(data, "num_nodes", None)
    if dup_op is None and values is None:
        dup_op = "any"
    if n is None:
        n = int(index.max()) + 1 if index.shape[1] else 0
    return Matrix.from_coo(index[0], index[1], values, nrows=int(n), ncols=int(n), dup_op=dup_op)


def to_torch_geometric(A: Matrix) -> Any:
    """Return ``Data(edge_index=, edge_weight=, num_nodes=)`` of PyTorch Geometric, on the device of the matrix.

    Parameters
    ----------
    A : Matrix
        Square.  An iso-valued bool matrix sets no ``edge_weight``.

    Returns
    -------
    torch_geometric.data.Data

    Raises
    ------
    DimensionMismatch
        The matrix is not square.
    NotSupported
        PyTorch Geometric is not installed.

    Notes
    -----
    Cost O(nvals); the tensors are new.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1], [1, 2], [1.5, 2.5], shape=(3, 3))
    >>> sr.io.to_torch_geometric(A)  # doctest: +SKIP
    Data(edge_index=[2, 2], edge_weight=[2], num_nodes=3)
    """
    Data = needed("to_torch_geometric", "torch_geometric.data").Data
    from torch import stack
    from torch.utils.dlpack import from_dlpack

    if A.nrows != A.ncols:
        raise DimensionMismatch(f"to_torch_geometric: expected a square matrix, got {A.nrows} x {A.ncols}")
    rows, cols, values = A.to_coo(index_dtype=np.int64)
    made = {"edge_index": stack([from_dlpack(rows), from_dlpack(cols)])}
    if not (A.is_iso and A.dtype == np.bool_):
        made["edge_weight"] = from_dlpack(values).clone()
    return Data(**made, num_nodes=A.nrows)
