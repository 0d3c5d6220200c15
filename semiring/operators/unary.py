"""Unary operators, one row each: ``unary.sqrt(A)``, ``A.apply("sqrt")``.

The functions of real analysis are defined on floats; integers are computed as the float that holds them.
"""

from __future__ import annotations

import math

from semiring.dtypes import ALL, BOOL, FLOATS, INTEGERS, REALS, DType
from semiring.operators import table
from semiring.operators.families import IndexUnary, Unary
from semiring.operators.family import POSITION_TYPES
from semiring.operators.lookup import lookup_unary
from semiring.operators.registration import registration
from semiring.operators.types import TypedIndexUnary, TypedUnary


def _row(name: str, expr: str, types: tuple[DType, ...] = ALL, z: DType | str = "same") -> Unary:
    made = Unary(name, expr, types, z)
    table.add(made)
    return made


def _position(name: str, expr: str) -> IndexUnary:
    made = IndexUnary(name, expr, POSITION_TYPES)
    table.add(made)
    table.add(made, kind="unary")
    return made


identity = _row("identity", "x")
abs = _row("abs", "abs(x)")
ainv = _row("ainv", "-x")
minv = _row("minv", "minv(x)")
one = _row("one", "1")
lnot = _row("lnot", "lnot(x)", ALL, BOOL)
bnot = _row("bnot", "bnot(x)", INTEGERS)
signum = _row("signum", "sign(x)", REALS)
floor = _row("floor", "floor(x)", REALS)
ceil = _row("ceil", "ceil(x)", REALS)
round = _row("round", "round(x)", REALS)
rint = _row("rint", "rint(x)", REALS)
trunc = _row("trunc", "trunc(x)", REALS)
isnan = _row("isnan", "isnan(x)", ALL, BOOL)
isinf = _row("isinf", "isinf(x)", ALL, BOOL)
isfinite = _row("isfinite", "isfinite(x)", ALL, BOOL)
sqrt = _row("sqrt", "sqrt(x)", FLOATS)
cbrt = _row("cbrt", "cbrt(x)", FLOATS)
exp = _row("exp", "exp(x)", FLOATS)
exp2 = _row("exp2", "exp2(x)", FLOATS)
expm1 = _row("expm1", "expm1(x)", FLOATS)
log = _row("log", "log(x)", FLOATS)
log2 = _row("log2", "log2(x)", FLOATS)
log10 = _row("log10", "log10(x)", FLOATS)
log1p = _row("log1p", "log1p(x)", FLOATS)
sin = _row("sin", "sin(x)", FLOATS)
cos = _row("cos", "cos(x)", FLOATS)
tan = _row("tan", "tan(x)", FLOATS)
asin = _row("asin", "asin(x)", FLOATS)
acos = _row("acos", "acos(x)", FLOATS)
atan = _row("atan", "atan(x)", FLOATS)
sinh = _row("sinh", "sinh(x)", FLOATS)
cosh = _row("cosh", "cosh(x)", FLOATS)
tanh = _row("tanh", "tanh(x)", FLOATS)
asinh = _row("asinh", "asinh(x)", FLOATS)
acosh = _row("acosh", "acosh(x)", FLOATS)
atanh = _row("atanh", "atanh(x)", FLOATS)
erf = _row("erf", "erf(x)", FLOATS)
erfc = _row("erfc", "erfc(x)", FLOATS)
lgamma = _row("lgamma", "lgamma(x)", FLOATS)
tgamma = _row("tgamma", "tgamma(x)", FLOATS)
frexpx = _row("frexpx", "frexpx(x)", FLOATS)
frexpe = _row("frexpe", "frexpe(x)", FLOATS)

# Functions of NumPy that C does not have.
square = _row("square", "x * x")
deg2rad = _row("deg2rad", f"x * {math.pi / 180}", FLOATS)
rad2deg = _row("rad2deg", f"x * {180 / math.pi}", FLOATS)
signbit = _row("signbit", "copysign(1.0, x) < 0", FLOATS, BOOL)
spacing = _row("spacing", "select(x < 0, -1, 1) * (nextafter(abs(x), abs(x) + abs(x) + 1) - abs(x))", FLOATS)

# Row and column of the entry, from 0 and from 1.
positioni = _position("positioni", "i")
positionj = _position("positionj", "j")
positioni1 = _position("positioni1", "i + 1")
positionj1 = _position("positionj1", "j + 1")


register_new, register_anonymous = registration(Unary, "lambda x: min(max(x, 0.0), 1.0)")


def from_string(text: str) -> Unary | TypedUnary | IndexUnary | TypedIndexUnary:
    """Return the operator of this name or symbol, with an optional type in brackets: ``"sqrt[float32]"``."""
    return lookup_unary(text)


def __getattr__(name: str) -> Unary:
    made: Unary = table.attribute("unary", name)
    return made


def __dir__() -> list[str]:
    return table.listing("unary")
