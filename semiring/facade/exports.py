"""Exports of what an object stores: indices and values as arrays, and the entries of a Vector.

`Vector` binds `to_coo` and `to_dict` as its methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes
from ..config import engine_for
from ..exceptions import DomainMismatch, InvalidValue
from ..formats import dense_values, device_of
from ..formats.parts import whole_of
from ..memory.allocation import allocating, require
from ..memory.arrays import read_only, to_host
from ..ops.cast import cast_store
from ..ops.convert import index_list
from ..record_types import shown
from .operand import exported

if TYPE_CHECKING:
    from .vector import Vector


def to_coo(
    self: Vector,
    dtype: Any = None,
    *,
    index_dtype: Any = np.int64,
    device: str | None = None,
    indices: bool = True,
    values: bool = True,
    sort: bool = True,
) -> tuple[Any, Any]:
    """(indices, values), ascending.

    Parameters
    ----------
    dtype : type of the values; None: unchanged
    indices, values : False: None in place of that array
    sort : accepted for programs of python-graphblas; the entries are ascending either way
    index_dtype : type of the indices.  None: as they are stored, int32 below 2**31 positions, without a copy;
        arithmetic on them, such as ``i * n + j``, then wraps at 2**31.
    device : ``"cpu"`` returns NumPy arrays, ``"cuda"`` CuPy arrays; None: those of the vector's device

    Raises
    ------
    InvalidValue
        If the type cannot hold the last position.
    DomainMismatch, OutOfMemory

    Notes
    -----
    Arrays of this vector's device, which it may share: NumPy arrays are read-only, CuPy arrays must not be written
    to.  Cost O(nvals) and 8 bytes an entry for int64 indices, with ``index_dtype=None`` O(1); O(size) for a bitmap,
    and O(nvals) for one value that all share.  Synchronizes on the GPU for a bitmap.

    Examples
    --------
    >>> indices, values = Vector.from_coo([3, 0], [5, 6]).to_coo()
    >>> indices.tolist(), values.tolist()
    ([0, 3], [6, 5])
    """
    entries = index_list(whole_of(self.store))
    places = exported_indices("to_coo", entries.indices, entries.size, index_dtype) if indices else None
    listed = exported_values("to_coo", entries, dtype, device) if values else None
    return None if places is None else exported(places, device), listed


def to_dict(self: Vector) -> dict[int, Any]:
    """{index: value} of all entries, as Python numbers.  Synchronizes on the GPU.

    Examples
    --------
    >>> Vector.from_coo([3, 0], [5, 6]).to_dict()
    {0: 6, 3: 5}
    """
    indices, values = self.to_coo(index_dtype=None)
    return dict(zip(to_host(indices).tolist(), to_host(values).tolist(), strict=True))


def exported_indices(operation: str, indices: Any, size: int, index_dtype: Any) -> Any:
    """Indices below `size` in the requested type (None: unchanged), shared if they have it."""
    if index_dtype is None:
        return read_only(indices)
    wanted = dtypes.lookup(index_dtype)
    if wanted.kind not in "iu":
        raise DomainMismatch(f"{operation}: index_dtype= must be a type of integers or None, got {wanted}")
    if size - 1 > np.iinfo(wanted).max:
        raise InvalidValue(f"{operation}: index_dtype={wanted} cannot hold {size - 1}; expected int64, or None")
    if wanted == indices.dtype:
        return read_only(indices)
    device = device_of(indices)
    require(operation, device, int(indices.size) * wanted.itemsize)
    with allocating(operation, device):
        return read_only(indices.astype(wanted))


def exported_values(operation: str, store: Any, dtype: Any, device: str | None) -> Any:
    """Values of a store in the requested type (None: theirs) on a device (None: its own), shared if they have both."""
    wanted = store.dtype if dtype is None else dtypes.lookup(dtype)
    with allocating(operation, store.device):
        listed = dense_values(cast_store(store, wanted, engine_for(store.device)))
        return exported(read_only(shown(listed)), device)
