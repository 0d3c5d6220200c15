"""Files read to every storage kind, on the engine under test: the same matrix in each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring import Matrix, Vector
from semiring.engines import recording
from semiring.exceptions import InvalidFormat, InvalidValue, NotSupported
from semiring.formats import CODECS, PLACEMENTS, CompressedPattern
from semiring.io.srb import Store, write_store
from semiring.io.srb_reading import map_store
from semiring.memory.arrays import to_host
from tests.storage_kinds import small_slices

GRAPH = "# from to\n0 1\n2 1\n1 0\n3 2\n0 3\n"


def entries(A: Any) -> list[tuple[int, int, Any]]:
    """The entries, read from the uncompressed matrix."""
    rows, cols, values = A.select("rowgt", -1).to_coo()
    return list(zip(rows.tolist(), cols.tolist(), values.tolist(), strict=True))


def same(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(to_host(found), to_host(expected))


@pytest.fixture(params=[None, "uniform"])
def weights(request: pytest.FixtureRequest) -> str | None:
    given: str | None = request.param
    return given


@pytest.fixture
def path(tmp_path: Path, weights: str | None) -> Path:
    target = tmp_path / "a.srb"
    sr.io.write(target, sr.random.rmat(8, 6, seed=3, weights=weights))
    return target


@pytest.mark.parametrize("codec", CODECS)
def test_plain_files_are_encoded_slice_by_slice(path: Path, codec: Any) -> None:
    whole = sr.io.open(path, compress=codec)
    with small_slices(200), recording.listen() as calls:
        made = sr.io.open(path, compress=codec, placement="host")
    assert isinstance(whole, Matrix)
    assert isinstance(made, Matrix)
    assert sum(call.operation == "encode" for call in calls) > 2
    for name in ("indptr", "base", "at", "stream"):
        same(getattr(made.store.pattern, name), getattr(whole.store.pattern, name))


@pytest.mark.parametrize("placement", [*PLACEMENTS, "auto"])
@pytest.mark.parametrize("codec", [None, *CODECS])
@pytest.mark.parametrize("verify", [False, True])
def test_every_storage_kind_has_the_same_entries(path: Path, placement: Any, codec: Any, verify: bool) -> None:
    A = sr.io.open(path)
    B = sr.io.open(path, placement=placement, compress=codec, verify=verify)
    assert isinstance(A, Matrix)
    assert isinstance(B, Matrix)
    held = B.store
    assert held.placement == ("device" if placement == "auto" else placement)
    assert held.format == ("csr" if codec is None else "ccsr")
    assert (B.shape, B.nvals, B.dtype, B.is_iso) == (A.shape, A.nvals, A.dtype, A.is_iso)
    assert B.isequal(A)
    assert entries(B) == entries(A)


@st.composite
def matrices(draw: st.DrawFn) -> Matrix:
    """Rows of very different lengths, columns up to beyond 2^32, values or none."""
    ncols = draw(st.sampled_from([1, 7, 1000, 2**31 - 1, 2**31 + 1, 2**33]))
    lengths = draw(st.lists(st.sampled_from([0, 1, 2, 50, 300]), max_size=8))
    seed = draw(st.integers(0, 2**16))
    drawn = np.random.default_rng(seed)
    rows = [np.unique(drawn.integers(0, ncols, length)) for length in lengths]
    indptr = np.concatenate([[0], np.cumsum([row.size for row in rows], dtype=np.int64)])
    columns = np.concatenate([np.zeros(0, np.int64), *rows])
    values = drawn.integers(-9, 9, columns.size) if draw(st.booleans()) else None
    return Matrix.from_csr(indptr.astype(np.int64), columns, values, ncols=ncols)


@pytest.mark.costly
@settings(max_examples=40)
@given(matrices(), st.sampled_from(CODECS), st.sampled_from(PLACEMENTS), st.booleans())
def test_round_trips(
    tmp_path_factory: pytest.TempPathFactory, A: Matrix, codec: Any, placement: Any, verify: bool
) -> None:
    folder = tmp_path_factory.mktemp("kinds")
    sr.io.write(folder / "a.srb", A)
    B: Any = sr.io.open(folder / "a.srb", compress=codec, placement=placement, verify=verify)
    assert B.isequal(A, check_dtype=True)
    sr.io.write(folder / "b.srb", B)
    C: Any
    for C in (sr.io.open(folder / "b.srb", placement=placement, verify=verify), A.compress(codec)):
        assert C.isequal(A, check_dtype=True)
        for name in ("indptr", "base", "at", "stream"):
            same(getattr(C.store.pattern, name), getattr(B.store.pattern, name))


@pytest.mark.parametrize("codec", CODECS)
def test_compressed_files(path: Path, codec: Any) -> None:
    A = sr.io.open(path, compress=codec)
    compressed = path.with_name("compressed.srb")
    sr.io.write(compressed, A)
    assert map_store(compressed, verify=True).codec == codec
    for placement in PLACEMENTS:
        for B in (sr.io.open(compressed, placement=placement), sr.io.read(compressed, placement=placement)):
            pattern = B.store.pattern
            assert isinstance(pattern, CompressedPattern)
            assert (pattern.codec, pattern.placement) == (codec, placement)
            for name in ("indptr", "base", "at", "stream"):
                same(getattr(pattern, name), getattr(A.store.pattern, name))
            assert entries(B) == entries(sr.io.open(path))
    assert sr.io.open(compressed, compress=codec).store.pattern.codec == codec


def test_what_is_compressed_is_mapped(path: Path) -> None:
    compressed = path.with_name("compressed.srb")
    sr.io.write(compressed, sr.io.open(path, compress="varint"))
    with sr.use("cpu"):
        stream = sr.io.open(compressed).store.pattern.stream
    assert isinstance(stream.base, np.memmap)


def test_one_codec_from_the_other(path: Path) -> None:
    direct = sr.io.open(path, compress="packed").store.pattern
    between = path.with_name("between.srb")
    sr.io.write(between, sr.io.open(path, compress="varint"))
    again = sr.io.open(between, compress="packed", verify=True).store.pattern
    for name in ("indptr", "base", "at", "stream"):
        same(getattr(again, name), getattr(direct, name))


def test_symmetry_is_kept(tmp_path: Path) -> None:
    sr.io.write(tmp_path / "a.srb", sr.random.grid2d(5, 6))
    B = sr.io.open(tmp_path / "a.srb", compress="packed")
    assert B.store.pattern.facts["symmetric"] is True
    sr.io.write(tmp_path / "b.srb", B)
    assert sr.io.read(tmp_path / "b.srb", placement="host").store.pattern.facts["symmetric"] is True


def test_one_value_at_all_positions_is_on_the_device_of_new_objects(tmp_path: Path) -> None:
    v = Vector.full(2.5, 40)
    sr.io.write(tmp_path / "v.srb", v)
    for found in (sr.io.read(tmp_path / "v.srb"), sr.io.open(tmp_path / "v.srb")):
        assert found.device == v.device
        assert found.isequal(v, check_dtype=True)


@pytest.mark.parametrize("name", ["a.el", "a.el.gz", "a.mtx", "a.npz"])
@pytest.mark.parametrize("form", [{"compress": "packed"}, {"placement": "pinned"},
                                  {"compress": "varint", "placement": "host"}])  # fmt: skip
def test_other_files(tmp_path: Path, name: str, form: dict[str, Any]) -> None:
    plain = tmp_path / "a.el"
    plain.write_text(GRAPH)
    target = tmp_path / name
    if name.endswith(".gz"):
        import gzip

        target.write_bytes(gzip.compress(GRAPH.encode()))
    elif name != "a.el":
        sr.io.write(target, sr.io.read(plain))
    B = sr.io.read(target, **form)
    assert B.store.format == ("ccsr" if "compress" in form else "csr")
    assert B.store.placement == form.get("placement", "device")
    assert {(i, j) for i, j, _ in entries(B)} == {(0, 1), (2, 1), (1, 0), (3, 2), (0, 3)}


def test_ids_are_returned_too(tmp_path: Path) -> None:
    (tmp_path / "a.el").write_text("70 10\n10 30\n")
    A = sr.io.read(tmp_path / "a.el", relabel=True, compress="varint")
    assert A.labels == sr.Labels([10, 30, 70])
    assert A.store.format == "ccsr"
    assert [(i, j) for i, j, _ in entries(A)] == [(0, 1), (2, 0)]


@pytest.mark.parametrize("function", [sr.io.open, sr.io.read])
@pytest.mark.parametrize(
    ("form", "message"), [({"placement": "moon"}, "a placement is"), ({"compress": "zip"}, "'varint'.*'packed'")]
)
def test_unknown_storage_kinds_are_rejected(path: Path, function: Any, form: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        function(path, **form)
    with pytest.raises(InvalidValue, match=message):
        function(path.with_name("missing.srb"), **form)


@pytest.mark.parametrize("form", [{"placement": "host"}, {"compress": "packed"}])
def test_vectors_have_no_storage_kinds(tmp_path: Path, form: dict[str, Any]) -> None:
    sr.io.write(tmp_path / "v.srb", Vector.from_coo([1], [2], size=4))
    assert sr.io.open(tmp_path / "v.srb", placement="auto").nvals == 1
    with pytest.raises(NotSupported, match="a Vector resides in the memory of its device"):
        sr.io.open(tmp_path / "v.srb", **form)


@pytest.mark.parametrize("codec", CODECS)
def test_streams_that_decode_to_nonsense_are_refused_by_verification(path: Path, codec: Any) -> None:
    whole = path.with_name("whole.srb")
    sr.io.write(whole, sr.io.open(path, compress=codec))
    store = map_store(whole)
    stream = store.arrays["stream"]
    stream[: stream.size // 2] = 0xFF if codec == "varint" else 0
    broken = Store(store.kind, store.format, store.shape, store.nvals, store.dtype, store.iso, store.arrays, {}, codec)
    write_store(path.with_name("broken.srb"), broken)
    with pytest.raises(InvalidFormat, match=r"broken\.srb: "):
        sr.io.open(path.with_name("broken.srb"), verify=True)
    with pytest.raises(InvalidFormat, match=r"broken\.srb: "):
        sr.io.read(path.with_name("broken.srb"))


def test_rows_that_are_not_sorted_are_sorted_by_verification(tmp_path: Path) -> None:
    arrays = {"indptr": np.array([0, 2, 3], np.int32), "indices": np.array([2, 0, 1], np.int32)}
    write_store(tmp_path / "a.srb", Store("matrix", "csr", (2, 3), 3, np.dtype(bool), np.bool_(True), arrays))
    forms: list[dict[str, Any]] = [{}, {"placement": "host"}, {"compress": "packed"}]
    for form in forms:
        A = sr.io.read(tmp_path / "a.srb", **form)
        assert [(i, j) for i, j, _ in entries(A)] == [(0, 0), (0, 2), (1, 1)]


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (3, 4)])
@pytest.mark.parametrize("codec", CODECS)
def test_empty_matrices(tmp_path: Path, shape: tuple[int, int], codec: Any) -> None:
    sr.io.write(tmp_path / "a.srb", Matrix(np.int16, *shape))
    B = sr.io.read(tmp_path / "a.srb", compress=codec)
    sr.io.write(tmp_path / "b.srb", B)
    C = sr.io.read(tmp_path / "b.srb")
    assert (C.shape, C.nvals, C.dtype, C.store.format) == (shape, 0, np.int16, "ccsr")


def test_a_file_is_written_whole_or_not_at_all(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    A = sr.io.open(path, compress="packed")
    target = path.with_name("b.srb")
    target.write_text("old")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        sr.io.write(target, A)
    assert target.read_text() == "old"
    assert sorted(found.name for found in path.parent.iterdir()) == ["a.srb", "b.srb"]
