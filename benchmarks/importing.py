"""The cost of `import semiring` beyond NumPy: processor seconds in new processes, and the modules it loads."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from typing import Any

from . import arguments
from .machine import ROOT
from .report import Report, Row

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


def main() -> int:
    """Measure the import as the command line selects."""
    parser = arguments.parser("importing", __doc__)
    parser.add_argument("--runs", type=int, default=20, help="new processes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as compiled:
        import_once(compiled)  # writes the compiled modules
        runs = [import_once(compiled) for _ in range(options.runs)]
    samples = tuple(run["cpu_ms"] for run in runs)
    walls = [run["wall_ms"] for run in runs]
    report = Report("importing", arguments.device_of(options), options.out)
    report.add(
        Row(
            "import semiring, beyond NumPy",
            "ms",
            statistics.median(samples),
            _MOST_MS,
            note=f"{runs[0]['modules']} modules; wall clock {min(walls):.1f} to {max(walls):.1f} ms",
            samples=samples,
        )
    )
    report.close()
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
