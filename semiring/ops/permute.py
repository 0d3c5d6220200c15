"""Rows and columns in another order:  B(i, j) = A(p(i), q(j)).

An order says for each new place which old row stands there.  Engines are asked with the order of the rows and the
places of the columns, the inverse: a row is fetched, a column is renumbered.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..engines import registry
from ..engines.memory import allocating
from ..engines.spec_forms import Encode, Permute
from ..exceptions import DeviceMismatch, InvalidValue
from ..formats import CSR, Array, CompressedPattern, VectorStore, array_module, dense_values, device_of, index_dtype
from ..formats.arrays import to_device, to_host
from . import check
from .given import as_indices
from .write import Plan


def permute(a: CSR, rows: Array, cols: Array) -> Plan[CSR]:
    """B(i, j) = A(rows(i), cols(j)), for orders that `order` made; the same array for both keeps A's symmetry.

    Compressed rows stay compressed, by the same codec.
    """

    def question() -> CSR:
        engine = check.engine_of("permute", a)
        with allocating("permute", a.device):
            places = inverse(cols)
        made = cast(CSR, registry.run(Permute(a, rows, places), engine))
        if isinstance(a.pattern, CompressedPattern):
            pattern = registry.run(Encode(made.pattern, a.pattern.codec), engine)
            made = CSR(pattern, made.dtype, made.values, made.iso)
        if rows is cols and "symmetric" in a.pattern.facts:
            made.pattern.facts["symmetric"] = a.pattern.facts["symmetric"]
        return made

    return Plan("permute", a.shape, a.dtype, a.device, question)


def order(name: str, given: Any, size: int, device: str) -> Array:
    """A permutation of range(size), as an array of the right type on `device`.  Synchronises on the GPU.

    given: a full vector store, an array, or a list, of integers.  InvalidValue for anything that is no permutation,
    naming the first place that is out of range or repeats.
    """
    if isinstance(given, VectorStore):
        if given.device != device:
            raise DeviceMismatch(f"{name} lives on {given.device}, the matrix on {device}; move one with .to()")
        if given.nvals != given.size:
            raise InvalidValue(f"{name} must be full; {given.nvals} of {given.size} are present")
        array = as_indices(name, dense_values(given))
    else:
        array = as_indices(name, given).copy()  # the caller may write to his, and the operation may be pending
    if array.size != size:
        raise InvalidValue(f"{name} must be a permutation of {size} numbers, got {array.size}")
    with allocating("permute", device):
        array = to_device(array, device)
        _check(name, array, size)
        return array.astype(index_dtype(size), copy=False)


def inverse(permutation: Array) -> Array:
    """The permutation q with q(p(k)) = k."""
    xp = array_module(device_of(permutation))
    made = xp.empty(permutation.size, dtype=permutation.dtype)
    made[permutation] = xp.arange(permutation.size, dtype=permutation.dtype)
    return made


def _check(name: str, array: Array, size: int) -> None:
    """InvalidValue unless each number below `size` is there once."""
    if not size:
        return
    xp = array_module(device_of(array))
    outside = (array < 0) | (array >= size)
    if bool(to_host(outside.any())):  # synchronises on the GPU
        at = _first(outside)
        raise InvalidValue(f"{name}[{at}] = {_at(array, at)}; expected a permutation of the numbers below {size}")
    at_each = xp.full(size, size, dtype=np.int64)
    at_each[array] = xp.arange(size, dtype=np.int64)  # where a number repeats, one of its places stays
    missing = at_each == size
    if bool(to_host(missing.any())):  # synchronises on the GPU
        lacks = _first(missing)
        twice = _first(xp.bincount(array, minlength=size) > 1)
        places = xp.flatnonzero(array == twice)[:2]
        first, second = (int(place) for place in to_host(places))
        raise InvalidValue(
            f"{name}[{first}] and {name}[{second}] are both {twice}, and {lacks} is missing; expected a permutation"
        )


def _first(where: Array) -> int:
    return int(to_host(where.argmax()))


def _at(array: Array, at: int) -> int:
    return int(to_host(array[at : at + 1])[0])
