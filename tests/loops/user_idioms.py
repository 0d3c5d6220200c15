"""Idioms of user programs, one a function."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring import Matrix, Vector, binary, monoid, semiring, unary
from tests.loops.programs import symmetric

G = symmetric(60, 120, 0)


def pg_bfs(A: Matrix, s: int) -> Any:
    """A search in the style of python-graphblas."""
    v = Vector(np.int32, size=A.nrows)
    q = Vector(bool, size=A.nrows)
    q[s] = True
    depth = 0
    while q.nvals > 0:
        v(mask=q.S)[:] = depth
        q(~v.S, replace=True) << semiring.lor_land(q @ A)
        depth += 1
    return v


def pg_union(A: Matrix, n: int) -> Any:
    """Binary operators as functions of unions and intersections."""
    x = Vector.from_scalar(1.0, A.nrows)
    y = Vector.from_scalar(2.0, A.nrows)
    for _ in range(n):
        x << binary.plus(x | y)
        y << binary.times(x & y)
        y << unary.sqrt(y)
        y << unary.minv(y)
    return x, y


def pg_select(A: Matrix, n: int) -> Any:
    """Results that are made new."""
    x = A.reduce_rowwise(monoid.plus).new()
    i = 0
    while i < n:
        big = x.select(">", 3 * i).new()
        x(big.S) << 1.0
        x << x.apply(binary.plus, right=i).new()
        total = x.reduce(monoid.plus).new()
        if total.value > 1e6:
            break
        i += 1
    return x


def slices(A: Matrix) -> Any:
    """Assignments to slices."""
    x = Vector(float, A.nrows)
    for k in range(5):
        x[:] = k
        x[2:7] = 1.5
        x << x + 1
    return x


def truthy(A: Matrix, s: int) -> Any:
    """A search that joins what it has found."""
    seen = Vector(bool, A.nrows)
    seen[s] = True
    f = seen.dup()
    while f.nvals != 0:
        f = A.mxv(f, semiring.any_pair).dup(bool, mask=~seen.S)
        seen << seen.ewise_add(f, binary.lor)
    return seen


def early(A: Matrix, s: int, t: int) -> Any:
    """A search that returns from within a for loop."""
    n = A.nrows
    f = Vector.from_coo([s], True, size=n)
    seen = f.dup()
    for d in range(n):
        if t in f:
            return d
        f = f.vxm(A, "any_pair").dup(bool, mask=~seen.S)
        if f.nvals == 0:
            return None
        seen(f.S) << True
    return None


def custom_op(A: Matrix, s: int) -> Any:
    """An operator of the user, made before the loop."""
    close = binary.register_anonymous(lambda x, y: x + y / 2)
    d = Vector.from_coo([s], 0.0, size=A.nrows)
    for _ in range(4):
        nd = d.vxm(A, semiring.min_plus)
        d << d.ewise_add(nd, close)
    return d


def apply_lambda(A: Matrix) -> Any:
    """An operator of the user, written in the loop."""
    x = A.reduce_rowwise("plus")
    for _ in range(3):
        x = x.apply(lambda v: v * 0.5 + 1)
    return x


def divide_scalar(A: Matrix) -> Any:
    """A division by a Scalar."""
    x = Vector.full(1.0, A.nrows)
    for _ in range(10):
        x = x @ A
        x = x / x.reduce("plus")
    return x


def maxnorm(A: Matrix) -> Any:
    """A division by the largest value."""
    x = Vector.full(1.0, A.nrows)
    for _ in range(10):
        y = A @ x
        s = y.reduce("max")
        x = y * (1 / s.value)
    return x


def argmax_peel(A: Matrix) -> Any:
    """Vertices in the order of their degree among those that are left."""
    alive = Vector.full(True, A.nrows)
    order = Vector(int, A.nrows)
    for k in range(A.nrows):
        deg = A.mxv(alive, "plus_pair", mask=alive.S)
        if deg.nvals == 0:
            break
        v = deg.reduce("argmax").get(0)
        order[v] = k
        del alive[v]
    return order


def multi(A: Matrix, s: int) -> Any:
    """A search that counts the walks."""
    n = A.nrows
    level = Vector(int, n)
    count = Vector(float, n)
    f = Vector.from_coo([s], 1.0, size=n)
    d = 0
    while f.nvals and d < 100:
        level(f.S) << d
        count(f.S, accum=binary.plus) << f
        f << f.vxm(A, "plus_first", mask=~level.S)
        d = d + 1
    assert d >= 0, "never"
    return level, count


def numpy_scalars(A: Matrix) -> Any:
    """Numbers of NumPy."""
    x = Vector.full(np.float64(1.0), A.nrows)
    eps = np.float64(1e-6)
    c = np.float32(0.5)
    for _ in range(20):
        y = x * c + np.float64(0.25)
        if (y - x).apply("abs").reduce("max").get(0.0) < eps:
            break
        x = y
    return x


def clear_reuse(A: Matrix, s: int) -> Any:
    """Two vectors in turn."""
    n = A.nrows
    f = Vector.from_coo([s], True, size=n)
    g = Vector(bool, n)
    seen = f.dup()
    while f.nvals:
        g.clear()
        g << f.vxm(A, "any_pair", mask=~seen.S)
        seen(g.S) << True
        f, g = g, f
    return seen


def label_change_count(A: Matrix) -> Any:
    """A truth value that ends a loop."""
    n = A.nrows
    f = Vector.from_dense(np.arange(n))
    changed = True
    rounds = 0
    while changed:
        new = f.ewise_add(A.mxv(f, "min_second"), "min")
        changed = not new.isequal(f)
        f = new
        rounds += 1
    return f, rounds


def ifexp(A: Matrix, s: int) -> Any:
    """A conditional expression of numbers."""
    n = A.nrows
    f = Vector.from_coo([s], True, size=n)
    seen = f.dup()
    k = 0
    while f.nvals:
        direction = 1 if f.nvals * 10 < n else 2
        if direction == 1:
            f(~seen.S, replace=True) << f.vxm(A, "any_pair")
        else:
            f(~seen.S, replace=True) << A.T.mxv(f, "any_pair")
        seen(f.S) << True
        k += direction
    return seen, k


def while_else(A: Matrix, s: int) -> Any:
    """A loop that ends by break alone."""
    f = Vector.from_coo([s], True, size=A.nrows)
    seen = f.dup()
    while True:
        g = f.vxm(A, "any_pair").dup(mask=~seen.S)
        if g.nvals == 0:
            break
        seen(g.S) << True
        f = g.apply("one").dup(bool)
    return seen


def global_matrix(s: int) -> Any:
    """A matrix of the module."""
    f = Vector.from_coo([s], True, size=G.nrows)
    seen = f.dup()
    while f.nvals:
        f(~seen.S, replace=True) << f.vxm(G, "any_pair")
        seen(f.S) << True
    return seen


# Function and arguments.
IDIOMS: tuple[tuple[Any, tuple[Any, ...]], ...] = (
    (
        pg_bfs,
        (
            G,
            0,
        ),
    ),
    (
        pg_union,
        (
            G,
            4,
        ),
    ),
    (
        pg_select,
        (
            G,
            4,
        ),
    ),
    (slices, (G,)),
    (
        truthy,
        (
            G,
            0,
        ),
    ),
    (
        early,
        (
            G,
            0,
            7,
        ),
    ),
    (
        custom_op,
        (
            G,
            0,
        ),
    ),
    (apply_lambda, (G,)),
    (divide_scalar, (G,)),
    (maxnorm, (G,)),
    (argmax_peel, (G,)),
    (
        multi,
        (
            G,
            0,
        ),
    ),
    (numpy_scalars, (G,)),
    (
        clear_reuse,
        (
            G,
            0,
        ),
    ),
    (label_change_count, (G,)),
    (
        ifexp,
        (
            G,
            0,
        ),
    ),
    (
        while_else,
        (
            G,
            0,
        ),
    ),
    (global_matrix, (0,)),
)
