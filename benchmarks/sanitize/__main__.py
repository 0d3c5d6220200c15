"""Launch every CUDA kernel on small inputs, to be run under compute-sanitizer; each result is checked.

    compute-sanitizer --tool memcheck python3 -m benchmarks.sanitize
    compute-sanitizer --tool racecheck python3 -m benchmarks.sanitize

racecheck checks shared memory only.  Comments in the kernel text justify races in global memory: reads of memory that
other threads of a launch write use `load_relaxed` (``kernels/atomics.cuh``), and a comment at each states why a
stale value is harmless.

Every array has its own allocation (no memory pool), so that memcheck detects an access past its end.  Results equal
those of the reference engine.  Exits with 1 if a result is wrong, or if a kernel in the package was never launched:
then a step is missing in one of the modules of this package.  ``--device cpu`` runs the steps on a machine without a
GPU; ``--only update tiles`` those whose names contain one of these words.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import semiring as sr

from . import complex, full, records, rows, steps, tiles
from .inputs import small
from .steps import large
from .tiles import sorts

_MODULES = (steps, rows, tiles, full, complex, records)
STEPS = {name: step for module in _MODULES for name, step in module.STEPS.items()}
_BOUNDS = re.compile(r"__launch_bounds__\([^)]*\)")
_ENTRY = re.compile(r'extern "C" __global__[\w\s]*?(\w+)\(')


def entries() -> set[str]:
    """Every kernel in the package, as ``file:entry``."""
    folder = Path(sr.__file__).parent / "engines" / "cuda" / "kernels"
    texts = {path.name: _BOUNDS.sub("", path.read_text(encoding="utf-8")) for path in folder.glob("*.cuh")}
    return {f"{file}:{name}" for file, text in texts.items() for name in _ENTRY.findall(text)}


def selected(only: Sequence[str]) -> dict[str, Any]:
    """The steps whose names contain one of the words; all without words."""
    return {name: step for name, step in STEPS.items() if not only or any(word in name for word in only)}


def run(device: str, scale: int, only: Sequence[str] = ()) -> list[str]:
    """The steps that failed."""
    wrong = []
    steps = selected(only)
    with sr.use("reference"):
        expected = {}
        s = small()
        for name, step in steps.items():
            expected[name] = step(s).wait()
    with sr.use(device):
        s = small()
        for name, step in steps.items():
            print(name, flush=True)
            try:
                found = step(s).wait().to("cpu")
            except Exception as problem:
                wrong.append(f"{name}: {type(problem).__name__}: {problem}")
                continue
            with sr.use("cpu"):
                if not found.isequal(expected[name]):
                    wrong.append(f"{name}: differs from the reference")
        if not only:
            print("large", flush=True)
            large(scale)
            sorts(scale)
    return wrong


def main() -> int:
    """Run every step; on a GPU, check that every kernel was launched."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sanitize", description=__doc__.partition("\n")[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--scale", type=int, default=12, help="of the Kronecker graph; default %(default)s")
    parser.add_argument("--only", nargs="+", default=(), metavar="WORD", help="steps whose names contain one of these")
    options = parser.parse_args()
    if options.device == "cuda":
        wrong = _watched(options.scale, options.only)
    else:
        wrong = run("cpu", options.scale, options.only)
    for line in wrong:
        print(f"WRONG  {line}")
    print(f"{len(selected(options.only))} steps, {len(wrong)} wrong")
    return 1 if wrong else 0


def _watched(scale: int, only: Sequence[str]) -> list[str]:
    import cupy

    from semiring.engines.cuda.kernel import Kernel

    launched: set[str] = set()
    launch = Kernel.__call__

    def watching(self: Kernel, grid: int, *arguments: Any, **options: Any) -> None:
        if grid:
            launched.add(f"{self.file}:{self.entry}")
        launch(self, grid, *arguments, **options)

    cupy.cuda.set_allocator(None)
    with mock.patch.object(Kernel, "__call__", watching):
        wrong = run("cuda", scale, only)
    missing = [] if only else sorted(entries() - launched)
    print(f"{len(launched)} kernels were launched")
    return wrong + [f"{name} was never launched" for name in missing]


if __name__ == "__main__":
    sys.exit(main())
