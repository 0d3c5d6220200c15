"""Compare the structure and the values of two objects."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..devices import dispatched
from ..engines.bitmap.vectors import flat
from ..engines.programs import traced
from ..engines.rows.bounds import common_bounds
from ..engines.rows.residency import listed_or_resident
from ..engines.rows.slices import is_uncompressed, walk
from ..formats import CSR, Array, HyperPattern, StorageKind, Store, array_module, dense_values, is_bitmap
from ..formats.hypersparse import hypersparse
from ..memory.arrays import to_host
from ..record_types import leaves, view
from ..symbolic import Symbolic
from . import check, structure
from .convert import index_list

# Full rows in the memory of the device: their offsets are the structure.
_FULL = StorageKind("full", "none", "device")


def symmetric(a: CSR) -> bool:
    """Return whether a(j, i) = a(i, j), cached with the matrix; NaN equals NaN.  Synchronizes the first time."""
    if not structure.is_symmetric(a.pattern):
        return False
    if a.iso is not None:
        return True
    if "symmetric" not in a.cache:
        a.cache["symmetric"] = same(a, structure.transposed(a), check_dtype=False)
    return bool(a.cache["symmetric"])


def same(a: Store, b: Store, *, check_dtype: bool, tolerance: tuple[float, float] | None = None) -> bool:
    """Return True if the same positions are stored with the same values (NaN equals NaN).  Synchronizes.

    tolerance: None for exact equality, else (relative, absolute): |a - b| <= absolute + relative * |b|.
    """
    check.engine_of("isequal", a, b)
    if check.shape_of(a) != check.shape_of(b) or (check_dtype and a.dtype != b.dtype):
        return False
    if traced.users and any(
        traced.is_traced(item) or isinstance(item, Symbolic) for item in (a, b, *(tolerance or ()))
    ):
        return cast(bool, traced.current().same(a, b, tolerance))
    return same_entries(a, b, tolerance)


@dispatched()
def same_entries(a: Store, b: Store, tolerance: tuple[float, float] | None) -> bool:
    """Return whether the entries of two objects of one shape are equal, or close."""
    if isinstance(a, CSR) and isinstance(b, CSR):
        if a.nvals != b.nvals:
            return False
        if isinstance(a.pattern, HyperPattern) or isinstance(b.pattern, HyperPattern):
            return _same_listed(a, b, tolerance)
        if is_bitmap(a) or is_bitmap(b):
            engine = check.engine_of("isequal", a, b)
            return same(flat(a, engine), flat(b, engine), check_dtype=False, tolerance=tolerance)
        both_full = a.kind == b.kind == _FULL
        if not both_full and not (is_uncompressed(a) and is_uncompressed(b)):
            return _same_rows(a, b, tolerance)
        parts = [] if a.pattern is b.pattern else [(a.indptr, b.indptr)]
        if parts and not both_full:
            parts.append((a.indices, b.indices))
    else:
        assert not isinstance(a, CSR)
        assert not isinstance(b, CSR)
        if a.nvals != b.nvals:
            return False
        if a.format == b.format == "full":
            parts = []
        else:
            a, b = index_list(a), index_list(b)
            parts = [(a.indices, b.indices)]
    xp = array_module(a.device)
    if not all(_true(xp.array_equal(x, y)) for x, y in parts):
        return False
    return _values_agree(a, b, tolerance)


def _same_listed(a: CSR, b: CSR, tolerance: tuple[float, float] | None) -> bool:
    """Compare matrices of which at least one is hypersparse: rows, offsets, columns and values."""
    a, b = (hypersparse(listed_or_resident(each)) for each in (a, b))
    xp = array_module(a.device)
    arrays = HyperPattern.ARRAYS
    same_structure = a.pattern is b.pattern or all(
        _true(xp.array_equal(getattr(a.pattern, name), getattr(b.pattern, name))) for name in arrays
    )
    return same_structure and _values_agree(a, b, tolerance)


def _same_rows(a: CSR, b: CSR, tolerance: tuple[float, float] | None) -> bool:
    """Compare slice by slice matrices of which at least one is compressed or in host memory."""
    if not _true(array_module(a.device).array_equal(a.indptr, b.indptr)):
        return False
    engine = check.engine_of("isequal", a, b)
    bounds = common_bounds(a.pattern, b.pattern)
    every = range(len(bounds) - 1)
    pairs = zip(walk(a, engine, bounds, every), walk(b, engine, bounds, every), strict=True)
    return all(same(one.rows, other.rows, check_dtype=False, tolerance=tolerance) for one, other in pairs)


def _values_agree(a: Store, b: Store, tolerance: tuple[float, float] | None) -> bool:
    xp = array_module(a.device)
    if a.iso is not None and b.iso is not None:
        x, y, xp = np.asarray(a.iso), np.asarray(b.iso), np
        if a.nvals == 0:
            return True
    else:
        x, y = dense_values(a), dense_values(b)
    if "V" in x.dtype.kind + y.dtype.kind:
        if x.dtype != y.dtype:
            return False
        return bool(equal_records(to_host(x), to_host(y)).all())  # synchronizes
    if xp is not np and (tolerance is None or "c" not in x.dtype.kind + y.dtype.kind):
        return bool(xp.agree(x, y, tolerance))  # synchronizes
    agree = x == y
    if x.dtype.kind in "fc" and y.dtype.kind in "fc":
        agree = agree | ((x != x) & (y != y))
    if tolerance is not None:
        relative, absolute = tolerance
        wide = np.complex128 if "c" in x.dtype.kind + y.dtype.kind else np.float64
        left, right = x.astype(wide), y.astype(wide)
        with np.errstate(all="ignore"):  # equal infinities compare as equal above; others must differ
            close = xp.abs(left - right) <= absolute + relative * xp.abs(right)
        agree = agree | (close & xp.isfinite(left) & xp.isfinite(right))
    return _true(agree.all())


def equal_records(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return where all numbers of two arrays of records of one type are equal; NaN equals NaN."""
    agree = np.ones(np.broadcast_shapes(x.shape, y.shape), np.bool_)
    for leaf in leaves(x.dtype):
        a, b = view(x, leaf), view(y, leaf)
        agree &= (a == b) | ((a != a) & (b != b))
    return agree


def _true(flag: Array | Any) -> bool:
    return bool(flag) if isinstance(flag, (bool, np.bool_)) else bool(to_host(flag))  # synchronizes
