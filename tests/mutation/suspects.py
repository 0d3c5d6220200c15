"""Which tests run for a changed module."""

from __future__ import annotations

from pathlib import Path

# The tests of a folder, in the order in which they run.
_TESTS = {
    "semiring/engines/sliced": [
        "tests/engines/test_sliced.py",
        "tests/engines/test_sliced_bounds.py",
        "tests/engines/test_sliced_closure.py",
        "tests/engines/test_sliced_dispatch.py",
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

# Of those folders: it runs for as long as all others together and covers operators, which are not changed.  So it runs
# only on mutants that all others pass.
LAST = "tests/ops/test_every_operator.py"


def tests_of(module: str, root: Path) -> list[str]:
    """The files and folders of tests, of the tree at `root`, that run for a module.

    First those with its name, the shortest name before the others.
    """
    folder = next(folder for folder in _TESTS if module.startswith(folder))
    found = sorted((root / "tests").rglob(f"test_*{Path(module).stem}*.py"), key=lambda path: (len(path.stem), path))
    named = [path.relative_to(root).as_posix() for path in found]
    return list(dict.fromkeys([*named, *_TESTS[folder]]))
