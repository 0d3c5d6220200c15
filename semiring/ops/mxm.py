"""The matrix-matrix product over a semiring:  C(i, j) = (+)_k  A(i, k) (x) B(k, j)."""

from __future__ import annotations

from typing import Any

from .. import operators
from ..engines.requests.operands import Rows
from ..engines.requests.operations import Mxm
from ..engines.rows.residency import is_resident
from ..exceptions import DimensionMismatch, InvalidValue
from ..formats import CSR
from ..formats.hypersparse import prefers_hypersparse
from . import check, structure
from .write import Plan, stored

METHODS = ("auto", "dense", "dot", "hash", "rows", "sort")


def mxm(
    a: CSR | Plan[CSR],
    b: CSR | Plan[CSR],
    semiring: Any,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    method: str = "auto",
) -> Plan[CSR]:
    """C = A B.  Shapes: (m, n) and (n, p) give (m, p).  An operand that is a plan is computed with C.

    method: one of METHODS, which an engine uses if it has it and can; InvalidValue for any other.
    """
    if method not in METHODS:
        raise InvalidValue(f"mxm: a method is one of {', '.join(METHODS)}; got {method!r}")
    shape_a, shape_b = a.shape, b.shape
    shape_a = shape_a[::-1] if transpose_a else shape_a
    shape_b = shape_b[::-1] if transpose_b else shape_b
    if shape_a[1] != shape_b[0]:
        hint = "; it would fit with .T on the second" if shape_a[1] == shape_b[1] else ""
        hint = hint or ("; it would fit with .T on the first" if shape_a[0] == shape_b[0] else "")
        raise DimensionMismatch(f"mxm: shapes {shape_a} and {shape_b} do not chain{hint}")
    typed = operators.typed("semiring", semiring, a.dtype, b.dtype)
    if b.device != a.device:
        check.one_device("mxm", a.device, b)
    shape = shape_a[0], shape_b[1]
    if isinstance(a, Plan) or isinstance(b, Plan):
        both: dict[str, Any] = {"transpose_a": transpose_a, "transpose_b": transpose_b, "method": method}
        return Plan("mxm", shape, typed.z, a.device, lambda: mxm(stored(a), stored(b), typed, **both))
    if transpose_a:
        a = structure.transposed(a, values="x" in typed.mult.uses)
    values = "y" in typed.mult.uses
    by_row = structure.orientation(b, transpose_b, values=values)
    # Columns of nearly empty rows would be listed: an implementation for offsets of all rows cannot read them.
    listed = not transpose_b and prefers_hypersparse(b.ncols, b.nvals)
    by_column: Rows | None = None if listed else structure.orientation(b, not transpose_b, values=values)
    # Kernels read rows outside the device; or the transpose if it is uncompressed and resident.  Grids keep both.
    if not is_resident(b) and b.format not in ("full", "parts"):
        by_row, by_column = Rows(by_row.get()), None
    return Plan("mxm", shape, typed.z, a.device, Mxm(a, by_row, by_column, typed, method=method))
