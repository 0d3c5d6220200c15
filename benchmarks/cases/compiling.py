"""What compilation costs: the first search of a process, sr.warm, and the text of CUDA kernels.

The texts of CUDA kernels are compiled by NVRTC for an H100 (sm_90), which needs no GPU, only CuPy.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from importlib.util import find_spec

import semiring as sr
from semiring.config import config

from ..case import Run
from ..cold import first_calls

RUNS = 3
# Seconds from the start of Python to the levels of five vertices: caches empty, caches filled.
_LIMITS = (5.0, 2.0)
_FILES = ("closure_level.cuh", "closure_relax.cuh", "mxv_pull.cuh", "mxv_push.cuh", "link.cuh", "outofcore_closure.cuh")
_ARCHITECTURE = "sm_90"


def searches(run: Run) -> None:
    """The first search of a new process, on five vertices and on a larger graph."""
    with sr.use(run.device):
        five = sr.Matrix.from_edgelist([(0, 1), (1, 2), (2, 3), (3, 4)], nrows=5, ncols=5)
        graphs = {
            "5 vertices": (five, _LIMITS),
            f"kron{run.options.scale}": (sr.random.kronecker(run.options.scale, seed=1), (None, None)),
        }
        for name, (A, limits) in graphs.items():
            for (what, calls), bound in zip(first_calls(A, 0, run.device, RUNS).items(), limits, strict=True):
                seconds = tuple(call.seconds for call in calls)
                note = (
                    f"min {min(seconds):.2f}, max {max(seconds):.2f} of {RUNS}; load average {os.getloadavg()[0]:.1f}"
                )
                run.add(f"{what}, {name}", "s", statistics.median(seconds), bound, note=note, samples=seconds)


def warm(run: Run) -> None:
    """`sr.warm` for all algorithms, with an empty cache and with the one that it filled."""
    with tempfile.TemporaryDirectory() as folder, config.set(cache_dir=folder, quiet=True):
        for state in ("empty", "filled"):
            report = sr.warm(device=run.device)
            note = f"{report.compiled} kernels, {report.processes} processes; load average {os.getloadavg()[0]:.1f}"
            run.add(f"sr.warm(), cache {state}", "s", report.seconds, note=note)


def texts(run: Run) -> None:
    """Compile time, lines and bytes of one text of each file, for uncompressed columns and for compressed ones."""
    if find_spec("cupy") is None:
        return
    from semiring.engines.cuda import catalog, compile

    for file in _FILES:
        prologues: dict[str, str] = {}
        for other, prologue in catalog.entries():
            if other == file:
                prologues.setdefault(
                    "uncompressed" if "struct uncompressed CODEC" in prologue else "compressed", prologue
                )
        for columns, prologue in sorted(prologues.items(), reverse=True):
            text = compile.module_text(file, prologue)
            samples = tuple(_compile_ms(file, prologue) for _ in range(RUNS))
            lines = text.count("\n")
            note = f"{lines} lines, {len(text.encode())} bytes; milliseconds of the processor"
            run.add(f"NVRTC {file}, {columns}", "ms", min(samples), note=note, samples=samples)


def _compile_ms(file: str, prologue: str) -> float:
    from semiring.engines.cuda import compile

    started = time.process_time()
    compile.compile_text(file, prologue, _ARCHITECTURE)
    return (time.process_time() - started) * 1e3


ROWS = (searches, warm, texts)
OPTIONS = {"scale": (16, "of the larger graph")}


def main(run: Run) -> None:
    """The rows that are selected."""
    run.rows(ROWS, run)
