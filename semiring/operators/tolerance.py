"""`isclose`, whose tolerances are parameters: ``isclose(A & B)``, ``isclose(rel_tol=1e-3, abs_tol=1e-9)(A & B)``."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, Final

from semiring.dtypes import BOOL, COMPLEX, FLOATS
from semiring.exceptions import InvalidValue
from semiring.operators.expression import Expression
from semiring.operators.families import Binary

__all__ = ["IsClose", "is_close"]

_REL_TOL: Final = 1e-7


@dataclass(frozen=True, eq=False, repr=False)
class IsClose(Binary):
    """|x - y| <= max(rel_tol max(|x|, |y|), abs_tol).

    Examples
    --------
    >>> u, v = Vector.from_dense([1.0, 2.0]), Vector.from_dense([1.0, 2.001])
    >>> u.ewise_mult(v, sr.binary.isclose).to_dict()
    {0: True, 1: False}
    """

    def __call__(
        self, *operands: Any, rel_tol: float | None = None, abs_tol: float | None = None, **options: Any
    ) -> Any:
        """Return the operator with these tolerances, or apply it to operands.

        Parameters
        ----------
        *operands : as those of any binary operator; numbers alone are `rel_tol` and `abs_tol`
        rel_tol : by default 1e-7
        abs_tol : by default 0
        **options : as those of any binary operator

        Raises
        ------
        InvalidValue
            For a tolerance that is negative or no number.

        Examples
        --------
        >>> u, v = Vector.from_dense([1.0, 2.0]), Vector.from_dense([1.0, 2.001])
        >>> u.ewise_mult(v, sr.binary.isclose(rel_tol=0.01)).to_dict()
        {0: True, 1: True}
        """
        if 0 < len(operands) <= 2 and all(isinstance(operand, (int, float)) for operand in operands):
            given = dict(zip(("rel_tol", "abs_tol"), operands, strict=False))
            return self(**{"rel_tol": rel_tol, "abs_tol": abs_tol} | given)
        if rel_tol is None and abs_tol is None:
            return super().__call__(*operands, **options)
        made = is_close(_REL_TOL if rel_tol is None else float(rel_tol), float(abs_tol or 0))
        return made(*operands, **options) if operands else made


@functools.cache
def is_close(rel_tol: float = _REL_TOL, abs_tol: float = 0.0) -> Binary:
    """Return the operator with these tolerances; InvalidValue if one is negative, infinite or no number."""
    if not (0 <= rel_tol < math.inf and 0 <= abs_tol < math.inf):
        raise InvalidValue(f"isclose: tolerances must be numbers from 0, got {rel_tol} and {abs_tol}")
    bound = f"{rel_tol!r} * max(abs(x), abs(y))"
    expr = Expression(f"lor(x == y, abs(x - y) <= {f'max({bound}, {abs_tol!r})' if abs_tol else bound})")
    if (rel_tol, abs_tol) == (_REL_TOL, 0.0):
        return IsClose("isclose", expr, FLOATS + COMPLEX, BOOL, laws="c")
    return Binary(
        f"isclose(rel_tol={rel_tol}, abs_tol={abs_tol})", expr, FLOATS + COMPLEX, BOOL, laws="c", builtin=False
    )
