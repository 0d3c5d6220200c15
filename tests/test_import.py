"""`import semiring` is light: it loads NumPy and nothing heavier, in less than a fifth of a second besides."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

HEAVY = ("cupy", "cupyx", "graphblas", "matplotlib", "networkx", "numba", "scipy")

MEASURE = """
import json, sys, time
import numpy
start, cpu = time.perf_counter(), time.process_time()
import semiring
times = {"wall": time.perf_counter() - start, "cpu": time.process_time() - cpu}
roots = sorted({name.partition(".")[0] for name in sys.modules})
print(json.dumps({**times, "version": semiring.__version__, "roots": roots}))
"""


def import_afresh(compiled: Path | None = None) -> dict[str, Any]:
    """Import the package in a new process; return the seconds it took and what it loaded.

    compiled: a folder where Python keeps compiled modules, as it does for what is installed.
    """
    env = dict(os.environ)
    if compiled is not None:
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        env["PYTHONPYCACHEPREFIX"] = str(compiled)
    finished = subprocess.run(
        [sys.executable, "-c", MEASURE], capture_output=True, text=True, timeout=60, check=True, env=env
    )
    report: dict[str, Any] = json.loads(finished.stdout)
    return report


def test_loads_nothing_heavy() -> None:
    report = import_afresh()
    assert not set(HEAVY) & set(report["roots"])


def test_takes_a_fifth_of_a_second_beyond_numpy(record_property: Any, tmp_path: Path) -> None:
    """Best of five, in seconds of the processor: other processes then do not count, and importing hardly waits."""
    reports = [import_afresh(tmp_path) for _ in range(5)]
    best = {name: round(min(report[name] for report in reports), 4) for name in ("cpu", "wall")}
    record_property("seconds beyond NumPy", best)
    print(f"import semiring: seconds beyond NumPy: {best}")
    assert best["cpu"] < 0.2


def test_version_is_that_of_the_distribution() -> None:
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert import_afresh()["version"] == tomllib.loads(text)["project"]["version"]
