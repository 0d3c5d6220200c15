"""Run SciPy's tests of `scipy.sparse.csgraph` with the functions of `semiring.csgraph` in its place, twice.

As called, SciPy computes what takes it less time: nearly all of its tests, whose graphs are small.  Then everything is
computed here for which a function exists here.  Both counts are printed, and how many calls were computed here.

python -m tests.csgraph_conformance                      all tests
python -m tests.csgraph_conformance test_shortest_path   the tests of some files
python -m tests.csgraph_conformance --errors             print the last line of each failure

The tests are those of the installed SciPy.  Each case counts.
"""

from __future__ import annotations

import argparse
import functools
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

_ROW = re.compile(r"^\| `(test_\w+\.py::test_\w+(?:\[.*?\])?)` \| (.+) \|$", re.MULTILINE)
# Cases that are left out where everything is computed here, with the reason.
LEFT_OUT = {"test_flow.py::test_add_reverse_edges_large_graph": "a path of 100,000 levels: a few operations for each"}
# Name of a run -> whether SciPy computes what takes it less time.
MODES = {"as called": True, "everything computed here": False}
# Modules of SciPy of which tests import a function by its private path.
_PRIVATE = {"laplacian": "_laplacian", "minimum_spanning_tree": "_min_spanning_tree"}


def folder() -> Path:
    """The folder of SciPy's tests, which its wheels contain."""
    found = find_spec("scipy.sparse.csgraph")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "tests"


def reasons() -> dict[str, str]:
    """Return the reason of each case, or function, that is known to differ."""
    return dict(_ROW.findall((Path(__file__).parent / "failures.md").read_text(encoding="utf-8")))


class Calls:
    """Counts the calls of the functions of `semiring.csgraph`, and those that a function of SciPy computed.

    SciPy's conversions of graphs within a call of another function do not count as computing it.
    """

    def __init__(self) -> None:
        self.made = self.here = 0
        self.current: str | None = None
        self.by_scipy = False

    def theirs(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def called(*arguments: Any, **named: Any) -> Any:
            self.by_scipy |= name == self.current or not name.startswith("csgraph_")
            return function(*arguments, **named)

        return called

    def ours(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def called(*arguments: Any, **named: Any) -> Any:
            if self.current is not None:
                return function(*arguments, **named)
            self.current, self.by_scipy = name, False
            try:
                return function(*arguments, **named)
            finally:
                self.made, self.here, self.current = self.made + 1, self.here + (not self.by_scipy), None

        return called


def install(calls: Calls, by_time: bool) -> int:
    """Put the functions of `semiring.csgraph` in the place of SciPy's; return how many."""
    from importlib import import_module

    from scipy.sparse import csgraph as theirs

    assert "semiring.bridges.csgraph" not in sys.modules  # it reads SciPy's functions when it is imported
    for name in theirs.__all__:
        if callable(getattr(theirs, name)) and not isinstance(getattr(theirs, name), type):
            setattr(theirs, name, calls.theirs(name, getattr(theirs, name)))
    from semiring import csgraph as ours
    from semiring.bridges.csgraph.conversion import Policy

    Policy.by_time = by_time
    names = [name for name in ours.__all__ if hasattr(theirs, name)]
    for name in names:
        function = getattr(ours, name)
        function = function if isinstance(function, type) else calls.ours(name, function)
        setattr(theirs, name, function)
        if name in _PRIVATE:
            setattr(import_module(f"scipy.sparse.csgraph.{_PRIVATE[name]}"), name, function)
    return len(names)


class Outcomes:
    """Collects the outcome of each case, and leaves some functions out."""

    def __init__(self, left_out: set[str]) -> None:
        self.of: dict[str, str] = {}
        self.errors: dict[str, str] = {}
        self.left_out = left_out

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if f"{item.path.name}::{item.name.partition('[')[0]}" not in self.left_out]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file, _, name = report.nodeid.partition("::")
        key = f"{os.path.basename(file)}::{name}"
        if report.failed:
            self.of[key] = "failed"
            crash = getattr(report.longrepr, "reprcrash", None)
            self.errors[key] = f"{crash.lineno}: {crash.message.splitlines()[0]}" if crash else str(report.longrepr)
        elif report.skipped:
            self.of.setdefault(key, "skipped")
        elif report.when == "call" and self.of.get(key) != "failed":
            self.of[key] = "passed"


def run(files: list[Path], left_out: set[str]) -> Outcomes:
    """Run the tests of some files."""
    outcomes = Outcomes(left_out)
    settings = ["-c", os.devnull, "--noconftest", "--import-mode=prepend", "-q", "--tb=line", "-W", "ignore"]
    settings += [f"-p no:{name}" for name in ("cacheprovider", "randomly", "xdist", "benchmark")]
    with redirect_stdout(StringIO()) as output:
        status = pytest.main([*settings, *map(str, files)], plugins=[outcomes])
    assert status in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED), output.getvalue()
    return outcomes


def main() -> int:
    """Run both ways, each in a process of its own; return 1 if a case fails that `failures.md` does not list."""
    parser = argparse.ArgumentParser(prog="python -m tests.csgraph_conformance", description=__doc__)
    parser.add_argument("only", nargs="*", help="a file, as test_flow")
    parser.add_argument("--mode", choices=MODES, help="one of the two runs")
    parser.add_argument("--errors", action="store_true", help="print the last line of each failure")
    options = parser.parse_args()
    if options.mode is None:
        again = [sys.executable, "-m", "tests.csgraph_conformance", *sys.argv[1:], "--mode"]
        return max(subprocess.run([*again, mode], check=False).returncode for mode in MODES)
    where = folder()
    files = [where / f"{name.removesuffix('.py')}.py" for name in options.only] or sorted(where.glob("test_*.py"))
    calls, by_time = Calls(), MODES[options.mode]
    replaced = install(calls, by_time)
    outcomes = run(files, set() if by_time else set(LEFT_OUT))
    counts = {kind: sum(one == kind for one in outcomes.of.values()) for kind in ("passed", "failed", "skipped")}
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    print(f"{replaced} functions, {options.mode}: {told}; {calls.here} of {calls.made} calls computed here", flush=True)
    # As called, no case differs.
    listed, surprises = {} if by_time else reasons(), 0
    for key, outcome in outcomes.of.items():
        known = key in listed or key.partition("[")[0] in listed
        if options.errors and outcome == "failed":
            print(f"{key}:{outcomes.errors[key]}")
        if outcome == "failed" and not known:
            surprises += 1
            print(f"{key} failed, and failures.md does not list it")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
