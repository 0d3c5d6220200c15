"""A request that does not fit raises before any work, and every failed allocation is an OutOfMemory."""

from __future__ import annotations

import inspect
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, algorithms, io, ops, random
from semiring.config import config
from semiring.exceptions import OutOfMemory
from semiring.memory import allocation
from semiring.memory.budget import peak_device_memory
from semiring.ops import api, api_closures
from semiring.storage.memory_plan import uncompressed_nbytes

FREE = 10**7
# The most that an operation of this file may allocate before it raises: below the request of each of them.
MOST_BYTES = 200 << 20


def assigned(target: Any, key: Any, value: Any) -> None:
    target[key] = value


# Operations whose arguments alone decide how much they allocate: (the operation in the message, the call).
ASKING: list[tuple[str, Callable[[], Any]]] = [
    ("Matrix", lambda: Matrix(bool, 10**9, 3)),
    ("build", lambda: Matrix.from_coo([10**9], [10**9], shape=(10**9 + 1, 10**9 + 1))),
    ("resize", lambda: Matrix(bool, 3, 3).resize(10**9, 3)),
    ("transpose", lambda: Matrix.from_coo([1], [1], shape=(3, 10**9)).T.dup()),
    ("identity", lambda: Matrix.identity(10**9)),
    ("from_scalar", lambda: Matrix.from_scalar(1, 10**9, 10**5)),
    ("setdiag", lambda: Matrix.from_coo([1], [1], 1.0, shape=(15_000_000, 15_000_000)).setdiag(1.0)),
    ("diag", lambda: Vector.full(1.0, 10**8).diag()),
    ("assign", lambda: assigned(Matrix(float, 10**4, 10**6), (slice(1, None), slice(1, None)), 1.0)),
    ("assign", lambda: assigned(Vector(float, 10**9), slice(1, None), 1.0)),
    ("to_dense", lambda: Matrix(float, 10**4, 10**6).to_dense(0)),
    ("to_dense", lambda: Vector(float, 10**8).to_dense(0)),
    ("singletons", lambda: ops.singletons(Vector(bool, 10**8))),
    ("rmat", lambda: random.rmat(24)),
    ("uniform", lambda: random.uniform(10**8, 1)),
    ("grid", lambda: random.grid2d(10**5, 10**5)),
    ("star", lambda: random.star(10**9)),
]


@pytest.mark.parametrize(("name", "call"), [pytest.param(*row, id=f"{row[0]}-{k}") for k, row in enumerate(ASKING)])
def test_sizes_are_checked_before_memory_is_taken(
    name: str, call: Any, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(allocation, "free_memory", lambda device: FREE)
    tracemalloc.start()
    try:
        # Without the rule that lists the rows: a row takes an offset.
        with config.set(hyper_switch=0.0), pytest.raises(OutOfMemory, match=r"^\w+: out of memory") as caught:
            call()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert str(caught.value).startswith(name) or " " in engine  # a grid may name an operation inside
    assert most < MOST_BYTES
    assert caught.value.free_bytes == FREE
    assert caught.value.asked_bytes is not None
    assert caught.value.asked_bytes > FREE


@pytest.mark.one_process("memory is of one process")
def test_one_value_for_all_entries_takes_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation, "_UNASKED", 0)
    monkeypatch.setattr(allocation, "free_memory", lambda device: 0)
    asked = []
    for values in (1.5, np.arange(100.0)):
        with pytest.raises(OutOfMemory, match=r"^build: ") as caught:
            Matrix.from_coo(np.arange(100), np.arange(100), values)
        asked.append(caught.value.asked_bytes)
    assert asked[1] - asked[0] == 100 * 8


@pytest.mark.parametrize(
    "name", ["closure", "closure_many", "closure_with_trace", "link", "link_sample", "most_frequent", "singletons"]
)
def test_a_function_of_ops_that_finds_no_memory(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever allocates in it, outside an engine too."""
    A, forest = Matrix.identity(4), ops.singletons(Vector(bool, 4))
    operands: dict[str, tuple[Any, ...]] = {
        "most_frequent": (forest,),
        "singletons": (forest,),
        "link": (forest, A),
        "link_sample": (forest, A),
        "closure_many": ([0], A),
    }
    arguments = operands.get(name, (Vector.from_coo([0], 0, size=4), A, "min_plus"))
    module = api_closures if name.startswith("closure") else api
    monkeypatch.setattr(module, "_closure" if name == "closure_with_trace" else f"_{name}", starved)
    with pytest.raises(OutOfMemory, match=rf"^{name}: out of memory"):
        getattr(ops, name)(*arguments)


ALGORITHMS = [
    name
    for name in algorithms.__all__
    if name.islower()
    and callable(getattr(algorithms, name))
    and "graph" not in inspect.signature(getattr(algorithms, name)).parameters  # of several matrices
]
# What a function needs beside the matrix, by the name of the parameter.
NEEDED = {
    "source": 0,
    "target": 1,
    "sources": [0],
    "starts": [0],
    "vertex": 0,
    "vertices": [0],
    "sizes": [1],
    "length": 1,
    "k": 2,
    "u": 0,
    "v": 1,
    "alpha": 0.1,
    "labels": Vector.from_dense([0, 0, 0, 0]),
}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_algorithm_that_finds_no_memory(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the algorithm, not an operation in it: its first step reads the shape."""
    function = getattr(algorithms, name)
    _, *others = inspect.signature(function).parameters.values()
    arguments = [NEEDED[other.name] for other in others if other.default is other.empty]
    A = Matrix.identity(4)
    monkeypatch.setattr(Matrix, "shape", property(starved))
    with pytest.raises(OutOfMemory, match=rf"^{name}: out of memory"):
        function(A, *arguments)


@pytest.mark.parametrize(("nrows", "nvals"), [(1001, 0), (1001, 20), (1000, 5000)])
def test_rows_that_do_not_fit(nrows: int, nvals: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The request is the size of the matrix, and for work on its rows more: much less where few have entries."""
    monkeypatch.setattr(allocation, "_UNASKED", 0)
    monkeypatch.setattr(allocation, "free_memory", lambda device: 0)

    def requested(scratch: int) -> int:
        with pytest.raises(OutOfMemory) as caught:
            allocation.require_rows("build", "cpu", nrows, nvals, 8, scratch=scratch)
        assert ("relabel" in str(caught.value)) == (nvals == 0)
        assert caught.value.asked_bytes is not None
        return caught.value.asked_bytes

    matrix_bytes = uncompressed_nbytes(nrows, nrows, nvals, 8)
    assert requested(0) == matrix_bytes
    work_on_rows = (nrows + 1) * (4 + 16) if nvals else 0
    assert requested(16) == matrix_bytes + work_on_rows + 16 * nvals


@pytest.mark.one_process("changes what this process alone sees")
def test_a_failed_allocation_reports_held_and_free_bytes_at_the_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the free memory after the operation's arrays are released: CuPy's error records the memory of the pool."""
    memory_of_cupy = pytest.importorskip("cupy.cuda.memory")
    gigabyte = 10**9
    pool = SimpleNamespace(total_bytes=lambda: 3 * gigabyte, get_limit=lambda: 0)
    cupy = SimpleNamespace(
        get_default_memory_pool=lambda: pool,
        cuda=SimpleNamespace(runtime=SimpleNamespace(memGetInfo=lambda: (86 * gigabyte, 140 * gigabyte))),
    )
    monkeypatch.setitem(__import__("sys").modules, "cupy", cupy)
    for limit, free in ((0, 2 * gigabyte), (88 * gigabyte, gigabyte)):
        error = memory_of_cupy.OutOfMemoryError(3 * gigabyte, 87 * gigabyte, limit)
        told = allocation.out_of_memory("mxm", "cpu", error, 170 * gigabyte)
        assert (told.asked_bytes, told.free_bytes) == (3 * gigabyte, free)
        assert (told.held_bytes, told.needed_bytes) == (87 * gigabyte, 170 * gigabyte)
        for part in ("mxm: out of memory on cuda", "asked for 3,000,000,000", f"free were {free:,}", "held 87,000"):
            assert part in str(told)
        assert "needed in all about 170,000,000,000 bytes" in str(told)


@pytest.mark.gpu
def test_a_product_that_does_not_fit_reports_the_needed_bytes() -> None:
    """On a GPU, under a budget of 256 MiB: the result of this product has 10^8 entries."""
    with sr.use("cuda"), sr.config.set(device_memory=256 << 20):
        left = Matrix.from_coo(np.arange(10**4), np.zeros(10**4, np.int64), 1.0, nrows=10**4, ncols=1)
        right = Matrix.from_coo(np.zeros(10**4, np.int64), np.arange(10**4), 1.0, nrows=1, ncols=10**4)
        with pytest.raises(OutOfMemory, match="mxm: out of memory on cuda") as caught:
            (left @ right).wait()
        told = caught.value
        assert told.held_bytes is not None
        assert told.needed_bytes is not None
        assert told.asked_bytes is not None
        assert told.free_bytes is not None
        assert told.free_bytes < told.asked_bytes
        assert 12 * 10**8 <= told.needed_bytes <= 2 * 13 * 10**8
        assert (left.T @ left).get(0, 0) == 10**4  # and everything works afterwards


@pytest.mark.gpu
@pytest.mark.parametrize("method", ["sort", "hash", "auto"])
def test_a_product_stays_within_the_budget(method: str) -> None:
    """Its products, of 64 bytes each while they are sorted, exceed 256 MiB: a sort divides its rows into batches."""
    budget = 256 << 20
    with sr.use("cuda"):
        A = sr.random.uniform(20_000, 8, seed=1, weights="uniform").dup(np.float32)
        with sr.config.set(device_memory=budget), peak_device_memory() as peak:
            C = A.mxm(A, method=method).wait()
        assert C.nvals > 4 * 10**6
        assert peak.held <= budget
        x = Vector.full(1.0, A.ncols)
        np.testing.assert_allclose(C.mxv(x).to_numpy(0), A.mxv(A.mxv(x)).to_numpy(0), rtol=1e-4)


def starved(*_: Any, **__: Any) -> Any:
    raise MemoryError("there is none")


def test_a_cuda_runtime_that_has_no_memory() -> None:
    """A kernel or a page-locked block that finds no memory raises no MemoryError."""

    class CUDARuntimeError(RuntimeError):
        status = 2

    @allocation.reports_memory
    def launched() -> None:
        raise CUDARuntimeError("cudaErrorMemoryAllocation: out of memory")

    with pytest.raises(OutOfMemory, match=r"^launched: out of memory"):
        launched()
    CUDARuntimeError.status = 700
    with pytest.raises(CUDARuntimeError):
        launched()


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "module", "needs", "call"),
    [
        ("reverse_cuthill_mckee", np, "ones", lambda A, path: algorithms.reverse_cuthill_mckee(A)),
        ("to_csr", np, "full", lambda A, path: io.to_scipy_sparse(A)),
        ("to_networkx", Matrix, "to_coo", lambda A, path: io.to_networkx(A)),
        (r"reading \S*a\.mtx", Matrix, "from_coo", lambda A, path: io.read(path)),
        ("path", np, "arange", lambda A, path: random.path(3)),
        ("to_coo", np, "arange", lambda A, path: A.to_coo()),
    ],
)
def test_a_public_function_that_finds_no_memory(
    name: str, module: Any, needs: str, call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    if engine != "cpu":
        pytest.skip("it starves NumPy")
    path = tmp_path / "a.mtx"
    A = Matrix.identity(4)
    io.write(path, A)
    call(A, path)
    monkeypatch.setattr(module, needs, starved)
    with pytest.raises(OutOfMemory, match=rf"^{name}: out of memory on cpu"):
        call(A, path)


def test_the_limit_of_the_process_counts_as_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    used = int(Path("/proc/self/statm").read_text().split()[0]) * 4096
    monkeypatch.setattr(resource, "getrlimit", lambda which: (used + 10**6, used + 10**6))
    free = allocation.free_memory("cpu")
    assert free is not None
    assert free <= 10**6
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert allocation._free_of_limits() is None
