"""Compressed matrices in the public API: created, measured, read, compared, printed, stored; in every placement."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix
from semiring.engines.rows.bounds import SLICE
from semiring.exceptions import InvalidValue
from semiring.formats import CODECS, PLACEMENTS
from semiring.memory.arrays import to_host
from tests.storage_kinds import small_slices

pytestmark = pytest.mark.one_process("formats, codecs and placements are of parts")

codecs = pytest.mark.parametrize("codec", CODECS)
placements = pytest.mark.parametrize("placement", PLACEMENTS)


def matrix(ncols: int = 3000, *, iso: bool = False) -> Matrix:
    """A matrix with empty rows, short ones, and one that spans several tiles."""
    rng = np.random.default_rng(1)
    rows = np.concatenate([rng.integers(0, 40, 300), np.full(700, 17), [39]])
    cols = np.concatenate([rng.integers(0, ncols, 1000), [ncols - 1]])
    rows[rows == 3] = 4
    order = np.unique(np.stack([rows, cols]), axis=1)
    values: Any = 2.5 if iso else np.arange(order.shape[1], dtype=np.float64) + 1
    return Matrix.from_coo(order[0], order[1], values, shape=(42, ncols))


@pytest.fixture(params=[None, 200], ids=["whole", "slices"])
def slices(request: pytest.FixtureRequest) -> Iterator[None]:
    """The codecs get the rows all at once, and a few at a time."""
    with small_slices(request.param or SLICE):
        yield


@codecs
@placements
@pytest.mark.parametrize("iso", [False, True])
@pytest.mark.usefixtures("slices")
def test_there_and_back(codec: str, placement: str, iso: bool) -> None:
    A = matrix(iso=iso)
    P = A.to(placement=placement)
    C = P.compress(codec)
    assert (A.format, A.codec, C.format, C.codec) == ("csr", None, "ccsr", codec)
    assert (C.shape, C.dtype, C.nvals, C.is_iso, C.placement) == (A.shape, A.dtype, A.nvals, A.is_iso, placement)
    assert C.compress(codec) is C
    assert C.store.values is P.store.values
    assert C.nbytes == A.compressed_nbytes(codec) == P.compressed_nbytes(codec) == C.compressed_nbytes(codec)
    other = next(name for name in CODECS if name != codec)
    changed = C.compress(other)
    assert (changed.codec, changed.placement) == (other, placement)
    assert changed.nbytes == C.compressed_nbytes(other) == A.compress(other).nbytes
    D = C.decompress()
    assert (D.format, D.codec, D.placement) == ("csr", None, placement)
    assert D.store.values is C.store.values
    assert D.decompress() is D
    assert A.decompress() is A
    for B in (C, changed, D):
        assert A.isequal(B, check_dtype=True)
        assert B.isequal(A, check_dtype=True)
        assert B.isequal(C)
        assert B.isclose(A)


@codecs
def test_the_same_arrays_from_every_placement(codec: str) -> None:
    A = matrix()
    made = [A.to(placement=placement).compress(codec).store.pattern for placement in PLACEMENTS]
    with small_slices(200):
        made += [A.to(placement=placement).compress(codec).store.pattern for placement in PLACEMENTS]
    arrays = [[to_host(array) for array in (p.indptr, p.base, p.at, p.stream)] for p in made]
    for other in arrays[1:]:
        for one, another in zip(arrays[0], other, strict=True):
            np.testing.assert_array_equal(one, another)


def test_packed_is_the_default_and_smaller() -> None:
    A = matrix(iso=True)
    C = A.compress()
    assert C.codec == "packed"
    assert A.compressed_nbytes() == C.nbytes < A.nbytes


@pytest.mark.parametrize("codec", ["zip", "", None, 3])
def test_an_unknown_codec_names_those_there_are(codec: Any) -> None:
    A = matrix()
    for call in (A.compress, A.compressed_nbytes, A.compress().compress):
        with pytest.raises(InvalidValue, match="'varint', 'packed'"):
            call(codec)


@codecs
def test_facts_without_arrays_are_kept(codec: str) -> None:
    A = Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 1)])
    assert A.is_symmetric_structure
    C = A.compress(codec)
    assert C.store.pattern.facts.get("symmetric") is True
    assert C.decompress().store.pattern.facts.get("symmetric") is True
    assert C.T.dup().isequal(A)


@codecs
@placements
@pytest.mark.parametrize("ncols", [3000, 1 << 33])
def test_elements(codec: str, placement: str, ncols: int, engine: str) -> None:
    if engine == "reference" and ncols > 3000:
        pytest.skip("the specification builds matrices as dense arrays")
    A = matrix(ncols)
    C = A.to(placement=placement).compress(codec)
    rows, cols, values = (to_host(part) for part in A.to_coo())
    stored = dict(zip(zip(rows.tolist(), cols.tolist(), strict=True), values.tolist(), strict=True))
    for place, value in list(stored.items())[::9]:
        assert C.get(*place) == value
        assert C[place].get() == value
        assert place in C
        beside = place[0], (place[1] + 1) % ncols
        assert C.get(*beside) == stored.get(beside)
    assert C.get(3, 0) is None
    assert C.get(-1, -1) is None
    assert C.get(39, -1) == stored[39, ncols - 1]


@codecs
@placements
def test_exports(codec: str, placement: str) -> None:
    A = matrix()
    C = A.to(placement=placement).compress(codec)
    for name in ("to_csr", "to_csc", "to_coo", "to_edgelist"):
        for one, other in zip(getattr(A, name)(), getattr(C, name)(), strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(to_host(one), to_host(other), err_msg=name)
    np.testing.assert_array_equal(A.to_numpy(0), C.to_numpy(0))
    assert A.to_dicts() == C.to_dicts()
    scipy = sr.io.to_scipy_sparse(C)
    np.testing.assert_array_equal(scipy.toarray(), A.to_numpy(0))


@codecs
def test_facts_are_kept_in_files(codec: str, tmp_path: Path) -> None:
    A = matrix()
    C = A.compress(codec)
    for ending in ("npz", "mtx"):
        path = tmp_path / f"a.{ending}"
        sr.io.write(path, C)
        assert sr.io.read(path).isequal(A)


@codecs
def test_copies(codec: str) -> None:
    C = matrix().compress(codec)
    C.name = "C"
    for made in (pickle.loads(pickle.dumps(C)), copy.copy(C), copy.deepcopy(C), C.dup(), C.compress(codec)):
        assert made.codec == codec
        assert made.isequal(C)
    assert pickle.loads(pickle.dumps(C)).name == C.compress("varint").name == C.decompress().name == "C"


@codecs
@placements
def test_shown(codec: str, placement: str) -> None:
    for A in (matrix(), matrix(7), Matrix(float, 0, 5), Matrix(float, 5, 0)):
        C = A.to(placement=placement).compress(codec)
        assert repr(C).splitlines()[1:] == repr(A).splitlines()[1:]
        assert "ccsr" in repr(C).splitlines()[0]
        assert C._repr_html_().count("<td>") == A._repr_html_().count("<td>")


@codecs
@placements
def test_other_shapes_and_parts(codec: str, placement: str) -> None:
    A = matrix()
    C = A.to(placement=placement).compress(codec)
    for shape in ((50, 4000), (42, 5000), (60, 3000), (20, 900), (20, 4000)):
        one, other = A.dup(), C.dup()
        one.resize(*shape)
        other.resize(*shape)
        assert one.isequal(other)
    assert C.diag().isequal(A.diag())
    assert C[17].isequal(A[17])
    assert C[:, 5].isequal(A[:, 5])
    assert C[3:20, ::7].isequal(A[3:20, ::7])
    one, other = A.dup(), C.dup()
    one[2:4, :] << 1.0
    other[2:4, :] << 1.0
    assert one.isequal(other)
    one, other = A[:, :1].dup(), C[:, :1].dup().compress(codec)
    assert one[:, 0].isequal(other[:, 0])


@codecs
def test_without_entries(codec: str) -> None:
    for shape in ((0, 0), (5, 0), (0, 5), (5, 5)):
        A = Matrix(int, *shape)
        C = A.compress(codec)
        assert (C.nvals, C.codec, C.nbytes) == (0, codec, A.compressed_nbytes(codec))
        assert C.isequal(A)
        assert C.decompress().isequal(A)


@pytest.mark.costly
@codecs
def test_operations_that_keep_the_structure_keep_the_storage_kind(codec: str) -> None:
    A = matrix()
    C = A.compress(codec)
    assert C.dup(int).codec == codec
    assert C.apply("ainv").codec == codec
    assert C.apply("ainv").isequal(A.apply("ainv"))
    assert (C + C).isequal(A + A)
    assert (C @ C.T).isequal(A @ A.T)
    assert (C @ C.T).codec is None
