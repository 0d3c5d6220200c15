"""Convert the indices in brackets to an `Index`: integers, slices, lists, arrays, vectors."""

from __future__ import annotations

import operator
from typing import Any, cast

import numpy as np

from ..devices import dispatched
from ..engines.programs import traced
from ..engines.requests.operands import Index
from ..exceptions import DeviceMismatch, DomainMismatch, IndexOutOfBound, InvalidType, InvalidValue
from ..formats import Array, VectorStore, array_module, dense_values, device_of, index_dtype
from ..memory.allocation import allocating
from ..memory.arrays import as_type, copied, to_device, to_host
from ..symbolic import Symbolic
from .coerce import as_array


def position(value: Any, size: int, axis: str) -> int:
    """Return one index, negative ones counted from the end; IndexOutOfBound if it is not below `size`."""
    if isinstance(value, Symbolic):
        return cast(int, value.traced_index(size, axis))
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise InvalidType(f"an index of {axis} must be an integer, got {value!r}")
    index = operator.index(value)
    if not -size <= index < size:
        raise IndexOutOfBound(f"index {index} is out of bounds for {axis} with size {size}")
    return index + size if index < 0 else index


def pair(place: Any) -> tuple[Any, Any]:
    """Return the two indices of a position of a matrix, as in ``(i, j) in A``; InvalidType for anything else."""
    if not (isinstance(place, (tuple, list)) and len(place) == 2) and getattr(place, "shape", None) != (2,):
        raise InvalidType(f"a position of a matrix is a pair, as in (i, j) in A; got {place!r}")
    row, col = place
    return row, col


def positions(value: Any, size: int, axis: str, device: str) -> Index:
    """Return a slice, a range, a list, an array or a full vector store of integers as an `Index`.

    Arrays are checked against the size; on the GPU this reads two numbers back (synchronizes).
    """
    if value is Ellipsis or (isinstance(value, slice) and value == slice(None)):
        return Index(size, size)
    if isinstance(value, slice):
        try:
            start, stop, step = value.indices(size)
        except (TypeError, ValueError) as error:  # ValueError: a step of zero
            bounds = ":".join(repr(bound) for bound in (value.start, value.stop, value.step) if bound is not None)
            hint = "; a list of names selects these" if "'" in bounds else ""
            raise InvalidType(f"{axis}: a slice has integers, and a step that is not 0; got {bounds}{hint}") from error
        return Index(size, len(range(start, stop, step)), start, step)
    if isinstance(value, range):
        ends = {end < 0 for end in (value[0], value[-1])} if value else {False}
        if len(ends) == 1:
            first = position(value[0], size, axis) if value else 0
            if value:
                position(value[-1], size, axis)
            return Index(size, len(value), first, value.step)
        value = np.asarray(value)  # from below 0 to above: not an arithmetic sequence of positions
    if traced.users and traced.is_traced(value):
        return cast(Index, traced.current().index(value, size))
    if isinstance(value, VectorStore):
        if value.device != device:
            raise DeviceMismatch(f"{axis}: the index is on {value.device}, the object on {device}; move one with .to()")
        return index_of_vector(value, size, axis)
    if isinstance(value, (list, tuple)):
        value = np.asarray(value, dtype=None if value else np.int64)
    elif (
        hasattr(value, "__dlpack__")
        and not hasattr(value, "nvals")
        and not isinstance(getattr(value, "dtype", None), np.dtype)
    ):
        value = as_array("index", value)  # of another library, which has types of its own
    if getattr(value, "ndim", None) != 1:
        shown = f"a {type(value).__name__}" if hasattr(value, "ndim") else repr(value)
        hint = "; a mask is A[M.S] or A[M.V], a condition A.select('>', 3)" if hasattr(value, "nvals") else ""
        hint = "; for names set .labels" if isinstance(value, (str, bytes)) else hint
        raise InvalidType(f"{axis}: an index is an integer, a slice, or one-dimensional; got {shown}{hint}")
    return _array(value, size, axis, device)


@dispatched()
def index_of_vector(store: VectorStore, size: int, axis: str) -> Index:
    """Return a full vector as an index."""
    return index_of_whole(store, size, axis, store.device)


def index_of_whole(store: VectorStore, size: int, axis: str, device: str) -> Index:
    """Return a full vector in the memory of this process as an index for objects on `device`."""
    return _array(_vector(store), size, axis, device, frozen=True)


def _vector(store: VectorStore) -> Array:
    if store.format != "full" and store.nvals != store.size:
        hint = "; as a mask it is v[m.V], a condition is v.select('>', 3)" if store.dtype == np.bool_ else ""
        raise InvalidType(f"a vector used as an index must be full; {store.nvals} of {store.size} are present{hint}")
    return dense_values(store)


def _array(value: Array, size: int, axis: str, device: str, *, frozen: bool = False) -> Index:
    """Return an array as an index, checked.  frozen: it belongs to a store, which nothing changes."""
    given = value
    if value.dtype.kind == "b":
        if value.size != size:
            raise InvalidValue(f"{axis}: a boolean index needs {size} elements, got {value.size}")
        value = array_module(device_of(value)).flatnonzero(value)
    elif value.dtype.kind not in "iu":
        raise DomainMismatch(f"{axis}: an index array must hold integers, got {value.dtype}")
    if value.size and not _are_positions(value, size):
        low, high = _extremes(value)
        if high >= size or low < -size:
            wrong = high if high >= size else low
            raise IndexOutOfBound(f"index {wrong} is out of bounds for {axis} with size {size}")
        if low < 0:
            value = value.astype(np.int64)
            value = array_module(device_of(value)).where(value < 0, value + size, value)
    with allocating(f"index of {axis}", device):
        # Converted before it is copied to a GPU, and after it is copied from one.
        array = value if isinstance(value, np.ndarray) else to_device(value, device)
        array = to_device(as_type(array, index_dtype(size), copy=False), device)
        if array is given and not frozen:  # an operation that is pending reads the positions of this moment
            array = copied(array)
    return Index(size, int(array.size), array=array)


def _are_positions(value: Array, size: int) -> bool:
    """Return True if all are found to be below `size` and not negative, by one pass.  On the GPU it synchronizes."""
    # As unsigned numbers, negative ones are at least 2^(bits - 1).
    if not value.dtype.isnative or size > 1 << (8 * value.itemsize - 1):
        return False
    return int(to_host(value.view(f"u{value.itemsize}").max())) < size


def _extremes(value: Array) -> tuple[int, int]:
    if device_of(value) == "cpu":
        return int(value.min()), int(value.max())
    xp = array_module("cuda")
    # Both numbers in one copy.  synchronizes
    low, high = to_host(xp.stack([value.min(), value.max()]))
    return int(low), int(high)
