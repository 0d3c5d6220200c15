"""Record which CUDA kernels each function launches, for `engines.cuda.kernel_lists`; on a GPU, for a release.

    python -m semiring.warming.record [PROCESSES [SECONDS [FILE]]]

Every function of `worker.names` is called on the graphs of `worker.matrices`, of all usual types.  A call's list has
the kernels in the order in which it first uses them; equal lists of a function are kept once.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import semiring as sr
from semiring.warming import worker

if TYPE_CHECKING:
    from semiring.engines.cuda.kernel_lists import Lists, Text

# Binary logarithms of the vertices of further graphs: on a GPU the kernels of a call depend on sizes.
_BETWEEN = (6, 9)
TYPES = ("bool", "int32", "int64", "float32", "float64")


@contextmanager
def _watched() -> Iterator[dict[Text, None]]:
    """Yield the texts of the kernels that are used meanwhile, in order."""
    from semiring.engines.cuda.kernel import Kernel

    used: dict[Text, None] = {}
    launch, function = Kernel.__call__, Kernel.function

    def launched(self: Kernel, grid: int, *arguments: Any, **options: Any) -> None:
        if grid:
            used[self.file, self.prologue, self.entry] = None
        launch(self, grid, *arguments, **options)

    def loaded(self: Kernel) -> Any:
        used[self.file, self.prologue, self.entry] = None
        return function(self)

    Kernel.__call__, Kernel.function = launched, loaded  # type: ignore[method-assign]
    try:
        yield used
    finally:
        Kernel.__call__, Kernel.function = launch, function  # type: ignore[method-assign]


def recorded(name: str) -> dict[str, list[list[Text]]]:
    """Return the lists of a function for each type, each once."""
    lists: dict[str, dict[tuple[Text, ...], None]] = {dtype: {} for dtype in TYPES}
    with sr.use("cuda"):
        for call in worker.calls(name):
            # Graphs of their own for each call: what a call derives from a matrix, later ones do not.
            for A in worker.matrices(TYPES, worker.scale(name), _BETWEEN):
                A.wait()
                with _watched() as used:
                    worker.computed(call, A)
                if used:
                    lists[A.dtype.name][tuple(used)] = None
    return {dtype: [list(texts) for texts in calls] for dtype, calls in lists.items() if calls}


def main(processes: str = "", seconds: str = "", file: str = "") -> None:
    """Record all functions in several processes, and write the lists of those that end in time.

    file: by default that of the package.
    """
    from semiring.engines.cuda import kernel_lists

    count = int(processes) if processes else os.cpu_count() or 1
    pool = ProcessPoolExecutor(count, multiprocessing.get_context("spawn"))
    jobs = {pool.submit(recorded, name): name for name in worker.names()}
    lists: Lists = {}
    try:
        for job in as_completed(jobs, float(seconds) if seconds else None):
            lists[jobs[job]] = job.result()
            calls = [call for of_type in job.result().values() for call in of_type]
            print(f"{jobs[job]}: {len(set().union(*calls))} kernels in {len(calls)} lists", file=sys.stderr, flush=True)
    except TimeoutError:
        print(f"not in time: {', '.join(name for name in jobs.values() if name not in lists)}", file=sys.stderr)
    path = Path(file) if file else Path(kernel_lists.__file__).with_name(kernel_lists.FILE)
    path.write_bytes(kernel_lists.packed(lists))
    kernels = {text for of_type in lists.values() for calls in of_type.values() for call in calls for text in call}
    print(f"{len(kernels)} kernels of {len(lists)} functions", flush=True)
    for process in list(pool._processes.values()):
        process.kill()


if __name__ == "__main__":
    main(*sys.argv[1:])
