"""Exports cannot change a store; an export that cannot fit allocates nothing; output of `explain` and settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.config import config
from semiring.exceptions import InvalidValue, OutOfMemory
from semiring.memory import allocation
from semiring.memory.arrays import device_of

EXPORTS: dict[str, Callable[[Matrix, Vector], tuple[Any, ...]]] = {
    "to_csr": lambda A, v: A.to_csr(),
    "to_csc": lambda A, v: A.to_csc(),
    "to_coo": lambda A, v: A.to_coo(),
    "to_edgelist": lambda A, v: A.to_edgelist(),
    "vector to_coo": lambda A, v: v.to_coo(),
    "to_dense": lambda A, v: (A.to_dense(0), v.to_dense(), Vector.full(1, 3, device="cpu").to_dense()),
    "to_numpy": lambda A, v: (A.to_numpy(0), v.to_numpy()),
    "asarray": lambda A, v: (np.asarray(v),),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_changes_no_store(name: str) -> None:
    A = Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0], shape=(3, 3), device="cpu")
    v = Vector.from_dense([1.0, 2.0, 3.0], device="cpu")
    copies, before = (A.dup(), v.dup()), (A.to_dicts(), v.to_dict(), A.T.dup().to_dicts())
    for array in EXPORTS[name](A, v):
        if array.flags.writeable:
            array[...] = 0
        else:
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
    assert (A.to_dicts(), v.to_dict(), A.T.dup().to_dicts()) == before
    assert copies[0].isequal(A)
    assert copies[1].isequal(v)


def test_every_export_has_one_way_to_numpy(engine: str) -> None:
    A = Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0], shape=(3, 3))
    v, own = Vector.from_dense([1.0, 2.0, 3.0]), {"cuda": "cuda"}.get(engine, "cpu")
    for device in ("cpu", None):
        for export in (A.to_coo, A.to_csr, A.to_csc, A.to_edgelist, v.to_coo):
            for dtype in (np.int64, None):
                arrays = export(index_dtype=dtype, device=device)  # type: ignore[operator]
                assert {device_of(array) for array in arrays} == {device or own}
        for dense in (
            A.to_dense(0, device=device),
            v.to_dense(device=device),
            Vector.full(1, 3).to_dense(device=device),
        ):
            assert device_of(dense) == (device or own)
    assert np.array_equal(A.to_numpy(0), [[0, 1, 0], [0, 0, 2], [3, 0, 0]])
    assert np.array_equal(v.to_numpy(), [1, 2, 3])
    B = Matrix.from_csr(*A.compress().to_csr(device="cpu"), ncols=3)
    assert B.isequal(A)
    with pytest.raises(InvalidValue, match="device"):
        A.to_coo(device="gpu")


@pytest.mark.parametrize("count", [1, 2])
def test_arrays_given_to_from_coo_stay_the_callers(count: int) -> None:
    indices, values = np.arange(count, dtype=np.int32), np.full(count, 7.0)
    v = Vector.from_coo(indices, values, size=5)
    A = Matrix.from_coo(indices, indices, values, shape=(5, 5))
    indices[:], values[:] = 4, 0
    assert v.to_dict() == dict.fromkeys(range(count), 7.0)
    assert A.to_dicts() == {i: {i: 7.0} for i in range(count)}


def test_read_only_arrays_are_returned() -> None:
    A = Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0], shape=(3, 3))
    v = Vector.from_coo([1], [2.0], size=3)
    B, w = Matrix.from_csr(*A.to_csr(), ncols=3), Vector.from_coo(*v.to_coo(), size=3)
    assert (B @ B).isequal(A @ A)
    assert (B @ w).isequal(A @ v)
    assert (B + B).isequal(A + A)
    assert Vector.from_dense(np.asarray(Vector.full(1.0, 3).to_numpy())).isequal(Vector.full(1.0, 3))


def test_what_cannot_fit_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the rule that lists the rows: a row takes an offset."""
    with config.set(hyper_switch=0.0):
        cannot_fit(monkeypatch)


def cannot_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation, "free_memory", lambda device: 10**9)
    with pytest.raises(OutOfMemory, match="Matrix") as caught:
        Matrix(bool, 10**12, 10**12)
    assert caught.value.free_bytes == 10**9
    hint = r"indices are far larger than the number of entries.*relabel.*nrows="
    with pytest.raises(OutOfMemory, match=hint):
        Matrix.from_edgelist([(0, 5_000_000_000)], nrows=5_000_000_001)
    with pytest.raises(OutOfMemory, match=hint):
        Matrix.from_edgelist([(5_000_000_000, 0)])
    wide = Matrix.from_coo([0], [90_000_000])
    assert wide.shape == (1, 90_000_001)
    monkeypatch.setattr(allocation, "free_memory", lambda device: 10**7)
    with pytest.raises(OutOfMemory, match=hint):
        wide.T.dup()
    with pytest.raises(OutOfMemory, match="identity"):
        Matrix.identity(10**9)
    with pytest.raises(OutOfMemory, match="to_dense"):
        Vector(float, 10**10).to_dense(0)


def test_limits_of_control_groups(tmp_path: Path) -> None:
    inner = tmp_path / "job" / "task"
    inner.mkdir(parents=True)
    for folder, limit, used in ((inner, "max", 5), (inner.parent, "1000", 400)):
        (folder / "memory.max").write_text(f"{limit}\n")
        (folder / "memory.current").write_text(f"{used}\n")
        (folder / "memory.stat").write_text("anon 1\ninactive_file 100\nactive_file 7\n")
    mine = tmp_path / "cgroup"
    mine.write_text("0::/job/task\n")
    assert list(allocation._free_of_groups(tmp_path, mine)) == [700]
    old = tmp_path / "memory" / "job"
    old.mkdir(parents=True)
    (old / "memory.limit_in_bytes").write_text("50\n")
    (old / "memory.usage_in_bytes").write_text("60\n")
    (old / "memory.stat").write_text("total_inactive_file 0\n")
    mine.write_text("5:cpu:/job\n4:memory:/job\n")
    assert list(allocation._free_of_groups(tmp_path, mine)) == [0]
    assert list(allocation._free_of_groups(tmp_path, tmp_path / "none")) == []


@pytest.mark.one_process("counts requests, copies or locks of one process")
def test_explain_records_format_bytes_and_direction() -> None:
    A = Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0], shape=(3, 3))
    v = Vector.from_dense([1.0, 2.0, 3.0])
    with sr.explain() as log:
        (A @ A).wait()
        (A @ v).wait()
        sr.algorithms.bfs_levels(A, 0)
        A.reduce_scalar().get()
    assert {"mxm", "mxv", "closure", "reduce_scalar"} <= {call.operation for call in log}
    for call in log:
        assert {"format", "bytes", "direction"} <= set(call.details), call
        assert call.details["bytes"] > 0
    details = {call.operation: call.details for call in log}
    assert details["mxm"]["format"] == "csr"
    assert details["mxv"]["format"] in ("index", "bitmap", "full")
    assert details["mxv"]["direction"] in ("push", "pull", "auto")
    assert details["reduce_scalar"]["direction"] == "-"


def test_the_environment_names_its_variables() -> None:
    from semiring.config import _from_environment

    config, wrong = _from_environment({"SEMIRING_DEVICE": "reference", "SEMIRING_QUIET": "1", "HOME": "/"})
    assert (config.device, config.cpu_engine, config.quiet, wrong) == ("cpu", "reference", True, [])
    _, wrong = _from_environment({"SEMIRING_DEVICE": "gpu", "SEMIRING_DEVISE": "cpu", "SEMIRING_TEST_DATA": "x"})
    assert len(wrong) == 2
    assert "SEMIRING_DEVICE must be one of" in wrong[0]
    assert "SEMIRING_DEVISE" in wrong[1]
    assert "SEMIRING_DEVICE?" in wrong[1]


def test_a_wrong_variable_is_raised_at_the_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    from semiring import config as module  # the object: its module is reached through the class

    assert module is sr.config
    import sys

    monkeypatch.setattr(sys.modules["semiring.config"], "_wrong_variables", ["SEMIRING_DEVISE: no setting"])
    with pytest.raises(InvalidValue, match="SEMIRING_DEVISE"):
        Vector(int, 3)
