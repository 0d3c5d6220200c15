"""Iterations to a fixed point as users write them: linear systems, centralities, diffusion."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from semiring import Matrix, Vector, binary, monoid


def katz2(A: Matrix, alpha: float = 0.005, tol: float = 1e-9, max_iter: int = 100) -> Any:
    """Katz centrality, by rebinding one variable."""
    n = A.nrows
    x = Vector.full(1.0, n)
    for _ in range(max_iter):
        last = x
        x = (A.T @ x).apply("times", right=alpha).ewise_add(Vector.full(1.0, n), "plus")
        err = (x - last).apply("abs").reduce("max").get(0.0)
        if err < tol:
            break
    return x


def ppr(A: Matrix, s: int, alpha: float = 0.85, tol: float = 1e-8) -> Any:
    """Personalized PageRank until it converges."""
    n = A.nrows
    deg = A.reduce_rowwise("plus")
    e = Vector.from_coo([s], 1.0, size=n)
    p = e.dup()
    while True:
        spread = (p / deg).vxm(A, "plus_times") * alpha
        q = spread.ewise_add(e * (1 - alpha))
        diff = q.ewise_add(-p).apply("abs").reduce().get(0.0)
        p = q
        if diff < tol:
            return p


def eigenvector(A: Matrix, tol: float = 1e-9, max_iter: int = 200) -> Any:
    """Eigenvector centrality, normalized in each iteration."""
    n = A.nrows
    x = Vector.full(1 / n, n)
    for _ in range(max_iter):
        y = x + x @ A
        norm = math.sqrt(y.ewise_mult(y).reduce("plus").get(0.0))
        y = y / norm
        if (y - x).apply("abs").reduce("plus").get(0.0) < n * tol:
            return y
        x = y
    return x


def walk(A: Matrix, s: int, steps: int = 10) -> Any:
    """The distribution of a random walk."""
    n = A.nrows
    inv = A.reduce_rowwise("plus").apply("minv")
    p = Vector.from_coo([s], 1.0, size=n)
    for _ in range(steps):
        p = p.ewise_mult(inv).vxm(A)
    return p


def cg(A: Matrix, b: Vector, tol: float = 1e-10, max_iter: int = 500) -> Any:
    """Conjugate gradients of the Laplacian plus the identity."""
    n = A.nrows
    deg = A.reduce_rowwise("plus")
    diag = deg.ewise_add(Vector.full(1.0, n))
    x = Vector.full(0.0, n)
    r = b.dup()
    p = r.dup()
    rs = r.ewise_mult(r).reduce("plus").get(0.0)
    for _ in range(max_iter):
        Ap = (diag * p).ewise_add((A @ p).apply("ainv"))
        a = rs / p.ewise_mult(Ap).reduce("plus").get(0.0)
        x = x + p * a
        r = r - Ap * a
        new = r.ewise_mult(r).reduce("plus").get(0.0)
        if math.sqrt(new) < tol:
            break
        p = r + p * (new / rs)
        rs = new
    return x


def cg_inner(A: Matrix, b: Vector, tol: float = 1e-10) -> Any:
    """Conjugate gradients with inner products and augmented assignments."""
    n = A.nrows
    x = Vector.full(0.0, n)
    r = b.dup()
    p = b.dup()
    rr = float(r.inner(r))
    while rr > tol:
        q = A.mxv(p).ewise_add(p * 200.0)
        alpha = rr / float(p.inner(q))
        x += alpha * p
        r -= alpha * q
        last, rr = rr, float(r.inner(r))
        p << r + (rr / last) * p
    return x


def jacobi(A: Matrix, b: Vector, steps: int = 30) -> Any:
    """Jacobi iterations."""
    n = A.nrows
    d = A.reduce_rowwise("plus").ewise_add(Vector.full(1.0, n))
    x = Vector.full(0.0, n)
    for _ in range(steps):
        x = (b + (A @ x).ewise_add(Vector.full(0.0, n))) / d
    return x


def power(A: Matrix, steps: int = 40) -> Any:
    """The largest eigenvalue by the power method."""
    n = A.nrows
    x = Vector.full(1.0, n)
    lam = 0.0
    for _ in range(steps):
        y = A @ x
        lam = y.reduce(monoid.max).get(0.0)
        x = y.apply(binary.truediv, right=lam)
    return lam, x


def heat(A: Matrix, s: int, dt: float = 0.01, steps: int = 50) -> Any:
    """Diffusion of heat by explicit steps of time."""
    n = A.nrows
    deg = A.reduce_rowwise("plus")
    u = Vector.full(0.0, n)
    u[s] = 100.0
    t = 0.0
    while t < dt * steps:
        flow = (A @ u).ewise_add(Vector.full(0.0, n)) - u.ewise_mult(deg).ewise_add(Vector.full(0.0, n))
        u += flow * dt
        t += dt
    return u


def label_prop(A: Matrix, steps: int = 20) -> Any:
    """The largest label that reaches each vertex."""
    n = A.nrows
    lab = Vector.from_dense(np.arange(n))
    for i in range(steps):  # noqa: B007
        new = A.mxv(lab, "max_second").ewise_add(lab, "max")
        if new.isequal(lab):
            break
        lab = new
    return lab, i


def hits2(A: Matrix, steps: int = 20, tol: float = 1e-8) -> Any:
    """Hubs and authorities until they are close to those before."""
    n = A.nrows
    h = Vector.full(1 / n, n)
    a = Vector.full(0.0, n)
    for _ in range(steps):
        last = h
        a = h @ A
        h = A @ a
        a = a / a.reduce("max").get(1.0)
        h = h / h.reduce("max").get(1.0)
        if h.isclose(last, abs_tol=tol):
            break
    return h, a


def grow_types(A: Matrix) -> Any:
    """A vector of integers that a loop makes one of floats."""
    x = Vector.full(1, A.nrows)
    k = 0
    while k < 8:
        x = x @ A * 0.5
        k += 1
    return x
