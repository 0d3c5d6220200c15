"""The types by python-graphblas's names, as objects that NumPy and this library accept as dtypes.

A NumPy dtype compares equal to the `DataType` of the same values and to its name: importing this module registers the
GraphBLAS names with NumPy, which compares a dtype with a text by converting the text.
"""

from __future__ import annotations

from functools import total_ordering
from typing import Any, Final

import numpy as np

from semiring import dtypes as _own
from semiring.exceptions import NameTaken

__all__ = [
    "BOOL",
    "FC32",
    "FC64",
    "FP32",
    "FP64",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "DataType",
    "lookup_dtype",
    "register_anonymous",
    "register_new",
    "unify",
]

# The name of the only field of the record that represents an array type.
(_ARRAY,) = _own.lookup(np.dtype((np.int64, (1,)))).names or ()
# Whether complex types are values of this library.
_supports_complex: Final = True


@total_ordering
class DataType:
    """A value type with python-graphblas's attributes; ``numpy.dtype`` accepts it.

    Attributes
    ----------
    name : str
        GraphBLAS's name, ``"INT64"``.
    np_type, dtype : numpy.dtype
        The type as NumPy has it.
    c_type : str
        The name in C, ``"int64_t"``; empty for a record.

    Examples
    --------
    >>> import semiring.compat.graphblas as gb
    >>> gb.dtypes.INT64.name, gb.dtypes.INT64.np_type, gb.dtypes.INT64 == "INT64"
    ('INT64', dtype('int64'), True)
    """

    __slots__ = ("_is_anonymous", "c_type", "dtype", "name", "np_type")

    def __init__(self, name: str, dtype: _own.DType, c_type: str) -> None:
        self.name, self.dtype, self.c_type = name, dtype, c_type
        self.np_type = dtype[_ARRAY] if dtype.names == (_ARRAY,) else dtype
        self._is_anonymous = False

    def __eq__(self, other: object) -> bool:
        """Compare with a type or the name of one; TypeError for any other object."""
        return bool(lookup_dtype(other).dtype == self.dtype)

    def __lt__(self, other: object) -> bool:
        """Compare kind and size, for sorting; TypeError for what is neither a type nor the name of one."""
        return self._order() < lookup_dtype(other)._order()

    def _order(self) -> tuple[str, int]:
        return self.np_type.kind, self.np_type.itemsize

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of the NumPy dtype: ``kind``, ``itemsize``."""
        return getattr(self.np_type, name)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        if _own.is_record(self.dtype):
            return _restored, (self.name, self.dtype, self._is_anonymous)
        return lookup_dtype, (self.name,)

    @property
    def _is_udt(self) -> bool:
        return _own.is_record(self.dtype)


def _made(name: str, c_type: str) -> DataType:
    return DataType(name, getattr(_own, name), c_type)


BOOL: Final = _made("BOOL", "_Bool")
INT8: Final = _made("INT8", "int8_t")
INT16: Final = _made("INT16", "int16_t")
INT32: Final = _made("INT32", "int32_t")
INT64: Final = _made("INT64", "int64_t")
UINT8: Final = _made("UINT8", "uint8_t")
UINT16: Final = _made("UINT16", "uint16_t")
UINT32: Final = _made("UINT32", "uint32_t")
UINT64: Final = _made("UINT64", "uint64_t")
FP32: Final = _made("FP32", "float")
FP64: Final = _made("FP64", "double")
FC32: Final = _made("FC32", "float _Complex")
FC64: Final = _made("FC64", "double _Complex")

_TYPES: Final = (BOOL, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FP32, FP64, FC32, FC64)
_BY_DTYPE: Final = {made.dtype: made for made in _TYPES}
# "float" is FP64, as in Python and NumPy.
_BY_C_NAME: Final = {made.c_type: made for made in _TYPES if made is not FP32}
np.sctypeDict.update({made.name: made.np_type.type for made in _TYPES})


def lookup_dtype(key: Any, value: Any = None) -> DataType:
    """Return the type that `key` is or names, in C too; `value` is accepted and not read.

    Parameters
    ----------
    key : a type or the name of one
    value : accepted, and not read

    Raises
    ------
    DomainMismatch
        If no type has this name.

    Examples
    --------
    >>> import semiring.compat.graphblas as gb
    >>> gb.dtypes.lookup_dtype("INT32").name, gb.Vector("FP64", 3).dtype == "FP64"
    ('INT32', True)
    """
    if isinstance(key, DataType):
        return key
    if isinstance(key, str) and (named := _BY_C_NAME.get(key) or _REGISTERED.get(key)) is not None:
        return named
    return _of(_own.lookup(key))


def unify(type1: Any, type2: Any) -> DataType:
    """Return the type that holds the values of both.

    Parameters
    ----------
    type1, type2 : types, as `lookup_dtype` accepts them

    Raises
    ------
    DomainMismatch

    Examples
    --------
    >>> import semiring.compat.graphblas as gb
    >>> gb.dtypes.unify("INT32", "FP32").name
    'FP64'
    """
    return _of(_own.unify(lookup_dtype(type1), lookup_dtype(type2)))


def _of(dtype: _own.DType) -> DataType:
    """Return the object for a NumPy dtype: a constant of this module, or one with NumPy's name for the other types."""
    known = _BY_DTYPE.get(dtype)
    if known is None:
        made = DataType(_default_name(dtype), dtype, "")
        made._is_anonymous = True
        known = _BY_DTYPE.setdefault(dtype, made)
    return known


def _default_name(dtype: _own.DType) -> str:
    """Return the text of a record type: ``{'x': INT64, 'y': FP64}``, ``UINT8[3]``."""
    dtype = dtype[_ARRAY] if dtype.names == (_ARRAY,) else dtype
    if dtype.subdtype is not None:
        part, shape = dtype.subdtype
        return f"{_default_name(part)}[{', '.join(map(str, shape))}]"
    if dtype.names is None:
        return _BY_DTYPE[dtype].name
    return "{" + ", ".join(f"{field!r}: {_default_name(dtype[field])}" for field in dtype.names) + "}"


def register_new(name: str, dtype: Any) -> DataType:
    """Return the record type `dtype` as an attribute of this module: see `semiring.dtypes.register_new`.

    Parameters
    ----------
    name : str
    dtype : a record or array type

    Raises
    ------
    InvalidValue, NameTaken

    Examples
    --------
    >>> import semiring.compat.graphblas as gb
    >>> gb.dtypes.register_new("EdgeOfExample", {"weight": float}).name, gb.dtypes.EdgeOfExample._is_anonymous
    ('EdgeOfExample', False)
    >>> sr.dtypes.unregister("EdgeOfExample")
    """
    if name in globals():
        raise NameTaken(f"dtypes.register_new: the name {name!r} is taken; choose another name")
    found = _own.register_new(name, _type_of(dtype))
    made = DataType(name, found, "")
    _BY_DTYPE[found] = _REGISTERED[name] = made
    return made


def register_anonymous(dtype: Any, name: str | None = None) -> DataType:
    """Return the record type `dtype` as an object without an attribute: see `semiring.dtypes.register_anonymous`.

    Parameters
    ----------
    dtype : a record or array type
    name : str, optional
        Only displayed.

    Raises
    ------
    InvalidValue

    Examples
    --------
    >>> import semiring.compat.graphblas as gb
    >>> gb.dtypes.register_anonymous({"x": int, "y": "UINT8[3]"}).name
    "{'x': INT64, 'y': UINT8[3]}"
    """
    found = _own.register_anonymous(_type_of(dtype))
    known = _of(found)
    if name is None and known._is_anonymous:
        return known
    made = DataType(_default_name(found) if name is None else name, found, "")
    made._is_anonymous = True
    if known._is_anonymous:
        _BY_DTYPE[found] = made
    return made


def _type_of(dtype: Any) -> Any:
    return dtype.dtype if isinstance(dtype, DataType) else dtype


_REGISTERED: Final[dict[str, DataType]] = {}


def _restored(name: str, dtype: _own.DType, anonymous: bool) -> DataType:
    """Return the record type that a pickle names: the registered one where it is known."""
    known = _REGISTERED.get(name)
    if known is not None and known.dtype == dtype:
        return known
    return register_anonymous(dtype, name) if anonymous else register_new(name, dtype)


def __getattr__(name: str) -> DataType:
    found = _REGISTERED.get(name)
    if found is None or name not in dir(_own):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in _REGISTERED if name in dir(_own))})
