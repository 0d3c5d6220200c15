"""`import semiring` is light: it loads NumPy and nothing heavier, in a third of a second."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from typing import Any

HEAVY = ("cupy", "cupyx", "graphblas", "matplotlib", "networkx", "numba", "scipy")

MEASURE = """
import json, sys, time
start = time.perf_counter()
import numpy
middle = time.perf_counter()
import semiring
end = time.perf_counter()
times = {"numpy": middle - start, "both": end - start}
roots = sorted({name.partition(".")[0] for name in sys.modules})
print(json.dumps({**times, "version": semiring.__version__, "roots": roots}))
"""


def import_afresh() -> dict[str, Any]:
    """Import the package in a new process; return the seconds it took and what it loaded."""
    finished = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, timeout=60, check=True)
    report: dict[str, Any] = json.loads(finished.stdout)
    return report


def test_loads_nothing_heavy() -> None:
    report = import_afresh()
    assert not set(HEAVY) & set(report["roots"])


def test_takes_a_third_of_a_second() -> None:
    """Best of seven; where NumPy alone is slow, so is the machine, and the package may take as long again."""
    reports = [import_afresh() for _ in range(7)]
    numpy_alone = min(report["numpy"] for report in reports)
    assert min(report["both"] for report in reports) < max(0.3, 2 * numpy_alone)


def test_version_is_that_of_the_distribution() -> None:
    assert import_afresh()["version"] == importlib.metadata.version("semiring")
