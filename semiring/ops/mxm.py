"""The matrix-matrix product over a semiring:  C(i, j) = (+)_k  A(i, k) (x) B(k, j)."""

from __future__ import annotations

from typing import Any

from .. import operators
from ..engines.spec import Mxm
from ..exceptions import DimensionMismatch
from ..formats import CSR
from . import check, structure
from .write import Plan


def mxm(
    a: CSR,
    b: CSR,
    semiring: Any,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> Plan[CSR]:
    """C = A B.  Shapes: (m, n) and (n, p) give (m, p)."""
    shape_a = a.shape[::-1] if transpose_a else a.shape
    shape_b = b.shape[::-1] if transpose_b else b.shape
    if shape_a[1] != shape_b[0]:
        hint = "; it would fit with .T on the second" if shape_a[1] == shape_b[1] else ""
        hint = hint or ("; it would fit with .T on the first" if shape_a[0] == shape_b[0] else "")
        raise DimensionMismatch(f"mxm: shapes {shape_a} and {shape_b} do not chain{hint}")
    typed = operators.lookup_semiring(semiring).typed(a.dtype, b.dtype)
    check.one_device("mxm", a.device, b)
    if transpose_a:
        a = structure.transposed(a, values="x" in typed.mult.uses)
    if transpose_b:
        b = structure.transposed(b, values="y" in typed.mult.uses)
    return Plan("mxm", (shape_a[0], shape_b[1]), typed.z, a.device, Mxm(a, b, typed))
