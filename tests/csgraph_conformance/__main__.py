"""Run SciPy's tests of `scipy.sparse.csgraph` with the functions of `semiring.csgraph` in its place.

python -m tests.csgraph_conformance                      everything computed here, whatever takes less time
python -m tests.csgraph_conformance --by-time            as users run it: SciPy where that takes less time
python -m tests.csgraph_conformance test_shortest_path   the tests of some files
python -m tests.csgraph_conformance --errors             print the last line of each failure

The tests are those of the installed SciPy.  Each case counts.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import pytest

_ROW = re.compile(r"^\| `(test_\w+\.py::test_\w+(?:\[.*?\])?)` \| (.+) \|$", re.MULTILINE)
# Cases that are left out where everything is computed here, with the reason.
LEFT_OUT = {"test_flow.py::test_add_reverse_edges_large_graph": "a path of 100,000 levels: a few operations for each"}
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


def install(by_time: bool) -> int:
    """Put the functions of `semiring.csgraph` in the place of SciPy's; return how many."""
    from importlib import import_module

    from scipy.sparse import csgraph as theirs

    from semiring import csgraph as ours
    from semiring.csgraph.conversion import Policy

    Policy.by_time = by_time
    names = [name for name in ours.__all__ if hasattr(theirs, name)]
    for name in names:
        setattr(theirs, name, getattr(ours, name))
        if name in _PRIVATE:
            setattr(import_module(f"scipy.sparse.csgraph.{_PRIVATE[name]}"), name, getattr(ours, name))
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


def main() -> int:
    """Run, print the counts, and return 1 if a case fails that `failures.md` does not list."""
    parser = argparse.ArgumentParser(prog="python -m tests.csgraph_conformance", description=__doc__)
    parser.add_argument("only", nargs="*", help="a file, as test_flow")
    parser.add_argument("--by-time", action="store_true", help="SciPy where it takes less time")
    parser.add_argument("--errors", action="store_true", help="print the last line of each failure")
    options = parser.parse_args()
    where = folder()
    files = [where / f"{name.removesuffix('.py')}.py" for name in options.only] or sorted(where.glob("test_*.py"))
    replaced, outcomes = install(options.by_time), Outcomes(set() if options.by_time else set(LEFT_OUT))
    settings = ["-c", os.devnull, "--noconftest", "--import-mode=prepend", "-q", "--tb=line", "-W", "ignore"]
    settings += [f"-p no:{name}" for name in ("cacheprovider", "randomly", "xdist", "benchmark")]
    with redirect_stdout(StringIO()) as output:
        status = pytest.main([*settings, *map(str, files)], plugins=[outcomes])
    assert status in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED), output.getvalue()
    counts = {kind: sum(one == kind for one in outcomes.of.values()) for kind in ("passed", "failed", "skipped")}
    print(f"{replaced} functions replaced; " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
    listed, surprises = reasons(), 0
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
