"""The steps of `benchmarks.sanitize` on small inputs: results that are compared, and searches that are verified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

import semiring as sr
from semiring import Matrix, Vector
from semiring.config import engine_for
from semiring.engines.registry import run as run_spec
from semiring.engines.requests.storage import CheckCompressed
from semiring.engines.rows import bounds
from semiring.strategies import STRATEGIES
from tests import verify

from .. import graphs
from . import products
from .inputs import N, Small

__all__ = ["STEPS", "large"]


def _forced(direction: str, product: Callable[[], Any]) -> Any:
    with sr.config.set(direction=direction):
        return product().wait()


def _placed(A: Matrix, codec: str | None, placement: str) -> Matrix:
    return (A if codec is None else A.compress(codec)).to(placement=placement)


def _components_after_a_search(A: Matrix) -> Vector:
    """The search computes the hubs of all rows, and the components start from them."""
    sr.algorithms.bfs_levels(A, 7).wait()
    return sr.algorithms.connected_components(A)


def _written(into: Vector | Matrix, value: Any, **writing: Any) -> Any:
    out = into.dup()
    out(**writing) << value
    return out


def _assigned(into: Any, key: Any, value: Any, **writing: Any) -> Any:
    out = into.dup()
    if writing:
        out(**writing)[key] << value
    else:
        out[key] << value
    return out


def _few() -> Vector:
    return Vector.from_coo([3, 97, 251], [5, 0, 7], size=N)


def _updated(into: Vector, few: Vector, **writing: Any) -> Vector:
    """The first write makes a store of its own, in which the second writes the positions of `few` or of the mask."""
    out: Vector = into + 0
    for _ in range(2):
        out(**writing) << few
    return out


def _counted_apart(A: Matrix, search: Callable[[Matrix], Any]) -> Any:
    """With work lists that hold fewer rows than A has, as where rows and entries do not fit one counter."""
    if A.device == "cpu":
        return search(A)
    from semiring.engines.cuda import packing

    with mock.patch.object(packing, "_BITS", A.nvals.bit_length() + 8):
        assert not packing.packable(N, A.nvals)
        return search(A).wait()


def _widened(A: Matrix, search: Callable[[Matrix], Any]) -> Any:
    """With tile offsets of 64 bits, as where the stream of A has 2^32 bytes and that of its transpose fewer."""
    if A.device == "cpu":
        return search(A)
    from semiring.engines.cuda import closure_plans, columns

    def both(a: Any, t: Any) -> tuple[Any, Any]:
        return columns.side_by_side(replace(a, at=a.at.astype(np.int64), facts={}), t)

    with mock.patch.object(closure_plans, "side_by_side", both):
        return search(A).wait()


def _many(A: Matrix, count: int, direction: str = "auto") -> Any:
    """Levels from many sources, some of them repeated."""
    sources = (7 * np.arange(count)) % N
    return _forced(direction, lambda: sr.ops.closure_many(sources, A).levels)


def _counted_many(A: Matrix, count: int) -> Any:
    """Counts from many sources, in launches of a few levels, with the rows of more than eight entries in segments."""
    sources = (7 * np.arange(count)) % N

    def counts() -> Any:
        return sr.ops.closure_many(sources, A, levels=False, counts=True).counts

    if A.device == "cpu":
        return _forced("pull", counts)
    from semiring.engines.cuda import closure_many, closure_many_plans, tuning

    closure_many_plans._plan.cache_clear()
    with mock.patch.object(tuning, "LONG_ROW", 8), mock.patch.object(closure_many, "_COUNTED", 2):
        made = _forced("pull", counts)
    closure_many_plans._plan.cache_clear()
    return made


def _levels_by(s: Small, strategy: str, codec: str | None = None) -> Vector:
    with sr.config.set(strategy=strategy):
        return sr.algorithms.bfs_levels(s.E if codec is None else s.E.compress(codec), 7).wait()


def _parents_by(s: Small, strategy: str) -> Vector:
    with sr.config.set(strategy=strategy):
        return sr.algorithms.bfs_parents(s.E, 7).apply("one").wait()


def _permuted(s: Small) -> Matrix:
    """In slices that are sorted one after the other, as where entries are many."""
    order = np.arange(N)[::-1].copy()
    if s.A.device == "cpu":
        return s.A.permute(order)
    from semiring.engines.cuda import permute

    with mock.patch.object(permute, "_SLICE", 512):
        return s.A.permute(order).wait()


def _from_unsorted(s: Small) -> Matrix:
    indptr = np.array([0, 3, 3, 5])
    return Matrix.from_csr(indptr, np.array([4, 0, 2, 3, 1]), np.arange(5), ncols=6)


def _refused(call: Callable[[], Any]) -> Vector:
    """Check that the call raises the expected error; return a vector."""
    try:
        call()
    except sr.SemiringError:
        return Vector.full(True, 1)
    return Vector.full(False, 1)


def _round_trip(A: Matrix, codec: str) -> Matrix:
    """Encode, measure, check and decode; a damaged stream is rejected, and no read leaves it."""
    compressed = A.compress(codec).wait()
    assert compressed.nbytes == A.compressed_nbytes(codec)
    pattern = compressed.store.pattern
    engine = engine_for(A.device)
    run_spec(CheckCompressed(pattern), engine)
    for name, places, value in (
        ("stream", slice(None, None, 3), np.iinfo(pattern.stream.dtype).max),
        ("stream", slice(None), 0),
        ("base", slice(1, None), 0),
        ("at", slice(1, 2), np.iinfo(pattern.at.dtype).max),
        ("at", slice(-1, None), 1),
    ):
        array = getattr(pattern, name).copy()
        array[places] = value
        damaged = replace(pattern, facts={}, **{name: array})
        assert _refused(partial(run_spec, CheckCompressed(damaged), engine)).get(0), name
        if engine == "cuda" and name == "stream":
            Matrix._new(replace(compressed.store, pattern=damaged)).decompress().wait()
    return compressed.decompress()


def _in_slices(call: Callable[[], Any]) -> Any:
    """Several slices of compressed matrices or of matrices in host memory, instead of one."""
    with mock.patch.object(bounds, "SLICE", 700):
        return call().wait()


def _copied(A: Matrix, call: Callable[[Matrix], Any]) -> Any:
    """Streamed data is copied, although it is page-locked and could be read in place."""
    if A.device == "cpu":
        return call(A)
    from semiring.engines.cuda import tuning

    with mock.patch.object(tuning, "READ_PERCENT", 1), mock.patch.object(tuning, "COPY_CALL", 0):
        return call(A).wait()


INDEX = [5, 7, 5, 290, 0, 11]
TWICE = [3, 3, 299, 3, 17, 299]

# The steps, by name.  Each returns a Matrix or a Vector.
STEPS: dict[str, Callable[[Small], Any]] = {
    "mxv pull balanced": lambda s: _forced("pull", lambda: s.A.mxv(s.u, "plus_times")),
    "mxv pull balanced, bitmap": lambda s: _forced("pull", lambda: s.A.mxv(s.p, "min_plus")),
    "mxv pull balanced, masked": lambda s: _forced("pull", lambda: s.A.mxv(s.p, "max_times", mask=~s.m.S)),
    "mxv pull group": lambda s: _forced("pull", lambda: s.E.mxv(s.u, "plus_times")),
    "mxv pull group, bitmap, value mask": lambda s: _forced("pull", lambda: s.E.mxv(s.p, "plus_times", mask=s.m.V)),
    "mxv pull early": lambda s: _forced("pull", lambda: s.S.mxv(s.p, "any_pair", mask=~s.q.S)),
    "mxv pull lor_land": lambda s: _forced("pull", lambda: s.B.mxv(s.m, "lor_land")),
    "vxm push list": lambda s: _forced("push", lambda: s.q.vxm(s.A, "plus_times")),
    "vxm push bitmap": lambda s: _forced("push", lambda: s.p.vxm(s.A, "min_plus", mask=~s.m.S)),
    "vxm push full": lambda s: _forced("push", lambda: s.u.vxm(s.E, "max_plus")),
    "vxm push any_pair": lambda s: _forced("push", lambda: s.q.vxm(s.S, "any_pair")),
    "vxm push uint8": lambda s: _forced("push", lambda: s.q.dup("uint8").vxm(s.A.dup("uint8"), "min_plus")),
    # Both directions are open and the degrees leave it undecided: the edges of the frontier are counted.
    "vxm by rule, list": lambda s: s.q.vxm(s.S, "min_first"),
    "vxm by rule, bitmap": lambda s: s.p.vxm(s.S, "min_first"),
    "vxm by the transpose": lambda s: _forced("pull", lambda: s.u.vxm(s.A, "plus_times")),
    "mxv, the device chooses": lambda s: s.S.mxv(s.p.select(">", -1), "any_pair", mask=~s.q.S),
    "mxv, the device chooses, values": lambda s: s.S.mxv(s.p.select(">", -1), "any_secondi").apply("one"),
    "write of a matrix": lambda s: _written(s.A, s.E, mask=s.S.S, accum="plus"),
    "write of a matrix, complemented": lambda s: _written(s.A, s.E, mask=~s.B.V, accum="min"),
    "write of a matrix, replaced": lambda s: _written(s.A, s.E, mask=s.B.V, accum="plus", replace=True),
    **products.STEPS,
    "ewise add, full": lambda s: s.u.ewise_add(s.v, "plus"),
    "ewise add, bitmap and list": lambda s: s.p.ewise_add(s.q, "min"),
    "ewise mult, lists": lambda s: s.q.ewise_mult(s.q, "times"),
    "ewise add, lists": lambda s: s.q.ewise_add(s.q[::-1].dup(), "plus"),
    "ewise union, bitmaps": lambda s: s.p.ewise_union(s.m.dup("int64"), "minus", 1, 2),
    "ewise add, matrices": lambda s: s.A.ewise_add(s.E, "plus"),
    "ewise mult, matrices": lambda s: s.A.ewise_mult(s.S, "first"),
    "apply, matrix": lambda s: s.A.apply("plus", right=3),
    "apply, index": lambda s: s.A.apply("rowindex", right=2),
    "apply, list": lambda s: s.q.apply("ainv"),
    "apply, bitmap": lambda s: s.p.apply("times", left=2),
    "convert, full to bitmap": lambda s: s.u.dup().convert("bitmap"),
    "convert, bitmap to list": lambda s: s.p.dup().convert("index"),
    "cast": lambda s: s.A.dup("float32"),
    "select, matrix": lambda s: s.A.select("tril", -1),
    "select, bitmap": lambda s: s.p.select(">", 20),
    "select, list": lambda s: s.q.select("!=", 4),
    "keep, matrix": lambda s: s.A.dup(mask=s.E.S),
    "keep, bitmap": lambda s: s.u.dup(mask=~s.m.V),
    "keep, list": lambda s: s.q.dup(mask=s.m.S),
    "write, vector": lambda s: _written(s.p, s.u, mask=s.m.V, accum="plus"),
    "write, replaced": lambda s: _written(s.u, s.q, mask=~s.q.S, replace=True),
    "write, list into bitmap": lambda s: _written(s.p, s.q, accum="min"),
    "write, matrix": lambda s: _written(s.A, s.E, mask=s.S.S, accum="plus"),
    "write, matrix replaced": lambda s: _written(s.A, s.E, mask=~s.S.S, replace=True),
    "reduce rows": lambda s: s.A.reduce_rowwise("plus"),
    "reduce rows, any": lambda s: s.E.reduce_rowwise("any").apply("one"),
    "reduce columns": lambda s: s.A.reduce_columnwise("max"),
    "reduce matrix": lambda s: Vector.from_dense([s.A.reduce_scalar("plus").value]),
    "reduce rows, iso": lambda s: s.A.apply("second", right=1).reduce_rowwise("plus"),
    "inner, dense": lambda s: Vector.from_dense([s.p.inner(s.u, "plus_times").value]),
    "inner, listed": lambda s: Vector.from_dense([s.q.inner(s.p, "min_plus").value]),
    "inner, lists": lambda s: Vector.from_dense([s.q.inner(s.q, "plus_minus").value]),
    "reduce bitmap": lambda s: Vector.from_dense([s.p.reduce("min").value]),
    "extract, vector": lambda s: s.p[INDEX],
    "extract, list": lambda s: s.q[10:290:3],
    "extract, by a vector": lambda s: s.u[Vector.from_dense(INDEX)],
    "extract, rows": lambda s: s.A[INDEX, :],
    "extract, columns": lambda s: s.A[:, INDEX],
    "extract, region": lambda s: s.A[5:200:2, 250:3:-7],
    "extract, row": lambda s: s.A[0],
    "assign, region": lambda s: _assigned(s.A, (slice(3, 9), slice(2, 8)), s.E[3:9, 2:8].dup()),
    "assign, listed": lambda s: _assigned(s.A, ([4, 9], [1, 200, 3]), 5),
    "assign, vector": lambda s: _assigned(s.p, [4, 9, 200], s.u[[1, 2, 3]].dup()),
    "assign, list into listed": lambda s: _assigned(s.p, [4, 9, 200], s.q[[1, 2, 3]].dup()),
    "assign, matrix into listed": lambda s: _assigned(s.A, ([4, 9], [1, 200, 3]), s.E[1:3, 5:8].dup()),
    "assign, masked": lambda s: _assigned(s.u, slice(None), 7, mask=s.m.S),
    "update, accumulated": lambda s: _updated(s.u, _few(), accum="plus"),
    "update, bitmap": lambda s: _updated(s.p, _few(), accum="plus"),
    "update, masked": lambda s: _updated(s.p, _few(), accum="plus", mask=s.m.V),
    "update, of a bitmap": lambda s: _updated(s.p, _few().convert("bitmap"), accum="plus", mask=s.m.V),
    "update, where a bitmap has bits": lambda s: _updated(s.p, s.v, mask=_few().convert("bitmap").S),
    "update, where the mask lists": lambda s: _updated(s.p, s.u, mask=_few().S),
    "update, by values of the mask": lambda s: _updated(s.p, s.v, mask=_few().V),
    "compared": lambda s: Vector.from_dense([s.A.isequal(s.A.dup()), s.f.isclose(s.f * 1.5), s.f.isequal(s.u)]),
    "to an array": lambda s: Vector.from_dense(s.q.to_dense(fill_value=0)),
    "scatter, repeated": lambda s: _assigned(s.u, TWICE, s.v[:6].dup(), accum="min"),
    "scatter, floats in order": lambda s: _assigned(s.f, TWICE, s.f[:6].dup(), accum="plus"),
    "scatter, not associative": lambda s: _assigned(s.f, TWICE, s.f[:6].dup(), accum="minus"),
    "scatter, list": lambda s: _assigned(s.p, TWICE, s.q[:6].dup(), accum="max"),
    "transpose": lambda s: s.A.T.dup() if hasattr(s.A.T, "dup") else s.A.T.new(),
    "symmetric": lambda s: Vector.from_dense([s.A.is_symmetric_structure, s.S.is_symmetric_structure]),
    "build, repeated": lambda s: Matrix.from_coo(TWICE, TWICE, [1, 2, 3, 4, 5, 6], nrows=N, ncols=N, dup_op="plus"),
    "build, last": lambda s: Matrix.from_coo(TWICE, TWICE, [1, 2, 3, 4, 5, 6], nrows=N, ncols=N, dup_op="second"),
    "build, any": lambda s: Matrix.from_coo(TWICE, TWICE, 1, nrows=N, ncols=N, dup_op="any"),
    "build, not associative": lambda s: Matrix.from_coo(
        TWICE, TWICE, [1, 2, 3, 4, 5, 6], nrows=N, ncols=N, dup_op="minus"
    ),
    "build, refused": lambda s: _refused(lambda: Matrix.from_coo(TWICE, TWICE, 1, nrows=N, ncols=N).wait()),
    "import, unsorted": _from_unsorted,
    "import, bad offsets": lambda s: _refused(lambda: Matrix.from_csr([0, 3, 1], [0, 1, 2], ncols=4).wait()),
    "import, bad columns": lambda s: _refused(lambda: Matrix.from_csr([0, 1, 3], [0, 1, 9], ncols=4).wait()),
    "compress, varint": lambda s: _round_trip(s.A, "varint"),
    "compress, packed": lambda s: _round_trip(s.A, "packed"),
    "levels": lambda s: sr.algorithms.bfs_levels(s.S, 7),
    "levels, directed": lambda s: sr.algorithms.bfs_levels(s.E, 7),
    "levels, pushed": lambda s: _forced("push", lambda: sr.algorithms.bfs_levels(s.E, 7)),
    "levels, pulled": lambda s: _forced("pull", lambda: sr.algorithms.bfs_levels(s.E, 7)),
    **{f"levels, {name}": partial(_levels_by, strategy=name) for name in STRATEGIES if name != "auto"},
    **{f"parents, {name}": partial(_parents_by, strategy=name) for name in ("two_phase", "contract_expand", "hybrid")},
    "compressed, adaptive": lambda s: _levels_by(s, "adaptive", "packed"),
    "compressed, contract_expand": lambda s: _levels_by(s, "contract_expand", "varint"),
    "levels, several": lambda s: sr.algorithms.bfs_levels(s.S, [0, 7, 9]),
    "levels, 40 sources": lambda s: _many(s.S, 40),
    "levels, 40 sources pushed": lambda s: _many(s.E, 40, "push"),
    "levels, 100 sources pulled": lambda s: _many(s.E, 100, "pull"),
    "levels, 200 sources": lambda s: _many(s.S, 200),
    "levels, 400 sources pushed": lambda s: _many(s.S, 400, "push"),
    "levels, 1000 sources pulled": lambda s: _many(s.S, 1000, "pull"),
    "levels, 50 sources on a grid": lambda s: _many(sr.random.grid2d(40, 15), 50),  # two chunks, and more planes
    "counts, 1 source": lambda s: _counted_many(s.A, 1),
    "counts, 300 sources": lambda s: _counted_many(s.A, 300),
    "compressed, levels of 40 sources": lambda s: _many(s.A.compress("varint"), 40, "pull"),
    "compressed, levels of 600 sources": lambda s: _many(s.S.compress("packed"), 600),
    "compressed, counts": lambda s: _counted_many(s.A.compress("packed"), 70),
    "parents, reached": lambda s: sr.algorithms.bfs_parents(s.E, 7).apply("one"),
    "spanning forest": lambda s: sr.ops.span(s.A),
    "spanning forest, one value": lambda s: sr.ops.span(s.A.apply("one")),
    "parents of distances": lambda s: sr.algorithms.sssp_parents(s.A.apply("plus", right=1), 7).apply("one"),
    "distances": lambda s: sr.algorithms.sssp(s.A, 7),
    "components": lambda s: sr.algorithms.connected_components(s.S),
    "components, directed": lambda s: sr.algorithms.connected_components(s.E),
    "components, fastsv": lambda s: sr.algorithms.connected_components(s.S, method="fastsv"),
    "compressed, levels": lambda s: sr.algorithms.bfs_levels(s.S.compress("varint"), 7),
    "compressed, pulled": lambda s: _forced("pull", lambda: sr.algorithms.bfs_levels(s.S.compress("packed"), 7)),
    "compressed, pulled from late entries": lambda s: _forced(
        "pull", lambda: sr.algorithms.bfs_levels(s.S.compress("packed"), 200)
    ),
    "compressed, parents from late entries": lambda s: _forced(
        "pull", lambda: sr.algorithms.bfs_parents(s.S.compress("varint"), 200).apply("one")
    ),
    "compressed, pushed": lambda s: _forced("push", lambda: sr.algorithms.bfs_levels(s.E.compress("varint"), 7)),
    "compressed, pushed by edges": lambda s: _forced(
        "push", lambda: sr.algorithms.bfs_levels(s.A.compress("packed"), 0)
    ),
    "compressed, parents": lambda s: sr.algorithms.bfs_parents(s.E.compress("packed"), 7).apply("one"),
    "compressed, distances": lambda s: sr.algorithms.sssp(s.A.compress("packed"), 7),
    "compressed, components": lambda s: sr.algorithms.connected_components(s.E.compress("varint")),
    "compressed, components by hubs": lambda s: _components_after_a_search(s.S.compress("packed")),
    "compressed, mxv balanced": lambda s: _forced("pull", lambda: s.A.compress("varint").mxv(s.u, "plus_times")),
    "compressed, mxv balanced, masked": lambda s: _forced(
        "pull", lambda: s.A.compress("packed").mxv(s.p, "max_times", mask=~s.m.S)
    ),
    "compressed, mxv group": lambda s: _forced("pull", lambda: s.E.compress("packed").mxv(s.p, "plus_times")),
    "compressed, mxv early": lambda s: _forced("pull", lambda: s.S.compress("varint").mxv(s.p, "any_pair")),
    "compressed, vxm push": lambda s: _forced("push", lambda: s.q.vxm(s.A.compress("varint"), "plus_times")),
    "compressed, pulled, two widths of offsets": lambda s: _forced(
        "pull", lambda: _widened(s.S.compress("packed"), lambda A: sr.algorithms.bfs_levels(A, 7))
    ),
    "past one counter, levels": lambda s: _counted_apart(s.S, lambda A: sr.algorithms.bfs_levels(A, 7)),
    "past one counter, pushed": lambda s: _forced(
        "push", lambda: _counted_apart(s.E.compress("varint"), lambda A: sr.algorithms.bfs_levels(A, 7))
    ),
    "past one counter, pulled": lambda s: _forced(
        "pull", lambda: _counted_apart(s.E, lambda A: sr.algorithms.bfs_levels(A, 7))
    ),
    "past one counter, components": lambda s: _counted_apart(
        s.S.compress("packed"), sr.algorithms.connected_components
    ),
    "past one counter, product": lambda s: _counted_apart(s.A, lambda A: s.u.vxm(A, "plus_times")),
    "out of core, levels": lambda s: sr.algorithms.bfs_levels(_placed(s.S, None, "pinned"), 7),
    "out of core, pushed": lambda s: _forced(
        "push", lambda: sr.algorithms.bfs_levels(_placed(s.E, "packed", "pinned"), 7)
    ),
    "out of core, pulled": lambda s: _forced(
        "pull", lambda: sr.algorithms.bfs_levels(_placed(s.E, "varint", "pinned"), 7)
    ),
    "out of core, streamed": lambda s: sr.algorithms.bfs_levels(_placed(s.S, "packed", "host"), 7),
    "out of core, copied": lambda s: _copied(_placed(s.S, "packed", "host"), lambda A: sr.algorithms.bfs_levels(A, 7)),
    "out of core, components copied": lambda s: _copied(
        _placed(s.E, None, "host"), lambda A: sr.algorithms.connected_components(A)
    ),
    "out of core, parents": lambda s: sr.algorithms.bfs_parents(_placed(s.E, "varint", "host"), 7).apply("one"),
    "out of core, components": lambda s: sr.algorithms.connected_components(_placed(s.S, "packed", "pinned")),
    "out of core, components streamed": lambda s: sr.algorithms.connected_components(_placed(s.E, None, "host")),
    "out of core, distances": lambda s: sr.algorithms.sssp(_placed(s.A, "varint", "pinned"), 7),
    "permute": lambda s: s.A.permute(np.arange(N)[::-1].copy()),
    "permute, in slices": _permuted,
    "permute, pattern": lambda s: s.S.permute(np.arange(N)[::-1].copy(), np.roll(np.arange(N), 5)),
    "kronecker": lambda s: s.A.kronecker(s.E[:9, :40], "times"),
    "kronecker, positions": lambda s: s.S.kronecker(s.E[:9, :40], "secondj"),
    "kronecker, pattern": lambda s: s.S.kronecker(s.S[:5, :90], "pair"),
    "copied, kronecker": lambda s: _in_slices(
        lambda: _placed(s.E, "packed", "host").kronecker(_placed(s.A[:3, :50].dup(), None, "pinned"), "minus")
    ),
    "random, kronecker": lambda s: sr.random.kronecker(8, 5, seed=3, weights="uniform"),
    "random, rmat": lambda s: sr.random.rmat(7, 3, seed=3, weights="uniform"),
    "random, uniform": lambda s: sr.random.uniform(N, 5, seed=3),
    "random, grid": lambda s: sr.random.grid3d(5, 4, 9),
    "random, star": lambda s: sr.random.star(N),
    # In slices: values beside columns, both codecs, all placements.
    "sliced, permute": lambda s: _in_slices(lambda: _placed(s.A, "packed", "host").permute(np.arange(N)[::-1].copy())),
    "sliced, levels by hubs": lambda s: _in_slices(lambda: sr.algorithms.bfs_levels(_placed(s.S, "packed", "host"), 7)),
    "sliced, mxv": lambda s: _in_slices(lambda: _placed(s.A, "packed", "host").mxv(s.u, "plus_times")),
    "sliced, vxm": lambda s: _in_slices(lambda: s.q.vxm(_placed(s.A, "varint", "host"), "min_plus")),
    "sliced, mxm": lambda s: _in_slices(
        lambda: _placed(s.A, None, "host").mxm(_placed(s.E, "packed", "pinned"), "plus_times", mask=~s.S.compress().S)
    ),
    "sliced, ewise": lambda s: _in_slices(
        lambda: _placed(s.A, "varint", "pinned").ewise_add(_placed(s.E, "packed", "host"), "plus")
    ),
    "sliced, select": lambda s: _in_slices(lambda: s.A.compress("varint").select("tril", -1)),
    "sliced, write": lambda s: _in_slices(
        lambda: _written(_placed(s.A, "packed", "host"), s.E, mask=s.S.compress("varint").S, accum="plus")
    ),
    "sliced, reduce": lambda s: _in_slices(lambda: _placed(s.A, "packed", "host").reduce_columnwise("max")),
    "sliced, extract": lambda s: _in_slices(lambda: _placed(s.A, "varint", "host")[5:200:2, 250:3:-7]),
    "sliced, transpose": lambda s: _in_slices(lambda: _placed(s.A, "packed", "pinned").T.dup()),
    "sliced, distances": lambda s: _in_slices(lambda: sr.algorithms.sssp(_placed(s.A, "packed", "host"), 7)),
}


def large(scale: int) -> None:
    """Searches whose frontiers fill more than one cluster, and links of more than one block; verified by properties."""
    A = sr.random.kronecker(scale, seed=graphs.SEED, weights="uniform")
    indptr, indices = graphs.arrays(A)
    source = graphs.sources(A, 1)[0]
    for direction in ("auto", "push", "pull"):
        levels = _forced(direction, lambda: sr.algorithms.bfs_levels(A, source)).to_dense(verify.UNREACHED)
        verify.bfs_levels(indptr, indices, source, levels)
    parents = sr.algorithms.bfs_parents(A, source).to_dense(verify.UNREACHED)
    verify.bfs_parents(indptr, indices, source, parents, levels)
    verify.components(indptr, indices, sr.algorithms.connected_components(A).to_dense())
    sr.algorithms.sssp(A, source).wait()
    wide = Matrix.from_coo([3, 1], [2**31 - 2, 5], [1, 2], nrows=2**20, ncols=2**31 - 1)  # keys of 64 bits
    assert (wide.get(3, 2**31 - 2), wide.get(1, 5)) == (1, 2)
    rows, columns, _ = A.to_coo()
    far = Matrix.from_coo(rows, columns.astype(np.int64) << 28, True, shape=(A.nrows, A.ncols << 28))
    for codec in ("varint", "packed"):
        assert _round_trip(far, codec).isequal(far)
        streamed = _in_slices(partial(_placed(far, codec, "host").select, "tril", 1 << 30))
        assert streamed.isequal(far.select("tril", 1 << 30))
        star = sr.random.star(5000)  # the hubs of a row that all blocks divide
        levels = sr.algorithms.bfs_levels(star.compress(codec), 5).to_dense(verify.UNREACHED)
        verify.bfs_levels(*graphs.arrays(star), 5, levels)
    for form, placement in (("packed", "pinned"), ("varint", "host"), (None, "host")):
        hosted = _placed(A, form, placement)  # more than one block is copied
        for direction in ("push", "auto"):
            levels = _forced(direction, partial(sr.algorithms.bfs_levels, hosted, source))
            verify.bfs_levels(indptr, indices, source, levels.to_dense(verify.UNREACHED))
        verify.components(indptr, indices, sr.algorithms.connected_components(hosted).to_dense())
    B = sr.random.kronecker(min(scale, 9), seed=graphs.SEED)
    triangles = B.mxm(B, "plus_pair", mask=B.S).reduce_scalar("plus").value
    assert triangles == B.select("tril").mxm(B.select("triu"), "plus_pair", mask=B.S).reduce_scalar("plus").value * 3
