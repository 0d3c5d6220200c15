"""Run python-graphblas's test suite with ``graphblas`` being this library.

python -m tests.conformance                         count the functions that pass by kind; compare with failures.md
python -m tests.conformance test_vector test_mask   those of some files, or one: test_vector.py::test_dup
python -m tests.conformance --strict                compare the texts of errors too
python -m tests.conformance --errors                print the last line of each failure
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import pytest

from tests.conformance import stand_ins, suite
from tests.conformance.reasons import reasons


class Outcomes:
    """Collects the outcome of each function: it passes if all its cases do."""

    def __init__(self) -> None:
        self.of: dict[str, str] = {}
        self.errors: dict[str, str] = {}

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "slow: their mark")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file, _, name = report.nodeid.partition("::")
        key = f"{os.path.basename(file)}::{name.partition('[')[0]}"
        if report.failed:
            self.of[key] = "failed"
            crash = getattr(report.longrepr, "reprcrash", None)
            self.errors[key] = f"{crash.lineno}: {crash.message.splitlines()[0]}" if crash else str(report.longrepr)
        elif report.skipped:
            self.of.setdefault(key, "skipped")
        elif report.when == "call" and self.of.get(key) != "failed":
            self.of[key] = "passed"


def run(chosen: list[suite.Function], strict: bool) -> Outcomes:
    """Run these functions in this process."""
    where = suite.folder()
    stand_ins.install(where, strict)
    outcomes = Outcomes()
    settings = ["-c", os.devnull, "--noconftest", "--import-mode=prepend", "-p", "no:cacheprovider", "-q", "--tb=line"]
    settings += ["-p", "no:randomly", "-p", "no:xdist", "-p", "no:benchmark", "-W", "ignore"]
    arguments: list[Any] = [*settings, *(str(where / function.key) for function in chosen)]
    with redirect_stdout(StringIO()) as output:
        status = pytest.main(arguments, plugins=[outcomes])
    assert status in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED), output.getvalue()
    return outcomes


def main() -> int:
    """Run, print the counts, and return 1 if a function fails that `reasons` does not list, or passes that it lists."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("only", nargs="*", help="a file or file::function")
    parser.add_argument("--strict", action="store_true", help="compare the texts of errors too")
    parser.add_argument("--errors", action="store_true", help="print the last line of each failure")
    options = parser.parse_args()
    wanted = {name if "::" in name else f"{name.removesuffix('.py')}.py" for name in options.only}
    chosen = [
        function
        for function in suite.functions(suite.folder())
        if function.kind != "internal" and (not wanted or wanted & {function.file, function.key})
    ]
    if not chosen:
        print(f"no function is run: {', '.join(sorted(wanted))}: not in the suite, or about its implementation")
        return 2
    outcomes = run(chosen, options.strict)
    counts = Counter((function.kind, outcomes.of.get(function.key, "missing")) for function in chosen)
    for kind in ("plain", "user-defined", "private"):
        passed, failed, skipped = (counts[kind, outcome] for outcome in ("passed", "failed", "skipped"))
        print(f"{kind}: {passed} of {passed + failed} functions pass; {skipped} are skipped")
    if not options.strict:
        print("texts of errors are not compared, nor are errors where more is accepted here (stand_ins.EXTENSIONS)")
    listed = reasons()
    surprises = 0
    for function in chosen:
        outcome = outcomes.of.get(function.key, "missing")
        if options.errors and outcome == "failed":
            print(f"{function.kind} {function.key}:{outcomes.errors[function.key]}")
        if not options.strict and (outcome == "failed") != (function.key in listed):
            surprises += 1
            print(
                f"{function.key} {outcome}, and failures.md {'lists' if function.key in listed else 'does not list'} it"
            )
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
