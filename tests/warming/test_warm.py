"""`sr.warm`: what is compiled ahead is there later, and what cannot be done is refused."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import semiring as sr
from semiring import kernel_store
from semiring.config import config
from semiring.exceptions import DomainMismatch, InvalidValue, NotSupported, SemiringError
from semiring.warming import ahead, cpu_lists, worker
from tests import sampling

ALGORITHMS = [name for name in sr.algorithms.__all__ if inspect.isfunction(getattr(sr.algorithms, name))]
FUNCTIONS = [*ALGORITHMS, *worker.OPERATIONS]


SAMPLE = sampling.draw("algorithms to warm", FUNCTIONS, 5)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=sampling.marks(name, SAMPLE, pytest.mark.wide)) for name in FUNCTIONS]
)
def test_every_algorithm_can_be_called(name: str) -> None:
    """Or `worker.ARGUMENTS` lacks one of its parameters."""
    undirected = sr.Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 1)], nrows=3, ncols=3)
    acyclic = sr.Matrix.from_edgelist([(0, 1), (1, 2)], nrows=3, ncols=3)
    for call in worker.calls(name):
        assert worker.computed(call, undirected) or worker.computed(call, acyclic)


def test_graphs_have_the_default_types_and_both_structures() -> None:
    with sr.use("cpu"):
        graphs = list(worker.matrices())
    kinds = {(A.nvals > 1000, A.is_symmetric_structure, A.dtype.name) for A in graphs}
    names = ("bool", "int64", "float64", "float32")
    assert kinds == {(many, symmetric, name) for many in (True, False) for symmetric in (True, False) for name in names}
    assert max(A.nvals for A in graphs) > 1 << 17, "from so many entries kernels call for threads"


@pytest.mark.costly
def test_one_graph_is_bipartite_without_articulation_points_and_acyclic_where_directed() -> None:
    """Functions that raise GraphProperty on other graphs are not run to their end by them."""
    made = []
    with sr.use("cpu"):
        for symmetric in (True, False):
            n, rows, columns = worker._edges("bipartite", symmetric)
            made.append(sr.Matrix.from_coo(rows, columns, True, nrows=n, ncols=n))
        assert [A.is_symmetric_structure for A in made] == [True, False]
        assert sr.algorithms.is_bipartite(made[0])
        assert sr.algorithms.connected_components(made[0]).reduce("max").value == 0
        assert sr.algorithms.articulation_points(made[0]).nvals == 0
        assert sr.algorithms.is_dag(made[1])


@pytest.mark.costly
@pytest.mark.parametrize(
    ("names", "call"),
    [
        (("degree_order",), "degree_order(A)"),
        pytest.param(("degree_order", "bfs_levels"), "bfs_levels(A, 0)", marks=pytest.mark.wide),
    ],
    ids=["an ordering", "a search"],
)
def test_a_call_after_it_compiles_nothing(names: tuple[str, ...], call: str, tmp_path: Path) -> None:
    told: list[tuple[str, float]] = []
    with config.set(cache_dir=tmp_path):
        report = sr.warm(*names, names[0], device="cpu", progress=lambda *a: told.append(a))
        assert list(report.kernels) == list(names)
        assert report.compiled == kernel_store.facts().kernels > 0
        algorithms = "1 algorithm" if len(names) == 1 else "2 algorithms"
        assert f"{report.compiled} kernels compiled for {algorithms} on cpu" in str(report)
        assert sorted(share for _, share in told) == [(k + 1) / len(names) for k in range(len(names))]
        again = sr.warm(names[-1], device="cpu", progress=lambda *_: None)
        assert again.compiled == 0
    program = f"""
import semiring as sr
with sr.use("cpu"):
    A = sr.random.rmat(13, seed=7)
    print(sr.algorithms.{call}.nvals)
"""
    environment = {**os.environ, "SEMIRING_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert (int(done.stdout) > 1000, done.stderr) == (True, "")


def test_a_line_for_each_algorithm_unless_quiet(capfd: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setattr(ahead, "_Worker", Compiled)
    monkeypatch.setattr(cpu_lists, "_read", lambda: ([], {}))
    sr.warm("bfs_levels", "pagerank", device="cpu")
    assert capfd.readouterr().err.splitlines() == [
        "semiring: bfs_levels: 4 kernels compiled for cpu, 2.0 s (50%)",
        "semiring: pagerank: 4 kernels compiled for cpu, 2.0 s (100%)",
    ]
    with config.set(quiet=True):
        assert list(sr.warm("all", device="cpu").kernels) == FUNCTIONS
        assert {"bfs_levels", "pagerank", "degree_order"} <= sr.warm(device="cpu").kernels.keys() < set(ALGORITHMS)
    assert capfd.readouterr().err == ""


class Compiled:
    """A process that has compiled one kernel of whatever it is given."""

    lines: ClassVar[list[str]] = []

    def __init__(self, module: str, device: str) -> None:
        """There is no process."""

    def run(self, name: str, line: str) -> dict[str, Any]:
        self.lines.append(line)
        return {"kernels": 1, "seconds": 0.5}

    def end(self) -> None:
        """There is no process."""


def test_recorded_kernels_are_compiled_once_and_the_longest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this order on one process; what is not recorded is run after them."""
    monkeypatch.setattr(ahead, "_Worker", Compiled)
    monkeypatch.setattr(ahead, "_LONGEST", 2)
    monkeypatch.setattr(ahead, "processors", lambda: [0])
    monkeypatch.setattr(Compiled, "lines", [])
    calls: dict[str, Any] = {"mxm": {"bool": [4, 5], "int8": [6]}, "mxv": {"bool": [0, 3, 5], "int64": [1, 2]}}
    monkeypatch.setattr(cpu_lists, "_read", lambda: ([], calls))
    with config.set(quiet=True):
        report = sr.warm("mxm", "mxv", device="cpu", types=["bool", "int64"])
    assert Compiled.lines == [*"014523", "mxm int64"]
    assert (report.kernels, report.processes) == ({"mxm": 3, "mxv": 4}, 1)


@pytest.mark.parametrize(
    ("name", "hint"), [("bfs_level", "did you mean 'bfs_levels'"), ("zzz", "algorithms are: adamic_adar")]
)
def test_an_unknown_algorithm_is_refused(name: str, hint: str) -> None:
    with pytest.raises(InvalidValue, match=hint):
        sr.warm("pagerank", name, device="cpu")


def test_types_are_checked_and_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_Worker", Compiled)
    monkeypatch.setattr(Compiled, "lines", [])
    monkeypatch.setattr(cpu_lists, "_read", lambda: ([], {}))

    def types(given: Any) -> list[str]:
        Compiled.lines.clear()
        sr.warm("mxm", device="cpu", types=given)
        return sorted(line.removeprefix("mxm ") for line in Compiled.lines)

    with config.set(quiet=True):
        assert types(["float", "FP32", "float64", np.int8]) == ["float32", "float64", "int8"]
        assert types("bool") == ["bool"]
        assert types(None) == ["bool", "float32", "float64", "int64"]
    with pytest.raises(InvalidValue, match="types must name at least one type"):
        sr.warm("mxm", device="cpu", types=[])
    with pytest.raises(DomainMismatch, match="float65"):
        sr.warm("mxm", device="cpu", types=["float65"])


def test_graphs_have_the_types_that_are_named() -> None:
    with sr.use("cpu"):
        assert {A.dtype.name for A in worker.matrices(["int8", "bool"])} == {"int8", "bool"}
        assert {A.dtype.name for A in worker.matrices(["float32"])} == {"float32"}


def test_functions_from_every_vertex_get_smaller_graphs() -> None:
    assert set(ALGORITHMS) >= worker.FROM_EVERY_VERTEX
    with sr.use("cpu"):
        sizes = {name: max(A.nrows for A in worker.matrices(["bool"], worker.scale(name))) for name in FUNCTIONS[:9]}
    assert sizes == {name: 1 << (9 if name in worker.FROM_EVERY_VERTEX else 13) for name in FUNCTIONS[:9]}


def test_devices_that_compile_nothing_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["semiring.config"], "_cuda", False)
    with pytest.raises(NotSupported, match="device 'cuda'"):
        sr.warm(device="cuda")
    with pytest.raises(InvalidValue, match="'cpu' or 'cuda'"):
        sr.warm(device="tpu")
    with sr.use("reference"), pytest.raises(NotSupported, match="compiles nothing"):
        sr.warm()


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with config.set(cache_dir=file), pytest.raises(NotSupported, match="cannot be written"):
        sr.warm("bfs_levels", device="cpu")


def test_a_process_that_fails_is_reported(tmp_path: Path) -> None:
    with config.set(cache_dir=tmp_path):
        failing = ahead._Worker("worker", "no device")
        try:
            with pytest.raises(SemiringError, match=r"the process that compiles bfs_levels ended: .*no device"):
                failing.run("bfs_levels", "bfs_levels bool")
        finally:
            failing.end()


def test_an_algorithm_that_raises_is_reported(capfd: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    A = sr.Matrix.from_coo([0], [0], np.ones(1), nrows=1, ncols=2)
    monkeypatch.setattr(worker, "matrices", lambda *_: iter([A]))
    monkeypatch.setattr(sys, "stdin", ["bfs_levels bool\n"])
    worker.main("cpu")
    assert '"error": "DimensionMismatch: bfs_levels' in capfd.readouterr().out


@pytest.mark.nvrtc
def test_recorded_kernels_are_compiled_without_a_gpu(tmp_path: Path) -> None:
    pytest.importorskip("cupy", reason="CuPy brings NVRTC")
    from semiring.engines.cuda import compile, kernel_lists

    texts = kernel_lists.numbers("transpose", ["bool"])
    more = set(kernel_lists.numbers("mxv", ["bool"])) - set(texts)
    assert texts
    assert more
    told: list[tuple[str, float]] = []

    def warm(*names: str, architecture: str, types: Any = "bool") -> sr.WarmReport:
        return sr.warm(*names, architecture=architecture, types=types, progress=lambda *line: told.append(line))

    with config.set(cache_dir=tmp_path):
        report = warm("transpose", "mxv", architecture="sm_80")
        assert (report.device, report.kernels) == ("cuda", {"transpose": len(texts), "mxv": len(more)})
        assert [share for _, share in told] == [0.5, 1.0]
        assert {what.partition(",")[0] for what, _ in told} == {
            f"transpose: {len(texts)} kernels compiled for sm_80", f"mxv: {len(more)} kernels compiled for sm_80"
        }  # fmt: skip
        assert kernel_store.facts().kernels == len(texts) + len(more)
        file, prologue, entry = kernel_lists.text(texts[0])
        assert compile._stored(file, prologue, "sm_80", entry) is not None
        assert warm("mxv", architecture="sm_86").compiled == 0
        with pytest.raises(NotSupported, match=r"recorded for GPUs: bool, .*; got int8"):
            warm("mxv", architecture="sm_90", types=["int8"])


def test_an_architecture_is_one_of_gpus() -> None:
    for wrong in ("sm_61", "90", "compute_90", "sm_9"):
        with pytest.raises(InvalidValue, match="an architecture is sm_70 or a later one"):
            sr.warm(architecture=wrong)
    with pytest.raises(InvalidValue, match="architecture= is one of GPUs, and device= is 'cpu'"):
        sr.warm(architecture="sm_90", device="cpu")
