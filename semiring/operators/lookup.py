"""Look-up of operators: from a name, symbol, function or expression to the operator.

Accepted everywhere: a family, a typed operator, a name (``"plus"``), a typed name (``"plus[int32]"``), a symbol
(``"+"``, ``">"``, ``"min.+"``), Python's ``operator.add``, built-ins ``min max abs sum``, NumPy's ``np.minimum``,
and a Python function or an expression (``"abs(x - y)"``; ``"> 2"`` to select by), which becomes an anonymous
user-defined operator. A monoid is accepted as a binary operator, and a binary operator that has a monoid as a monoid.
"""

from __future__ import annotations

import ast
import builtins
import operator
import re
import types
from typing import Any, Final, cast

import numpy as np

from semiring.exceptions import InvalidExpression, InvalidOperator, NotAMonoid, UdfParseError, UnknownOperator
from semiring.operators import table
from semiring.operators.families import Binary, IndexUnary, Monoid, Select, Semiring, Unary
from semiring.operators.family import Family
from semiring.operators.parameterized import Parameterized
from semiring.operators.types import (
    TypedBinary,
    TypedIndexUnary,
    TypedMonoid,
    TypedSemiring,
    TypedUnary,
)
from semiring.operators.udf import expression_of

__all__ = [
    "lookup_binary",
    "lookup_indexunary",
    "lookup_kind",
    "lookup_monoid",
    "lookup_select",
    "lookup_semiring",
    "lookup_unary",
]

_COMPARISONS: Final = {">": "gt", ">=": "ge", "<": "lt", "<=": "le", "==": "eq", "!=": "ne"}
_VALUES: Final = {
    **{symbol: f"value{name}" for symbol, name in _COMPARISONS.items()},
    **{f"value{symbol}": f"value{name}" for symbol, name in _COMPARISONS.items()},
    **{
        f"{axis}{symbol}": f"{axis}{name}"
        for axis in ("row", "col", "index")
        for symbol, name in (("<=", "le"), (">", "gt"))
    },
}
_SYMBOLS: Final[dict[str, dict[str, str]]] = {
    "unary": {"-": "ainv", "~": "lnot", "+": "identity"},
    "binary": {
        "+": "plus",
        "-": "minus",
        "*": "times",
        "/": "truediv",
        "//": "floordiv",
        "%": "mod",
        "**": "pow",
        "&": "band",
        "|": "bor",
        "^": "bxor",
        "<<": "shl",
        ">>": "shr",
        **_COMPARISONS,
    },
    "indexunary": _VALUES,
    "select": _VALUES,
    "monoid": {"+": "plus", "*": "times", "&": "band", "|": "bor", "^": "bxor", "==": "eq"},
}

# Python's and NumPy's function names, where they differ from ours.
_FOREIGN: Final[dict[str, dict[str, str]]] = {
    "unary": {
        "absolute": "abs",
        "conjugate": "conj",
        "degrees": "rad2deg",
        "arccos": "acos",
        "arccosh": "acosh",
        "arcsin": "asin",
        "arcsinh": "asinh",
        "arctan": "atan",
        "arctanh": "atanh",
        "inv": "bnot",
        "invert": "bnot",
        "bitwise_not": "bnot",
        "logical_not": "lnot",
        "not_": "lnot",
        "neg": "ainv",
        "negative": "ainv",
        "pos": "identity",
        "radians": "deg2rad",
        "positive": "identity",
        "reciprocal": "minv",
        "sign": "signum",
    },
    "binary": {
        "add": "plus",
        "subtract": "minus",
        "sub": "minus",
        "multiply": "times",
        "mul": "times",
        "divide": "truediv",
        "true_divide": "truediv",
        "floor_divide": "floordiv",
        "power": "pow",
        "float_power": "pow",
        "maximum": "max",
        "minimum": "min",
        "fmax": "max",
        "fmin": "min",
        "equal": "eq",
        "not_equal": "ne",
        "less": "lt",
        "less_equal": "le",
        "greater": "gt",
        "greater_equal": "ge",
        "logical_and": "land",
        "logical_or": "lor",
        "logical_xor": "lxor",
        "bitwise_and": "band",
        "bitwise_or": "bor",
        "bitwise_xor": "bxor",
        "and_": "band",
        "or_": "bor",
        "xor": "bxor",
        "left_shift": "shl",
        "lshift": "shl",
        "right_shift": "shr",
        "rshift": "shr",
        "arctan2": "atan2",
        "sum": "plus",
        "any": "lor",
        "all": "land",
    },
}
_BUILTINS: Final = (
    builtins.min,
    builtins.max,
    builtins.abs,
    builtins.sum,
    builtins.any,
    builtins.all,
    builtins.pow,
    builtins.round,
)
_EXAMPLES: Final = {"unary": "x + 1", "binary": "abs(x - y)", "indexunary": "x + i", "select": "x > 2"}
_ACCEPTED: Final = (
    "a name, an operator, a symbol, an expression, a function of Python's operator module or of NumPy, or a lambda"
)


def lookup_unary(obj: object) -> Unary | TypedUnary | IndexUnary | TypedIndexUnary:
    """Return the unary operator for `obj`; ``positioni`` and its variants are index-unary operators.

    Raises
    ------
    UnknownOperator
        If no operator has this name (the message lists close names), or if a text is an expression that this kind of
        operator cannot use.
    UdfParseError
        If `obj` is a function that cannot be written as an expression.
    """
    return lookup_kind("unary", obj)  # type: ignore[no-any-return]


def lookup_binary(obj: object) -> Binary | TypedBinary:
    """Return the binary operator for `obj`; for a monoid, its operator. Errors as `lookup_unary`."""
    found = table.BINARY.get(obj) if type(obj) is str else None  # every accumulator by name
    return found if type(found) is Binary else lookup_kind("binary", obj)


def lookup_indexunary(obj: object) -> IndexUnary | TypedIndexUnary:
    """Return the index-unary operator for `obj`; a select operator is one. Errors as `lookup_unary`."""
    return lookup_kind("indexunary", obj)  # type: ignore[no-any-return]


def lookup_select(obj: object) -> Select | IndexUnary | TypedIndexUnary:
    """Return the select operator for `obj`; an index-unary operator is accepted. Errors as `lookup_unary`."""
    return lookup_kind("select", obj)  # type: ignore[no-any-return]


def lookup_monoid(obj: object) -> Monoid | TypedMonoid:
    """Return the monoid for `obj`; for a binary operator, its monoid. Errors as `lookup_unary`."""
    return lookup_kind("monoid", obj)  # type: ignore[no-any-return]


def lookup_semiring(obj: object) -> Semiring | TypedSemiring:
    """Return the semiring for `obj`: ``"min_plus"``, ``"min.+"``, any monoid and binary. Errors as `lookup_unary`."""
    return lookup_kind("semiring", obj)  # type: ignore[no-any-return]


_CLASSES: Final[dict[str, tuple[type[Any], ...]]] = {
    "unary": (Unary, TypedUnary, IndexUnary, TypedIndexUnary),
    "binary": (Binary, TypedBinary),
    "indexunary": (IndexUnary, TypedIndexUnary),
    "select": (IndexUnary, TypedIndexUnary),
    "monoid": (Monoid, TypedMonoid),
    "semiring": (Semiring, TypedSemiring),
}


# Entries of the table of typed operators: a program may make any number of expressions.
_MOST_TYPED: Final = 4096


def lookup_kind(kind: str, obj: object) -> Any:
    """Return the operator of a kind for `obj`: see the functions above."""
    if isinstance(obj, str):
        found = table.find(kind, _SYMBOLS.get(kind, {}).get(obj, obj))  # most names are in the table as they are
        if found is not None and not isinstance(found, Parameterized):
            return found
        obj = found or _by_text(kind, obj)
    if isinstance(obj, Parameterized):
        obj = obj()
    if isinstance(obj, _CLASSES[kind]):
        return obj
    if kind == "binary" and isinstance(obj, (Monoid, TypedMonoid)):
        return obj.op
    if kind == "monoid" and isinstance(obj, (Binary, TypedBinary)):
        return _monoid_of(obj)
    if (name := _foreign(obj)) is not None:
        for table_kind in ("unary", "binary"):
            own = _FOREIGN[table_kind].get(name, name)
            if kind in (table_kind, "monoid" if table_kind == "binary" else "") and table.find(kind, own):
                return table.find(kind, own)
        raise table.unknown(kind, name)
    if isinstance(obj, types.FunctionType) and kind in ("unary", "binary", "indexunary", "select"):
        return anonymous(kind, obj)
    if isinstance(obj, (Family, TypedUnary, TypedBinary, TypedIndexUnary, TypedMonoid, TypedSemiring)):
        raise InvalidOperator(f"expected a {kind} operator, got {obj!r}")
    if isinstance(obj, types.FunctionType):
        raise InvalidOperator(
            f"expected a {kind}, got a function; make one with {kind}.register_anonymous, which needs "
            + ("its identity too" if kind == "monoid" else "a monoid and a binary operator")
        )
    raise InvalidOperator(f"expected a {kind} operator ({_ACCEPTED}), got {obj!r}")


def typed(kind: str, obj: object, x: np.dtype[Any], y: np.dtype[Any]) -> Any:
    """Return ``lookup_kind(kind, obj).typed(x, y)``; for a name or a semiring that was used before, by one look-up."""
    if type(obj) is not str:
        found = obj._cache.get((x, y)) if type(obj) is Semiring and kind == "semiring" else None
        return lookup_kind(kind, obj).typed(x, y) if found is None else found
    known = table.TYPED
    found = known.get((kind, obj, x, y))
    if found is None:
        found = lookup_kind(kind, obj).typed(x, y)
        if len(known) < _MOST_TYPED:
            known[kind, obj, x, y] = found
    return found


def anonymous(kind: str, function: Any, name: str = "") -> Any:
    """Return a user-defined operator that is not entered in the table."""
    where = f"{kind}.{name}" if name else f"{kind} operator"
    expr = expression_of(function, "indexunary" if kind == "select" else kind, where)
    family: type[Any] = {"unary": Unary, "binary": Binary, "indexunary": IndexUnary, "select": Select}[kind]
    z = np.dtype(bool) if kind == "select" else "infer"
    own = getattr(function, "__name__", "")
    source = None if isinstance(function, str) else function
    return family(name or (own if own.isidentifier() else "anonymous"), expr, z=z, builtin=False, orig_func=source)


def _foreign(obj: object) -> str | None:
    if isinstance(obj, np.ufunc):
        return "mod" if obj is np.remainder else obj.__name__  # the operator `remainder` is that of IEEE 754
    if obj is builtins.round:
        return "rint"  # ties to even, where the operator `round` is C's
    if isinstance(obj, types.BuiltinFunctionType) and (obj in _BUILTINS or obj.__module__ == "_operator"):
        return obj.__name__
    return "abs" if obj is operator.abs else None


def _monoid_of(obj: Binary | TypedBinary) -> Any:
    # A typed operator that is made by hand has no family.
    found = obj.monoid if isinstance(obj, Binary) or obj.parent is not None else table.find("monoid", obj.name)
    if isinstance(obj, TypedBinary) and isinstance(found, Monoid):
        found = found.typed(obj.z) if found.typed(obj.z).op == obj else None
    if found is not None:
        return found
    raise NotAMonoid(
        f"{obj!r} is not known to be a monoid; give it an identity with monoid.register_anonymous, "
        f"or take one of: {', '.join(table.names('monoid'))}"
    )


def _by_text(kind: str, text: str) -> Any:
    name, bracket, dtype = text.strip().partition("[")
    if bracket:
        if not dtype.endswith("]") or "[" in dtype:
            raise UnknownOperator(f"no {kind} operator is called {text!r}; a type is written 'plus[int32]'")
        types_ = [part.strip() for part in dtype[:-1].split(",")]
        family = _by_text(kind, name)
        return family[types_[0]] if len(types_) == 1 else family[tuple(types_)]
    name = _SYMBOLS.get(kind, {}).get(name, name)
    for known in (name, _FOREIGN.get(kind, {}).get(name, ""), name.lower()):
        if (found := table.find(kind, known)) is not None:
            return found
    if kind == "semiring" and (composed := _compose(name)) is not None:
        return composed
    if kind == "select" and (found := table.find("indexunary", name)) is not None and not found.builtin:
        return found
    if (expression := _expression(kind, text.strip())) is not None:
        try:
            return anonymous(kind, expression)
        except UdfParseError as error:  # the caller may try another kind of operator
            raise InvalidExpression(str(error)) from None
    raise table.unknown(kind, name)


def _expression(kind: str, text: str) -> str | None:
    """Return the text of an expression, or None where `text` is only a word, a (dotted) name or a number.

    Raises
    ------
    InvalidExpression
        If it has the signs of an expression, and is none.
    """
    if kind not in ("unary", "binary", "indexunary", "select"):
        return None
    if kind == "select" and text.startswith(tuple(_COMPARISONS)):
        text = f"x {text}"
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError) as error:
        if re.search(r"\w\s*[^\w\s.,\[\]'\"]", text) is None:
            return None  # words
        at = getattr(error, "offset", None) or len(text)
        reason = getattr(error, "msg", error)
        raise InvalidExpression(
            f"{kind} operator: {text!r} is no expression: {reason} at character {min(at, len(text))}; an expression is "
            f"{_EXAMPLES[kind]!r}, for example"
        ) from None
    return None if isinstance(node, (ast.Name, ast.Attribute, ast.Constant)) else text


def _compose(text: str) -> Semiring | None:
    """Return a semiring from the names or symbols of a monoid and a binary operator: ``min.+``, ``max_minus``."""
    marks = "." if "." in text else "_"
    for place in (p for p, letter in enumerate(text) if letter == marks):
        parts = []
        for kind, part in (("monoid", text[:place]), ("binary", text[place + 1 :])):
            parts.append(table.find(kind, _SYMBOLS[kind].get(part, part)))
        add, mult = parts
        if add is not None and mult is not None:
            return compose(add, mult)
    return None


def compose(add: Monoid, mult: Binary, name: str = "") -> Semiring:
    """Return the semiring of a monoid and a binary operator: the built-in one where there is one."""
    builtin = add.builtin and mult.builtin and not name
    made = Semiring(name or f"{add.name}_{mult.name}", add, mult, builtin=builtin)
    if name:
        return made
    known = table.find("semiring", made.name)
    if known is not None and known.add is add and known.mult is mult:
        return cast("Semiring", known)
    if made.builtin:
        table.add(made)
    return made
