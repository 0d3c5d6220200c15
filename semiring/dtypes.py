"""The value types: one table of thirteen, records of them, and functions on both.

A value type is a ``numpy.dtype`` everywhere in the package; this module defines the constants, looks types up
by the names that users write, and holds their C names for the engines that generate text.  A record type has fields of
these types: see `semiring.record_types`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from semiring import record_types
from semiring.exceptions import DomainMismatch, InvalidValue, NameTaken, NotNumbers
from semiring.record_types import is_record

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
    "is_record",
    "largest",
    "limits",
    "lookup",
    "name",
    "real_type",
    "register_anonymous",
    "register_new",
    "unify",
    "unregister",
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

# np.dtype("l") and np.dtype("q") are equal but are two objects: this table maps both to one.  Records are added when
# they are first met.
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
        ``"FC64"``), Python's (``"float"``) or one that `register_new` made.  A record type is a structured
        ``numpy.dtype``, or a mapping from names to types, ``{"x": int, "y": float}``; an array type is
        ``np.dtype((np.int64, (4,)))`` or ``"int64[4]"``.

    Returns
    -------
    numpy.dtype
        One of :data:`ALL`, or a record of these, in native byte order.  An array type is a record with one field.

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
    if isinstance(obj, str) and (named := _NAMES.get(obj.lower(), _REGISTERED.get(obj))) is not None:
        return named
    try:
        if obj is None:  # NumPy reads None as float64
            raise TypeError
        if isinstance(obj, Mapping):
            return _known(record_types.of_mapping(obj, lookup))
        if isinstance(obj, str):
            array = record_types.of_text(obj, lookup)
            return _known(array) if array is not None else _CANONICAL[np.dtype(obj).newbyteorder("=")]
        return _known(np.dtype(obj))  # type: ignore[call-overload]
    except (TypeError, KeyError, ValueError, SyntaxError):  # NumPy parses some text as Python
        supported = ", ".join(dtype.name for dtype in ALL)
        raise NotNumbers(f"dtype {obj!r} is not supported; expected one of: {supported}, or a record") from None


def _known(dtype: DType) -> DType:
    """Return the one object for a NumPy type that is a value type; KeyError for others."""
    if (known := _CANONICAL.get(dtype)) is not None:
        return known
    if dtype.names is None and dtype.subdtype is None:
        return _CANONICAL[dtype.newbyteorder("=")]
    found = record_types.record(dtype, _NUMBERS)
    if found is None:
        raise KeyError(dtype)
    return _CANONICAL.setdefault(found, found)


_NUMBERS: Final = frozenset(ALL)
# The types that have a name of the user's, by it, and the names.
_REGISTERED: Final[dict[str, DType]] = {}
_RECORD_NAMES: Final[dict[DType, str]] = {}


def register_new(name: str, dtype: object) -> DType:
    """Give a record type a name: ``dtypes.name`` is the type, and its name is accepted wherever a type is.

    Parameters
    ----------
    name : str
        An identifier that is no attribute of this module; a registered type of that name is replaced.
    dtype : a record or array type, as `lookup` accepts it

    Returns
    -------
    numpy.dtype

    Raises
    ------
    InvalidValue
        If the name is not an identifier, or the type is built in or has a part that is no number.
    NameTaken
        If the name belongs to something else.

    Examples
    --------
    >>> edge = register_new("Edge", {"weight": float, "time": int})
    >>> lookup("Edge") is edge, edge.names, name(edge)
    (True, ('weight', 'time'), 'Edge')
    >>> unregister("Edge")
    """
    if not str(name).isidentifier():
        raise InvalidValue(f"dtypes.register_new: the name must be an identifier, got {name!r}")
    if name.lower() in _NAMES or name in globals():
        raise NameTaken(f"dtypes.register_new: the name {name!r} is taken; choose another name")
    found = register_anonymous(dtype)
    unregister(name)
    _REGISTERED[name] = found
    _RECORD_NAMES[found] = name
    return found


def register_anonymous(dtype: object, name: str | None = None) -> DType:
    """Return the record type that `dtype` names, without registering a name.

    Parameters
    ----------
    dtype : a record or array type, as `lookup` accepts it
    name : str, optional
        Only displayed.

    Returns
    -------
    numpy.dtype

    Raises
    ------
    InvalidValue
        If the type is built in or has a part that is no number.

    Examples
    --------
    >>> name(register_anonymous({"x": int, "y": "bool[3]"}))
    "{'x': int64, 'y': bool[3]}"
    """
    try:
        found = lookup(dtype)
    except DomainMismatch:
        if getattr(dtype, "hasobject", False):
            raise InvalidValue(f"dtypes.register: {dtype!r} holds a Python object; fields are numbers") from None
        raise InvalidValue(f"dtypes.register: {dtype!r} is not a record of numbers") from None
    if not is_record(found):
        raise InvalidValue(f"dtypes.register: {found.name} is a builtin type; a record type has fields")
    if name is not None:
        _RECORD_NAMES.setdefault(found, name)
    return found


def unregister(name: str) -> None:
    """Remove the name of a type that `register_new` gave; a name that no type has is accepted.

    Parameters
    ----------
    name : str

    Examples
    --------
    >>> unregister("NoSuchType")
    """
    found = _REGISTERED.pop(name, None)
    if found is not None and _RECORD_NAMES.get(found) == name:
        del _RECORD_NAMES[found]


def __getattr__(name: str) -> DType:
    found = _REGISTERED.get(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


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
    if a == b:
        return a
    if is_record(a) or is_record(b):
        raise DomainMismatch(f"{name(a)} and {name(b)} have no common type; cast one of them, or read a field")
    return _CANONICAL[np.result_type(a, b)]


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
    found = lookup(dtype)
    if is_record(found):
        raise DomainMismatch(f"records such as {name(found)} have no sum; sum a field")
    return {"u": UINT64, "f": FP64, "c": FC64}.get(found.kind, INT64)


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
    """Return NumPy's name of a value type: ``"bool"``, ``"int32"``, ``"float64"``; a record's own, or its fields.

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
    found = lookup(dtype)
    return found.name if not is_record(found) else _RECORD_NAMES.get(found, record_types.described(found))


def c_name(dtype: object) -> str:
    """Return the C++ name of a value type: ``"bool"``, ``"signed char"``, ``"double"``; ``"Record<16>"`` of 16 bytes.

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
    if isinstance(dtype, np.dtype) and dtype.kind == "V":  # also the bytes of a record without its fields
        return f"Record<{dtype.itemsize}>"
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
    if found.kind in "cV":
        kind = "complex numbers" if found.kind == "c" else "records"
        raise DomainMismatch(f"{name(found)} has no smallest and no largest value: {kind} have no order")
    if found.kind == "b":
        low, high = False, True
    elif found.kind == "f":
        low, high = -np.inf, np.inf
    else:
        low, high = np.iinfo(found).min, np.iinfo(found).max
    return found.type(low), found.type(high)


def __dir__() -> list[str]:
    return sorted({*__all__, *_REGISTERED})
