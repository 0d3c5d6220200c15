"""The types by python-graphblas's names, as objects that NumPy and this library accept as dtypes.

A NumPy dtype compares equal to the `DataType` of the same values and to its name: importing this module registers the
GraphBLAS names with NumPy, which compares a dtype with a text by converting the text.
"""

from __future__ import annotations

from functools import total_ordering
from typing import Any, Final

import numpy as np

from semiring import dtypes as _own

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
    "unify",
]

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
        The name in C, ``"int64_t"``.

    Examples
    --------
    >>> import semiring.compat.graphblas as gb
    >>> gb.dtypes.INT64.name, gb.dtypes.INT64.np_type, gb.dtypes.INT64 == "INT64"
    ('INT64', dtype('int64'), True)
    """

    __slots__ = ("c_type", "dtype", "name", "np_type")

    def __init__(self, name: str, dtype: _own.DType, c_type: str) -> None:
        self.name, self.np_type, self.dtype, self.c_type = name, dtype, dtype, c_type

    def __eq__(self, other: object) -> bool:
        """Compare with a type or the name of one; TypeError for any other object."""
        return bool(lookup_dtype(other).np_type == self.np_type)

    def __lt__(self, other: object) -> bool:
        """Compare kind and size, for sorting; TypeError for what is neither a type nor the name of one."""
        return self._order() < lookup_dtype(other)._order()

    def _order(self) -> tuple[str, int]:
        return self.np_type.kind, self.np_type.itemsize

    def __hash__(self) -> int:
        return hash(self.np_type)

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of the NumPy dtype: ``kind``, ``itemsize``."""
        return getattr(self.np_type, name)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return lookup_dtype, (self.name,)


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
_BY_DTYPE: Final = {made.np_type: made for made in _TYPES}
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
    if isinstance(key, str) and (named := _BY_C_NAME.get(key)) is not None:
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
    return _BY_DTYPE.setdefault(dtype, DataType(str(dtype), dtype, "")) if known is None else known
