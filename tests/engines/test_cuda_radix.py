"""The radix sort: stable for all types, sizes and distributions of keys; its shared memory on all devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

cupy = pytest.importorskip("cupy")

import semiring as sr  # noqa: E402
from semiring.engines.cuda import radix, tuning  # noqa: E402

KEYS = ((np.uint32, 5), (np.uint32, 22), (np.uint64, 44), (np.uint64, 64))
VALUES = (None, np.uint8, np.float32, np.float64)
# Bytes of shared memory of a multiprocessor and of a block: compute capabilities 7.0, 7.5, 8.0, 8.6, 9.0.
DEVICES = ((96, 96), (64, 64), (164, 163), (100, 99), (228, 227))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("value", [0, 1, 8])
def test_a_block_fits_shared_memory(device: tuple[int, int], value: int) -> None:
    for key, bits in ((4, 0), (4, 1), (4, 32), (8, 33), (8, 64)):
        shape = radix.chosen(device[0] << 10, device[1] << 10, key, value, bits)
        assert 2 <= shape.digit <= 11
        assert shape.digit * max(-(-bits // shape.digit), 1) >= bits
        assert shape.items % 2 == 0
        assert shape.tile < 2**16  # slots are 16-bit
        assert shape.resident * (shape.shared + 1024) <= device[0] << 10


def drawn(rng: np.random.Generator, n: int, dtype: Any, bits: int, kind: str) -> Any:
    keys = rng.integers(0, 2**bits - 1, n, np.uint64, endpoint=True).astype(dtype)
    if kind == "equal":
        keys[:] = 2**bits - 1
    elif kind == "frequent":
        keys[rng.random(n) < 0.7] = 3
    return np.sort(keys) if kind == "sorted" else keys


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["uniform", "equal", "frequent", "sorted"])
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(("key", "bits"), KEYS)
def test_as_numpy(key: Any, bits: int, value: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few keys, around one tile, and several tiles; then as many launches as tiles."""
    monkeypatch.setattr(tuning, "RADIX_ENTRIES", 1)
    rng = np.random.default_rng(bits)
    size = 0 if value is None else np.dtype(value).itemsize
    tile = radix.chosen(100 << 10, 99 << 10, np.dtype(key).itemsize, size, bits).tile
    for n, launch in ((1, None), (2, None), (tile - 1, None), (tile, None), (tile + 1, None), (9 * tile + 7, 1)):
        if launch is not None:
            monkeypatch.setattr(radix, "_LAUNCH", launch)
        keys = drawn(rng, n, key, bits, kind)
        values = None if value is None else rng.integers(0, 255, n).astype(value)
        order = np.argsort(keys, kind="stable")
        given = None if values is None else cupy.asarray(values)
        made, moved = radix.sort_keys(cupy.asarray(keys), given, bits)
        np.testing.assert_array_equal(cupy.asnumpy(made), keys[order])
        if values is not None:
            np.testing.assert_array_equal(cupy.asnumpy(moved), values[order])


@pytest.mark.gpu
@pytest.mark.parametrize("index", [np.int32, np.int64, np.uint32])
@pytest.mark.parametrize("dup", ["plus", "first", "second"])
def test_builds_combine_repeats_in_order(dup: str, index: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    n, nrows, ncols = 30_000, 900, 1 << 21
    i, j = rng.integers(0, nrows, n).astype(index), 7 * rng.integers(0, 40, n).astype(index)
    x = rng.integers(0, 100, n)
    made = []
    for entries in (1, 1 << 40):  # by digits, and by CuPy
        monkeypatch.setattr(tuning, "RADIX_ENTRIES", entries)
        with sr.use("cuda"):
            C = sr.Matrix.from_coo(*map(cupy.asarray, (i, j, x)), nrows=nrows, ncols=ncols, dup_op=dup)
        made.append(C.to_coo())
    for ours, others in zip(*made, strict=True):
        np.testing.assert_array_equal(cupy.asnumpy(ours), cupy.asnumpy(others))
