"""Counts of rows and edges in one word: the bound, and the methods for matrices beyond it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cupy")

import semiring as sr
from semiring import operators
from semiring.engines import registry
from semiring.engines.cuda import packing
from semiring.engines.cuda.mxv_direction import choose
from semiring.engines.cuda.mxv_mask import kernel_mask
from semiring.engines.cuda.mxv_push import push
from semiring.engines.requests.graphs import Closure, Link
from semiring.engines.requests.operands import Rows, Spec
from semiring.engines.requests.operations import Mxv
from semiring.exceptions import NotSupported
from semiring.formats import CSR, Full, IndexList, Pattern
from tests import verify

INT32 = np.dtype(np.int32)
INT64 = np.dtype(np.int64)


@pytest.mark.parametrize("bits", [0, 1, 28, 29, 32, 36, 62, 63])
def test_bounds(bits: int) -> None:
    """The most entries of `bits` bits, with the most rows that the other bits count, fill the word; one more wraps."""
    entries, rows = (1 << bits) - 1, (1 << (64 - bits)) - 1
    shift = packing.packing("test", rows, entries, "stop")
    assert shift == bits
    word = rows << shift | entries
    assert word == 2**64 - 1
    assert (word >> shift, word & ((1 << shift) - 1)) == (rows, entries)
    assert not packing.packable(rows + 1, entries)
    if bits < 63:
        assert packing.packable(rows // 2, entries + 1)
        assert not packing.packable(rows // 2 + 1, entries + 1)
    with pytest.raises(NotSupported, match=f"^test: .*{rows + 1:,} rows with {entries:,} entries; stop$"):
        packing.packing("test", rows + 1, entries, "stop")


def test_the_matrix_of_the_report_does_not_fit() -> None:
    assert not packing.packable(978_000_000, 42_000_000_000)
    assert packing.packable(65_608_366, 3_612_134_270)


def huge(iso: bool = True) -> CSR:
    """978 M rows with 42 G entries in 16 bytes: every array repeats one element."""
    rows, entries = 978_000_000, 42_000_000_000
    indptr, indices = np.broadcast_to(np.int64(0), rows + 1), np.broadcast_to(np.int32(0), entries)
    pattern = Pattern(rows, rows, indptr, indices)
    values = None if iso else np.broadcast_to(np.int32(1), entries)
    return CSR(pattern, INT32, values, np.int32(1) if iso else None)


def closure(semiring: str, a: CSR, *, final: bool) -> Closure:
    typed = operators.lookup_semiring(semiring).typed(INT32, INT32)
    frontier = IndexList(a.nrows, INT32, np.zeros(1, np.int32), None, np.int32(0))
    rows = Rows(a)
    return Closure(frontier, rows, rows, typed, final, 5)


def served(spec: Spec) -> str:
    found = registry.find(spec, "cuda")
    assert found is not None
    return found.function.__name__


def test_searches_past_the_bound_count_apart() -> None:
    """Levels, parents and components run tile by tile; operations that read values raise before they allocate."""
    assert served(closure("min_plus", huge(), final=True)) == "closure_outofcore"
    assert served(closure("any_secondi", huge(iso=False), final=True)) == "closure_outofcore"
    forest = Full(978_000_000, INT32, np.broadcast_to(np.int32(0), 978_000_000))
    whole = Link(forest, huge().pattern, 0, None, None)
    assert served(whole) == "link_outofcore"
    assert served(replace(whole, last=1)) == "link"  # lists no rows
    for spec in (closure("any_second", huge(iso=False), final=True), closure("min_plus", huge(iso=False), final=False)):
        found = registry.find(spec, "cuda")
        assert found is not None
        with pytest.raises(NotSupported, match="978,000,000 rows with 42,000,000,000 entries"):
            found.function(spec)


def product(direction: str, size: int) -> Mxv:
    a, n = huge(), 978_000_000
    u: Any = IndexList(n, INT32, np.broadcast_to(np.int32(0), size), None, np.int32(1))
    rows = Rows(a)
    return Mxv(n, n, rows, rows, u, operators.lookup_semiring("min_plus").typed(INT32, INT32), True, None, direction)


def test_products_past_the_bound_pull() -> None:
    many = 2**28
    unmasked = kernel_mask(None, 978_000_000)
    assert unmasked is not None
    assert not choose(product("auto", many), unmasked).push
    with pytest.raises(NotSupported, match="268,435,456 rows with 42,000,000,000 entries; let direction be"):
        push(product("push", many), unmasked)


@pytest.mark.gpu
@pytest.mark.parametrize("codec", [None, "varint", "packed"])
@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
def test_what_counts_apart_is_right(codec: Any, direction: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the device, with a word too short for 2,048 rows; the few long rows whose hubs are listed fit."""
    monkeypatch.setattr(packing, "_BITS", 26)
    with sr.use("cuda"):
        A = sr.random.kronecker(11, seed=3)
        indptr, indices, _ = A.to("cpu").to_csr()
        if codec is not None:
            A = A.compress(codec)
        source = int(np.diff(indptr).argmax())
        with sr.config.set(direction=direction), sr.explain() as log:
            levels = sr.algorithms.bfs_levels(A, source).to("cpu").to_dense(verify.UNREACHED)
            parents = sr.algorithms.bfs_parents(A, source).to("cpu").to_dense(verify.UNREACHED)
        labels = sr.algorithms.connected_components(A).to("cpu").to_dense()
        with pytest.raises(NotSupported, match="one word of 26 bits"):
            sr.algorithms.sssp(sr.random.kronecker(11, seed=3, weights="uniform"), source).wait()
    assert "cuda.closure_outofcore" in {call.kernel for call in log}
    verify.bfs_levels(indptr, indices, source, levels)
    verify.bfs_parents(indptr, indices, source, parents, levels)
    verify.components(indptr, indices, labels)
