"""`import semiring` loads NumPy, no other library, no engine, and few modules.

How long it takes is measured by ``python -m benchmarks.importing``: a test that reads a clock fails on a busy machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

HEAVY = ("cupy", "cupyx", "graphblas", "matplotlib", "networkx", "numba", "scipy")
# Loaded when they are first used.
LATER = ("algorithms", "cli", "distributed", "engines.cpu", "engines.cuda", "engines.reference", "io", "random")
MOST_MODULES = 218  # beyond NumPy's own; 212 when this was written

LOADED = """
import json, sys
import numpy
before = set(sys.modules)
import semiring
print(json.dumps({"version": semiring.__version__, "modules": sorted(set(sys.modules) - before)}))
"""


def import_afresh() -> dict[str, Any]:
    """Import the package in a new process; return its version and the modules it loaded beyond NumPy's."""
    finished = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, timeout=60, check=True)
    report: dict[str, Any] = json.loads(finished.stdout)
    return report


def test_loads_nothing_heavy() -> None:
    modules = import_afresh()["modules"]
    assert not [name for name in modules if name.partition(".")[0] in HEAVY]
    later = tuple(f"semiring.{name}" for name in LATER)
    assert not [name for name in modules if name in later or name.startswith(tuple(f"{name}." for name in later))]


def test_loads_few_modules() -> None:
    """Each module costs about a millisecond: their number can be counted on any machine."""
    modules = import_afresh()["modules"]
    assert "semiring.facade.matrix" in modules
    assert len(modules) <= MOST_MODULES, modules


def test_version_is_that_of_the_distribution() -> None:
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert import_afresh()["version"] == tomllib.loads(text)["project"]["version"]
