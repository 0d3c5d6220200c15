"""The Kronecker product:  C(i r + k, j c + l) = op(A(i, j), B(k, l)), where B has r rows and c columns."""

from __future__ import annotations

from typing import Any

from .. import operators
from ..engines.requests.operations import Kronecker
from ..formats import CSR, structure_only
from ..formats.hypersparse import empty_matrix, prefers_hypersparse
from . import check, structure
from .write import Plan


def kronecker(a: CSR, b: CSR, op: Any, *, transpose_a: bool = False, transpose_b: bool = False) -> Plan[CSR]:
    """C = kron(A, B).  Shapes: (m, n) and (r, c) give (m r, n c).  Values that `op` does not read are not passed on."""
    typed = operators.typed("binary", op, a.dtype, b.dtype)
    check.one_device("kronecker", a.device, b)
    a = _operand(a, transpose_a, "x" in typed.uses)
    b = _operand(b, transpose_b, "y" in typed.uses)
    shape = a.nrows * b.nrows, a.ncols * b.ncols
    if prefers_hypersparse(shape[0], a.nvals * b.nvals):
        if b.nvals == 0:  # to list the rows of A would take the time of all its entries
            a = empty_matrix(a.nrows, a.ncols, a.dtype, a.device)
        a = structure.listed_rows(a)
    return Plan("kronecker", shape, typed.z, a.device, Kronecker(a, b, typed))


def _operand(a: CSR, transpose: bool, values: bool) -> CSR:
    if transpose:
        a = structure.transposed(a, values=values)
    return a if values else structure_only(a.pattern)
