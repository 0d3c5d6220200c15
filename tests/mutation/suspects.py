"""Run the tests of the module that is changed in this clone: the command that cosmic-ray calls for each mutant."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# The tests of a folder, in the order in which they run.
_TESTS = {
    "semiring/engines/sliced": [
        "tests/engines/test_sliced.py",
        "tests/engines/test_sliced_products.py",
        "tests/facade/test_storage_kinds.py",
        "tests/formats/test_compressed_facade.py",
    ],
    "semiring/algorithms": [
        "tests/algorithms/test_small_graphs.py",
        "tests/algorithms/test_arguments.py",
        "tests/algorithms/test_ordering.py",
        "tests/facade/test_storage_kinds.py",
        "tests/facade/test_out_of_memory.py",
    ],
    "semiring": [
        "tests/ops/test_write_semantics.py",
        "tests/ops/test_closure.py",
        "tests/facade",
        "tests/formats",
        "tests/storage",
        "tests/ops",
        "tests/oracle",
        "tests/algorithms/test_small_graphs.py",
    ],
}


def tests_of(module: str) -> list[str]:
    """The files and folders of tests that run for a module; those with its name first."""
    folder = next(folder for folder in _TESTS if module.startswith(folder))
    named = sorted(str(path) for path in Path("tests").rglob(f"test_*{Path(module).stem}*.py"))
    return list(dict.fromkeys([*named, *_TESTS[folder]]))


def main() -> int:
    """0 if every test passes, as a runner of mutants expects."""
    changed = subprocess.run(
        ["git", "diff", "--name-only", "--", "semiring"], capture_output=True, text=True, check=True
    ).stdout.split()
    # Nothing is changed where cosmic-ray takes its baseline: every test must pass, or each mutant would seem killed.
    chosen = [test for module in changed or _TESTS for test in tests_of(module)]
    options = ["-x", "-q", "--engine=cpu", "-p", "no:cacheprovider", "--no-header", "--seed=0"]
    return subprocess.call([sys.executable, "-m", "pytest", *options, *dict.fromkeys(chosen)])


if __name__ == "__main__":
    sys.exit(main())
