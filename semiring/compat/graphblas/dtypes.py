"""The types by python-graphblas's names: NumPy dtypes, which also compare equal to these names.

Importing this module registers the GraphBLAS names with NumPy, so that ``A.dtype == "INT64"`` and ``np.dtype("FP32")``
hold: NumPy compares a dtype with a text by converting the text.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from semiring import dtypes as _own
from semiring.dtypes import (
    BOOL,
    FP32,
    FP64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    unify,
)

__all__ = [
    "BOOL",
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

DataType = np.dtype
# Neither complex nor record types are values of this library.
_supports_complex: Final = False

_NAMES: Final = {name: getattr(_own, name).type for name in __all__ if isinstance(getattr(_own, name, None), np.dtype)}
np.sctypeDict.update(_NAMES)


def lookup_dtype(key: Any, value: Any = None) -> np.dtype[Any]:
    """Return the type that `key` names; `value` is accepted and not read.

    Raises
    ------
    DomainMismatch
        If no type has this name.
    """
    return _own.lookup(key)
