"""Each error of the table is raised on the user's line, has its message, and leaves the target unchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Scalar, Vector, binary, config, monoid
from semiring import exceptions as ex
from semiring.facade import vector_arrays
from semiring.ops import build
from semiring.storage import coerce, index

A = np.arange(6.0).reshape(2, 3)

CASES: dict[str, tuple[type[Exception], type[Exception], str, Callable[[Matrix, Vector], Any]]] = {
    "product": (ex.DimensionMismatch, ValueError, r"mxm.*\(2, 3\).*\(2, 3\).*\.T", lambda C, v: C << C @ C),
    "vector product": (ex.DimensionMismatch, ValueError, r"mxv.*\(2, 3\).*3.*2.*\.T", lambda C, v: v << C.mxv(v)),
    "ewise": (ex.DimensionMismatch, ValueError, r"ewise_add.*\(2, 3\).*\(3, 2\).*\.T", lambda C, v: C + C.T),
    "output": (ex.DimensionMismatch, ValueError, r"\(3, 2\).*output \(2, 3\).*\.T", lambda C, v: C << C.T.dup()),
    "mask": (ex.DimensionMismatch, ValueError, r"apply.*mask \(3, 2\)", lambda C, v: C(C.T.S) << -C),
    "mask of dup": (ex.DimensionMismatch, ValueError, r"dup.*mask", lambda C, v: C.dup(mask=C.T.S)),
    "region": (ex.DimensionMismatch, ValueError, r"region.*\(2, 1\).*\(2, 3\)", lambda C, v: C[:, [0]] << C.dup()),
    "vector region": (ex.DimensionMismatch, ValueError, r"region has 1 .*2", lambda C, v: v[:1] << v.dup()),
    "closure": (ex.DimensionMismatch, ValueError, r"square.*\(2, 3\)", lambda C, v: sr.ops.closure(v, C, "min_plus")),
    "power": (ex.DimensionMismatch, ValueError, r"square.*\(2, 3\)", lambda C, v: C.power(2)),
    "setdiag": (ex.DimensionMismatch, ValueError, r"2 positions.*3", lambda C, v: C.setdiag([1, 2, 3])),
    "domain": (ex.DomainMismatch, TypeError, r"band.*float64.*supports.*int8", lambda C, v: C(accum="band") << C),
    "dtype": (ex.DomainMismatch, TypeError, r"float16.*float64", lambda C, v: C.dup("float16")),
    "index type": (ex.DomainMismatch, TypeError, r"integers.*float64", lambda C, v: v[np.array([0.5])]),
    "index": (ex.IndexOutOfBound, IndexError, r"7 .*vector.*size 2", lambda C, v: v.__setitem__(7, 1)),
    "row": (ex.IndexOutOfBound, IndexError, r"-3 .*rows.*size 2", lambda C, v: C[-3, 0]),
    "column": (ex.IndexOutOfBound, IndexError, r"3 .*columns.*size 3", lambda C, v: C.__setitem__((0, [1, 3]), 1)),
    "coo": (ex.IndexOutOfBound, IndexError, r"rows\[0\] = 9.*3", lambda C, v: Matrix.from_coo([9], [0], nrows=3)),
    "duplicate": (ex.DuplicateIndex, ValueError, r"\(0, 1\).*dup_op", lambda C, v: Matrix.from_coo([0, 0], [1, 1])),
    "twice": (ex.DuplicateIndex, ValueError, r"3.*dup_op", lambda C, v: Vector.from_coo([3, 3], 1)),
    "build": (ex.OutputNotEmpty, ValueError, r"2 entries.*clear", lambda C, v: v.build([0], [1])),
    "build matrix": (ex.OutputNotEmpty, ValueError, r"6 entries.*clear", lambda C, v: C.build([0], [1], [1])),
    "size": (ex.InvalidValue, ValueError, r"nrows.*-1", lambda C, v: C.resize(-1, 2)),
    "not a size": (ex.InvalidValue, ValueError, r"size.*2\.5", lambda C, v: v.resize(2.5)),  # type: ignore[arg-type]
    "not a matrix": (ex.InvalidValue, ValueError, r"Matrix.*Vector", lambda C, v: C.mxm(v)),  # type: ignore[arg-type]
    "not a vector": (ex.InvalidValue, ValueError, r"Matrix.*list", lambda C, v: v.vxm([[1]])),  # type: ignore[arg-type]
    "not a number at all": (ex.InvalidValue, ValueError, r"number, got Vector$", lambda C, v: v.apply("plus", right=v)),
    "not two": (ex.InvalidValue, ValueError, r"closure.*Matrix.*Vector", lambda C, v: sr.ops.closure(v, v, "min_plus")),
    "not a number": (ex.InvalidValue, ValueError, r"number.*'7'", lambda C, v: v.apply("plus", right="7")),
    "not assigned": (ex.InvalidValue, ValueError, r"str.*Vector", lambda C, v: v << "7"),
    "not an operator": (ex.UnknownOperator, ValueError, r"pluss.*plus", lambda C, v: v("pluss") << v),
    "typo": (ex.UnknownOperator, AttributeError, r"min_pluss.*min_plus", lambda C, v: v.vxm(C, "min_pluss")),
    "aggregator": (ex.UnknownOperator, ValueError, r"meann.*mean", lambda C, v: v.reduce("meann")),
    "too large": (ex.InvalidValue, ValueError, r"no integer type", lambda C, v: v.dup(int) + 2**70),
    "accum alone": (ex.InvalidValue, ValueError, r"out=", lambda C, v: v.apply("ainv", accum="plus")),
    "other out": (ex.InvalidValue, ValueError, r"Vector.*Matrix", lambda C, v: v.apply("ainv", out=C)),
    "keyword": (TypeError, TypeError, r"apply.*'maks'", lambda C, v: v.apply("ainv", maks=v.S)),  # type: ignore[call-arg]
    "truth": (ValueError, ValueError, r"nvals", lambda C, v: bool(v)),
    "format": (ex.InvalidValue, ValueError, r"index, bitmap, full", lambda C, v: v.convert("csr")),
    "not full": (ex.InvalidValue, ValueError, r"1 of 2", lambda C, v: (v.__delitem__(0), v.convert("full"))),
    "gaps": (ex.InvalidValue, ValueError, r"fill_value", lambda C, v: Vector(int, 3).to_dense()),
    "empty": (ex.EmptyObject, ValueError, r"is_empty", lambda C, v: v.apply("plus", right=Scalar(int))),
    "empty number": (ex.EmptyObject, ValueError, r"is_empty", lambda C, v: float(Vector(int, 3)[0])),
    "no mask": (ex.InvalidMask, TypeError, r"\.S.*\.V.*float64", lambda C, v: v(v) << 1),
    "no mask at all": (ex.InvalidMask, TypeError, r"\.S or \.V.*list", lambda C, v: v(mask=[True, False]) << 1),
    "loop": (ex.UdfParseError, TypeError, r"while", lambda C, v: v.apply(looping)),
    "offsets": (ex.InvalidFormat, ValueError, r"indptr\[2\]", lambda C, v: Matrix.from_csr([0, 2, 1], [0, 1], ncols=2)),
    "offsets given": (ex.InvalidFormat, ValueError, r"nrows \+ 1 = 4", lambda C, v: Matrix.from_csr([0], [], nrows=3)),
    "columns": (ex.InvalidFormat, ValueError, r"indices\[1\]", lambda C, v: Matrix.from_csr([0, 2], [0, 5], ncols=2)),
    "placement": (ex.NotSupported, NotImplementedError, r"pinned", lambda C, v: v.to(placement="pinned")),
    "device": (ex.InvalidValue, ValueError, r"'cpu' or 'cuda'", lambda C, v: C.to("gpu")),
    "steps": (ex.ConvergenceFailure, RuntimeError, "1 step", lambda C, v: endless(v)),
    "setting": (ex.InvalidValue, ValueError, r"devise.*device", lambda C, v: setattr(config, "devise", "cpu")),
    "monoid": (ex.UnknownOperator, ValueError, r"minus", lambda C, v: v.reduce(binary.minus)),
    "registered": (ex.InvalidValue, ValueError, r"plus", lambda C, v: monoid.register_new("plus", "x + y", identity=0)),
}  # fmt: skip


def endless(v: Vector) -> Any:
    return sr.ops.closure(v, v.outer(v), "min_times", max_steps=1)


def looping(x: float) -> float:
    while x < 1:
        x += 1
    return x


@pytest.mark.costly
@pytest.mark.parametrize("name", CASES)
def test_the_error_has_its_message_and_nothing_changed(name: str) -> None:
    kind, builtin, message, operation = CASES[name]
    C, v = Matrix.from_dense(A), Vector.from_dense([0.5, 0.25])
    with pytest.raises(kind, match=f"(?s){message}") as caught:
        operation(C, v)
    assert isinstance(caught.value, builtin)
    assert C.isequal(Matrix.from_dense(A))
    if name != "not full":
        assert v.isequal(Vector.from_dense([0.5, 0.25]))


def test_an_operation_that_fails_halfway_leaves_its_target(monkeypatch: pytest.MonkeyPatch) -> None:
    from semiring.engines import registry

    v = Vector.from_dense([1.0, 2.0, 3.0])
    before, store = v.dup(), v.store
    right = registry.call

    def failing(row: Any, spec: Any) -> Any:
        if spec.name in {"write_vector", "ewise", "scatter_vector", "apply"}:
            raise ex.OutOfMemory("no memory")
        return right(row, spec)

    monkeypatch.setattr(registry, "call", failing)
    for write in (
        lambda: v(v.S, "plus") << v.apply("ainv"),
        lambda: v.__setitem__([0], 5),
        lambda: v(accum="min") << 0,
    ):
        with pytest.raises(MemoryError):
            write()
        assert v.store is store
    monkeypatch.undo()
    assert v.isequal(before)


def test_out_of_memory_reports_the_requested_bytes() -> None:
    huge = Matrix(float, 10**7, 10**7)
    with pytest.raises(ex.OutOfMemory, match=r"to_dense: out of memory.*800,000,000,000,000 bytes.*; use ") as caught:
        huge.to_dense(0)
    assert isinstance(caught.value, MemoryError)
    assert caught.value.asked_bytes == 8 * 10**14
    with pytest.raises(ex.OutOfMemory, match="from_scalar"):
        Matrix.from_scalar(1, 10**13, 10**3)


@pytest.mark.one_process("kernels and plans are of parts")
def test_an_engine_that_runs_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    from semiring.engines.registry import Implementation

    def starved(_: Any) -> Any:
        raise MemoryError("Out of memory allocating 1,024 bytes (allocated so far: 0 bytes).")

    monkeypatch.setattr(Implementation, "function", property(lambda self: starved), raising=False)
    with pytest.raises(ex.OutOfMemory, match=r"ewise.*1,024 bytes") as caught:
        _ = (Vector.full(1, 3) + Vector.full(2, 3)).nvals
    assert caught.value.asked_bytes == 1024


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("from_dense", lambda x: Vector.from_dense(x)),
        ("build", lambda x: Vector.from_coo(x, x)),
        ("build", lambda x: Matrix.from_coo(x, x, x)),
        ("from_csr", lambda x: Matrix.from_csr(x, x[:2], x[:2])),
        ("permute", lambda x: Matrix.identity(3).permute(x)),
        ("index of a vector", lambda x: Vector.full(1, 3)[x].new()),
    ],
)
def test_arrays_that_do_not_fit_on_the_device(name: str, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions that copy a user's arrays to a device report memory as operations do."""

    def full(*_: Any) -> Any:
        raise MemoryError("Out of memory allocating 1,024 bytes (allocated so far: 0 bytes, limit set to: 10 bytes).")

    for module in (vector_arrays, build, index, coerce):
        monkeypatch.setattr(module, "to_device", full)
    with pytest.raises(ex.OutOfMemory, match=f"{name}: out of memory.*1,024 bytes.*; use ") as caught:
        make(np.array([0, 1, 2]))
    assert caught.value.asked_bytes == 1024
    assert isinstance(caught.value.free_bytes, int)


@pytest.mark.skipif(sr.cuda_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there() -> None:
    for call in (lambda: Vector(int, 3, device="cuda"), lambda: Vector(int, 3, device="cpu").to("cuda")):
        with pytest.raises(ex.NotSupported, match=r"cuda.*'cpu'"):
            call()


@pytest.mark.gpu
def test_two_devices() -> None:
    here, there = Vector.from_dense([1, 2], device="cpu"), Vector.from_dense([1, 2], device="cuda")
    for operation in (lambda: here + there, lambda: here << there, lambda: here(there.S) << 1, lambda: here[there]):
        with pytest.raises(ex.DeviceMismatch, match=r"cpu.*cuda|cuda.*cpu"):
            operation()
