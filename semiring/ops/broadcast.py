"""A matrix with a vector, element by element: the vector is every row of a matrix, or every column.

From the right, A (x) u, the vector is each row: op(A(i, j), u(j)); from the left, u (x) A, each column:
op(u(i), A(i, j)).
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from ..devices import in_parts
from ..engines.requests.operations import Scale
from ..exceptions import DimensionMismatch
from ..formats import CSR, Full, IndexList, VectorStore
from ..operators import monoid
from ..operators.types import TypedBinary, TypedSemiring
from . import check
from .assign import column_matrix, row_matrix
from .convert import convert, index_list
from .kronecker import kronecker
from .mxm import mxm
from .reshape import diagonal_matrix, full_vector
from .write import Plan

__all__ = ["check_size", "repeated", "scaled"]


def check_size(operation: str, a: CSR | Plan[CSR], u: VectorStore | Plan[VectorStore], *, by_rows: bool) -> None:
    """Raise DimensionMismatch unless the vector has an element for each column, or for each row under `by_rows`."""
    shape, (size,) = check.shape_of(a), check.shape_of(u)
    if size != shape[0 if by_rows else 1]:
        side, axis, other = ("left", "rows", "right") if by_rows else ("right", "columns", "left")
        hint = f"; it would fit on the {other}" if size == shape[1 if by_rows else 0] else ""
        raise DimensionMismatch(
            f"{operation}: a Vector on the {side} of a Matrix has as many positions as it has {axis}; got {size} for "
            f"shape {shape}{hint}"
        )


def scaled(a: CSR, u: VectorStore, op: TypedBinary, *, by_rows: bool) -> Plan[CSR]:
    """C(i, j) = op(A(i, j), u(j)) where both are present; under `by_rows` op(u(i), A(i, j)).

    The product with the diagonal matrix of u; of a full vector, and on a grid of processes, without that matrix.
    """
    if isinstance(u, IndexList) and u.nvals == u.size:
        u = convert(u, "full")
    if isinstance(u, Full) or in_parts(u.device):
        return Plan("scale", a.shape, op.z, a.device, Scale(a, cast(Full, u), op, by_rows))
    # In a product the diagonal entry has two equal positions; element by element both operands have the same.
    changed, by = ({"xj": "yj"}, (u, a)) if by_rows else ({"yi": "xi"}, (a, u))
    op = replace(op, expr=op.expr.renamed(changed))
    semiring = TypedSemiring(monoid.any.typed(op.z), op)
    x, y = (diagonal_matrix(side) if isinstance(side, VectorStore) else side for side in by)
    return mxm(x, y, semiring)


def repeated(u: VectorStore, a: CSR, *, by_rows: bool) -> CSR:
    """Return the matrix of the shape of A whose columns (under `by_rows`), or whose rows, are u."""
    entries = index_list(u)
    ones = full_vector(True, a.ncols if by_rows else a.nrows, u.dtype, u.device)
    if by_rows:
        return kronecker(column_matrix(entries), row_matrix(index_list(ones)), "first").into()
    return kronecker(column_matrix(index_list(ones)), row_matrix(entries), "second").into()
