"""Record which CPU kernels each function needs, for `cpu_lists`; for a release.

    python -m semiring.warming.record_cpu [PROCESSES [FILE]]

Every function of `worker.names` is called on the graphs of `worker.matrices`, for each usual type in a new process that
compiles what is not stored.  The file is written after each.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numba

import semiring as sr
from semiring import kernel_store
from semiring.engines.cpu import compile, program
from semiring.warming import cpu_lists, worker
from semiring.warming.cpu_lists import Kernel, Lists
from semiring.warming.record import TYPES

# Threads of the calls: some kernels are for one thread, others for several.
_THREADS = (1, 16)


def recorded(name: str, dtype: str) -> dict[Kernel, int]:
    """Return the kernels that calls of a function need, with the bytes of their code; in a new process."""
    texts: dict[str, str] = {}
    loop = program._kernel

    def noted(text: str) -> Any:
        made = loop(text)
        texts[made.py_func.__module__] = text
        return made

    program._kernel = noted
    settings: Any = numba.config
    with sr.use("cpu"):
        for threads in _THREADS:
            settings.NUMBA_NUM_THREADS = threads
            worker.run(name, dtype)
    return {
        _kernel(made, texts, signature): _size(made, signature)
        for made in compile._kernels
        for signature in made.overloads
    }


def _kernel(made: Any, texts: dict[str, str], signature: tuple[Any, ...]) -> Kernel:
    types = json.dumps([cpu_lists.encoded(each) for each in signature], separators=(",", ":"))
    module, function = made.py_func.__module__, made.py_func.__name__
    return ("", texts[module], types) if module in texts else (module, function, types)


def _size(made: Any, signature: tuple[Any, ...]) -> int:
    codes = (kernel_store.load("cpu", key) for key in made._cache._keys(signature, made.targetctx.codegen()))
    return max((len(code) for code in codes if code is not None), default=0)


def main(processes: str = "", file: str = "") -> None:
    """Record all functions in several processes, and write the lists.

    file: by default that of the package.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([program.__name__])
    path = Path(file) if file else Path(cpu_lists.__file__).with_name(cpu_lists.FILE)
    lists: Lists = {}
    with ProcessPoolExecutor(int(processes or os.cpu_count() or 1), context, max_tasks_per_child=1) as pool:
        jobs = {pool.submit(recorded, name, dtype): (name, dtype) for name in worker.names() for dtype in TYPES}
        for job in as_completed(jobs):
            name, dtype = jobs[job]
            lists.setdefault(name, {})[dtype] = job.result()
            path.write_bytes(cpu_lists.packed(lists))
            print(f"{name} {dtype}: {len(job.result())} kernels", file=sys.stderr, flush=True)
    kernels = {kernel for of_type in lists.values() for kernels in of_type.values() for kernel in kernels}
    print(f"{len(kernels)} kernels of {len(lists)} functions", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
