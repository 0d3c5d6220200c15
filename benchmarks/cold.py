"""The cost of a first search: in a new process with empty caches of compiled code, and in a later one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import semiring as sr
from tests import verify

from .graphs import arrays
from .machine import ROOT

_TIMEOUT_S = 120
# Every cache of compiled code: ours, CuPy's, the driver's, numba's.
CACHES = {"SEMIRING_CACHE_DIR": "semiring", "CUPY_CACHE_DIR": "cupy", "CUDA_CACHE_PATH": "driver"}


@dataclass(frozen=True)
class FirstCall:
    """Seconds since just before the start of the process; `message` is its standard error."""

    imported: float
    loaded: float
    searched: float
    message: str

    @property
    def seconds(self) -> float:
        """From the start of Python to the levels."""
        return self.searched

    def __str__(self) -> str:
        printed = f"printed: {self.message.splitlines()[0]!r}" if self.message else "printed nothing"
        return f"imported at {self.imported:.2f} s, loaded at {self.loaded:.2f} s; {printed}"


def first_calls(A: sr.Matrix, source: int, device: str, runs: int) -> dict[str, list[FirstCall]]:
    """New processes that load a graph's arrays and search it, `runs` with empty caches and `runs` with filled ones.

    The files of the program are in the page cache, as after an installation.
    """
    with tempfile.TemporaryDirectory() as folder:
        graph = Path(folder) / "graph.npz"
        indptr, indices = (part.get() if hasattr(part, "get") else part for part in arrays(A))
        np.savez(graph, indptr=indptr, indices=indices)

        def start(caches: str) -> FirstCall:
            return _start(graph, Path(folder) / caches, device, source, indptr, indices)

        start("discarded")
        return {
            "first bfs_levels of a process, caches empty": [start(f"empty{run}") for run in range(runs)],
            "first bfs_levels of a process, caches filled": [start("empty0") for _ in range(runs)],
        }


def _start(graph: Path, caches: Path, device: str, source: int, indptr: Any, indices: Any) -> FirstCall:
    levels = graph.with_name("levels.npy")
    levels.unlink(missing_ok=True)
    environment = dict(os.environ)
    environment |= {name: str(caches / folder) for name, folder in CACHES.items()}
    environment["PYTHONPATH"] = str(ROOT)
    started = time.time()
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.first_call", str(graph), device, str(source), repr(started), str(levels)],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"a new process could not search the graph:\n{done.stderr}")
    verify.bfs_levels(indptr, indices, source, np.load(levels))
    return FirstCall(**json.loads(done.stdout.splitlines()[-1]), message=done.stderr.strip())
