"""Unary operators, one row each: ``unary.sqrt(A)``, ``A.apply("sqrt")``.

The functions of analysis are defined on floats and complex numbers; integers are computed as the float that holds them.
Functions that need an order or a truth value are not defined on complex numbers.
"""

from __future__ import annotations

import math

from semiring.dtypes import ALL, BOOL, COMPLEX, FLOATS, INTEGERS, ORDERED, REALS, DType
from semiring.operators import table
from semiring.operators.expression import Expression
from semiring.operators.families import IndexUnary, Unary
from semiring.operators.family import POSITION_TYPES
from semiring.operators.lookup import lookup_unary
from semiring.operators.registration import registration
from semiring.operators.types import TypedIndexUnary, TypedUnary

NUMBERS = REALS + COMPLEX
FIELDS = FLOATS + COMPLEX


def _row(name: str, expr: str, types: tuple[DType, ...] = ALL, z: DType | str = "same", alias: str = "") -> Unary:
    made = Unary(name, Expression(expr), types, z)
    table.add(made, *alias.split())
    return made


def _position(name: str, expr: str) -> IndexUnary:
    made = IndexUnary(name, Expression(expr), POSITION_TYPES)
    table.add(made)
    table.add(made, kind="unary")
    return made


identity = _row("identity", "x")
abs = _row("abs", "abs(x)", z="real")
ainv = _row("ainv", "-x")
minv = _row("minv", "minv(x)")
one = _row("one", "1")
lnot = _row("lnot", "lnot(x)", ORDERED, BOOL)
bnot = _row("bnot", "bnot(x)", INTEGERS)
signum = _row("signum", "sign(x)", NUMBERS)
floor = _row("floor", "floor(x)", NUMBERS)
ceil = _row("ceil", "ceil(x)", NUMBERS)
round = _row("round", "round(x)", NUMBERS)
rint = _row("rint", "rint(x)", NUMBERS)
trunc = _row("trunc", "trunc(x)", NUMBERS)
isnan = _row("isnan", "isnan(x)", ALL, BOOL)
isinf = _row("isinf", "isinf(x)", ALL, BOOL)
isfinite = _row("isfinite", "isfinite(x)", ALL, BOOL)
sqrt = _row("sqrt", "sqrt(x)", FIELDS)
cbrt = _row("cbrt", "cbrt(x)", FLOATS)
exp = _row("exp", "exp(x)", FIELDS)
exp2 = _row("exp2", "exp2(x)", FIELDS)
expm1 = _row("expm1", "expm1(x)", FIELDS)
log = _row("log", "log(x)", FIELDS)
log2 = _row("log2", "log2(x)", FIELDS)
log10 = _row("log10", "log10(x)", FIELDS)
log1p = _row("log1p", "log1p(x)", FIELDS)
sin = _row("sin", "sin(x)", FIELDS)
cos = _row("cos", "cos(x)", FIELDS)
tan = _row("tan", "tan(x)", FIELDS)
asin = _row("asin", "asin(x)", FIELDS)
acos = _row("acos", "acos(x)", FIELDS)
atan = _row("atan", "atan(x)", FIELDS)
sinh = _row("sinh", "sinh(x)", FIELDS)
cosh = _row("cosh", "cosh(x)", FIELDS)
tanh = _row("tanh", "tanh(x)", FIELDS)
asinh = _row("asinh", "asinh(x)", FIELDS)
acosh = _row("acosh", "acosh(x)", FIELDS)
atanh = _row("atanh", "atanh(x)", FIELDS)
erf = _row("erf", "erf(x)", FLOATS)
erfc = _row("erfc", "erfc(x)", FLOATS)
lgamma = _row("lgamma", "lgamma(x)", FLOATS)
tgamma = _row("tgamma", "tgamma(x)", FLOATS)
frexpx = _row("frexpx", "frexpx(x)", FLOATS)
frexpe = _row("frexpe", "frexpe(x)", FLOATS)

# Parts of complex numbers; a real number is a complex one whose imaginary part is 0.
conj = _row("conj", "conj(x)", NUMBERS)
real = _row("real", "real(x)", NUMBERS, "real", alias="creal")
creal = real
imag = _row("imag", "imag(x)", NUMBERS, "real", alias="cimag")
cimag = imag
arg = _row("arg", "arg(x)", FIELDS, "real", alias="carg angle")
carg = arg
angle = arg

# Functions of NumPy.
square = _row("square", "x * x")
fabs = _row("fabs", "abs(x)", FLOATS)
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
    """Return the operator of this name or symbol, with an optional type in brackets: ``"sqrt[float32]"``.

    Parameters
    ----------
    text : str

    Raises
    ------
    UnknownOperator, DomainMismatch

    Examples
    --------
    >>> from_string("sqrt"), from_string("sqrt[float32]")
    (unary.sqrt, unary.sqrt[float32])
    """
    return lookup_unary(text)


def __getattr__(name: str) -> Unary:
    made: Unary = table.attribute("unary", name)
    return made


def __dir__() -> list[str]:
    return table.listing("unary")
