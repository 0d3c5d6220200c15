"""Compare an engine with the specification: presence and integers exactly, other numbers to a tolerance by type."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from semiring.devices import moved, whole_of
from semiring.distributed.part_stores import PartVector
from semiring.engines import registry
from semiring.engines.reference.dense import densify, sparsify
from semiring.engines.requests.operands import Index, Mask, Rows, Spec
from semiring.engines.requests.operations import (
    Apply,
    IsSymmetric,
    Keep,
    Mxm,
    Mxv,
    ReduceRows,
    ReduceScalar,
    Scale,
    Scan,
    scalar_value,
)
from semiring.engines.rows.bits import bits_of
from semiring.formats import (
    CSR,
    AnyPattern,
    Bitmap,
    BitmapPattern,
    CompressedPattern,
    Full,
    IndexList,
    Pattern,
    Store,
    index_dtype,
    is_bitmap,
    structure_only,
    word_count,
)
from semiring.memory.arrays import local_device, to_device, to_host
from tests import storage_kinds

# Relative; the absolute part is the same number. Engines sum in different orders and use different libraries.
TOLERANCE: dict[np.dtype[Any], float] = {
    np.dtype(np.float32): 2e-5,
    np.dtype(np.float64): 1e-11,
    np.dtype(np.complex64): 2e-5,
    np.dtype(np.complex128): 1e-11,
}


def device_for(engine: str) -> str:
    return engine if engine == "cuda" or " " in engine else "cpu"


def place(item: Any, device: str) -> Any:
    """The same request, with every array on `device`."""
    if " " in device and isinstance(item, AnyPattern):
        return place(structure_only(item), device).pattern
    if isinstance(item, (CSR, Pattern)) and not item.kind.uncompressed:
        return item if " " not in device else moved(item, device)
    if isinstance(item, (CSR, Pattern, CompressedPattern)):
        return item if item.device == device else item.to(device)
    if isinstance(item, (IndexList, Bitmap, Full)):
        return item.to(device)
    if isinstance(item, Rows):
        return Rows(place(item.get(), device) if item.ready else None, lambda: place(item.get(), device))
    if isinstance(item, np.ndarray):
        return to_device(item, local_device(device))
    if isinstance(item, tuple):
        return tuple(place(part, device) for part in item)
    if isinstance(item, (Spec, Mask, Index)):
        return replace(item, **{part.name: place(getattr(item, part.name), device) for part in fields(item)})
    return item


def result_of(spec: Spec, engine: str) -> Any:
    """The result of the engine, uncompressed and in host memory."""
    placed = place(spec, device_for(engine))
    found = registry.run(placed, engine)
    if isinstance(found, (PartVector, CSR)) and " " in engine:
        assert found.device == engine, f"the result is on {found.device}"
        return storage_kinds.as_uncompressed(whole_of(found), "cpu")
    if isinstance(found, (CSR, IndexList, Bitmap, Full)):
        assert found.device == device_for(engine), f"the result is on {found.device}"
        if isinstance(found, CSR) and found.placement == "device" and isinstance(found.pattern, Pattern):
            return found.to("cpu")
        if isinstance(found, CSR):
            unchanged = found is getattr(placed, "a", None)  # a selection of every entry
            bits = any(kind.format == BitmapPattern.format for kind in placed.kinds())
            assert bits or unchanged or isinstance(spec, (Apply, Scale, Scan)), (
                "only operations that keep the structure, and those on bitmaps, keep the storage kind"
            )
        return storage_kinds.as_uncompressed(found, engine).to("cpu")
    return scalar_value(found) if callable(found) else found


def check(spec: Spec, engine: str) -> Any:
    """Compare the engine's result with the specification's; returns the former.

    A sample of the requests runs again with its matrices in other storage kinds.
    """
    got = result_of(spec, engine)
    known = _on_host(spec)
    _compare(known, engine, place(spec, device_for(engine)), got)
    if storage_kinds.is_chosen(spec, engine):
        other = storage_kinds.in_other_kinds(place(spec, device_for(engine)), engine)
        with storage_kinds.small_slices():
            again = result_of(other, engine)
            _compare(known, engine, other, again)
    return got


def _on_host(item: Any) -> Any:
    """The same request for the specification, which reads uncompressed NumPy arrays: data on a GPU is copied back."""
    if isinstance(item, (CSR, PartVector)) and " " in item.device:
        return storage_kinds.as_uncompressed(whole_of(item), "cpu")
    if isinstance(item, (CSR, Pattern, CompressedPattern, IndexList, Bitmap, Full)) and item.device == "cpu":
        return item
    if isinstance(item, CSR):
        return storage_kinds.as_uncompressed(item, "cuda").to("cpu")
    if isinstance(item, (Pattern, CompressedPattern)):
        return _on_host(structure_only(item)).pattern
    if isinstance(item, (IndexList, Bitmap, Full)):
        return item.to("cpu")
    if isinstance(item, Rows):
        return Rows(_on_host(item.get()) if item.ready else None, lambda: _on_host(item.get()))
    if isinstance(item, (Spec, Mask, Index)):
        return replace(item, **{part.name: _on_host(getattr(item, part.name)) for part in fields(item)})
    if isinstance(item, tuple):
        return tuple(_on_host(part) for part in item)
    return to_host(item) if hasattr(item, "__cuda_array_interface__") else item


def _compare(spec: Spec, engine: str, placed: Spec, got: Any) -> None:
    """Compare the engine's result `got` of the request `placed` with the specification's."""
    expected = registry.run(spec, "reference")
    mask = getattr(spec, "mask", None)
    if mask is not None:
        row = registry.find(placed, engine)
        if row is not None and "mask" in row.fuses:
            expected = registry.run(Keep(expected, mask), "reference")
    if isinstance(expected, (CSR, IndexList, Bitmap, Full)):
        check_invariants(got)
        if is_any(spec):
            assert_same(got, expected, values=False)
            assert_legal(spec, got)
        else:
            assert_same(got, expected)
    elif isinstance(spec, IsSymmetric):
        assert got == expected
    else:
        assert isinstance(spec, ReduceScalar), f"{type(spec).__name__} has a result that is not compared here"
        check_scalar(spec, got, expected)


def is_any(spec: Spec) -> bool:
    """Whether several results are valid."""
    if isinstance(spec, (Mxv, Mxm)):
        return spec.semiring.add.is_any
    return isinstance(spec, (ReduceRows, ReduceScalar)) and spec.monoid.is_any


def check_scalar(spec: ReduceScalar, got: Any, expected: Any) -> None:
    assert (got is None) == (expected is None), f"got {got!r}; expected {expected!r}"
    if expected is None:
        return
    assert np.asarray(got).dtype == expected.dtype
    if is_any(spec):
        values, present = densify(spec.a)
        assert same_values(np.full(int(present.sum()), got), values[present]).any()
    else:
        assert same_values(np.asarray(got), np.asarray(expected)), f"got {got!r}; expected {expected!r}"


def same_values(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Elementwise: equal, both NaN, or floats that are close; complex numbers also where neither is finite.

    Which parts of a product of infinite complex numbers are NaN depends on the order of its factors.
    """
    if a.dtype.kind not in "fc":
        return np.asarray(a == b)
    bound = TOLERANCE[a.dtype]
    close = np.isclose(a, b, rtol=bound, atol=bound, equal_nan=True)
    return np.asarray(close | ~(np.isfinite(a) | np.isfinite(b)) if a.dtype.kind == "c" else close)


def assert_same(got: Store, expected: Store, *, values: bool = True) -> None:
    """The same shape, type and entries."""
    assert got.dtype == expected.dtype, f"dtype {got.dtype}; expected {expected.dtype}"
    (a, a_present), (b, b_present) = densify(got), densify(expected)
    assert a.shape == b.shape, f"shape {a.shape}; expected {b.shape}"
    differ = a_present != b_present
    assert not differ.any(), (
        f"{int(differ.sum())} entries differ in presence, first {_first(differ)}: "
        f"present {bool(a_present[_first(differ)])}, expected {bool(b_present[_first(differ)])}"
    )
    if values:
        differ = b_present & ~same_values(a, b)
        assert not differ.any(), (
            f"{int(differ.sum())} values differ, first {_first(differ)}: "
            f"{a[_first(differ)]!r}, expected {b[_first(differ)]!r}"
        )


def assert_legal(spec: Spec, got: Store) -> None:
    """Each value of a result under ``any`` is one of those that were collected in its slot."""
    values, present = densify(got)
    legal = np.zeros(values.shape, np.bool_)
    for single in _one_at_a_time(spec):
        one, one_present = densify(registry.run(single, "reference"))
        legal |= one_present & same_values(values, one)
    wrong = present & ~legal
    assert not wrong.any(), f"no operand gives the value at {_first(wrong)}: {values[_first(wrong)]!r}"


def _one_at_a_time(spec: Spec) -> list[Spec]:
    """The request restricted to each inner index alone."""
    if isinstance(spec, Mxv):
        u, present = densify(spec.vector)
        return [
            replace(spec, vector=sparsify(u, present & (np.arange(u.size) == k), u.dtype), mask=None)
            for k in np.flatnonzero(present)
        ]
    a, present = densify(spec.a)  # type: ignore[attr-defined]
    columns = np.arange(a.shape[1])
    parts = [sparsify(a, present & (columns == k), a.dtype) for k in columns]
    return [replace(spec, a=part, **({"mask": None} if isinstance(spec, Mxm) else {})) for part in parts]


def check_invariants(store: Store) -> None:
    """The invariants of every store."""
    if store.iso is not None:
        assert isinstance(store.iso, np.generic), f"iso value {store.iso!r} is no NumPy scalar"
        assert store.iso.dtype == store.dtype
    if store.values is not None:
        assert store.values.dtype == store.dtype, f"values are {store.values.dtype}, dtype is {store.dtype}"
        assert store.values.ndim == 1
    slots = store.size if isinstance(store, (Bitmap, Full)) else store.nvals
    if isinstance(store, CSR):
        slots = store.pattern.slots
    assert store.values is None or store.values.size == slots
    if is_bitmap(store):
        check_invariants(bits_of(structure_only(store.pattern)))
    elif isinstance(store, CSR) and isinstance(store.pattern, Pattern):
        check_pattern(store.pattern)
    elif isinstance(store, IndexList):
        indices = to_host(store.indices)
        assert indices.dtype == index_dtype(store.size)
        assert (np.diff(indices) > 0).all(), "indices are not ascending"
        assert indices.size == 0 or (indices[0] >= 0 and indices[-1] < store.size)
    elif isinstance(store, Bitmap):
        assert store.words.dtype == np.uint32
        assert store.words.size == word_count(store.size)
        bits = np.unpackbits(to_host(store.words).astype("<u4").view(np.uint8), bitorder="little")
        assert not bits[store.size :].any(), "a bit past the end is set"
        assert int(bits.sum()) == store.nvals, f"{int(bits.sum())} bits are set; count says {store.nvals}"


def check_pattern(pattern: Pattern) -> None:
    indptr, indices = to_host(pattern.indptr), to_host(pattern.indices)
    assert indptr.dtype == index_dtype(indices.size), f"indptr is {indptr.dtype}"
    assert indices.dtype == index_dtype(pattern.ncols), f"indices are {indices.dtype}"
    assert indptr.size == pattern.nrows + 1
    assert indptr[0] == 0
    assert indptr[-1] == indices.size
    assert (np.diff(indptr) >= 0).all()
    first = np.zeros(indices.size, np.bool_)  # of its row
    first[indptr[:-1][np.diff(indptr) > 0]] = True
    unordered = np.flatnonzero(~first[1:] & (np.diff(indices) <= 0)) + 1
    assert unordered.size == 0, f"row {np.searchsorted(indptr, unordered[0], 'right') - 1} is not ascending"
    assert indices.size == 0 or (indices.min() >= 0 and indices.max() < pattern.ncols)


def _first(where: np.ndarray[Any, Any]) -> tuple[int, ...]:
    return tuple(int(p) for p in np.argwhere(where)[0])
