"""C<M, replace> accum= T, through the public API: every operation, mask, accumulator, and aliasing.

The result of each operation is first computed alone.  Then it is written: fused where the engine can, composed step by
step, and on the specification; all three must be what the definition on dense arrays below says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.config import config
from tests.draw import contents, seeds

FEW = settings(max_examples=settings().max_examples // 2)
N = 7
ROWS, COLS = [5, 0, 3], [6, 2]
Dense = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def dense(x: Any) -> Dense:
    """(values, present) of a Matrix or a Vector."""
    *at, values = (np.asarray(part.get() if hasattr(part, "get") else part) for part in x.to_coo())
    out, present = np.zeros(x.shape, values.dtype), np.zeros(x.shape, bool)
    out[tuple(at)] = values
    present[tuple(at)] = True
    return out, present


def build(values: np.ndarray[Any, Any], present: np.ndarray[Any, Any]) -> Any:
    """The Matrix or Vector of a dense pair, where the engine under test computes."""
    at = np.nonzero(present)
    if values.ndim == 1:
        return sr.Vector.from_coo(at[0], values[present], size=values.size, dtype=values.dtype)
    return sr.Matrix.from_coo(*at, values[present], nrows=values.shape[0], ncols=values.shape[1], dtype=values.dtype)


@dataclass
class Operands:
    """What operations work on: everything is N x N or of size N, so that any of it may be the output too."""

    C: Any
    A: Any
    B: Any
    u: Any
    w: Any


Operation = Callable[[Operands], Any]

VECTOR_OPERATIONS: dict[str, Operation] = {
    "mxv": lambda g: g.A.mxv(g.u, "plus_times"),
    "mxv_transposed": lambda g: g.A.T.mxv(g.u, "min_plus"),
    "vxm": lambda g: g.u.vxm(g.A, "max_second"),
    "vxm_pattern": lambda g: g.u.vxm(g.A, "plus_pair"),
    "ewise_add": lambda g: g.u.ewise_add(g.w, "plus"),
    "ewise_mult": lambda g: g.u.ewise_mult(g.w, "times"),
    "ewise_union": lambda g: g.u.ewise_union(g.w, "minus", 2, 3),
    "apply": lambda g: g.u.apply("ainv"),
    "apply_bound": lambda g: g.u.apply("plus", right=3),
    "apply_index": lambda g: g.u.apply(sr.indexunary.rowindex),
    "select": lambda g: g.u.select(">", 1),
    "reduce_rowwise": lambda g: g.A.reduce_rowwise("plus"),
    "reduce_columnwise": lambda g: g.A.reduce_columnwise("max"),
    "extract": lambda g: g.u[[3, 3, 0, 6, 1, 2, 5]],
    "extract_row": lambda g: g.A[2, :],
    "extract_column": lambda g: g.A[:, 4],
    "dup": lambda g: g.u.dup(),
}
MATRIX_OPERATIONS: dict[str, Operation] = {
    "mxm": lambda g: g.A.mxm(g.B, "plus_times"),
    "mxm_transposed": lambda g: g.A.T.mxm(g.B.T, "plus_pair"),
    "ewise_add": lambda g: g.A.ewise_add(g.B, "plus"),
    "ewise_add_transposed": lambda g: g.A.ewise_add(g.B.T, "min"),
    "ewise_mult": lambda g: g.A.ewise_mult(g.B, "minus"),
    "ewise_union": lambda g: g.A.ewise_union(g.B, "minus", 2, 3),
    "apply": lambda g: g.A.apply("ainv"),
    "apply_bound": lambda g: g.A.apply("minus", left=3),
    "select": lambda g: g.A.select("tril", -1),
    "extract": lambda g: g.A[[3, 3, 0, 6, 1, 2, 5], :],
    "transpose": lambda g: g.A.T,
    "dup": lambda g: g.A.dup(),
}
MASKS: dict[str, Callable[[Any], Any]] = {
    "value": lambda m: m.V,
    "structure": lambda m: m.S,
    "complement_value": lambda m: ~m.V,
    "complement_structure": lambda m: ~m.S,
}
ACCUMULATE: dict[str | None, Callable[[Any, Any], Any]] = {
    "plus": lambda c, t: c + t,
    "first": lambda c, t: c,
    "second": lambda c, t: t,
    "min": np.minimum,
}


def admitted(mask: Dense | None, kind: str | None, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    if mask is None or kind is None:
        return np.ones(shape, bool)
    values, present = mask
    listed = present & (values != 0) if kind.endswith("value") else present
    return ~listed if kind.startswith("complement") else listed


def write(c: Dense, t: Dense, admits: np.ndarray[Any, Any], accum: str | None, replace: bool) -> Dense:
    """The definition: Z is T, or C accum T; Z where admitted; C, or nothing, elsewhere."""
    (cv, cp), (tv, tp) = c, t
    tv = tv.astype(cv.dtype)
    zv, zp = tv, tp
    if accum is not None:
        both = cp & tp
        zv = np.where(both, ACCUMULATE[accum](cv, tv), np.where(cp, cv, tv)).astype(cv.dtype)
        zp = cp | tp
    return np.where(admits, zv, cv), np.where(admits, zp, cp & (not replace))


def assert_is(x: Any, expected: Dense) -> None:
    values, present = dense(x)
    assert (present == expected[1]).all(), f"presence:\n{present}\nexpected:\n{expected[1]}"
    assert np.dtype(x.dtype) == expected[0].dtype
    np.testing.assert_allclose(values[present], expected[0][present], rtol=1e-12)


@dataclass(frozen=True)
class Case:
    """One write: contents come from the seed; the rest says how it is written."""

    seed: int
    density: float
    dtype: str
    mask: str | None
    accum: str | None
    replace: bool
    alias: str

    def drawn(self, shapes: dict[str, tuple[int, ...]]) -> dict[str, Dense]:
        rng = np.random.default_rng(self.seed)
        found = {}
        for name, shape in shapes.items():
            values = contents(rng, int(np.prod(shape)), np.dtype(np.int8)).reshape(shape) % 7
            found[name] = values.astype(self.dtype), rng.random(shape) < self.density
        return found


cases = st.builds(
    Case,
    seed=seeds,
    density=st.sampled_from((0.0, 0.2, 0.5, 1.0)),
    dtype=st.sampled_from(("int64", "float64")),
    mask=st.sampled_from((None, *MASKS)),
    accum=st.sampled_from((None, *ACCUMULATE)),
    replace=st.booleans(),
    alias=st.sampled_from(("none", "operand", "mask", "both")),
)


def run(case: Case, operation: Operation, axes: int) -> None:
    """Carry the write out where `config` says, and hold it against the definition."""
    square, line = (N, N), (N,)
    shape = (N,) * axes
    shapes = {"C": shape, "A": square, "B": square, "u": line, "w": line, "M": shape}
    parts = {name: build(*pair) for name, pair in case.drawn(shapes).items()}
    mask = parts.pop("M")
    g = Operands(**parts)
    if case.alias in ("operand", "both"):
        if axes == 2:
            g.A = g.C
        else:
            g.u = g.C
    if case.alias in ("mask", "both"):
        mask = g.C
    c, t, m = dense(g.C), dense(operation(g).dup()), dense(mask)
    expected = write(c, t, admitted(m, case.mask, shape), case.accum, case.replace and case.mask is not None)

    options: dict[str, Any] = {} if case.accum is None else {"accum": case.accum}
    if case.mask is not None:
        options.update(mask=MASKS[case.mask](mask), replace=case.replace)
    g.C(**options) << operation(g)
    assert_is(g.C, expected)


@pytest.mark.parametrize("name", VECTOR_OPERATIONS)
@given(case=cases)
def test_vector(engine: str, name: str, case: Case) -> None:
    for where, fusion in ((engine, True), (engine, False), ("reference", False)):
        with sr.use(where), config.set(fusion=fusion):
            run(case, VECTOR_OPERATIONS[name], axes=1)


@pytest.mark.parametrize("name", MATRIX_OPERATIONS)
@FEW
@given(case=cases)
def test_matrix(engine: str, name: str, case: Case) -> None:
    for where, fusion in ((engine, True), (engine, False), ("reference", False)):
        with sr.use(where), config.set(fusion=fusion):
            run(case, MATRIX_OPERATIONS[name], axes=2)


def region_of(shape: tuple[int, ...]) -> Any:
    return np.ix_(ROWS, COLS) if len(shape) == 2 else np.array(ROWS)


def assigned(c: Dense, b: Dense, region: Any, accum: str | None) -> Dense:
    """T of an assignment: C, with the region written by B (accumulated there, or replaced with its absences)."""
    values, present = c[0].copy(), c[1].copy()
    inside = write((values[region], present[region]), b, np.ones(b[1].shape, bool), accum, False)
    values[region], present[region] = inside
    return values, present


@pytest.mark.parametrize("axes", [1, 2])
@pytest.mark.parametrize("source", ["object", "scalar"])
@given(case=cases)
def test_assign(engine: str, axes: int, source: str, case: Case) -> None:
    """``C(M, accum, replace)[I, J] << B``: the mask covers all of C."""
    shape = (N,) * axes
    piece = (len(ROWS), len(COLS))[:axes]
    drawn = case.drawn({"C": shape, "B": piece, "M": shape})
    b = drawn["B"] if source == "object" else (np.full(piece, 5, case.dtype), np.ones(piece, bool))
    t = assigned(drawn["C"], b, region_of(shape), case.accum)
    admits = admitted(drawn["M"], case.mask, shape)
    expected = write(drawn["C"], t, admits, None, case.replace and case.mask is not None)
    for where, fusion in ((engine, True), (engine, False), ("reference", False)):
        with sr.use(where), config.set(fusion=fusion):
            C, M = build(*drawn["C"]), build(*drawn["M"])
            options: dict[str, Any] = {} if case.accum is None else {"accum": case.accum}
            if case.mask is not None:
                options.update(mask=MASKS[case.mask](M), replace=case.replace)
            at = (ROWS, COLS) if axes == 2 else ROWS
            value = build(*b) if source == "object" else 5
            if options:
                C(**options)[at] << value
            else:
                C[at] << value
            assert_is(C, expected)


@pytest.mark.parametrize("axes", [1, 2])
@given(case=cases)
def test_subassign(engine: str, axes: int, case: Case) -> None:
    """``C[I, J](M, accum, replace) << B``: the mask covers the region alone, and nothing else changes."""
    shape = (N,) * axes
    piece = (len(ROWS), len(COLS))[:axes]
    drawn = case.drawn({"C": shape, "B": piece, "M": piece})
    region = region_of(shape)
    values, present = (part.copy() for part in drawn["C"])
    admits = admitted(drawn["M"], case.mask, piece)
    inside = write(
        (values[region], present[region]), drawn["B"], admits, case.accum, case.replace and case.mask is not None
    )
    values[region], present[region] = inside
    for where, fusion in ((engine, True), (engine, False), ("reference", False)):
        with sr.use(where), config.set(fusion=fusion):
            C, M = build(*drawn["C"]), build(*drawn["M"])
            options: dict[str, Any] = {} if case.accum is None else {"accum": case.accum}
            if case.mask is not None:
                options.update(mask=MASKS[case.mask](M), replace=case.replace)
            at = (ROWS, COLS) if axes == 2 else ROWS
            if options:
                C[at](**options) << build(*drawn["B"])
            else:
                C[at] << build(*drawn["B"])
            assert_is(C, (values, present))


def test_an_operation_that_raises_leaves_its_target(engine: str) -> None:
    c = sr.Vector.from_coo([0, 2], [1, 2], size=3)
    A = sr.Matrix.from_coo([0, 1], [1, 0], [1, 1], nrows=2, ncols=2)
    with pytest.raises(sr.exceptions.DimensionMismatch):
        c(accum="plus") << A.mxv(c, "plus_times")
    assert c.to_coo()[0].tolist() == [0, 2]
    assert c.to_coo()[1].tolist() == [1, 2]


def test_a_pending_result_answers_as_of_when_it_was_made(engine: str) -> None:
    u = sr.Vector.from_coo([0, 1], [1, 2], size=3)
    pending = u.apply("plus", right=10)
    u << u.apply("ainv")
    assert pending.to_coo()[1].tolist() == [11, 12]
