"""`import semiring` beyond NumPy: processor milliseconds in new processes, and modules loaded."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from typing import Any

from ..case import Run
from ..machine import ROOT

_TIMEOUT_S = 60
_PROGRAM = """
import json, sys, time
import numpy
before = len(sys.modules)
wall, cpu = time.perf_counter(), time.process_time()
import semiring
print(json.dumps({
    "cpu_ms": 1e3 * (time.process_time() - cpu),
    "wall_ms": 1e3 * (time.perf_counter() - wall),
    "modules": len(sys.modules) - before,
}))
"""
_MOST_MS = 150


def import_once(compiled: str) -> dict[str, Any]:
    """Import the package in a new process; `compiled` is the folder of Python's compiled modules."""
    env = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    finished = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        capture_output=True,
        check=True,
        cwd=ROOT,
        env=env,
        text=True,
        timeout=_TIMEOUT_S,
    )
    found: dict[str, Any] = json.loads(finished.stdout)
    return found


OPTIONS = {"runs": (20, "new processes")}


def main(run: Run) -> None:
    """The import in new processes, after one that writes the compiled modules."""
    with tempfile.TemporaryDirectory() as compiled:
        import_once(compiled)
        runs = [import_once(compiled) for _ in range(run.options.runs)]
    samples = tuple(one["cpu_ms"] for one in runs)
    walls = [one["wall_ms"] for one in runs]
    note = f"{runs[0]['modules']} modules; wall clock {min(walls):.1f} to {max(walls):.1f} ms"
    what = "import semiring, beyond NumPy"
    run.add(what, "ms", statistics.median(samples), _MOST_MS, note=note, samples=samples)
