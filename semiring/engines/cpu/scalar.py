"""Translation of an operator's expression to a scalar function: one typed statement for each step.

Arithmetic follows C++, as the expression language requires: numba's arithmetic is wider (``int8 + int8`` is
int64 there, ``uint64 + int64`` a float), so every step is cast back.  Steps that both languages have become
inline statements, which compile fastest; the others call `helpers`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ...dtypes import (
    BOOL,
    FC32,
    FP32,
    FP64,
    INT32,
    INT64,
    UINT32,
    UINT64,
    DType,
    complex_type,
    is_record,
    real_type,
)
from ...operators import records
from ...operators.expression import HELPERS, Expression
from ...record_types import leaves
from . import expression_numba

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


def widened(dtype: DType) -> DType:
    """Return the type of integral promotion, in which C++ computes integers narrower than 32 bits."""
    return INT32 if dtype.kind in "biu" and dtype.itemsize < 4 else dtype


def common(a: DType, b: DType) -> DType:
    """Return the type in which C++ computes a mixed pair; equal types are unchanged."""
    if a == b:
        return a
    if "c" in a.kind + b.kind:
        return complex_type(common(real_type(a), real_type(b)))
    if "f" in a.kind + b.kind:
        floats = [d for d in (a, b) if d.kind == "f"]
        return FP64 if FP64 in floats else FP32
    a, b = widened(a), widened(b)
    if a.itemsize != b.itemsize:
        return a if a.itemsize > b.itemsize else b
    return {4: UINT32, 8: UINT64}[a.itemsize] if "u" in a.kind + b.kind else a


def cast_text(value: str, source: DType, target: DType) -> str:
    """Return the text of a cast: integers wrap, floats are truncated and saturate, NaN becomes 0, bool is ``!= 0``.

    A complex number becomes its real part first.
    """
    if source == target:
        return value
    if target.kind == "b":
        return f"({value} != 0)"
    if source.kind == "c" and target.kind != "c":
        return cast_text(f"{value}.real", real_type(source), target)
    if target.kind == "c" and source.kind != "c":
        return f"np.{target.name}({cast_text(value, source, real_type(target))})"
    made = f"np.{target.name}({value})"
    if source.kind != "f" or target.kind == "f":
        return made
    limits = np.iinfo(target)
    low, high = f"np.{target.name}({limits.min})", f"np.{target.name}({limits.max})"
    inside = f"{made} if {value} < {float(limits.max)!r} else {high}"
    return f"(np.{target.name}(0) if {value} != {value} else {low} if {value} <= {float(limits.min)!r} else {inside})"


class Writer:
    """Collects the statements of one expression.  `variables`: name and type of each variable."""

    def __init__(self, variables: Mapping[str, tuple[str, DType]]) -> None:
        self.variables = variables
        self.lines: list[str] = []
        self.calls: dict[str, Any] = {}

    def assign(self, text: str) -> str:
        """Bind `text` to a new name."""
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def cast(self, value: tuple[str, DType], target: DType) -> str:
        """Return the name of a value cast to another type."""
        name, source = value
        return name if source == target else self.assign(cast_text(name, source, target))

    def write(self, node: ast.expr) -> tuple[str, DType]:
        """Append the statements that compute `node`; return the name of the result, and its type."""
        match node:
            case ast.Constant(value=float() as real):
                return f"np.float64({real!r})", FP64
            case ast.Constant(value=int() as number):
                dtype = INT32 if -(2**31) <= number < 2**31 else INT64
                return f"np.{dtype.name}({number})", dtype
            case ast.Name(id=name):
                return self.variables[name]
            case ast.UnaryOp(operand=operand):
                value = self.write(operand)
                dtype = widened(value[1])
                return self._wrapping(dtype, "-", self.cast(value, dtype)), dtype
            case ast.BinOp(left=left, op=op, right=right):
                a, b = self.write(left), self.write(right)
                dtype = widened(common(a[1], b[1]))
                return self._wrapping(dtype, _ARITHMETIC[type(op)], self.cast(a, dtype), self.cast(b, dtype)), dtype
            case ast.Compare(left=left, ops=[symbol], comparators=[right]):
                a, b = self.write(left), self.write(right)
                dtype = widened(common(a[1], b[1]))
                sign = _COMPARISONS[type(symbol)]
                return self.assign(f"{self.cast(a, dtype)} {sign} {self.cast(b, dtype)}"), BOOL
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._call(name, [self.write(argument) for argument in arguments])
        raise AssertionError(f"not a normalized expression: {ast.dump(node)}")

    def _wrapping(self, dtype: DType, sign: str, *operands: str) -> str:
        """Append wrapping arithmetic: numba computes in 64 bits, and lets LLVM assume that int64 never overflows."""
        if dtype == INT64:
            zero = () if len(operands) > 1 else ("0",)
            operands = tuple(f"np.uint64({operand})" for operand in (*zero, *operands))
        text = f" {sign} ".join(operands) if len(operands) > 1 else f"{sign}{operands[0]}"
        return self.assign(f"np.{dtype.name}({text})")

    def _call(self, name: str, values: list[tuple[str, DType]]) -> tuple[str, DType]:
        rule = HELPERS[name].result
        if name in expression_numba.INLINE:
            return self.assign(expression_numba.INLINE[name].format(*(self.cast(v, BOOL) for v in values))), BOOL
        if name in ("toint", "tofloat"):
            target = INT64 if name == "toint" else FP64
            return self.cast(values[0], target), target
        if name == "random":
            self.calls[name] = expression_numba.function(name, INT64)
            return self.assign(f"random({', '.join(self.cast(value, INT64) for value in values)})"), FP64
        if rule == "branch":
            dtype = common(values[1][1], values[2][1])
            condition = self.cast(values[0], BOOL)
            a, b = self.cast(values[1], dtype), self.cast(values[2], dtype)
            return self.assign(f"{a} if {condition} else {b}"), dtype
        dtype = self._operands(name, rule, [dtype for _, dtype in values])
        second = {"first": INT64, "float": INT32}[rule] if name == "ldexp" or rule == "first" else dtype
        if rule == "first" and values[1][1] == UINT64:  # far past any width, also as int64
            values[1] = (self.assign(f"min({values[1][0]}, np.uint64({2**62}))"), UINT64)
        arguments = [self.cast(values[0], dtype), *(self.cast(value, second) for value in values[1:])]
        result = BOOL if rule == "bool" else dtype
        if rule in ("real", "angle"):
            result = real_type(dtype)
        elif rule == "complex":
            result = complex_type(dtype)
        if name == "minv" and dtype.kind in "iuc":
            name, arguments = "div", [f"np.{dtype.name}(1)", *arguments]
        template = expression_numba.inline(name, dtype)
        if template is not None:
            return self.assign(f"np.{result.name}({template.format(*arguments)})"), result
        if name in expression_numba.LIMITED and dtype.kind in "iu":
            limits = np.iinfo(dtype)
            arguments += [f"np.{dtype.name}({limits.min})", f"np.{dtype.name}({limits.max})"]
        function = f"{name}_{dtype.name}"
        self.calls[function] = expression_numba.function(name, dtype)
        text = f"{function}({', '.join(arguments)})"
        return self.assign(text if result.kind == "b" else f"np.{result.name}({text})"), result

    @staticmethod
    def _operands(name: str, rule: str, dtypes: list[DType]) -> DType:
        """Return the type that the arguments of a function are cast to."""
        if rule in ("float", "double", "bool", "angle", "complex"):
            same = dtypes[:1] if name == "ldexp" else dtypes
            found = FP32 if all(dtype in (FP32, FC32) for dtype in same) else FP64
            return complex_type(found) if any(dtype.kind == "c" for dtype in same) else found
        dtype = dtypes[0]
        for other in dtypes[1:] if rule != "first" else []:
            dtype = common(dtype, other)
        return widened(dtype) if dtype.kind == "b" else dtype


def scalar_function(
    signature: str,
    expr: Expression,
    variables: Mapping[str, tuple[str, DType, DType]],
    result: DType,
    functions: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """Return a function for numba that casts its arguments, evaluates `expr`, and casts the result.

    variables: for each variable of the expression, the argument's text, its type, and the operator's type for it; of a
    record the text is that of the tuple of its leaves.  functions: what these texts call.
    """
    lines, calls = scalar_lines(expr, variables, result)
    text = f"def evaluate({signature}):\n" + "".join(f"    {line}\n" for line in lines)
    scope: dict[str, Any] = {"np": np, "math": math} | calls | dict(functions)
    exec(text, scope)  # the text is built above, from an expression tree of known nodes
    return scope["evaluate"]


def scalar_lines(
    expr: Expression, variables: Mapping[str, tuple[str, DType, DType]], result: DType
) -> tuple[list[str], dict[str, Any]]:
    """Return the statements of the body of `scalar_function`, and the helpers that they call, by name."""
    writer = Writer({})
    bound: dict[str, tuple[str, DType]] = {}
    for name, (arg, source, target) in variables.items():
        if is_record(target):
            whole = arg if arg.isidentifier() else writer.assign(arg)
            numbered = enumerate(leaves(target))
            bound |= {f"{name}_{number}": (f"{whole}[{number}]", leaf.dtype) for number, leaf in numbered}
        else:
            bound[name] = writer.cast((arg, source), target), target
    writer.variables = bound
    types = {name: target for name, (_, _, target) in variables.items()}
    if records.concerns(expr, result, *types.values()):
        made = []
        for each, leaf in zip(records.by_leaf(expr, types, result), leaves(result), strict=True):
            value = writer.write(each.tree)
            made.append(cast_text(value[0], value[1], leaf.dtype))
        writer.lines.append(f"return ({', '.join(made)},)" if is_record(result) else f"return {made[0]}")
    else:
        value = writer.write(expr.tree)
        writer.lines.append(f"return {cast_text(value[0], value[1], result)}")
    return writer.lines, writer.calls
