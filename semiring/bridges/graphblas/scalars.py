"""`Scalar` with python-graphblas's spelling: its arithmetic, and its comparisons by order, are Scalars."""

from __future__ import annotations

from typing import Any

import numpy as np

import semiring
from semiring.bridges.graphblas.spelling import Either, Spelling, typed_number

__all__ = ["Scalar"]

_SUBJECTS = type(semiring.select.value)
_SELECT_OPERATORS = type(semiring.select.tril)


class Scalar(Spelling, semiring.Scalar, metaclass=Either):  # type: ignore[misc]
    """`semiring.Scalar` with python-graphblas's spelling; `is_cscalar` is accepted and changes nothing.

    Examples
    --------
    >>> import semiring.compat.graphblas as gb
    >>> gb.Scalar(int, is_cscalar=True).is_empty
    True
    """

    __slots__ = ()

    def __init__(self, dtype: Any = float, *, is_cscalar: bool | None = None, name: str | None = None) -> None:
        super().__init__(dtype, name=name)

    @classmethod
    def from_value(
        cls, value: Any, dtype: Any = None, *, is_cscalar: bool | None = None, name: str | None = None
    ) -> Any:
        """As `semiring.Scalar.from_value`.

        Parameters
        ----------
        value, dtype, name : as `semiring.Scalar.from_value`
        is_cscalar : accepted for programs of python-graphblas; changes nothing

        Examples
        --------
        >>> import semiring.compat.graphblas as gb
        >>> gb.Scalar.from_value(5, is_cscalar=True).value
        5
        """
        return super().from_value(value, dtype, name=name)

    def _with_operator(self, operator: Any, *rest: Any, **options: Any) -> Any:
        chain = self._chain
        if isinstance(operator, _SUBJECTS) and chain is not None and chain.kind == "compare":
            return chain.rebound(operator)
        if isinstance(operator, _SELECT_OPERATORS) and "left" in options:  # valuene(5, s)
            return self.from_value(options["left"]).select(operator, self)
        return super()._with_operator(operator, *rest, **options)

    def __or__(self, other: Any) -> Any:
        return super().__or__(typed_number(other))

    def __and__(self, other: Any) -> Any:
        return super().__and__(typed_number(other))

    def __neg__(self) -> Any:
        return self.apply("ainv")

    def __abs__(self) -> Any:
        return self.apply("abs")


def _scalar(like: Scalar, value: Any) -> Any:
    return value if isinstance(value, semiring.Scalar) else like.from_value(typed_number(value))


def _on_union(left: Any, right: Any, symbol: str) -> Any:
    """Return left + right or left - right, where an empty one counts as 0; empty if both are."""
    zero = semiring.dtypes.unify(np.dtype(left.dtype), np.dtype(right.dtype)).type(0)
    return left.ewise_union(right, symbol, zero, zero)


def _arithmetic(name: str, symbol: str) -> None:
    """Let the operator `name` of Python return a Scalar, with the Scalar on either side."""
    union = symbol in "+-"

    def forward(self: Scalar, other: Any) -> Any:
        if union:
            return _on_union(self, _scalar(self, other), symbol)
        return self.ewise_mult(_scalar(self, other), symbol)

    def reflected(self: Scalar, other: Any) -> Any:
        if union:
            return _on_union(_scalar(self, other), self, symbol)
        return _scalar(self, other).ewise_mult(self, symbol)

    setattr(Scalar, f"__{name}__", forward)
    setattr(Scalar, f"__r{name}__", reflected)


def _order(name: str) -> None:
    """Let a comparison by order return a Scalar of type BOOL, which ``select.value(s < 10)`` accepts."""

    def compared(self: Scalar, other: Any) -> Any:
        made = self.ewise_mult(_scalar(self, other), name)
        if not isinstance(other, semiring.Scalar):
            value = self.dup()
            made._becomes_condition(lambda by: value.select(by.operator(name), other))
        return made

    setattr(Scalar, f"__{name}__", compared)


for _name, _symbol in {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
}.items():
    _arithmetic(_name, _symbol)
for _name in ("lt", "le", "gt", "ge"):
    _order(_name)
