"""Prologues: the few generated lines that turn fixed kernel text into a kernel for given types and operators.

Every function here returns C++ text; ``+`` concatenates texts.  An operator called `f` becomes

- ``f(x, y, ...)``, a device function that casts its arguments, evaluates the expression and casts the result;
- the types ``f_x``, ``f_y``, ``f_z`` (``f_k`` for the thunk);
- the constants ``f_reads_x``, ``f_reads_y``, ``f_reads_positions`` (``f_reads_i`` and so on), so that kernels
  can omit unused loads.
"""

from __future__ import annotations

import ast
import copy
import functools
from typing import Any

import numpy as np

from ...dtypes import INT64, c_name, is_record
from ...memory.arrays import LARGEST_RECORD, check_layout
from ...operators import records
from ...operators.expression import Expression
from ...operators.types import TypedBinary, TypedIndexUnary, TypedMonoid, TypedSemiring, TypedUnary
from ...record_types import leaves

__all__ = ["binary", "constants", "indexunary", "literal", "monoid", "semiring", "typedefs", "unary"]


@functools.lru_cache(maxsize=4096)
def typedefs(**types: np.dtype[Any]) -> str:
    """``typedef`` lines: ``typedefs(A=float32)`` makes ``A`` a name of float."""
    return "".join(f"typedef {c_name(dtype)} {name};\n" for name, dtype in types.items())


@functools.lru_cache(maxsize=4096, typed=True)  # True and 1 are two texts
def constants(**values: bool | int) -> str:
    """``constexpr`` lines: a bool stays a bool, an int becomes ``i64``."""
    lines = []
    for name, value in values.items():
        if isinstance(value, bool):
            lines.append(f"constexpr bool {name} = {str(value).lower()};\n")
        else:
            lines.append(f"constexpr i64 {name} = {value}ll;\n")
    return "".join(lines)


def literal(value: np.generic) -> str:
    """The text of a constant with exactly this value and type; floats are given by their bits."""
    kind = value.dtype.kind
    if kind == "b":
        return "true" if value else "false"
    name = c_name(value.dtype)
    if kind == "V":
        width = value.dtype.itemsize & -value.dtype.itemsize
        words = np.frombuffer(value.tobytes(), f"u{min(width, 8)}")
        listed = ", ".join(f"{int(word)}u{'ll' * (word.itemsize == 8)}" for word in words)
        return f"record_of<{value.dtype.itemsize}>({listed})"
    if kind == "c":
        return f"{name}({literal(value.real)}, {literal(value.imag)})"
    if kind == "f":
        bits = int(value.view(np.uint32 if value.dtype.itemsize == 4 else np.uint64))
        return f"from_bits<{name}>({bits:#x}{'u' if value.dtype.itemsize == 4 else 'ull'})"
    if kind == "u":
        return f"({name}){int(value)}ull"
    return f"({name})({int(value) + 1}ll - 1)" if int(value) < 0 else f"({name}){int(value)}ll"


_WRAPPED = {ast.Add: "wrapped_add", ast.Sub: "wrapped_sub", ast.Mult: "wrapped_mul"}


class _Wrapping(ast.NodeTransformer):
    """Replaces arithmetic by functions whose integers wrap; signs of literals remain."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(ast.Name(_WRAPPED[type(node.op)]), [node.left, node.right], [])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return node if isinstance(node.operand, ast.Constant) else ast.Call(ast.Name("negated"), [node.operand], [])


@functools.lru_cache(maxsize=1024)
def wrapping(expr: Expression, types: frozenset[np.dtype[Any]]) -> str:
    """Return the text of an expression over values of these types, the result included, in which integers wrap.

    A C++ compiler assumes that signed integers do not overflow (and so that ``x * x`` is not negative), and
    multiplies integers narrower than 32 bits, unsigned ones too, as signed ones.  One operation whose result has the
    type of its operands needs no care, and floats need none.
    """
    if len(types) == 1:
        operations = sum(isinstance(node, (ast.BinOp, ast.UnaryOp)) for node in ast.walk(expr.tree))
        simple = not any(isinstance(node, (ast.Call, ast.Compare)) for node in ast.walk(expr.tree))
        if simple and (operations < 2 or next(iter(types)).kind in "fc"):
            return expr.text
    return ast.unparse(_Wrapping().visit(copy.deepcopy(expr.tree)))


def _record_function(name: str, z: np.dtype[Any], types: dict[str, np.dtype[Any]], takes: str, expr: Expression) -> str:
    """One operator on records: it loads the numbers that it reads, and stores those of the result.

    NotSupported for a record larger than kernels hold.
    """
    for dtype in filter(is_record, (z, *types.values())):
        if dtype.itemsize > LARGEST_RECORD:
            check_layout(dtype)
    kinds = ", ".join(f"class {variable}_type" for variable in types)
    lowered = records.by_leaf(expr, types | dict.fromkeys(expr.uses - types.keys(), INT64), z)
    lines, read = [], {name for each in lowered for name in each.uses}
    wrapped = {z} if not is_record(z) else {leaf.dtype for leaf in leaves(z)}
    for v, dtype in types.items():
        if not is_record(dtype):
            wrapped.add(dtype)
            lines.append(f"const {name}_{v} {v} = cast<{name}_{v}>({v}_);")
            continue
        for number, leaf in enumerate(leaves(dtype)):
            if f"{v}_{number}" in read:
                kind = c_name(leaf.dtype)
                wrapped.add(leaf.dtype)
                lines.append(f"const {kind} {v}_{number} = leaf<{kind}, {leaf.offset}>({v}_);")
    wrapped |= {INT64} if read & {"i", "j", "xi", "xj", "yi", "yj"} else set()
    made = [wrapping(each, frozenset(wrapped)) for each in lowered]
    if is_record(z):
        lines.append(f"{name}_z made = {name}_z();")
        for text, leaf in zip(made, leaves(z), strict=True):
            lines.append(f"set_leaf<{leaf.offset}>(made, cast<{c_name(leaf.dtype)}>({text}));")
        lines.append("return made;")
    else:
        lines.append(f"return cast<{name}_z>({made[0]});")
    body = "".join(f"    {line}\n" for line in lines)
    return (
        "".join(f"typedef {c_name(dtype)} {name}_{variable};\n" for variable, dtype in types.items())
        + f"typedef {c_name(z)} {name}_z;\n"
        + f"namespace op {{\ntemplate <{kinds}>\nDEVICE {name}_z {name}({takes}) {{\n{body}}}\n}}\nusing op::{name};\n"
    )


def _function(name: str, z: np.dtype[Any], types: dict[str, np.dtype[Any]], takes: str, expr: Expression) -> str:
    """One operator as a template over the types it is called with; it stands in the namespace of the helpers.

    `takes` is the parameter list, in which ``x_type x_`` is what the argument `x` comes in as.
    """
    if records.concerns(expr, z, *types.values()):
        return _record_function(name, z, types, takes, expr)
    kinds = ", ".join(f"class {variable}_type" for variable in types)
    positions = () if expr.uses <= types.keys() else (INT64,)
    text = wrapping(expr, frozenset((z, *types.values(), *positions)))
    casts = " ".join(f"const {name}_{v} {v} = cast<{name}_{v}>({v}_);" for v in types)
    return (
        "".join(f"typedef {c_name(dtype)} {name}_{variable};\n" for variable, dtype in types.items())
        + f"typedef {c_name(z)} {name}_z;\n"
        + f"namespace op {{\ntemplate <{kinds}>\nDEVICE {name}_z {name}({takes}) {{\n"
        + f"    {casts}\n    return cast<{name}_z>({text});\n}}\n}}\nusing op::{name};\n"
    )


def _reads(name: str, variables: str, uses: frozenset[str]) -> str:
    return constants(**{f"{name}_reads_{variable}": variable in uses for variable in variables.split()})


@functools.lru_cache(maxsize=1024)
def unary(name: str, op: TypedUnary) -> str:
    """``name(x)``."""
    return _function(name, op.z, {"x": op.x}, "x_type x_", op.expr) + _reads(name, "x", op.uses)


@functools.lru_cache(maxsize=1024)
def binary(name: str, op: TypedBinary) -> str:
    """``name(x, y, xi = 0, xj = 0, yi = 0, yj = 0)``."""
    takes = "x_type x_, y_type y_, i64 xi = 0, i64 xj = 0, i64 yi = 0, i64 yj = 0"
    return (
        _function(name, op.z, {"x": op.x, "y": op.y}, takes, op.expr)
        + _reads(name, "x y xi xj yi yj", op.uses)
        + constants(**{f"{name}_reads_positions": bool(op.uses & {"xi", "xj", "yi", "yj"})})
    )


@functools.lru_cache(maxsize=1024)
def indexunary(name: str, op: TypedIndexUnary) -> str:
    """``name(x, i, j, k)``: the value, its row and column, and the thunk."""
    takes = "x_type x_, i64 i, i64 j, k_type k_"
    return _function(name, op.z, {"x": op.x, "k": op.k}, takes, op.expr) + _reads(name, "x i j k", op.uses)


@functools.lru_cache(maxsize=1024)
def monoid(name: str, op: TypedMonoid) -> str:
    """``name(x, y)``, ``name_is_any``, ``name_has_identity``, ``name_has_terminal``, ``name_identity()`` and
    ``name_is_terminal(z)``: whether no further operand can change z (for `any`: always).
    """
    terminal = "true" if op.is_any else "false"
    if op.terminal is not None and not is_record(op.dtype):
        value = literal(op.terminal)
        terminal = f"z == {value}" if op.terminal == op.terminal else "z != z"
    identity = f"{name}_z()" if op.identity is None else literal(op.identity)
    return (
        binary(name, op.op)
        + constants(
            **{
                f"{name}_is_any": op.is_any,
                f"{name}_has_identity": op.identity is not None,
                f"{name}_has_terminal": terminal != "false",
            }
        )
        + f"DEVICE {name}_z {name}_identity() {{ return {identity}; }}\n"
        + f"DEVICE bool {name}_is_terminal({name}_z z) {{ return {terminal}; }}\n"
    )


@functools.lru_cache(maxsize=1024)
def semiring(op: TypedSemiring) -> str:
    """The monoid as ``add`` and the product as ``multiply``."""
    return monoid("add", op.add) + binary("multiply", op.mult)
