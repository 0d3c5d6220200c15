"""Sort keys: unsigned integers in the order of values, or at random.  All engines compute the same."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["order_keys", "random_keys"]

Array = np.ndarray[Any, Any]

# Of splitmix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def order_keys(values: Array, descending: bool) -> Array:
    """Return a key for each value, of 32 bits or, for values of 64 bits, of 64: NaN has the largest, -0.0 that of 0."""
    wide = values.dtype.itemsize > 4
    unsigned: Any = np.uint64 if wide else np.uint32
    sign = unsigned(1) << unsigned(63 if wide else 31)
    if values.dtype.kind == "f":
        bits = (values + values.dtype.type(0)).view(unsigned)
        keys = np.where(bits & sign, ~bits, bits | sign)
    elif values.dtype.kind == "i":
        keys = values.astype(np.int64 if wide else np.int32).view(unsigned) ^ sign
    else:
        keys = values.astype(unsigned)
    if descending:
        keys = ~keys
    if values.dtype.kind == "f":
        keys[np.isnan(values)] = ~unsigned(0)
    return np.asarray(keys)


def random_keys(seed: int, rows: Any, columns: Any) -> Any:
    """Return 32 random bits for each entry, determined by the seed, its row and its column alone.

    rows, columns: arrays of either device.
    """
    with np.errstate(over="ignore"):
        of_row = _mix((rows.astype(np.uint64) + np.uint64(1)) * _STEP + np.uint64(seed))
        made = _mix((columns.astype(np.uint64) + np.uint64(1)) * _STEP + of_row)
    return (made >> np.uint64(32)).astype(np.uint32)


def _mix(x: Any) -> Any:
    """Return the finalizer of splitmix64: every bit of the result depends on every bit of x."""
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))
