"""The first call of every function, in a new process with empty caches of compiled code: seconds, and kernels compiled.

With --packed where a pack of the kernels is found, as in the package semiring-kernels.

Timed is the call alone: the package and the engine's libraries are imported before, and the graph is built from arrays:
an undirected one, or for functions that are not defined on it an acyclic or a bipartite one.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import semiring as sr
from semiring import kernel_store
from semiring.config import config
from semiring.engines import registry
from semiring.engines.shared import compilations
from semiring.exceptions import ConvergenceFailure
from semiring.warming import worker

from ..case import Run
from ..cold import CACHES
from ..machine import ROOT

_TIMEOUT_S = 300
# Seconds of a first call at most, and of the fifteen that are summed.
_LIMITS = {"cuda": 1.0, "cpu": 1.5}
_SUM_LIMIT = 8.0
FIFTEEN = (
    *("bfs_levels", "pagerank", "sssp", "connected_components", "triangles", "betweenness_centrality", "louvain"),
    *("jaccard", "clustering", "minimum_spanning_forest", "core_numbers", "mxv", "mxm", "ewise_add", "transpose"),
)
OPTIONS = {
    "only": ((), "functions, by name; default: the fifteen that are summed; all: every one"),
    "dtype": ("float64", "of the values", ("bool", "int32", "int64", "float32", "float64")),
    "jobs": (1, "processes at the same time"),
    "runs": (1, "processes of each function; the median is reported"),
    "packed": ("no", "with a pack of the kernels, which is compiled first", ("no", "too", "only")),
}


_GRAPHS = ("undirected", "acyclic", "bipartite")


def first(name: str, device: str, dtype: str, graph: str) -> dict[str, float]:
    """Call a function twice in this process: seconds of the imports and of the calls, and kernels compiled.

    graph: one of _GRAPHS.
    """
    with sr.use(device):
        started = time.perf_counter()
        registry.load(device)
        imported = time.perf_counter() - started
        rng = np.random.default_rng(1)
        dense = np.triu(rng.random((500, 500)) < 0.03, 1)
        if graph == "bipartite":
            dense[:, :250] = dense[250:] = False
        rows, columns = np.nonzero(dense if graph == "acyclic" else dense | dense.T)
        indptr = np.searchsorted(rows, np.arange(501))
        values = np.ones(rows.size, dtype) if dtype != "bool" else True
        A = sr.Matrix.from_csr(indptr, columns.astype(np.int32), values, ncols=500)
        call = worker.calls(name)[0]
        seconds, before = [], compilations.count()
        for _ in range(2):
            started = time.perf_counter()
            with contextlib.suppress(ConvergenceFailure):
                result = call(A)
                if hasattr(result, "wait"):
                    result.wait()
            seconds.append(time.perf_counter() - started)
    return {
        "import": imported,
        "first": seconds[0],
        "second": seconds[1],
        "kernels": compilations.count() - before,
    }


def in_new_process(name: str, device: str, dtype: str, packs: str = "") -> dict[str, float]:
    """Return what `first` finds in a process with empty caches; packs: a folder of packs, if there is one."""
    for graph in _GRAPHS:
        done = _run(f"first({name!r}, {device!r}, {dtype!r}, {graph!r})", packs)
        if done.returncode == 0 or "GraphProperty" not in done.stderr:
            break
    if done.returncode != 0:
        raise RuntimeError(f"{name} failed in a new process:\n{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _run(call: str, packs: str) -> subprocess.CompletedProcess[str]:
    program = f"import json; from benchmarks.cases.first_calls import first; print(json.dumps({call}))"
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {name: str(Path(folder) / cache) for name, cache in CACHES.items()}
        environment |= {"PYTHONPATH": str(ROOT), "SEMIRING_QUIET": "1", "SEMIRING_SHARED_CACHE": packs}
        return subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT, env=environment, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False,
        )  # fmt: skip


def packed(folder: Path, names: list[str], device: str, dtype: str) -> None:
    """Write a pack of the kernels of functions."""
    with config.set(cache_dir=folder / "cache"):
        sr.warm(*names, device=device, types=[dtype])
        kernel_store.write_pack(folder / "first-calls.pack", kernel_store.entries())


def main(run: Run) -> None:
    """Each function, the slowest first, and the sum of the fifteen."""
    only = run.options.only or FIFTEEN
    chosen = worker.names() if only == ["all"] else list(only)
    if run.options.packed != "only":
        _measure(run, chosen, "")
    if run.options.packed != "no":
        with tempfile.TemporaryDirectory() as folder:
            packed(Path(folder), chosen, run.device, run.options.dtype)
            _measure(run, chosen, folder)


def _measure(run: Run, chosen: list[str], packs: str) -> None:
    with ThreadPoolExecutor(run.options.jobs) as pool:
        where = run.device, run.options.dtype, packs
        found = {name: [pool.submit(in_new_process, name, *where) for _ in range(run.options.runs)] for name in chosen}
        calls = {
            name: sorted((job.result() for job in jobs), key=lambda one: one["first"]) for name, jobs in found.items()
        }
    how = ", from a pack" if packs else ""
    middle = {name: runs[len(runs) // 2] for name, runs in calls.items()}
    for name, call in sorted(middle.items(), key=lambda item: -item[1]["first"]):
        note = f"{call['kernels']} kernels; second call {1e3 * call['second']:.1f} ms; imports {call['import']:.2f} s"
        samples = tuple(one["first"] for one in calls[name])
        what = f"first {name}, {run.options.dtype}{how}"
        run.add(what, "s", call["first"], _LIMITS[run.device], note=note, samples=samples)
    if set(FIFTEEN) <= middle.keys():
        total = sum(middle[name]["first"] for name in FIFTEEN)
        kernels = sum(middle[name]["kernels"] for name in FIFTEEN)
        run.add(f"the fifteen functions together{how}", "s", total, _SUM_LIMIT, note=f"{kernels} kernels")
