"""Run the library's tests by the processes of a grid, a file at a time, and compare what is skipped with skipped.md.

python -m tests.on_grids                                  the files of `FOLDERS`, on 2 x 1 processes
python -m tests.on_grids tests/ops tests/facade/test_labels.py
python -m tests.on_grids --ranks 2x2 --engine cuda tests/ops

Prints a row of the table for each folder, and returns 1 if a test fails, or if one is skipped for a reason that
skipped.md does not list.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests import ranks
from tests.on_grids.reasons import ROOT, grid_reason, listed

FOLDERS = ("tests/ops", "tests/facade", "tests/formats", "tests/algorithms")
# The exit status of pytest where no test of a file is in the tier.
_NOTHING = 5
_PASSED = re.compile(r"^(?:\d+ \w+, )*(\d+) passed\b.* in ", re.MULTILINE)
_SKIPPED = re.compile(r"^SKIPPED \[(\d+)\] \S+: (.*)$", re.MULTILINE)
_FAILED = re.compile(r"^(?:FAILED|ERROR) .*$", re.MULTILINE)


@dataclass
class Outcome:
    """How many tests passed and how many a grid skips, for each reason; and what failed, or the end of the output."""

    passed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        """Add the outcome of another file."""
        self.passed += other.passed
        self.skipped.update(other.skipped)
        self.failed += other.failed


def files(given: Iterable[str]) -> list[Path]:
    """Return the files of tests in folders, and those that are given themselves."""
    found: list[Path] = []
    for name in given:
        path = ROOT / name
        found += sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
    return found


def run(file: Path, shape: str = "2x1", engine: str = "cpu", seconds: float | None = None) -> Outcome:
    """Run a file of tests by as many processes as the grid has places; the first one reports."""
    rows, cols = ranks.shape(shape)
    command = [sys.executable, "-m", "semiring.cli", "launch", "-n", str(rows * cols), "-m", "pytest", "-q"]
    command += ["--color=no", "-rfEs", "-p", "no:cacheprovider", "--seed=1", f"--ranks={shape}", f"--engine={engine}"]
    command.append(str(file))
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT, start_new_session=True
    ) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)  # with MPI's launcher, which ends the processes of the grid
            process.communicate()
            return Outcome(failed=[f"{file.name}: not done in {seconds:g} s"])
    return outcome_of(output, process.returncode, file.name)


def outcome_of(output: str, status: int, name: str) -> Outcome:
    """Return the outcome in the output of pytest."""
    passed = _PASSED.findall(output)
    made = Outcome(int(passed[-1]) if passed else 0, Counter(), _FAILED.findall(output))
    for count, reason in _SKIPPED.findall(output):
        known = grid_reason(reason)
        if known is not None:
            made.skipped[known] += int(count)
    if status not in (0, _NOTHING) and not made.failed:
        made.failed = [f"{name} ended with exit status {status}:\n{output[-2000:]}"]
    return made


def main() -> int:
    """Run, print the counts, and return 1 if a test fails, or is skipped for a reason that is not listed."""
    parser = argparse.ArgumentParser(prog="python -m tests.on_grids", description=__doc__)
    parser.add_argument("only", nargs="*", help="folders or files")
    parser.add_argument("--ranks", default="2x1", help="rows and columns of the grid")
    parser.add_argument("--engine", default="cpu", help="of the parts")
    parser.add_argument("--timeout", type=float, help="seconds for a file")
    options = parser.parse_args()
    surprises = 0
    for folder in options.only or FOLDERS:
        total = Outcome()
        for file in files([folder]):
            total.add(run(file, options.ranks, options.engine, options.timeout))
        print(f"| `{folder}` | {total.passed} | {sum(total.skipped.values())} | {len(total.failed)} |", flush=True)
        for reason, count in sorted(total.skipped.items()):
            print(f"    {count} {'' if reason in listed() else 'NOT LISTED '}{reason}")
        surprises += len(total.failed) + len(total.skipped.keys() - listed().keys())
        print("".join(f"    {each}\n" for each in total.failed), end="", flush=True)
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
