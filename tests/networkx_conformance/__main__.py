"""Run NetworkX's test suite with the backend, as NetworkX documents it, and count what reaches the backend.

python -m tests.networkx_conformance                                all of networkx.algorithms and networkx.classes
python -m tests.networkx_conformance networkx.algorithms.core       those of some modules or packages
python -m tests.networkx_conformance --functions                    print the calls of each function of the backend
python -m tests.networkx_conformance -n 2                           in two processes

Every dispatched call is converted, computed by the backend where it can be, and else by NetworkX
(``NETWORKX_FALLBACK_TO_NX``).  NetworkX compares graphs that functions return with its own.  A test counts as one of
the backend if a function of the backend returned a result in it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tests.networkx_conformance.installed import ROOT, with_entry_points

PACKAGES = ("networkx.algorithms", "networkx.classes")


def run(targets: list[str], processes: int = 0) -> dict[str, dict[str, Any]]:
    """Run tests in a new process; return the outcome and the functions of the backend of each test."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report"
        environment = {
            **os.environ,
            "NETWORKX_TEST_BACKEND": "semiring",
            "NETWORKX_FALLBACK_TO_NX": "True",
            "PYTHONPATH": os.pathsep.join([str(with_entry_points(Path(folder))), str(ROOT)]),
            "NETWORKX_CONFORMANCE_REPORT": str(report),
        }
        command = [sys.executable, "-m", "pytest", "-c", os.devnull, f"--rootdir={folder}", "-q", "--tb=short"]
        command += ["-p", "no:cacheprovider", "-p", "no:benchmark", "-W", "ignore", "--import-mode=prepend"]
        command += ["-p", "tests.networkx_conformance.counting", "-n", str(processes), "--pyargs", *targets]
        finished = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        found: dict[str, dict[str, Any]] = {}
        for part in sorted(Path(folder).glob("report*")):
            for name, row in json.loads(part.read_text(encoding="utf-8")).items():
                if row["outcome"] is not None:
                    found[name] = row
    if not found or finished.returncode not in (0, 1):
        raise SystemExit(finished.stdout[-3000:] + finished.stderr[-3000:])
    if finished.returncode:
        print(finished.stdout[-20000:])
    return found


def main() -> int:
    """Run, print the counts, and return 1 if a test fails that `DIFFERENCES` does not list."""
    parser = argparse.ArgumentParser(prog="python -m tests.networkx_conformance", description=__doc__)
    parser.add_argument("only", nargs="*", help="modules or packages of NetworkX")
    parser.add_argument("--functions", action="store_true", help="print the calls of each function")
    parser.add_argument("-n", type=int, default=0, help="processes")
    options = parser.parse_args()
    found = run(options.only or list(PACKAGES), options.n)
    outcomes = Counter(row["outcome"] for row in found.values())
    reached = [row for row in found.values() if row["functions"]]
    calls: Counter[str] = Counter()
    for row in reached:
        calls.update(row["functions"])
    for outcome in ("passed", "failed", "xfailed", "skipped"):
        print(f"{outcome}: {outcomes[outcome]}")
    passed = sum(row["outcome"] == "passed" for row in reached)
    print(f"the backend computed in {len(reached)} tests, of which {passed} passed")
    print(f"{len(calls)} functions of the backend returned {sum(calls.values())} results")
    if options.functions:
        for name, count in sorted(calls.items()):
            print(f"  {name}: {count}")
    return 1 if outcomes["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
