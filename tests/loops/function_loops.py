"""Loops of two functions as users write them: `loop` runs them in Python, or as programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import semiring as sr
from semiring import Matrix, Vector

Loop = Callable[[Any, Any, Any], Any]
GRAPH: Matrix
SEEN: Vector
FACTOR = 2


def plain(cond: Any, body: Any, state: Any) -> Any:
    """Run the loop in Python."""
    if not isinstance(state, tuple):
        while cond(state):
            state = body(state)
        return state
    while cond(*state):
        state = body(*state)
    return state


def compiled(cond: Any, body: Any, state: Any) -> Any:
    """Run the loop as a program."""
    return sr.while_loop(cond, body, state, strict=True)


def levels(loop: Loop, A: Matrix, s: int) -> Any:
    """A search that writes to a vector of the function around."""
    level = Vector(np.int32, A.nrows)

    def step(frontier: Vector, depth: int) -> tuple[Vector, int]:
        level(frontier.S) << depth
        return frontier.vxm(A, "any_pair").dup(bool, mask=~level.S), depth + 1

    _, depth = loop(lambda frontier, depth: frontier.nvals, step, (Vector.from_coo([s], True, size=A.nrows), 0))
    return level, depth


def levels_in_place(loop: Loop, A: Matrix, s: int) -> Any:
    """A search whose state is written in place."""

    def step(level: Vector, frontier: Vector, depth: int) -> tuple[Vector, Vector, int]:
        level(frontier.S) << depth
        frontier(~level.S, replace=True) << frontier.vxm(A, "any_pair")
        return level, frontier, depth + 1

    state = Vector(np.int32, A.nrows), Vector.from_coo([s], True, size=A.nrows), 0
    level, frontier, depth = loop(lambda level, frontier, depth: frontier.nvals > 0, step, state)
    return level, depth, level is state[0], frontier is state[1], state[1].nvals


def rank(loop: Loop, A: Matrix, damping: float) -> Any:
    """PageRank until the change is small."""
    n, tol = A.nrows, 1e-7
    scale = A.reduce_rowwise("plus").apply("minv")

    def body(r: Vector, change: float, steps: int) -> tuple[Vector, float, int]:
        arriving = r.ewise_mult(scale).vxm(A).ewise_add(Vector.full(0.0, n), "plus")
        following = arriving * damping + (1 - damping) / n
        return following, (following - r).apply("abs").reduce("plus").get(0.0), steps + 1

    def cond(r: Vector, change: float, steps: int) -> bool:
        return change > tol and steps < 50

    return loop(cond, body, (Vector.full(1 / n, n), 1.0, 0))


def bellman_ford(loop: Loop, A: Matrix, s: int) -> Any:
    """Lengths of shortest paths, until none is shorter."""
    start = Vector.from_coo([s], 0.0, size=A.nrows)

    def relaxed(length: Vector) -> Vector:
        return length.vxm(A, "min_plus")

    def body(length: Vector, before: Vector) -> tuple[Vector, Vector]:
        return length.ewise_add(relaxed(length), "min"), length

    found, _ = loop(lambda length, before: not length.isequal(before), body, (start, Vector(float, A.nrows)))
    return found


def exchanged(loop: Loop, A: Matrix, n: int) -> Any:
    """Two vectors that are written in place, and exchanged."""
    v, w = Vector.full(1, 5), Vector.from_coo([0, 3], [4, 5], size=5)

    def body(v: Vector, w: Vector, k: int) -> tuple[Vector, Vector, int]:
        v(w.S, accum="plus") << k
        return w, v, k + 1

    made = loop(lambda v, w, k: k < n, body, (v, w, 0))
    return made, v, w, made[0] is v, made[0] is w


def collatz(loop: Loop, A: Matrix, n: int) -> Any:
    """Numbers alone."""

    def body(n: int, steps: int) -> tuple[int, int]:
        if n % 2:
            return 3 * n + 1, steps + 1
        return n // 2, steps + 1

    return loop(lambda n, steps: n > 1, body, (n + 1, 0))


def single(loop: Loop, A: Matrix, n: int) -> Any:
    """One Vector, and one number."""
    v = Vector.full(1, 4)
    return loop(lambda v: v.reduce("plus").get(0) < 10 * n, lambda v: v * 3, v), loop(
        lambda k: k < n, lambda k: k + 2, 0
    )


def of_defaults(loop: Loop, A: Matrix, s: int) -> Any:
    """Functions that have what they read as defaults."""
    v = Vector.from_coo([s], 1.0, size=A.nrows)
    return loop(lambda v, k, n=s + 2: k < n, lambda v, k, A=A, *, x=0.5: (v.vxm(A) * x, k + 1), (v, 0))


def of_the_module(loop: Loop, A: Matrix, s: int) -> Any:
    """Functions that read a Matrix, a Vector and a number of the module."""
    global GRAPH, SEEN
    GRAPH, SEEN = A, Vector(bool, 60)
    f = Vector.from_coo([s], True, size=60)
    return loop(lambda f, k: f.nvals, module_step, (f, 0)), SEEN.dup()


def module_step(f: Vector, k: int) -> tuple[Vector, int]:
    """A level."""
    SEEN(f.S) << True
    return f.vxm(GRAPH, "any_pair").dup(bool, mask=~SEEN.S), k + FACTOR


def of_an_operator(loop: Loop, A: Matrix, n: int) -> Any:
    """Operators that read numbers of the function around."""
    square = lambda x: x * x + n  # noqa: E731
    return loop(
        lambda v, k: k < 3, lambda v, k: (v.apply(square).apply(lambda x: x % (n + 5)), k + 1), (Vector.full(2, 3), 0)
    )


def written_by_a_helper(loop: Loop, A: Matrix, n: int) -> Any:
    """A branch and a loop call a function that writes to a Vector that they do not name."""
    total, even = Vector.full(0, 3), Vector.full(0, 3)

    def add(k: int) -> None:
        total(accum="plus") << k

    def add_even(k: int) -> None:
        even(accum="plus") << k

    def body(k: int) -> int:
        if k % 2 == 0:
            add_even(k)
        for i in range(k):
            add(i)
        return k + 1

    return loop(lambda k: k <= n, body, 0), total, even


def of_an_inner_loop(loop: Loop, A: Matrix, n: int) -> Any:
    """A loop in a loop, with lambdas that read variables of the function around."""

    def body(v: Vector, k: int) -> tuple[Vector, int]:
        start = v + k
        found = sr.while_loop(lambda w, j: j < k, lambda w, j: (w + start, j + 1), (start, 0))
        return found[0], k + found[1] + 1

    return loop(lambda v, k: k < 4 * n, body, (Vector.full(1, 3), 0))


PROGRAMS = [
    levels, levels_in_place, rank, bellman_ford, exchanged, collatz, single, of_defaults, of_the_module,
    of_an_operator, written_by_a_helper, of_an_inner_loop,
]  # fmt: skip
