"""Similarities of given pairs of vertices, beside the same products by rows of the mask.

The pairs are the ends of random edges, or random vertices.  ``sorted``: products under the mask as pairs
(``mxm_pairs.cuh``), where they cost least; ``by rows``: without.  ``--verify`` compares both, and searches and tables
alone, on small graphs with several types, semirings and storage kinds instead of measuring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any
from unittest import mock

import numpy as np

import semiring as sr

from .. import graphs
from ..case import Run
from ..forms import encoded
from ..harness import RUNS, Contender, compare

DEVICE = "cuda"
OPTIONS = {
    "graphs": (("kron20", "kron22", "kron24"), "that are measured"),
    "pairs": (1 << 20, "drawn; equal ones are one pair"),
    "verify": (False, "compare the methods on small graphs"),
}
# Jaccard of 1 M pairs by doubleGraph, in milliseconds on an H200.
PEER = {"kron20": 7.5, "kron22": 17.0, "kron24": 35.0}
SMALL = ("kron12w", "kron14w", "uniform20000x8w", "grid100x100", "star5000")
SEMIRINGS = (
    ("plus_pair", bool), ("plus_times", np.float64), ("plus_times", np.int8), ("min_plus", np.int32),
    ("any_pair", bool), ("max_second", np.float32), ("min_firstj", np.int64),
)  # fmt: skip


@contextmanager
def tuned(**numbers: Any) -> Iterator[None]:
    """Change numbers of ``tuning.py``; kernels are planned again."""
    from semiring.engines.cuda import mxm_dot, tuning

    with mock.patch.multiple(tuning, **numbers):
        mxm_dot._pair_plan.cache_clear()
        try:
            yield
        finally:
            mxm_dot._pair_plan.cache_clear()


def without() -> Any:
    """Change the choice alone: no product is computed as pairs."""
    from semiring.engines.cuda import tuning

    return mock.patch.object(tuning, "PAIR_MOST", 0)


def drawn(A: sr.Matrix, kind: str, count: int) -> sr.Matrix:
    """Random pairs: ``edges``: ends of entries of A; ``vertices``: any."""
    rng = np.random.default_rng(graphs.SEED)
    if kind == "edges":
        xp, (indptr, indices) = graphs.module(A), graphs.arrays(A)
        at = xp.asarray(rng.integers(0, A.nvals, count))
        rows, columns = xp.searchsorted(indptr, at, side="right") - 1, indices[at]
    else:
        rows, columns = rng.integers(0, A.nrows, (2, count))
    return sr.Matrix.from_coo(rows, columns, True, shape=A.shape, dup_op="any")


def measured(run: Run, name: str) -> None:
    """The product and the similarity of both kinds of pairs."""
    A = graphs.make(name)
    calls: dict[str, Callable[[sr.Matrix], sr.Matrix]] = {
        "jaccard": lambda M: sr.algorithms.jaccard(A, M),
        "product": lambda M: A.mxm(A.T, "plus_pair", mask=M.S).wait(),
    }
    for kind, (what, call) in product(("edges", "vertices"), calls.items()):
        M = drawn(A, kind, run.options.pairs)
        with without():
            expected = call(M)

        def check(_: int, found: sr.Matrix, expected: sr.Matrix = expected) -> None:
            assert found.isequal(expected, check_dtype=True)

        def by_pairs(_: int, call: Callable[[sr.Matrix], sr.Matrix] = call, M: sr.Matrix = M) -> sr.Matrix:
            return call(M)

        def by_rows(_: int, call: Callable[[sr.Matrix], sr.Matrix] = call, M: sr.Matrix = M) -> sr.Matrix:
            with without():
                return call(M)

        contenders = {"sorted": Contender(by_pairs, check), "by rows": Contender(by_rows, check)}
        bound = PEER.get(name) if (what, kind) == ("jaccard", "edges") else None
        found = compare(contenders, range(RUNS), run.device)
        recorded = [] if bound is None else [("doubleGraph", bound)]
        run.timed(f"{what} {kind} {name}", found, bound, recorded=recorded)


def differences() -> Iterator[str]:
    """Yield what differs between products as pairs and by rows of the mask."""
    always = {"PAIR_LAUNCHES": -(1 << 40)}  # so pairs cost least
    methods = {
        "chosen": always,
        "tables": always | {"PAIR_ITEM": -(1 << 40)},
        "searches": always | {"PAIR_ITEM": 1 << 40},
        "many tables": always | {"PAIR_ITEM": -(1 << 40), "PAIR_TABLE": 1 << 11, "PAIR_PART": 1 << 10},
    }
    for name, (ring, dtype), kind in product(SMALL, SEMIRINGS, ("edges", "vertices")):
        A = graphs.make(name).dup(dtype)
        M, S = drawn(A, kind, 50_000), A.select("tril", -1).apply("identity").dup()  # S: another pattern
        for what, other, mask in (("one pattern", A, M.S), ("two patterns", S, A.dup(np.int8).V)):
            with without():
                expected = A.mxm(other.T, ring, mask=mask, method="dot").wait()
            for method, numbers in methods.items():
                with tuned(**numbers):
                    made = A.mxm(other.T, ring, mask=mask, method="dot").wait()
                close = made.isclose(expected) if np.dtype(dtype).kind == "f" else made.isequal(expected)
                if not close or made.dtype != expected.dtype:
                    yield f"{name} {ring} {np.dtype(dtype)} {kind} {what} {method}"
    for name, kind in product(SMALL, ("edges", "vertices")):
        yield from _differences_of_forms(graphs.make(name).apply("one").dup(bool), f"{name} {kind}", kind)


def _differences_of_forms(A: sr.Matrix, name: str, kind: str) -> Iterator[str]:
    M = drawn(A, kind, 20_000)
    wide = 1 << 40
    rows, columns, _ = A.to_coo()
    H = sr.Matrix.from_coo(rows, columns, True, shape=(wide, wide))
    P = sr.Matrix.from_coo(*M.to_coo()[:2], True, shape=(wide, wide))
    for function in ("jaccard", "overlap", "cosine", "common_neighbors", "adamic_adar", "resource_allocation"):
        similarity = getattr(sr.algorithms, function)
        with without():
            expected = similarity(A, M)
        for form, placement in product(("plain", "varint", "packed"), ("device", "pinned")):
            with tuned(PAIR_LAUNCHES=-(1 << 40)):
                made = similarity(encoded(A, form).to(placement=placement), M)
            if not made.isclose(expected):
                yield f"{function} {name} {form} {placement}"
        with tuned(PAIR_LAUNCHES=-(1 << 40)):
            listed = similarity(H, P)
        found, known = (np.sort(C.to("cpu").to_coo()[2]) for C in (listed, expected))
        if not np.allclose(found, known):
            yield f"{function} {name} hypersparse"


def main(run: Run) -> int | None:
    """Measure each graph, or compare the methods."""
    if not run.options.verify:
        for name in run.options.graphs:
            measured(run, name)
        return None
    wrong = list(differences())
    print(*(f"WRONG  {what}" for what in wrong), f"{len(wrong)} results differ", sep="\n")
    return int(bool(wrong))
