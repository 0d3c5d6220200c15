"""Every type in every format: written and read back the same, or refused by an error that names what holds it."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.exceptions import DomainMismatch, InvalidValue
from semiring.io.read import READERS, VECTOR_WRITERS, WRITERS
from tests.io.arrays import ALL_DTYPES

# `.el` files hold no weights, and this module writes every format.
pytestmark = pytest.mark.filterwarnings("ignore::semiring.exceptions.LostWeights")

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

RECORD = np.dtype([("x", np.int32), ("y", np.float64)])
TYPES = [*map(np.dtype, ALL_DTYPES), RECORD]
# What a format does not hold, by kind of type.
REFUSED = dict.fromkeys((".el", ".wel", ".txt", ".tsv", ".csv", ".edgelist", ".parquet", ".graphml", ".gml"), "cV")
REFUSED |= {".gr": "fcV", ".mtx": "V", ".npz": "", ".srb": ""}
# Readers with dtype=; others return the type itself, or that of the values as the file has them.
TYPED = (".el", ".wel", ".txt", ".tsv", ".csv", ".edgelist")
KEPT = (".mtx", ".npz", ".srb", ".parquet")


@pytest.fixture(autouse=True)
def on_the_cpu() -> Iterator[None]:
    with sr.use("cpu"):
        yield


def values_of(dtype: np.dtype[Any]) -> Any:
    if dtype.names is not None:
        return np.array([(1, 2.5), (-3, 0.1), (0, 0.0), (7, 1e300)], dtype)
    if dtype.kind == "b":
        return np.array([True, False, True, True])
    if dtype.kind in "iu":
        return np.array([np.iinfo(dtype).max, np.iinfo(dtype).min, 0, 1], dtype)
    values = np.array([0.1, -np.inf, np.nan, 1e-30], dtype)
    return values * dtype.type(1 + 2j) if dtype.kind == "c" else values


def same(a: Any, b: Any) -> bool:
    """Whether two objects have the same entries, NaN included."""
    *places, x = a.to_coo()
    *others, y = b.to_coo()
    equal = all(np.array_equal(p, q) for p, q in zip(places, others, strict=True))
    return equal and np.array_equal(x.astype(a.dtype), y.astype(a.dtype), equal_nan=a.dtype.kind in "fc")


def check(path: Path, A: Any, kind: str, read: Any) -> None:
    """Write an object and read it back, or expect the documented error."""
    if A.dtype.kind in REFUSED[kind] or (kind == ".gr" and A.dtype == np.uint64 and not A.is_iso):
        with pytest.raises((DomainMismatch, InvalidValue), match=r"\.srb|int64|cast by|from_numpy|exceeds"):
            sr.io.write(path, A)
        assert not path.exists()
        return
    sr.io.write(path, A)
    back = read(path)
    assert same(back if kind != ".el" else back.dup(A.dtype), A if kind != ".el" else A.apply("one"))
    if kind in KEPT:
        assert back.dtype == A.dtype


@pytest.mark.parametrize("iso", [False, True], ids=["values", "iso"])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("kind", WRITERS)
def test_every_type_of_matrix_in_every_format(tmp_path: Path, kind: str, dtype: np.dtype[Any], iso: bool) -> None:
    if kind == ".parquet":
        pytest.importorskip("pyarrow")
    values = values_of(dtype)
    A = Matrix.from_coo([0, 1, 2, 3], [1, 0, 3, 2], values[1] if iso else values, dtype, shape=(4, 4))
    typed: dict[str, Any] = {"dtype": dtype} if kind in TYPED else {}
    check(tmp_path / f"a{kind}", A, kind, lambda path: sr.io.read(path, **typed))


@pytest.mark.parametrize("iso", [False, True], ids=["values", "iso"])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("kind", VECTOR_WRITERS)
def test_every_type_of_vector_in_every_format(tmp_path: Path, kind: str, dtype: np.dtype[Any], iso: bool) -> None:
    if kind == ".parquet":
        pytest.importorskip("pyarrow")
    values = values_of(dtype)
    v = Vector.from_coo([0, 1, 2, 4], values[1] if iso else values, dtype, size=5)
    typed: dict[str, Any] = {"dtype": dtype} if kind in TYPED else {}
    check(tmp_path / f"v{kind}", v, kind, lambda path: sr.io.read_vector(path, **typed))


def test_every_line_of_a_wel_has_a_weight(tmp_path: Path) -> None:
    A = Matrix.from_coo([0, 1], [1, 2], True, shape=(3, 3))
    sr.io.write(tmp_path / "a.wel", A)
    assert (tmp_path / "a.wel").read_text() == "0 1 1\n1 2 1\n"
    assert sr.io.read(tmp_path / "a.wel").to_dicts() == {0: {1: 1}, 1: {2: 1}}
    with pytest.raises(InvalidValue, match=r"weights=False.*\.el file"):
        sr.io.write(tmp_path / "b.wel", A, weights=False)


def test_the_value_false_is_written(tmp_path: Path) -> None:
    A = Matrix.from_coo([0, 1], [1, 0], False, shape=(2, 2))
    assert A.is_iso
    for name in ("a.csv", "a.txt", "a.graphml", "a.gml"):
        sr.io.write(tmp_path / name, A)
        assert not any(sr.io.read(tmp_path / name).to_coo()[2])
    assert list(sr.io.to_networkx(A).edges(data="weight")) == [(0, 1, False), (1, 0, False)]


@pytest.fixture
def full() -> Iterator[None]:
    """A disk on which files have at most a page."""
    before, limits = signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, before)


@pytest.mark.skipif(resource is None, reason="the system does not limit the size of files")
@pytest.mark.parametrize("name", [*(f"a{kind}" for kind in WRITERS), "a.csv.gz", "a.txt.bz2", "a.mtx.xz"])
def test_a_full_disk_is_reported_with_the_file(tmp_path: Path, name: str, full: None) -> None:
    if ".parquet" in name:
        pytest.importorskip("pyarrow")
    values = np.random.default_rng(1).integers(0, 2**60, 5000)
    A = Matrix.from_coo(np.arange(5000), (np.arange(5000) * 37) % 5000, values)
    path = tmp_path / name
    with pytest.raises(OSError, match=name) as caught:
        sr.io.write(path, A)
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(path))
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no device that is always full")
@pytest.mark.parametrize("kind", WRITERS)
def test_a_full_device_is_reported_with_the_file(tmp_path: Path, kind: str) -> None:
    if kind == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"a{kind}"
    path.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device") as caught:
        sr.io.write(path, Matrix.identity(3))
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(path))


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="the system has no file that fails to be read")
@pytest.mark.parametrize("kind", [kind for kind in READERS if kind not in ("out.", ".parquet")])
def test_a_read_that_fails_is_reported_with_the_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"a{kind}"
    path.symlink_to("/proc/self/mem")
    with pytest.raises(OSError, match="Input/output") as caught:
        sr.io.read(path)
    assert (caught.value.errno, caught.value.filename) == (errno.EIO, str(path))


@pytest.mark.skipif(resource is None, reason="the system does not limit the size of files")
@pytest.mark.parametrize("name", ["a.srb", "a.parts"])
def test_a_full_disk_is_reported_by_a_grid_with_the_file(tmp_path: Path, name: str, full: None) -> None:
    def program(grid: Any) -> None:
        with pytest.raises(OSError, match=rf"File too large.*{tmp_path / name}"):
            sr.io.write(tmp_path / name, sr.random.path(5000, device=grid.device))

    sr.distributed.run(2, program)
