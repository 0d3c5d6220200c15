"""Matrix-vector products over a semiring.

    mxv:  w(i) = (+)_k  A(i, k) (x) u(k)          vxm:  w(j) = (+)_k  u(k) (x) A(k, j)

Both use one request (`engines.spec.Mxv`): vxm is the product with the transpose, operands swapped.  The cost model
chooses between pull (each output gathers inputs along its row) and push (each input scatters along its row).
An operand that is a plan is computed with the product.
"""

from __future__ import annotations

from typing import Any

from .. import operators
from ..config import config, engine_for
from ..engines import registry
from ..engines.spec import Mxv
from ..engines.spec_write import SHORT, WriteMxv
from ..formats import CSR, VectorStore
from . import check, structure
from .write import Plan, stored


def mxv(
    a: CSR | Plan[CSR],
    u: VectorStore | Plan[VectorStore],
    semiring: Any,
    *,
    transposed: bool = False,
) -> Plan[VectorStore]:
    """W = A u.  Shapes: A (m, n), or its transpose under `transposed`; u n; the result m."""
    return _product("mxv", a, u, semiring, transposed, False)


def vxm(
    u: VectorStore | Plan[VectorStore],
    a: CSR | Plan[CSR],
    semiring: Any,
    *,
    transposed: bool = False,
) -> Plan[VectorStore]:
    """W = u A.  Shapes: u m; A (m, n), or its transpose under `transposed`; the result n."""
    return _product("vxm", a, u, semiring, not transposed, True)


def _product(
    name: str,
    a: CSR | Plan[CSR],
    u: VectorStore | Plan[VectorStore],
    semiring: Any,
    transpose: bool,
    flip: bool,
) -> Plan[VectorStore]:
    nout, ninner = a.shape
    if transpose:
        nout, ninner = ninner, nout
    if (u.shape[0] if isinstance(u, Plan) else u.size) != ninner:
        check.vector_size(name, u, ninner, a, transpose != flip)
    x, y = (u.dtype, a.dtype) if flip else (a.dtype, u.dtype)
    typed = operators.typed("semiring", semiring, x, y)
    if u.device != a.device:
        check.one_device(name, a.device, u)
    if isinstance(a, Plan) or isinstance(u, Plan):
        return Plan(
            name, (nout,), typed.z, a.device, lambda: _product(name, stored(a), stored(u), typed, transpose, flip)
        )
    values = ("y" if flip else "x") in typed.mult.uses
    by_row = structure.rows(a, transpose, values=values)
    by_column = structure.rows(a, not transpose, values=values)
    spec = Mxv(nout, ninner, by_row, by_column, u, typed, flip, None, config.direction)
    device = a.device
    is_short = nout <= SHORT and registry.implemented(WriteMxv, engine_for(device))
    return Plan(name, (nout,), typed.z, device, spec, None, is_short)
