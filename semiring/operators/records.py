"""Expressions on records: each is rewritten to one expression on numbers for each leaf of its result.

In a normalized expression ``x.a``, ``x['a b']`` and ``x[0]`` read a field or an element, ``(p, q)`` makes a record of
the type that its place requires, and ``{'a': p, 'b': q}`` one of a type of its own.  Records are compared by ``==``
and ``!=``, and chosen by ``select``.  With the types of the variables known, `lowered` replaces records by their
leaves: number 3 of `x` is the variable ``x_3``.  Engines load the leaves that these read, evaluate these as any
other expression, and store the results: none of them interprets records itself.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from typing import NamedTuple, NoReturn

import numpy as np

from semiring.dtypes import DType, is_record, lookup, name
from semiring.exceptions import DomainMismatch
from semiring.operators.expression import Expression
from semiring.record_types import field_of, is_array, leaves

__all__ = ["Lowered", "by_leaf", "concerns", "leaf_of", "lowered"]


class Lowered(NamedTuple):
    """The expressions of the leaves, and the record that they make; one expression and None for a number."""

    dtype: DType | None
    leaves: tuple[Expression, ...]


class _Record(NamedTuple):
    """A value of a record or array type: one node for each leaf."""

    dtype: DType
    nodes: list[ast.expr]


class _Tuple(NamedTuple):
    """A tuple: the record that its place requires."""

    parts: list[_Part]


_Part = ast.expr | _Record | _Tuple


def concerns(expr: Expression, *dtypes: DType) -> bool:
    """Whether an expression on these types, or on its own, reads or makes records."""
    return any(map(is_record, dtypes)) or expr.has_records


def leaf_of(variable: str) -> tuple[str, int]:
    """Return (``"x"``, 3) for the variable ``x_3`` of a lowered expression."""
    origin, _, number = variable.rpartition("_")
    return origin, int(number)


def lowered(expr: Expression, variables: Mapping[str, DType], where: str = "expression") -> Lowered:
    """Return the expression on the leaves of its variables.

    Raises
    ------
    DomainMismatch
        Where a record has no such field, or is an operand of what is not defined on records.
    """
    return _lowered(expr, tuple(sorted((key, dtype) for key, dtype in variables.items())), where)


@functools.lru_cache(maxsize=1024)
def _lowered(expr: Expression, variables: tuple[tuple[str, DType], ...], where: str) -> Lowered:
    lowering = _Lowering(dict(variables), where)
    made = lowering.part(expr.tree)
    if isinstance(made, _Tuple):
        made = lowering.fitted(made)
    if isinstance(made, _Record):
        return Lowered(lookup(made.dtype), tuple(map(Expression.of, made.nodes)))
    return Lowered(None, (Expression.of(made),))


def by_leaf(
    expr: Expression, variables: Mapping[str, DType], z: DType, where: str = "expression"
) -> tuple[Expression, ...]:
    """Return one expression for each leaf of the type `z`: a number becomes every leaf, a record one of equal fields.

    Raises
    ------
    DomainMismatch
        As `lowered`; or if `z` cannot hold the result.
    """
    found = lowered(expr, variables, where)
    expected = leaves(z)
    if found.dtype is None:
        return found.leaves * len(expected)
    if not is_record(z) or [leaf.path for leaf in leaves(found.dtype)] != [leaf.path for leaf in expected]:
        raise DomainMismatch(f"{where}: a record {name(found.dtype)} cannot become {name(z)}")
    return found.leaves


class _Lowering:
    """Replaces the records of one expression by their leaves."""

    def __init__(self, variables: Mapping[str, DType], where: str) -> None:
        self.variables = variables
        self.where = where

    def fail(self, node: ast.AST, why: str) -> NoReturn:
        raise DomainMismatch(f"{self.where}: {ast.unparse(node)}: {why}")

    def part(self, node: ast.expr) -> _Part:
        match node:
            case ast.Name(id=key):
                dtype = self.variables[key]
                if not is_record(dtype):
                    return node
                return _Record(dtype, [ast.Name(f"{key}_{number}") for number in range(len(leaves(dtype)))])
            case ast.Attribute(value=value, attr=step):
                return self._step(node, value, step)
            case ast.Subscript(value=value, slice=index):
                return self._step(node, value, ast.literal_eval(index))
            case ast.Tuple(elts=elements):
                return _Tuple([self.part(element) for element in elements])
            case ast.Dict(keys=keys, values=values):
                return self._named([str(ast.literal_eval(key)) for key in keys if key is not None], values)
            case ast.Compare(left=left, ops=[sign], comparators=[right]):
                return self._compared(node, self.part(left), sign, self.part(right))
            case ast.Call(func=ast.Name(id="select"), args=[test, yes, no]):
                return self._chosen(node, self.number(test), self.part(yes), self.part(no))
            case ast.Call(func=function, args=arguments):
                return ast.Call(function, [self.number(each, node) for each in arguments], [])
            case ast.UnaryOp(op=sign, operand=operand):
                return ast.UnaryOp(sign, self.number(operand, node))
            case ast.BinOp(left=left, op=operation, right=right):
                return ast.BinOp(self.number(left, node), operation, self.number(right, node))
        return node

    def number(self, node: ast.expr, within: ast.AST | None = None) -> ast.expr:
        """Return the lowered node of an operand that must be a number."""
        made = self.part(node)
        if isinstance(made, ast.expr):
            return made
        found = name(made.dtype) if isinstance(made, _Record) and is_record(made.dtype) else "a record"
        self.fail(within or node, f"not defined on {found}; read its fields, as x.name or x['name']")

    def _step(self, node: ast.expr, value: ast.expr, step: str | int) -> _Part:
        whole = self.part(value)
        if isinstance(whole, _Tuple):
            if isinstance(step, int) and -len(whole.parts) <= step < len(whole.parts):
                return whole.parts[step]
            self.fail(node, f"the tuple has no element {step!r}")
        if not isinstance(whole, _Record):
            self.fail(node, f"a number has no field {step!r}")
        found = field_of(whole.dtype, (step,))
        if found is None:
            self.fail(node, f"there is no field {step!r} in {name(whole.dtype)}")
        first, dtype = found
        nodes = whole.nodes[first : first + len(leaves(dtype))]
        return _Record(dtype, nodes) if dtype.names or dtype.subdtype else nodes[0]

    def _named(self, names: list[str], values: list[ast.expr]) -> _Record:
        """Return the record that a dict makes; its fields have the types of the values."""
        from semiring.operators.infer import infer_number  # a cycle: the type of an expression may be a record

        fields, nodes = [], []
        numbers = {
            f"{key}_{number}": leaf.dtype
            for key, dtype in self.variables.items()
            if is_record(dtype)
            for number, leaf in enumerate(leaves(dtype))
        }
        for field, value in zip(names, values, strict=True):
            made = self.part(value)
            if isinstance(made, _Tuple):
                self.fail(value, "the types of a tuple's fields are not known here; use a dict")
            if isinstance(made, _Record):
                fields.append((field, made.dtype))
                nodes += made.nodes
            else:
                fields.append((field, infer_number(made, {**self.variables, **numbers}, self.where)))
                nodes.append(made)
        return _Record(np.dtype(fields, align=True), nodes)

    def _compared(self, node: ast.expr, a: _Part, sign: ast.cmpop, b: _Part) -> ast.expr:
        if isinstance(a, ast.expr) and isinstance(b, ast.expr):
            return ast.Compare(a, [sign], [b])
        if not isinstance(sign, (ast.Eq, ast.NotEq)):
            self.fail(node, "records have no order; compare their fields")
        dtype = a.dtype if isinstance(a, _Record) else b.dtype if isinstance(b, _Record) else None
        if dtype is None:
            self.fail(node, "compare with a record")
        left, right = (self.leaves_as(node, side, dtype) for side in (a, b))
        made: ast.expr | None = None
        for x, y in zip(left, right, strict=True):
            one: ast.expr = ast.Compare(x, [sign], [y])
            both = "land" if isinstance(sign, ast.Eq) else "lor"
            made = one if made is None else ast.Call(ast.Name(both), [made, one], [])
        assert made is not None
        return made

    def _chosen(self, node: ast.expr, test: ast.expr, yes: _Part, no: _Part) -> _Part:
        if isinstance(yes, ast.expr) and isinstance(no, ast.expr):
            return ast.Call(ast.Name("select"), [test, yes, no], [])
        known = next((side.dtype for side in (yes, no) if isinstance(side, _Record)), None)
        if known is None:
            first = next(side for side in (yes, no) if isinstance(side, _Tuple))
            known = self.fitted(first).dtype
        sides = [self.leaves_as(node, side, known) for side in (yes, no)]
        return _Record(known, [ast.Call(ast.Name("select"), [test, a, b], []) for a, b in zip(*sides, strict=True)])

    def fitted(self, made: _Tuple) -> _Record:
        """Return a tuple as a record of the type of the first operand that has as many fields."""
        for key in ("x", "y", "k"):
            dtype = self.variables.get(key)
            if dtype is not None and is_record(dtype) and _count(dtype) == len(made.parts):
                return _Record(dtype, self.leaves_as(ast.Name(key), made, dtype))
        raise DomainMismatch(
            f"{self.where}: no operand is a record of {len(made.parts)} fields, which the tuple could be; "
            "a dict gives the fields names: {'a': x, 'b': y}"
        )

    def leaves_as(self, node: ast.AST, part: _Part, dtype: DType) -> list[ast.expr]:
        """Return the leaves of a part that becomes a value of `dtype`; a number becomes every leaf."""
        expected = leaves(dtype)
        if isinstance(part, ast.expr):
            return [part] * len(expected)
        if isinstance(part, _Record):
            if [leaf.path for leaf in leaves(part.dtype)] != [leaf.path for leaf in expected]:
                self.fail(node, f"{name(part.dtype)} and {name(dtype)} are different records")
            return part.nodes
        if len(part.parts) != _count(dtype):
            self.fail(node, f"a tuple of {len(part.parts)} is not a {name(dtype)}")
        made: list[ast.expr] = []
        for number, each in enumerate(part.parts):
            found = field_of(dtype, (number,))
            assert found is not None
            made += self.leaves_as(node, each, found[1])
        return made


def _count(dtype: DType) -> int:
    """Return the number of fields of a record, or of elements of an array."""
    if is_array(dtype):
        dtype = dtype[0]
    if dtype.subdtype is not None:
        return int(dtype.shape[0])
    return len(dtype.names or (0,))
