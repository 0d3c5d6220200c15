"""Random walks: many at once, one step of all of them by gathers from the rows of the matrix.

The rows of A are three Vectors: the first entry of each row, its length, and the columns of all entries.  A walk at
v draws
entry first(v) + floor(r degree(v)), r in [0, 1); with weights the entry is found by bisection in the running totals
of the
row.  A walk that reaches a vertex without edges ends there.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

import semiring as sr
from semiring import Matrix, Vector, binary, indexunary
from semiring.exceptions import InvalidValue

from ..checks import Vertex, Vertices, Weight, count, number, read_weight, row, rows, seed_of, square, weights
from ..progress import Progress, reporter
from ..randomness import thunk, uniform
from ..scaling import bounded_rows
from ..vertex_labels import algorithm

_drawn = binary.register_anonymous("toint(floor(x * y))", "drawn")
_middle = binary.register_anonymous("floordiv(x + y, 2)", "middle")
_random_of = indexunary.register_anonymous("random(x, 0, k)", "random_of")
_ROUNDS_A_STEP = 1 << 16  # random numbers of a walk in a step
_FEW_PROPOSALS = 1 << 12  # cost as much as one
_PATIENCE = 1 << 12  # proposals after which a walk draws from the biases of its whole row


class _Rows(NamedTuple):
    """For each row its first entry, its length and its total; for each entry its column and the running total."""

    first: Vector
    degree: Vector
    columns: Vector
    totals: Vector | None
    total: Vector | None
    bisections: int

    def draw(self, at: Vector, r: Vector) -> Vector:
        """Return the column of an entry drawn from the row of each walk; the rows must not be empty."""
        first = self.first.extract(at).dup()
        if self.totals is None or self.total is None:
            nth = r.ewise_mult(self.degree.extract(at), _drawn)
            return self.columns.extract(first.ewise_mult(nth, "plus").dup()).dup()
        target = r.ewise_mult(self.total.extract(at), "times").dup()
        last = self._last(first, at)
        return self.columns.extract(self._bisect(self.totals, target, first, last, "le")).dup()

    def contains(self, at: Vector, column: Vector) -> Vector:
        """Return whether the row of each walk has an entry in this column; the rows must not be empty."""
        first = self.first.extract(at).dup()
        place = self._bisect(self.columns, column, first, self._last(first, at), "lt")
        return self.columns.extract(place).ewise_mult(column, "eq").dup()

    def _last(self, first: Vector, at: Vector) -> Vector:
        return first.ewise_mult(self.degree.extract(at), "plus").apply("minus", right=1).dup()

    def _bisect(self, ordered: Vector, target: Vector, low: Vector, high: Vector, before: str) -> Vector:
        """Return the first place of low ... high whose value is not before the target, or high."""
        low, high = low.dup(), high.dup()
        for _ in range(self.bisections):
            middle = low.ewise_mult(high, _middle).dup()
            wide = low.ewise_mult(high, "lt")
            right = ordered.extract(middle).ewise_mult(target, before).ewise_mult(wide, "land").dup()
            low(right.V) << middle.apply("plus", right=1)
            high(~right.V) << middle
        return low


@algorithm("..>v")
def random_walks(
    A: Matrix,
    starts: Vector | Vertex | Vertices,
    length: int,
    *,
    weight: Weight = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Matrix:
    """W(i, t) = the vertex of walk i after t steps: W(i, 0) the start, W(i, t + 1) a neighbor of W(i, t) at random.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v.
    starts : a row or a name, several, or a full Vector of rows: one walk each
    length : the number of steps
    weight : True or str, optional
        True: draw a neighbor in proportion to the value of its edge, which must be finite and not negative; str: to
        that field of its record.  Default: values are not read, and all are drawn alike.
    seed : the walks depend on it, on their numbers and on A alone
    progress : called as ``progress(done, total)`` after each step

    Returns
    -------
    Matrix of len(starts) x (length + 1), int64.  A walk ends at a vertex without edges (of positive weight): later
    entries are
    missing.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, DomainMismatch, OutOfMemory

    Notes
    -----
    Cost O(walks) a step, times log(largest degree) with weights.  Reads uncompressed rows: a compressed matrix, or
    one in
    host memory, is copied first.  Synchronizes.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0)])
    >>> sr.algorithms.random_walks(A, [0, 1], 4).to_numpy().tolist()
    [[0, 1, 2, 0, 1], [1, 2, 0, 1, 2]]
    """
    return _walks("random_walks", A, starts, length, weight, seed, None, progress)


@algorithm("..>v")
def node2vec_walks(
    A: Matrix,
    starts: Vector | Vertex | Vertices,
    length: int,
    *,
    p: float = 1.0,
    q: float = 1.0,
    weight: Weight = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Matrix:
    """W(i, t) as `random_walks`, but from u over v to x in proportion to A(v, x) b(u, x).

    The bias b is 1/p where x = u, 1 where A stores (u, x), and 1/q elsewhere.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v.
    starts : a row or a name, several, or a full Vector of rows: one walk each
    length : the number of steps
    p : return parameter, above 0: large values avoid going back
    q : in-out parameter, above 0: large values stay near, small ones explore
    weight : True or str, optional
        True: A(v, x) is the value of the edge, which must be finite and not negative; str: that field of its record.
        Default: values are not read, and A(v, x) is 1.
    seed : the walks depend on it, on their numbers and on A alone
    progress : called as ``progress(done, total)`` after each step

    Returns
    -------
    Matrix of len(starts) x (length + 1), int64.  A walk ends at a vertex without edges (of positive weight): later
    entries are
    missing.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, DomainMismatch, OutOfMemory

    Notes
    -----
    A neighbor is proposed as in `random_walks` and accepted with probability b / max(1/p, 1, 1/q), else proposed
    again: max(1/p, 1, 1/q) / min(1/p, 1, 1/q) proposals at most, on average.  A walk that has accepted none of 4,096
    or more draws from the biases of its whole row.  A proposal costs O(log(largest degree)).  Synchronizes.

    Source: Grover, Leskovec, "node2vec: Scalable Feature Learning for Networks", KDD 2016.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 1)])
    >>> sr.algorithms.node2vec_walks(A, 0, 3, p=1e9).to_numpy(fill_value=-1).tolist()[0][:3]
    [0, 1, 2]
    """
    for name, value in (("p", p), ("q", q)):
        if not sys.float_info.min <= number("node2vec_walks", name, value) < np.inf:
            raise InvalidValue(f"node2vec_walks: {name} must be a positive number, got {value!r}")
    return _walks("node2vec_walks", A, starts, length, weight, seed, (1 / p, 1 / q), progress)


def _walks(
    name: str,
    A: Matrix,
    starts: Any,
    length: int,
    weight: Weight,
    seed: int,
    bias: tuple[float, float] | None,
    progress: Progress | None,
) -> Matrix:
    n = square(name, A)
    length, seed, report = count(name, "length", length), seed_of(name, seed), reporter(name, progress)
    at = _starts(name, starts, n, A)
    A, weighted = read_weight(name, A, weight)
    if weighted:
        weights(name, A, least=0, finite=True)
        A, _, _ = bounded_rows(A.dup(dtype=np.float64))
    steps = [at]
    alive = Vector.full(True, at.size, device=A.device)
    entries = _rows(A, n, weighted) if A.nvals and at.size else None
    previous: Vector | None = None
    for step in range(length):
        if entries is not None:
            leaves = (entries.degree if entries.total is None else entries.total).extract(at).apply("gt", right=0)
            alive = alive.ewise_mult(leaves, "land").dup()
            walking = alive.select("==", True).to_coo(index_dtype=None)[0]
            here = at.extract(walking).dup()
            if bias is None or previous is None:
                r = uniform(at.size, seed, step * _ROUNDS_A_STEP, device=A.device).extract(walking).dup()
                chosen = entries.draw(here, r)
            else:
                before = previous.extract(walking).dup()
                chosen, left = _biased(entries, before, here, walking, bias, (seed, step))
                if len(left):
                    r = uniform(at.size, seed, step * _ROUNDS_A_STEP, device=A.device).extract(walking).dup()
                    v, u, r = (part.extract(left).dup() for part in (here, before, r))
                    chosen[left] = _drawn_from_rows(A, weighted, u, v, bias, r)
            previous, at = at, at.dup()
            at[walking] = chosen
            steps.append(at.dup(mask=alive.V))
        else:
            steps.append(Vector(np.int64, at.size, device=A.device))
        report(step + 1, length)
    if length == 0:
        report(0, 0)
    walked: Matrix = sr.vstack(steps).T.dup()
    return walked


def _biased(
    rows: _Rows, before: Vector, here: Vector, numbers: Any, bias: tuple[float, float], drawn_by: tuple[int, int]
) -> tuple[Vector, Any]:
    """Return the next vertex of each walk, the first proposal that is accepted in proportion to its bias.

    With it the places of the walks that have accepted none.

    before, here: the last two vertices of each walk.  numbers: those of the walks.  drawn_by: the seed and the step,
    which determine the random numbers.  The fewer walks still propose, the more proposals each makes at a time.
    """
    back, away = bias
    most = max(back, 1.0, away)
    walks, chosen, made = Vector.from_dense(numbers, device=here.device), here.dup(), 0
    pending: Any = Vector.full(True, here.size, device=here.device).to_coo(index_dtype=None)[0]
    while len(pending) and made < _PATIENCE:
        count = max(1, min(max(here.size, _FEW_PROPOSALS) // len(pending), _ROUNDS_A_STEP // 4))
        # Proposal p of all is the (p mod count)-th of the walk pending(p / count).
        proposal = Vector.full(0, len(pending) * count, device=here.device).apply("rowindex")
        walk = (
            Vector.from_dense(pending, device=here.device).extract(proposal.apply("floordiv", right=count).dup()).dup()
        )
        word = walks.extract(walk).apply("times", right=_ROUNDS_A_STEP)
        word = word.ewise_mult(proposal.apply("mod", right=count).apply("plus", right=made), "plus").dup()
        r, level = (word.apply(_random_of, right=thunk(seed, step)).dup() for seed, step in _streams(drawn_by))
        proposed, u = rows.draw(here.extract(walk).dup(), r), before.extract(walk).dup()
        weight = Vector.full(away, u.size, device=here.device)
        weight(rows.contains(u, proposed).V) << 1.0
        weight(u.ewise_mult(proposed, "eq").V) << back
        accepted = level.apply("times", right=most).ewise_mult(weight, "lt").dup()
        first = proposal.dup(mask=accepted.V).reduce_by(walk, "min", size=here.size)
        done, at = first.to_coo(index_dtype=None)
        chosen[done] = proposed.extract(at)
        waiting = Vector.from_coo(pending, True, size=here.size, device=here.device).dup(mask=~first.S)
        pending, made = waiting.to_coo(index_dtype=None)[0], made + count
    return chosen, pending


def _drawn_from_rows(
    A: Matrix, weighted: bool, before: Vector, here: Vector, bias: tuple[float, float], r: Vector
) -> Vector:
    """Return the next vertex of each walk: the first whose running total of weights exceeds r of the row's total."""
    back, away = (part / max(*bias, 1.0) for part in bias)
    walks, u = before.to_coo(index_dtype=None)
    row = A[here.to_dense(), :].dup()
    row = (row if weighted else row.apply("one")).dup(dtype=np.float64)
    weight = row.apply("times", right=away).dup()
    weight(A[u, :].dup().S) << row.apply("times", right=1 / max(*bias, 1.0))
    weight(Matrix.from_coo(walks, u, True, shape=row.shape, device=A.device).S) << row.apply("times", right=back)
    target = r.ewise_mult(weight.reduce_rowwise("plus"), "times").dup()
    beyond = target.ewise_mult(weight.scan("plus"), "lt").select("==", True)
    chosen: Vector = beyond.dup().apply("colindex").reduce_rowwise("min").dup()
    return chosen


def _streams(drawn_by: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return seed and round of the proposals of a step, and of their acceptance."""
    seed, step = drawn_by
    return (seed, 2 * step), (seed, 2 * step + 1)


def _rows(A: Matrix, n: int, weighted: bool) -> _Rows:
    offsets, columns, _ = A.to_csr(index_dtype=np.int64)
    first = Vector.from_dense(offsets[:-1], device=A.device)
    degree = Vector.from_dense(offsets[1:], device=A.device).ewise_mult(first, "minus").dup()
    bisections = int(degree.reduce("max")).bit_length()  # synchronizes
    neighbors = Vector.from_dense(columns, device=A.device)
    if not weighted:
        return _Rows(first, degree, neighbors, None, None, bisections)
    totals = Vector.from_dense(A.scan("plus").to_csr()[2], device=A.device)
    with_edges = degree.select(">", 0).to_coo(index_dtype=None)[0]
    last = first.ewise_mult(degree, "plus").apply("minus", right=1).extract(with_edges).dup()
    total = Vector.full(0.0, n, device=A.device)
    total[with_edges] = totals.extract(last)
    return _Rows(first, degree, neighbors, totals, total, bisections)


def _starts(name: str, starts: Any, n: int, A: Matrix) -> Vector:
    """Return the first vertex of each walk, int64."""
    if not isinstance(starts, Vector):
        return Vector.from_dense(rows(name, "starts", starts, n)).to(A.device)
    if starts.nvals != starts.size:
        raise InvalidValue(f"{name}: starts must be a full Vector; {starts.size - starts.nvals} entries are missing")
    if starts.dtype.kind not in "iu":
        raise InvalidValue(f"{name}: starts are row numbers, got a Vector of {starts.dtype}")
    if starts.size:
        for extreme in (int(starts.reduce("min")), int(starts.reduce("max"))):  # synchronizes
            row(name, extreme, n)
    return starts.apply("identity[int64]").dup()
