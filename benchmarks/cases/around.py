"""Operations around the product against the time of their bytes, beside CuPy or SciPy.

The bytes of an operation are those of its operands, read once, and of its result, written once: offsets, columns and,
unless all values are equal, values.  The target is 1.5 times the bytes over 4.5 TB/s.
Results are compared with those of CuPy (or SciPy) where it has the operation, else with properties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import semiring as sr

from .. import checks, graphs
from ..case import ONLY, Run
from ..harness import RUNS, Contender, compare

BYTES_PER_MS = 4.5e9
TARGET = 1.5


@dataclass(frozen=True)
class Operation:
    """One call, its bytes, and the same in CuPy or SciPy.

    reads: the bytes of its operands; those of the result are added.  peer: returns a sparse matrix or a dense vector.
    within: the relative difference that values of the peer may have.
    """

    what: str
    call: Callable[[], Any]
    reads: int
    peer: Callable[[], Any] | None = None
    check: Callable[[Any], None] | None = None
    within: float = 0.0


def nbytes(C: Any) -> int:
    """The bytes of a result: arrays of a matrix, slots of a vector."""
    if isinstance(C, sr.Matrix):
        indptr, indices, _ = C.to_csr(index_dtype=None)
        values = 0 if C.store.iso is not None else C.dtype.itemsize * C.nvals
        return int(indptr.nbytes + indices.nbytes) + values
    return int(C.size) * int(C.dtype.itemsize)


def operations(scale: int) -> Iterator[Operation]:
    """All measured operations, with float32 values and iso-valued."""
    A = sr.random.kronecker(scale, 16, seed=1)
    B = sr.random.kronecker(scale, 16, seed=2)
    yield from _values(graphs.floats(A, np.float32), graphs.floats(B, np.float32))
    yield from _patterns(A, B)


def _values(M: sr.Matrix, N: sr.Matrix) -> Iterator[Operation]:
    xp = graphs.module(M)
    n = M.nrows
    L = M.select("tril", -1)
    S, T, W = (_shared(X) for X in (M, N, L))
    m = nbytes(M)
    yield Operation("add, two graphs", lambda: M.ewise_add(N).wait(), m + nbytes(N), lambda: S + T)
    yield Operation("add, graph and triangle", lambda: M.ewise_add(L).wait(), m + nbytes(L), lambda: S + W)
    yield Operation("mult, two graphs", lambda: M.ewise_mult(N, "times").wait(), m + nbytes(N), lambda: S.multiply(T))
    yield Operation(
        "mult, graph and triangle", lambda: M.ewise_mult(L, "times").wait(), m + nbytes(L), lambda: S.multiply(W)
    )
    yield Operation("transpose", partial(_transposed, M), m, lambda: S.T.tocsr())
    yield Operation("transpose, triangle", partial(_transposed, L), nbytes(L), lambda: W.T.tocsr())
    yield Operation("select tril", lambda: M.select("tril").wait(), m, lambda: _sparse(S).tril(S).tocsr())
    yield Operation("select valuegt 1", lambda: M.select("valuegt", 1).wait(), m, check=partial(_upper_half, M))
    yield Operation(
        "reduce rows",
        lambda: M.reduce_rowwise("plus").wait(),
        m - 4 * M.nvals,
        lambda: S.sum(axis=1),
        within=1e-3,
    )
    half = n // 2
    yield from _extracts(M, S, 4 + 4)
    part = M[:half, :].wait()
    yield Operation("assign half the rows", partial(_assigned, N, part), nbytes(N) + nbytes(part))
    rows, columns, values = M.to_coo()
    order = xp.random.default_rng(graphs.SEED).random(M.nvals, dtype=np.float32).argsort()
    i, j, x = rows[order].astype(np.int32), columns[order].astype(np.int32), values[order]
    del rows, columns, values, order
    yield Operation(
        "build",
        lambda: sr.Matrix.from_coo(i, j, x, nrows=n, ncols=n).wait(),
        12 * M.nvals,
        check=lambda C: _equal(C, S, 0),
    )


def _patterns(A: sr.Matrix, B: sr.Matrix) -> Iterator[Operation]:
    L = A.select("tril", -1)
    a = nbytes(A)
    yield Operation("add, two graphs, iso", lambda: A.ewise_add(B, "pair").wait(), a + nbytes(B))
    yield Operation("add, graph and triangle, iso", lambda: A.ewise_add(L, "pair").wait(), a + nbytes(L))
    yield Operation("mult, two graphs, iso", lambda: A.ewise_mult(B, "pair").wait(), a + nbytes(B))
    yield Operation("transpose, triangle, iso", partial(_transposed, L), nbytes(L))
    yield Operation("select tril, iso", lambda: A.select("tril").wait(), a)
    yield Operation("reduce rows, iso", lambda: A.reduce_rowwise("plus").wait(), a - 4 * A.nvals)
    yield from _extracts(A, None, 4)


def _extracts(M: sr.Matrix, S: Any, entry: int) -> Iterator[Operation]:
    """Half the rows: every second, the first half, and random ones.  entry: the bytes of an entry."""
    xp = graphs.module(M)
    n, half = M.nrows, M.nrows // 2
    index = xp.random.default_rng(graphs.SEED).random(n, dtype=np.float32).argsort()[:half].astype(np.int32)
    end = ", iso" if S is None else ""
    degree = xp.diff(M.to_csr(index_dtype=None)[0])
    for what, rows, key in (
        ("every second row", slice(None, None, 2), slice(None, None, 2)),
        ("the first half of the rows", slice(None, half), slice(None, half)),
        ("half the rows at random", index, index),
    ):
        reads = entry * int(degree[key].sum()) + 4 * n + (4 * half if key is index else 0)
        peer = None if S is None else partial(S.__getitem__, key)
        yield Operation(f"extract {what}{end}", lambda rows=rows: M[rows, :].wait(), reads, peer)  # type: ignore[misc]


def _transposed(M: sr.Matrix) -> sr.Matrix:
    """M', without the one that is cached with M."""
    M.store.cache.pop("transpose", None)
    M.store.pattern.facts.pop("transpose", None)
    return M.T.wait()


def _assigned(N: sr.Matrix, part: sr.Matrix) -> sr.Matrix:
    C = N.dup()
    C[: part.nrows, :] << part
    return C.wait()


def _sparse(S: Any) -> Any:
    if isinstance(S.data, np.ndarray):
        import scipy.sparse

        return scipy.sparse
    import cupyx.scipy.sparse

    return cupyx.scipy.sparse


def _shared(M: sr.Matrix) -> Any:
    """The matrix in CuPy or SciPy, with its buffers."""
    indptr, indices, values = M.to_csr(index_dtype=None)
    if M.device == "cpu":
        from scipy.sparse import csr_matrix
    else:
        from cupyx.scipy.sparse import csr_matrix
    made = csr_matrix((values, indices, indptr), shape=M.shape, copy=False)
    made.has_canonical_format = True
    return made


def _equal(C: Any, expected: Any, within: float) -> None:
    if not isinstance(C, sr.Matrix):
        checks.close(C.to_dense(0), expected.ravel(), within)
        return
    if not expected.has_sorted_indices:
        expected.sort_indices()
    for found, known in zip(
        C.to_csr(index_dtype=None), (expected.indptr, expected.indices, expected.data), strict=True
    ):
        checks.equal(found, known)


def _upper_half(M: sr.Matrix, C: sr.Matrix) -> None:
    values = M.to_csr(index_dtype=None)[2]
    checks.equal(C.to_csr(index_dtype=None)[2], values[values > 1])


def measure(operation: Operation, run: Run) -> None:
    """Time one operation, and its peer in turns."""
    size: list[int] = []
    expected = None if operation.peer is None else operation.peer()

    def check(_: int, C: Any) -> None:
        size[:] = [nbytes(C)]
        if expected is not None:
            _equal(C, expected, operation.within)
        if operation.check is not None:
            operation.check(C)

    contenders = {"ours": Contender(lambda _: operation.call(), check)}
    if (other := operation.peer) is not None:
        contenders["CuPy" if run.on_gpu else "SciPy"] = Contender(lambda _: other())
    found = compare(contenders, range(RUNS), run.device)
    least = (operation.reads + size[0]) / BYTES_PER_MS
    note = f"{1e-6 * BYTES_PER_MS * least:.4g} MB; {found['ours'].median / least:.2f} x its bytes"
    run.timed(operation.what, found, TARGET * least if run.on_gpu else None, note)


OPTIONS = {"scale": (22, "two Kronecker graphs of 2^scale rows"), "only": ONLY}


def main(run: Run) -> None:
    """All operations that are selected."""
    for operation in operations(run.options.scale):
        if run.selects(operation.what):
            measure(operation, run)
