"""The result type of a normalized expression, from the types of its variables and without evaluating it.

The rules are NumPy's promotion rules for arrays: ``int8 + int8`` is int8, a literal adopts the type of the other
operand (``float32 * 0.5`` is float32, ``float32 * 1j`` complex64), comparisons and logic return bool. Two rules differ:
adding booleans counts (``(x > 0) + (y > 0)`` is int64), and ``sqrt`` and similar functions of small integers return
float32, because float16 is not supported.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final

import numpy as np

from semiring.dtypes import BOOL, FC64, FP32, FP64, INT64, DType, complex_type, real_type, unify
from semiring.exceptions import DomainMismatch
from semiring.operators.expression import Expression
from semiring.operators.records import concerns, lowered
from semiring.operators.vocabulary import HELPERS, ON_COMPLEX
from semiring.record_types import leaves

__all__ = ["infer", "infer_number"]

# A literal has no width of its own: the Python type represents it until it is combined with a typed operand.
_Kind = DType | type[int] | type[float] | type[complex]
_FIXED: Final[dict[str, DType]] = {"bool": BOOL, "int64": INT64, "float64": FP64}


def infer(expr: Expression, variables: Mapping[str, DType], where: str = "expression") -> DType:
    """Return the type of the value of `expr`.

    Parameters
    ----------
    expr : Expression
    variables : mapping of str to numpy.dtype
        The type of each variable.
    where : str
        The name of the operator in error messages.

    Raises
    ------
    DomainMismatch
        Where a function for integers (``band``, ``shl``) receives floats, one that needs an order (``min``, ``<``)
        receives complex numbers, or one on numbers receives records.

    Examples
    --------
    >>> infer(Expression("abs(x - y)"), {"x": np.dtype("int8"), "y": np.dtype("int8")})
    dtype('int8')
    """
    if not concerns(expr, *variables.values()):
        return infer_number(expr.tree, variables, where)
    found = lowered(expr, variables, where)
    numbers = {
        f"{key}_{number}": leaf.dtype
        for key, dtype in variables.items()
        if dtype.names
        for number, leaf in enumerate(leaves(dtype))
    }
    types = [infer_number(leaf.tree, {**variables, **numbers}, where) for leaf in found.leaves]  # checks every leaf
    return types[0] if found.dtype is None else found.dtype


def infer_number(tree: ast.expr, variables: Mapping[str, DType], where: str) -> DType:
    """Return the type of an expression on numbers, as `infer`."""
    return _dtype_of(_type(tree, variables, where))


def _dtype_of(kind: _Kind) -> DType:
    if isinstance(kind, np.dtype):
        return kind
    return INT64 if kind is int else FP64 if kind is float else FC64


def _promote(a: _Kind, b: _Kind) -> _Kind:
    if isinstance(a, np.dtype) and isinstance(b, np.dtype):
        return unify(a, b)
    if not isinstance(a, np.dtype) and not isinstance(b, np.dtype):
        return complex if complex in (a, b) else float if float in (a, b) else int
    typed, literal = (a, b) if isinstance(a, np.dtype) else (b, a)
    assert isinstance(typed, np.dtype)
    if literal is complex:
        return complex_type(typed)
    if literal is float:
        return typed if typed.kind in "fc" else FP64
    return INT64 if typed.kind == "b" else typed


def _floating(kind: _Kind, smallest: DType) -> DType:
    """Return the float that holds `kind`, for integers at least `smallest`; complex types are unchanged."""
    dtype = _dtype_of(kind)
    if dtype.kind in "fc":
        return dtype
    return unify(dtype, smallest)


def _type(node: ast.expr, variables: Mapping[str, DType], where: str) -> _Kind:
    match node:
        case ast.Constant(value=value):
            return float if isinstance(value, float) else int
        case ast.Name(id=name):
            return variables[name]
        case ast.UnaryOp(operand=operand):
            return _counted(_type(operand, variables, where))
        case ast.BinOp(left=left, right=right):
            return _counted(_promote(_type(left, variables, where), _type(right, variables, where)))
        case ast.Compare(left=left, ops=[symbol], comparators=[right]):
            if not isinstance(symbol, (ast.Eq, ast.NotEq)):
                for side in (left, right):
                    if _dtype_of(_type(side, variables, where)).kind == "c":
                        raise DomainMismatch(f"{where}: complex numbers have no order: {ast.unparse(node)}")
            return BOOL
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _call(name, [_type(argument, variables, where) for argument in arguments], where)
    raise AssertionError(f"not a normalized expression: {ast.dump(node)}")


def _counted(kind: _Kind) -> _Kind:
    return INT64 if kind == BOOL else kind


def _call(name: str, kinds: list[_Kind], where: str) -> _Kind:
    rule = HELPERS[name].result
    if name not in ON_COMPLEX:
        for kind in kinds:
            if _dtype_of(kind).kind == "c":
                raise DomainMismatch(f"{where}: {name} is not defined on complex numbers")
    if (fixed := _FIXED.get(rule)) is not None:
        return fixed
    if rule == "branch":
        kinds = kinds[1:]
    if rule in ("integer", "first"):
        for kind in kinds:
            if _dtype_of(kind).kind == "f":
                raise DomainMismatch(f"{where}: {name} is defined on integers, got {_dtype_of(kind).name}")
    made = kinds[0]
    for kind in kinds[1:] if rule != "first" else ():
        made = _promote(made, kind)
    if rule in ("real", "angle"):
        made = _floating(made, FP32) if rule == "angle" else made
        return float if made is complex else real_type(made) if isinstance(made, np.dtype) else made
    if rule == "complex":
        return complex_type(_floating(made, FP32)) if isinstance(made, np.dtype) else complex
    if rule == "float":
        return _floating(made, FP32)
    if rule == "double":
        return _floating(made, FP64)
    return made
