"""The recorder: each operation is one line of mathematics, under the names of the caller's variables."""

from __future__ import annotations

import contextvars

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.engines import recording


def square() -> Matrix:
    return Matrix.from_coo([0, 0, 1, 2, 3], [1, 2, 3, 3, 0], [7.0, 2.0, 1.0, 9.0, 4.0], nrows=4, ncols=4)


@pytest.mark.costly
def test_writes() -> None:
    A, B, M, C = square(), square() + 1, square().select("tril").dup(), Matrix(float, 4, 4)
    B.wait()
    with sr.Recorder() as r:
        C(M.S, sr.replace, accum="plus") << A.mxm(B.T, "min_plus")
        C << A @ B
        C(~A.S, accum="min") << A
        C << A
    assert list(r) == [
        "C<M.S, replace> += A min.plus B'",
        "C = A plus.times B",
        "C<~A.S> min= A",
        "C = A",
    ]


@pytest.mark.costly
def test_expressions() -> None:
    A = square()
    u, v = Vector.from_coo([0, 2], [1.0, 2.0], size=4), Vector.from_dense([4.0, 3.0, 2.0, 1.0])
    with sr.Recorder() as r:
        w = v.vxm(A, "max_times").wait()
        w = A.mxv(w).wait()
        (u | v).wait()
        t = u.ewise_mult(v, "min").wait()
        t = (2 - t).apply("sin").wait()
        L = A.select("tril", -1).wait()
        d = A.reduce_rowwise("max").wait()
        q = A[1:3, :].wait()
        K = A.kronecker(L).wait()
        one = A.apply("one").wait()
        named = Vector.full(1.0, 4, name="ones").ewise_union(u, "minus", 0, 0).wait()
    assert list(r) == [
        "w = v max.times A",
        "w = A plus.times w",
        "T3 = plus(u | v)",
        "t = min(u & v)",
        "T5 = minus(2.0, t)",
        "t = sin(T5)",
        "L = A<tril(A, -1)>",
        "d = [max_j A(:, j)]",
        "q = A(1:3, :)",
        "K = A kron.times L",
        "one = one(A)",
        "named = minus([1.0] | u, 0.0, 0.0)",
    ]
    assert len({id(x) for x in (w, t, L, d, q, K, one, named)}) == 8


@pytest.mark.one_process("counts requests, copies or locks of one process")
@pytest.mark.costly
def test_regions_and_elements() -> None:
    C, v = square(), Vector.from_coo([1], [5.0], size=4)
    with sr.Recorder() as r:
        C[1:3, :] = 2
        C[0, :] << v
        C(C.S)[[0, 3], 2:4] << 8
        C(~v.S)[2, [0, 1]] << 9
        del C[2:4, 2:4]
        C[3, 3] = 1
        C[3, 0] = 1
        C.wait()
        v(v.S) << 3
    assert list(r) == [
        "C(1:3, :) = 2",
        "C(0, :) = v",
        "C([0, 3], 2:4)<C.S> = 8",
        "C(2, [0, 1])<~v.S> = 9",
        "C(2:4, 2:4) = {}",
        "C(...) = 2 elements",
        "v<v.S> = 3",
    ]


def bfs_levels(A: Matrix, source: int) -> Vector:
    level, frontier = Vector(np.int32, A.nrows), Vector.from_coo([source], True, size=A.nrows)
    depth = 0
    while frontier.nvals:
        level(frontier.S) << depth
        frontier(~level.S, replace=True) << frontier.vxm(A, "any_pair")
        depth += 1
    return level


@pytest.mark.one_process("counts requests, copies or locks of one process")
@pytest.mark.costly
def test_the_names_are_those_of_the_function_that_computes() -> None:
    G = square()
    with sr.Recorder() as r:
        bfs_levels(G, 0)
    assert r[:2] == ["level<frontier.S> = 0", "frontier<~level.S, replace> = frontier any.pair A"]
    with sr.Recorder() as r:
        levels = sr.algorithms.bfs_levels(G, 0)
    assert r.data == ["levels = start min.plus pattern(A)*"]
    assert levels.nvals == 4


def test_a_recorder_is_a_list_of_text() -> None:
    A = square()
    r = sr.Recorder(max_rows=2)
    assert repr(r) == "Recorder: 0 operations"
    assert not r.is_recording
    r.start()
    r.start()
    for _ in range(5):
        A.mxm(A).wait()
    assert "(recording)" in repr(r)
    r.stop()
    r.stop()
    A.mxm(A).wait()
    assert len(r) == 5
    assert r[-1] == "T5 = A plus.times A"
    assert repr(r).splitlines()[1:] == ["  T1 = A plus.times A", "  ...", "  T5 = A plus.times A"]
    assert r._repr_html_().count("<tr>") == 4
    r.clear()
    assert not len(r)
    assert recording.FORMULAS.get() is None
    with pytest.raises(sr.exceptions.DimensionMismatch), sr.Recorder(start=True) as r:
        A.mxm(Matrix(float, 3, 3))
    assert recording.FORMULAS.get() is None


def test_it_stops_in_another_context() -> None:
    r = sr.Recorder()
    contextvars.copy_context().run(r.start)
    r.stop()
    assert not r.is_recording
    assert recording.FORMULAS.get() is None
    assert not recording.users


def test_results_are_the_same_and_explain_works_beside() -> None:
    A = square()
    expected = A.mxm(A, "min_plus", mask=A.S).reduce_scalar("plus").value
    with sr.Recorder() as r, sr.explain() as log:
        assert A.mxm(A, "min_plus", mask=A.S).reduce_scalar("plus").value == expected
    assert list(r) == ["T1<A.S> = A min.plus A", "[plus T1]"]
    assert log
