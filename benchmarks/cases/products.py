"""Products of matrices by semiring and mask, and triangles, beside cuSPARSE, SciPy and SuiteSparse.

A A: both operands and the result are on the device; values are random float32.
Triangles: ordering the vertices by degree, both triangles of the matrix, the product and its sum are all timed, unless
a row says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import semiring as sr

from .. import graphs, peers
from ..case import Run
from ..harness import RUNS, Contender, compare, measure, unchecked

# At least: cuSPARSE's best, and the kernel of TRUST alone, on an H200, in milliseconds.
PRODUCT = {"kron14": 13.2, "kron16": 143.0, "grid5000x5000": 13.1, "grid300x300x300": 31.7}
TRIANGLES = {"kron20": 15.0, "kron22": 90.0, "kron24": 570.0}
# Against plus_times, with the same types.
ANY_SEMIRING = 1.2
SUITESPARSE = "SuiteSparse through python-graphblas"
SEMIRINGS = ("min_plus", "max_times", "any_pair")


def _count(C: sr.Matrix) -> int:
    return int(C.reduce_scalar("plus").get(0))


def ordered(A: sr.Matrix) -> tuple[sr.Matrix, sr.Matrix]:
    """Both triangles of a symmetric matrix without a diagonal, in the order of degrees: U leads to higher degrees."""
    degree = A.apply("one").dup(np.int64).reduce_rowwise("plus").to_dense(0)
    permuted = A.permute(graphs.module(A).argsort(degree))
    return permuted.select("triu", 1), permuted.select("tril", -1)


def common(U: sr.Matrix, L: sr.Matrix) -> sr.Matrix:
    """C(j, i) counts the vertices that both ends of the edge from i to j lead to, pending.

    The row of i is probed, which is the shorter one in most cases.
    """
    return U.mxm(U.T, "plus_pair", mask=L.S)


def triangles(A: sr.Matrix) -> int:
    """The number of triangles of a symmetric matrix without a diagonal."""
    return _count(common(*ordered(A)))


def products(name: str, run: Run) -> None:
    """A A of one graph: against a peer, over other semirings, and under masks."""
    A = graphs.floats(graphs.make(name), np.float32)
    x = sr.Vector.full(np.float32(1), A.ncols)
    expected = A.mxv(A.mxv(x)).to_numpy(0)

    def check(_: int, C: Any) -> None:
        if isinstance(C, sr.Matrix):
            np.testing.assert_allclose(C.mxv(x).to_numpy(0), expected, rtol=1e-3)

    def ours(ring: str, **more: Any) -> Callable[[int], sr.Matrix]:
        return lambda _: A.mxm(A, ring, **more).wait()

    contenders = {"mxm": Contender(ours("plus_times"), check)}
    contenders |= {peer: Contender(other, check) for peer, other in _peers(A, run.device).items()}
    found = compare(contenders, range(RUNS), run.device)
    run.timed(f"A A {name}, plus_times", found, PRODUCT.get(name) if run.on_gpu else None)
    for ring in SEMIRINGS:
        taken = measure(ours(ring), unchecked, range(RUNS), run.device)
        ratio, bound = taken.median / found["mxm"].median, ANY_SEMIRING if run.on_gpu else None
        run.add(f"A A {name}, {ring}", "x plus_times", ratio, bound, note=str(taken))
    for kind, mask in (("inside A", A.S), ("outside A", ~A.S)):
        taken = measure(ours("plus_times", mask=mask), unchecked, range(RUNS), run.device)
        run.timed(f"A A {name}, plus_times, {kind}", taken)


def _peers(A: sr.Matrix, device: str) -> dict[str, Callable[[int], Any]]:
    """The product of other libraries on the same arrays, where they are installed and do not fail."""
    if device == "cpu":
        S = sr.io.to_scipy_sparse(A)
        found: dict[str, Callable[[int], Any]] = {"SciPy": lambda _: S @ S}
        if peers.graphblas_available():
            graphblas = peers.graphblas()
            G = graphblas.Matrix.from_coo(*A.to_coo(), nrows=A.nrows, ncols=A.ncols)
            found[SUITESPARSE] = lambda _: graphblas.semiring.plus_times(G @ G).new()
        return found
    C = sr.io.to_cupy_sparse(A)
    try:
        C @ C
    except Exception as error:  # cuSPARSE lacks workspace for large products
        print(f"CuPy (cuSPARSE) fails: {error}")
        return {}
    return {"CuPy (cuSPARSE)": lambda _: C @ C}


def counted(name: str, run: Run) -> None:
    """The triangles of one graph."""
    A = graphs.make(name)
    known: list[int] = []

    def check(_: int, count: int) -> None:
        known.append(count)
        assert count == known[0]

    lower = A.select("tril", -1)
    contenders = {
        "triangles": Contender(lambda _: triangles(A), check),
        "L": Contender(lambda _: _count(lower.mxm(lower.T, "plus_pair", mask=lower.S)), check),
    }
    if run.device == "cpu" and peers.graphblas_available():
        graphblas = peers.graphblas()
        rows, columns, _ = lower.to_coo()
        G = graphblas.Matrix.from_coo(rows, columns, True, nrows=A.nrows, ncols=A.ncols)

        def other(_: int) -> int:
            C = graphblas.semiring.plus_pair(G @ G.T).new(mask=G.S)
            return int(C.reduce_scalar("plus").value)

        contenders[SUITESPARSE] = Contender(other, check)
    U, L = (part.wait() for part in ordered(A))
    contenders |= {
        "fused": Contender(lambda _: _count(common(U, L)), check),
        "stored": Contender(lambda _: _count(common(U, L).wait()), check),
        "rows": Contender(lambda _: int(common(U, L).reduce_rowwise("plus").reduce("plus").get(0)), check),
        "select": Contender(lambda _: common(U, L).select(">=", 3).wait()),
    }
    found = compare(contenders, range(RUNS), run.device)
    bound = TRIANGLES.get(name) if run.on_gpu else None
    run.timed(f"triangles {name}, ordered by degree", found["triangles"], bound, f"{known[0]:,} triangles")
    run.timed(f"triangles {name}, L L' under L", {key: found[key] for key in ("L", SUITESPARSE) if key in found})
    run.timed(f"triangles {name}, of ordered triangles alone, summed with the product", found["fused"])
    run.timed(f"triangles {name}, the product stored and then summed", found["stored"])
    run.timed(f"triangles {name}, of each row", found["rows"])
    run.timed(f"edges of {name} in 3 triangles or more, selected with the product", found["select"])


OPTIONS = {
    "graphs": (tuple(PRODUCT), "of A A"),
    "triangles": (tuple(TRIANGLES), "graphs whose triangles are counted"),
}


def main(run: Run) -> None:
    """Products of each graph, then triangles."""
    for name in run.options.graphs:
        products(name, run)
    for name in run.options.triangles:
        counted(name, run)
