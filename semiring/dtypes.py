"""The thirteen value types: one table, and functions on it.

A value type is a ``numpy.dtype`` everywhere in the package; this module defines the constants, looks types up
by the names that users write, and holds their C names for the engines that generate text.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np

from semiring.exceptions import DomainMismatch

__all__ = [
    "ALL",
    "BOOL",
    "COMPLEX",
    "FC32",
    "FC64",
    "FLOATS",
    "FP32",
    "FP64",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "INTEGERS",
    "ORDERED",
    "REALS",
    "SIGNED",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "UNSIGNED",
    "DType",
    "c_name",
    "complex_type",
    "largest",
    "limits",
    "lookup",
    "name",
    "real_type",
    "unify",
    "widest",
]

DType = np.dtype[Any]

BOOL: Final[DType] = np.dtype(np.bool_)
INT8: Final[DType] = np.dtype(np.int8)
INT16: Final[DType] = np.dtype(np.int16)
INT32: Final[DType] = np.dtype(np.int32)
INT64: Final[DType] = np.dtype(np.int64)
UINT8: Final[DType] = np.dtype(np.uint8)
UINT16: Final[DType] = np.dtype(np.uint16)
UINT32: Final[DType] = np.dtype(np.uint32)
UINT64: Final[DType] = np.dtype(np.uint64)
FP32: Final[DType] = np.dtype(np.float32)
FP64: Final[DType] = np.dtype(np.float64)
FC32: Final[DType] = np.dtype(np.complex64)
FC64: Final[DType] = np.dtype(np.complex128)

SIGNED: Final = (INT8, INT16, INT32, INT64)
UNSIGNED: Final = (UINT8, UINT16, UINT32, UINT64)
INTEGERS: Final = SIGNED + UNSIGNED
FLOATS: Final = (FP32, FP64)
REALS: Final = INTEGERS + FLOATS
COMPLEX: Final = (FC32, FC64)
# The types whose values have an order.
ORDERED: Final = (BOOL, *REALS)
ALL: Final = (*ORDERED, *COMPLEX)

_C_NAMES: Final[dict[DType, str]] = {
    BOOL: "bool",
    INT8: "signed char",
    INT16: "short",
    INT32: "int",
    INT64: "long long",
    UINT8: "unsigned char",
    UINT16: "unsigned short",
    UINT32: "unsigned int",
    UINT64: "unsigned long long",
    FP32: "float",
    FP64: "double",
    FC32: "Complex<float>",
    FC64: "Complex<double>",
}

# np.dtype("l") and np.dtype("q") are equal but are two objects: this table maps both to one.
_CANONICAL: Final[dict[DType, DType]] = {dtype: dtype for dtype in ALL}

# Python's types, and NumPy's scalar types.
_PYTHON_TYPES: Final[dict[type, DType]] = {bool: BOOL, int: INT64, float: FP64, complex: FC64} | {
    dtype.type: dtype for dtype in ALL
}

# The GraphBLAS names, where they differ from NumPy's.
_NAMES: Final[dict[str, DType]] = {"fp32": FP32, "fp64": FP64, "fc32": FC32, "fc64": FC64} | {
    dtype.name: dtype for dtype in ALL
}


def lookup(obj: object) -> DType:
    """Return the value type that `obj` names.

    Parameters
    ----------
    obj : object
        A ``numpy.dtype``, a NumPy scalar type (``np.int32``), a Python type (``bool``, ``int``, ``float``,
        ``complex``), or a name: NumPy's (``"int32"``, ``"float64"``, ``"i4"``), GraphBLAS's (``"INT32"``, ``"FP32"``,
        ``"FC64"``) or Python's (``"float"``).

    Returns
    -------
    numpy.dtype
        One of :data:`ALL`, in native byte order.

    Raises
    ------
    DomainMismatch
        For anything else, objects included.

    Examples
    --------
    >>> lookup(float), lookup("FP32"), lookup(np.uint8)
    (dtype('float64'), dtype('float32'), dtype('uint8'))
    """
    if isinstance(obj, np.dtype) and (known := _CANONICAL.get(obj)) is not None:
        return known
    if isinstance(obj, type) and (known := _PYTHON_TYPES.get(obj)) is not None:
        return known
    if isinstance(obj, str) and (named := _NAMES.get(obj.lower())) is not None:
        return named
    try:
        if obj is None:  # NumPy reads None as float64
            raise TypeError
        return _CANONICAL[np.dtype(obj).newbyteorder("=")]  # type: ignore[call-overload]
    except (TypeError, KeyError, ValueError, SyntaxError):  # NumPy parses some text as Python
        supported = ", ".join(dtype.name for dtype in ALL)
        raise DomainMismatch(f"dtype {obj!r} is not supported; expected one of: {supported}") from None


def unify(a: object, b: object) -> DType:
    """Return the type that holds both `a` and `b`, by NumPy's promotion rules.

    Parameters
    ----------
    a, b : types, as `lookup` accepts them

    Raises
    ------
    DomainMismatch
        If one is not a value type.

    Examples
    --------
    >>> unify("int32", "float32"), unify("int64", "uint64"), unify(bool, "int8")
    (dtype('float64'), dtype('float64'), dtype('int8'))
    """
    return _unified(lookup(a), lookup(b))


@functools.cache
def _unified(a: DType, b: DType) -> DType:
    return a if a == b else _CANONICAL[np.result_type(a, b)]


def widest(dtype: object) -> DType:
    """Return the type in which values of `dtype` are summed: int64, uint64, float64, complex128; booleans in int64.

    Parameters
    ----------
    dtype : a type, as `lookup` accepts it

    Raises
    ------
    DomainMismatch

    Examples
    --------
    >>> widest("int8"), widest("uint8"), widest("float32"), widest(bool)
    (dtype('int64'), dtype('uint64'), dtype('float64'), dtype('int64'))
    """
    return {"u": UINT64, "f": FP64, "c": FC64}.get(lookup(dtype).kind, INT64)


def real_type(dtype: DType) -> DType:
    """Return the type of the real and imaginary parts of a complex type; other types are unchanged.

    Parameters
    ----------
    dtype : a value type

    Examples
    --------
    >>> real_type(FC64), real_type(FP32)
    (dtype('float64'), dtype('float32'))
    """
    return {FC32: FP32, FC64: FP64}.get(dtype, dtype)


def complex_type(dtype: DType) -> DType:
    """Return the complex type whose parts hold values of `dtype`: complex64 for float32 alone; complex is unchanged.

    Parameters
    ----------
    dtype : a value type

    Examples
    --------
    >>> complex_type(FP32), complex_type(INT8)
    (dtype('complex64'), dtype('complex128'))
    """
    return FC32 if dtype in (FP32, FC32) else FC64


def name(dtype: object) -> str:
    """Return NumPy's name of a value type: ``"bool"``, ``"int32"``, ``"float64"``.

    Parameters
    ----------
    dtype : a type, as `lookup` accepts it

    Raises
    ------
    DomainMismatch

    Examples
    --------
    >>> name(float), name("INT32")
    ('float64', 'int32')
    """
    return lookup(dtype).name


def c_name(dtype: object) -> str:
    """Return the C++ name of a value type: ``"bool"``, ``"signed char"``, ``"long long"``, ``"double"``.

    Parameters
    ----------
    dtype : a type, as `lookup` accepts it

    Raises
    ------
    DomainMismatch

    Examples
    --------
    >>> c_name("int8"), c_name("int64")
    ('signed char', 'long long')
    """
    return _C_NAMES[lookup(dtype)]


@functools.cache
def largest(dtype: DType) -> int:
    """The largest value of an integer type; of booleans 1.

    Parameters
    ----------
    dtype : a value type of booleans or integers

    Examples
    --------
    >>> int(largest(np.dtype("int8")))
    127
    """
    return 1 if dtype.kind == "b" else int(np.iinfo(dtype).max)


def limits(dtype: object) -> tuple[np.generic, np.generic]:
    """Return the smallest and the largest value of a type, as scalars of it; minus and plus infinity for floats.

    Parameters
    ----------
    dtype : a type, as `lookup` accepts it

    Raises
    ------
    DomainMismatch
        For complex types, which have no order.

    Examples
    --------
    >>> limits("int8")
    (np.int8(-128), np.int8(127))
    """
    found = lookup(dtype)
    low: float
    high: float
    if found.kind == "c":
        raise DomainMismatch(f"{found.name} has no smallest and no largest value: complex numbers have no order")
    if found.kind == "b":
        low, high = False, True
    elif found.kind == "f":
        low, high = -np.inf, np.inf
    else:
        low, high = np.iinfo(found).min, np.iinfo(found).max
    return found.type(low), found.type(high)


def __dir__() -> list[str]:
    return sorted(__all__)
