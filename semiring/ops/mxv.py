"""Matrix-vector products over a semiring.

    mxv:  w(i) = (+)_k  A(i, k) (x) u(k)          vxm:  w(j) = (+)_k  u(k) (x) A(k, j)

Both use one request (`requests.operations.Mxv`): vxm is the product with the transpose, operands swapped.
The cost model chooses between pull (each output gathers inputs along its row) and push (each input scatters along its
row).
An operand that is a plan is computed with the product.
"""

from __future__ import annotations

from typing import Any

from .. import operators
from ..config import config
from ..engines.requests.operands import Rows
from ..engines.requests.operations import SHORT, Mxv
from ..formats import CSR, VectorStore
from . import check, structure
from .write import Plan, stored


def mxv(
    a: CSR | Plan[CSR],
    u: VectorStore | Plan[VectorStore],
    semiring: Any,
    *,
    transposed: bool = False,
    name: str = "mxv",
    flip: bool = False,
) -> Plan[VectorStore]:
    """W = A u.  Shapes: A (m, n), or its transpose under `transposed`; u n; the result m.

    flip: the operands of each product are exchanged, as in `vxm`, which messages then have as the `name`.
    """
    nout, ninner = a.shape
    if transposed:
        nout, ninner = ninner, nout
    if (u.shape[0] if isinstance(u, Plan) else u.size) != ninner:
        check.vector_size(name, u, ninner, a, transposed != flip)
    x, y = (u.dtype, a.dtype) if flip else (a.dtype, u.dtype)
    typed = operators.typed("semiring", semiring, x, y)
    if u.device != a.device:
        check.one_device(name, a.device, u)
    if isinstance(a, Plan) or isinstance(u, Plan):

        def product() -> Plan[VectorStore]:
            return mxv(stored(a), stored(u), typed, transposed=transposed, name=name, flip=flip)

        return Plan(name, (nout,), typed.z, a.device, product)
    values = ("y" if flip else "x") in typed.mult.uses
    stored_rows, columns = Rows(a), structure.rows(a, True, values=values)
    by_row, by_column = (columns, stored_rows) if transposed else (stored_rows, columns)
    spec = Mxv(nout, ninner, by_row, by_column, u, typed, flip, None, config.direction)
    return Plan(name, (nout,), typed.z, a.device, spec, None, nout <= SHORT)


def vxm(
    u: VectorStore | Plan[VectorStore],
    a: CSR | Plan[CSR],
    semiring: Any,
    *,
    transposed: bool = False,
) -> Plan[VectorStore]:
    """W = u A.  Shapes: u m; A (m, n), or its transpose under `transposed`; the result n."""
    return mxv(a, u, semiring, transposed=not transposed, name="vxm", flip=True)
