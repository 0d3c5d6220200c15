"""Operations that move, scale, sum, sort or select the entries of rows, against their bytes.

Values are random float32.  A row gives the ratio of the time to that of the least bytes (operands read once, the result
written once) at 4.5 TB/s, the bandwidth of an H200 that copies reach; its note has the time, and on a GPU that of a
call among 20 in a row, whose launches overlap with the kernels before.  The target is 2.  Sorts have no such bound;
CuPy's sort of the same entries as keys of row and value is beside them.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import semiring as sr

from .. import graphs
from ..case import Run
from ..harness import RUNS, Samples, measure, unchecked

BYTES_A_MS = 4.5e9
BOUND = 2.0
IN_A_ROW = 20


def _nbytes(*objects: Any) -> int:
    return sum(one.nbytes for one in objects)


def moves(A: sr.Matrix) -> Iterator[tuple[str, Callable[[], Any], int]]:
    """Operations of one pass: name, call, and the least bytes that it moves."""
    n = A.nrows
    u = sr.Vector.from_dense(graphs.module(A).arange(n, dtype=np.float32))
    small = sr.Matrix.from_dense(np.ones((1, 8), np.float32)).convert("csr")
    yield "concat [[A, A]]", lambda: sr.hstack([A, A]), _nbytes(A, A) * 2
    yield "concat [[A], [A]]", lambda: sr.vstack([A, A]), _nbytes(A, A) * 2
    yield "reshape (n/2, 2n)", lambda: A.reshape(n // 2, 2 * n), 8 * A.nvals + 6 * n
    yield "reposition (0, 5)", lambda: A.reposition(0, 5, ncols=n + 5), _nbytes(A) * 2
    yield "kronecker with 8 entries", lambda: A.kronecker(small), _nbytes(A) * (1 + small.nvals)
    yield "scale columns, A * u", lambda: A * u, 12 * A.nvals + 4 * n
    yield "scale rows, u * A", lambda: u * A, 8 * A.nvals + 8 * n
    yield "scan plus", lambda: A.scan("plus"), 8 * A.nvals + 4 * n
    yield "scan max", lambda: A.scan("max"), 8 * A.nvals + 4 * n
    yield "selectk first 8", lambda: A.selectk("first", 8), 12 * n + 16 * 8 * n
    yield "minloc", lambda: A.minloc()[1], 4 * A.nvals + 16 * n
    yield "minloc of columns", lambda: A.minloc("columnwise")[1], 8 * A.nvals + 16 * n
    values = sr.Vector.from_dense(graphs.module(A).arange(A.nvals, dtype=np.float32))
    labels = sr.Vector.from_dense(A.to_coo(index_dtype=np.int32)[1])
    yield "minloc_by", lambda: values.minloc_by(labels, size=n)[1], 8 * A.nvals + 16 * n
    yield "reduce_by plus", lambda: values.reduce_by(labels, size=n), 8 * A.nvals + 4 * n


def sorts(A: sr.Matrix) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Operations that order the entries of each row."""
    wide = A.dup("float64")
    yield "sort", lambda: A.sort()[0]
    yield "sort float64", lambda: wide.sort()[0]
    yield "selectk largest 8", lambda: A.selectk("largest", 8)
    yield "selectk random 8", lambda: A.selectk("random", 8, seed=1)


def _measured(call: Callable[[], Any], device: str) -> Samples:
    return measure(lambda _: call().wait(), unchecked, range(RUNS), device)


def _in_a_row(call: Callable[[], Any]) -> float:
    """Milliseconds of a call among several that the GPU executes without a pause."""
    import cupy

    taken = []
    for _ in range(RUNS):
        cupy.cuda.runtime.deviceSynchronize()
        start = time.perf_counter()
        for _ in range(IN_A_ROW):
            call().wait()
        cupy.cuda.runtime.deviceSynchronize()
        taken.append(1e3 * (time.perf_counter() - start) / IN_A_ROW)
    return statistics.median(taken)


def _sorted_keys(A: sr.Matrix) -> Callable[[int], Any]:
    """CuPy's (NumPy's) argsort of the entries by row and value."""
    xp = graphs.module(A)
    rows, _, values = A.to_coo()
    keys = (rows.astype(np.uint64) << np.uint64(32)) | values.view(np.uint32).astype(np.uint64)
    return lambda _: xp.argsort(keys)


OPTIONS = {"graphs": (("kron20",), "of random float32 values")}


def main(run: Run) -> None:
    """All operations on each graph."""
    for name in run.options.graphs:
        A = graphs.floats(graphs.make(name), np.float32)
        for what, call, nbytes in moves(A):
            found = _measured(call, run.device)
            ratio, note = found.median * BYTES_A_MS / nbytes, str(found)
            if run.on_gpu:
                each = _in_a_row(call)
                note += f"; in a row {each:.4g} ms = {each * BYTES_A_MS / nbytes:.2f} x"
            run.add(f"{what}, {name}", "x its bytes at 4.5 TB/s", ratio, BOUND if run.on_gpu else None, note=note)
        whole = measure(_sorted_keys(A), unchecked, range(RUNS), run.device)
        for what, call in sorts(A):
            run.timed(f"{what}, {name}", {"ours": _measured(call, run.device), "argsort of all keys": whole})
