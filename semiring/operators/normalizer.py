"""Expressions that users write, rewritten into the normal form that `semiring.operators.expression` describes."""

from __future__ import annotations

import ast
import keyword
import math
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, NoReturn

import numpy as np

from semiring.exceptions import UdfParseError, near_names
from semiring.operators.vocabulary import ALIASES, HELPERS, SYMBOLS

__all__ = ["ATOM", "COMPARISONS", "Normalizer", "Text"]

_OPERATORS: Final[dict[type[ast.AST], str]] = {
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "band",
    ast.BitOr: "bor",
    ast.BitXor: "bxor",
    ast.LShift: "shl",
    ast.RShift: "shr",
    ast.Invert: "bnot",
    ast.Not: "lnot",
    ast.And: "land",
    ast.Or: "lor",
}
COMPARISONS: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_ARITHMETIC: Final[dict[type[ast.operator], tuple[str, int]]] = {
    ast.Add: ("+", 2),
    ast.Sub: ("-", 2),
    ast.Mult: ("*", 3),
}

_MAX_LENGTH: Final = 20_000
ATOM: Final = 5
_ALLOWED: Final = (
    "allowed are numbers, the operator's variables, + - * / // % ** & | ^ ~ << >>, comparisons, and/or/not, "
    "'a if c else b' and the functions of semiring.operators.expression.HELPERS; see docs/operators.md"
)


class Text(NamedTuple):
    """Normalized text and how tightly it binds: 1 comparison, 2 sum, 3 product, 4 sign, 5 atom."""

    text: str
    level: int

    def at(self, level: int) -> str:
        """Return the text, in parentheses where it binds more loosely than `level`."""
        return self.text if self.level >= level else f"({self.text})"


class Normalizer:
    """Rewrites a Python expression tree into normalized text.

    Parameters
    ----------
    variables : mapping of str to Text
        The text of each name in the expression; a statement-level front end adds its locals.
    resolve : callable
        Looks up any other name: returns a number, ``"module"`` for ``math`` and NumPy, the name of a helper,
        or None where the name is unknown.
    where : str
        The name of the operator in error messages.
    """

    def __init__(
        self,
        variables: Mapping[str, Text],
        where: str,
        resolve: Callable[[str], object] = lambda name: None,
        source: str = "",
    ) -> None:
        self.variables = dict(variables)
        self.where = where
        self.resolve = resolve
        self.source = source

    def fail(self, node: ast.AST, why: str) -> NoReturn:
        """Raise `UdfParseError` that quotes the line of `node`."""
        line = getattr(node, "lineno", None)
        lines = self.source.splitlines()
        quoted = lines[line - 1].strip() if line and line <= len(lines) else ast.unparse(node)
        place = f"line {line}: " if line and len(lines) > 1 else ""
        raise UdfParseError(f"{self.where}: {place}{quoted!r}: {why}") from None

    def convert(self, node: ast.expr) -> Text:
        """Return the normalized text of one expression."""
        made = self._convert(node)
        if len(made.text) > _MAX_LENGTH:
            self.fail(node, f"the whole expression grows past {_MAX_LENGTH} characters")
        return made

    def _convert(self, node: ast.expr) -> Text:
        match node:
            case ast.Constant(value=bool() | int() | float() | complex() as value):
                return self.literal(value, node)
            case ast.Name(id=name):
                return self._name(name, node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript(value=value, slice=index):
                return Text(self.convert(value).at(ATOM) + self._steps(index, node), ATOM)
            case ast.Tuple(elts=elements) if elements:
                parts = [self.convert(element).text for element in elements]
                return Text(f"({', '.join(parts)}{',' * (len(parts) == 1)})", ATOM)
            case ast.Dict(keys=keys, values=values) if keys:
                return Text(f"{{{', '.join(map(self._field, keys, values))}}}", ATOM)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.convert(operand)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return Text("-" + self.convert(operand).at(ATOM), 4)
            case ast.UnaryOp(op=operation, operand=operand):
                return self._call(_OPERATORS[type(operation)], [self.convert(operand)], node)
            case ast.BinOp(left=left, op=operation, right=right):
                a, b = self.convert(left), self.convert(right)
                if (arithmetic := _ARITHMETIC.get(type(operation))) is not None:
                    symbol, level = arithmetic
                    return Text(f"{a.at(level)} {symbol} {b.at(level + 1)}", level)
                if (helper := _OPERATORS.get(type(operation))) is not None:
                    return self._call(helper, [a, b], node)
            case ast.BoolOp(op=operation, values=values):
                return self._fold(_OPERATORS[type(operation)], [self.convert(value) for value in values])
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return self._compare([left, *comparators], ops, node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._call("select", [self.convert(part) for part in (test, body, orelse)], node)
            case ast.Call():
                return self._function(node)
        self.fail(node, f"{_describe(node)} cannot be part of an operator; {_ALLOWED}")

    def literal(self, value: object, node: ast.AST) -> Text:
        """Return a number as a literal that has the same value in both languages."""
        if isinstance(value, (bool, np.bool_)):
            return Text("0 == 0" if value else "0 != 0", 1)
        if isinstance(value, (int, np.integer)):
            number = int(value)
            if not -(2**63) <= number < 2**63:
                self.fail(node, f"the integer {number} does not fit in 64 bits with a sign")
            if number == -(2**63):  # C++ has no such literal: it negates a number that is too large
                return Text("-9223372036854775807 - 1", 2)
            return Text(str(number), ATOM if number >= 0 else 4)
        if isinstance(value, (complex, np.complexfloating)):
            parts = [self.literal(float(part), node).text for part in (value.real, value.imag)]
            return Text(f"cmplx({parts[0]}, {parts[1]})", ATOM)
        assert isinstance(value, (float, np.floating))
        real = float(value)
        if math.isnan(real):
            return Text("truediv(0.0, 0.0)", ATOM)
        text = "truediv(1.0, 0.0)" if math.isinf(real) else repr(abs(real))
        return Text("-" + text, 4) if math.copysign(1.0, real) < 0 else Text(text, ATOM)

    def _name(self, name: str, node: ast.AST) -> Text:
        if (known := self.variables.get(name)) is not None:
            return known
        found = self.resolve(name)
        if isinstance(found, (bool, int, float, complex, np.bool_, np.number)):
            return self.literal(found, node)
        if found is not None or name in HELPERS:
            self.fail(node, f"{name!r} is not a number; {_ALLOWED}")
        self.fail(node, f"unknown name {name!r}{_suggest(name, self.variables)}; {_ALLOWED}")

    def _module(self, node: ast.expr) -> bool:
        """Return whether `node` names math or NumPy."""
        if not isinstance(node, ast.Name) or node.id in self.variables:
            return False
        found = self.resolve(node.id)
        return isinstance(found, str) and found == "module"

    def _attribute(self, node: ast.Attribute) -> Text:
        if self._module(node.value) and node.attr in ("pi", "e", "tau", "inf", "nan"):
            return self.literal(getattr(math, node.attr), node)
        if node.attr in ("real", "imag") and not self._module(node.value):
            return self._call(node.attr, [self.convert(node.value)], node)
        if self._module(node.value) or node.attr.startswith("__"):
            self.fail(
                node, f"attribute {node.attr!r} is not allowed, only those of math and numpy, and fields of records"
            )
        return Text(f"{self.convert(node.value).at(ATOM)}.{node.attr}", ATOM)  # a field of a record

    def _steps(self, index: ast.expr, node: ast.AST) -> str:
        """Return the normal form of a subscript: names and numbers of fields, one at a time."""
        made = ""
        for each in index.elts if isinstance(index, ast.Tuple) else (index,):
            try:
                step = ast.literal_eval(each)
            except ValueError:
                step = None
            if isinstance(step, bool) or not isinstance(step, (str, int)):
                self.fail(node, "the subscript of a record is a name or a number that is written out")
            plain = isinstance(step, str) and step.isidentifier() and not keyword.iskeyword(step)
            # As attributes, these names are not fields: see `_attribute`.
            plain = plain and step not in ("real", "imag") and not str(step).startswith("__")
            made += f".{step}" if plain else f"[{step!r}]"
        return made

    def _field(self, key: ast.expr | None, value: ast.expr) -> str:
        """Return the normal form of an item of a dict, which makes a record."""
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str) or not key.value:
            self.fail(key or value, "the names of the fields of a record are texts")
        return f"{key.value!r}: {self.convert(value).text}"

    def _function(self, node: ast.Call) -> Text:
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            self.fail(node, "only positional arguments are allowed in a call")
        match node.func:
            case ast.Name(id=name) if name not in self.variables:
                found = self.resolve(name)
                name = found if isinstance(found, str) and found != "module" else name
                if found is not None and not isinstance(found, str):
                    self.fail(node, f"operators cannot call {name!r}; {_ALLOWED}")
            case ast.Attribute(value=value, attr=name) if self._module(value):
                name = "rint" if name == "round" else name  # NumPy's takes ties to even
            case _:
                self.fail(node, f"this call is not allowed; {_ALLOWED}")
        arguments = [self.convert(argument) for argument in node.args]
        return self._call(ALIASES.get(name, name), arguments, node)

    def _call(self, name: str, arguments: list[Text], node: ast.AST) -> Text:
        if name in ("min", "max") and len(arguments) > 2:
            return self._fold(name, arguments)
        if name == "bool" and len(arguments) == 1:
            return Text(f"{arguments[0].at(2)} != 0", 1)
        if name in SYMBOLS and len(arguments) == 2:
            (symbol, level), (a, b) = SYMBOLS[name], arguments
            return Text(f"{a.at(max(level, 2))} {symbol} {b.at(level + 1)}", level)
        if name == "square" and len(arguments) == 1:
            return Text(f"{arguments[0].at(3)} * {arguments[0].at(4)}", 3)
        if (helper := HELPERS.get(name)) is None:
            self.fail(node, f"unknown function {name!r}{_suggest(name, HELPERS)}; {_ALLOWED}")
        if len(arguments) != helper.arity:
            self.fail(node, f"{name} takes {helper.arity} arguments, got {len(arguments)}")
        return Text(f"{name}({', '.join(argument.text for argument in arguments)})", ATOM)

    def _fold(self, name: str, arguments: list[Text]) -> Text:
        made = arguments[0]
        for argument in arguments[1:]:
            made = Text(f"{name}({made.text}, {argument.text})", ATOM)
        return made

    def _compare(self, operands: list[ast.expr], ops: list[ast.cmpop], node: ast.AST) -> Text:
        texts = [self.convert(operand) for operand in operands]
        terms = []
        for a, operation, b in zip(texts, ops, texts[1:], strict=False):
            if (symbol := COMPARISONS.get(type(operation))) is None:
                self.fail(node, "'in' and 'is' are not allowed; compare with == != < <= > >=")
            terms.append(Text(f"{a.at(2)} {symbol} {b.at(2)}", 1))
        return self._fold("land", terms)


def _suggest(name: str, known: Mapping[str, object]) -> str:
    close = near_names(name, known, n=2)
    return f" (did you mean {' or '.join(close)}?)" if close else ""


def _describe(node: ast.AST) -> str:
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return "a loop"
    if isinstance(node, ast.Constant):
        return f"the constant {node.value!r}"
    return type(node).__name__.lower()
