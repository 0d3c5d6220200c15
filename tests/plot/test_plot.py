"""Plots: what they show is what was counted, for every storage kind, and only the counts are copied."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, plot
from semiring import exceptions as ex
from semiring.bridges.plot import counts, style
from semiring.memory.arrays import Transfers


@pytest.fixture
def drawing() -> Iterator[None]:
    """Draw without a screen; skipped without matplotlib, which the counts do not need."""
    pytest.importorskip("matplotlib").use("Agg")
    yield
    from matplotlib import pyplot

    pyplot.close("all")


draws = pytest.mark.usefixtures("drawing")


def graph() -> Matrix:
    return sr.random.rmat(9, 8, seed=3)


def kinds(A: Matrix) -> dict[str, Matrix]:
    return {
        "csr": A,
        "packed": A.compress("packed"),
        "varint": A.compress("varint"),
        "host": A.to(placement="host"),
        "hypersparse": A.dup().convert("hypersparse"),
    }


@pytest.mark.parametrize("most", [1, 7, 400, 1000])
def test_cells_are_counted(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "_PART", 500)  # several parts
    A = graph()
    i, j, _ = A.to_coo(device="cpu")
    step = -(-A.nrows // most)
    expected = np.zeros((-(-A.nrows // step),) * 2, np.int64)
    np.add.at(expected, (i // step, j // step), 1)
    for name, B in kinds(A).items():
        assert np.array_equal(counts.entries_in_cells(B.store, most).counts, expected), name
    p = sr.algorithms.reverse_cuthill_mckee(A)
    places = p.to_coo(index_dtype=None)[1]
    before = counts.entries_in_cells(A.permute(p).store, most, places).counts
    assert np.array_equal(before, expected)


@draws
def test_of_many_rows_and_none() -> None:
    A = Matrix.from_coo([10**9, 5], [3, 10**8], True, shape=(2 * 10**9, 10**9))
    found = counts.entries_in_cells(A.store, 10)
    assert np.argwhere(found.counts).tolist() == [[0, 1], [5, 0]]
    assert counts.entries_in_cells(Matrix(float, 0, 3).store, 5).counts.size == 0
    for x in (Matrix(float, 0, 0), Matrix(float, 3, 5), A):
        assert x.spy().get_xlim()[1] == max(x.ncols, 1) - 0.5


@draws
def test_spy_draws_before_and_after() -> None:
    A = sr.random.grid2d(20, 20)
    before, after = plot.spy(A, sr.algorithms.reverse_cuthill_mckee(A), title="grid")
    assert before.get_title(loc="left") == "grid"
    for axis in (before, after):
        assert int(axis.images[0].get_array().sum()) == A.nvals
    assert A.spy(ax=before) is before
    with pytest.raises(ex.DimensionMismatch, match="square"):
        plot.spy(Matrix(bool, 2, 3), [0, 1])
    for order in ([1, 0], np.zeros(400, int), np.arange(1, 401), np.arange(400) + 0.5):
        with pytest.raises(ex.InvalidValue, match="order must be a permutation of 400"):
            plot.spy(A, order)


@pytest.mark.parametrize("to", ["index", "bitmap", "full"])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32])
def test_values_are_counted(to: str, dtype: type) -> None:
    values = np.arange(40).astype(dtype)
    v = Vector.from_dense(values) if to == "full" else Vector.from_coo(np.arange(40), values, size=41).convert(to)
    found = counts.histogram(v, 10)
    expected = np.histogram(values.astype(float), found.edges)[0]
    assert np.array_equal(found.counts, expected)
    assert counts.histogram(Vector.full(dtype(1), 7), 10).counts.sum() == 7


@draws
def test_values_that_are_not_finite_are_left_out() -> None:
    v = Vector.from_dense([1.0, np.nan, np.inf, 3.0])
    axis = v.hist()
    assert axis.get_title(loc="left") == "4 values, 2 not finite"
    assert [bar.get_height() for bar in axis.patches] == counts.histogram(v, 50).counts.tolist()
    assert counts.histogram(Vector(float, 5), 3).counts.sum() == 0
    assert Matrix.from_coo([0, 1], [1, 0], [2, 5]).hist(log=True).get_yscale() == "log"
    with pytest.raises(ex.InvalidValue, match="bins"):
        v.hist(0)


@draws
@pytest.mark.parametrize("by", ["rows", "columns"])
def test_degrees_are_counted(by: str) -> None:
    A = Matrix.from_coo([0, 0, 0, 1, 3], [0, 1, 2, 2, 2], True, shape=(5, 4))
    for B in kinds(A).values():
        axis = plot.degree_distribution(B, by=by)
        line = {"rows": [[1, 2], [3, 1]], "columns": [[1, 2], [3, 1]]}[by]
        assert np.column_stack(axis.lines[0].get_data()).tolist() == line
        assert f"{B.nrows - 3 if by == 'rows' else 1} without an edge" in axis.get_title(loc="left")


@pytest.mark.costly
@draws
def test_frontiers_of_levels_and_of_a_trace() -> None:
    A = graph()
    trace = sr.algorithms.bfs_trace(A, 1)
    expected = [[step.edges for step in trace.steps], [step.frontier for step in trace.steps]]
    for B in kinds(A).values():
        lines = plot.frontiers(trace.levels, B).lines
        assert [line.get_ydata().astype(int).tolist() for line in lines] == expected
    assert [line.get_ydata().astype(int).tolist() for line in plot.frontiers(trace).lines] == expected
    assert len(plot.frontiers(trace.levels).lines) == 1
    assert plot.frontiers(Vector(int, 5)).lines[0].get_ydata().size == 0
    with pytest.raises(ex.InvalidValue, match="integers from 0"):
        plot.frontiers(Vector.from_dense([0, -1]))
    with pytest.raises(ex.DimensionMismatch, match="512 levels"):
        plot.frontiers(trace.levels, Matrix(bool, 3, 3))


@draws
def test_only_counts_are_copied(engine: str) -> None:
    A = sr.random.rmat(10, 8, seed=1)
    v = sr.algorithms.pagerank(A)
    Transfers.reset()
    A.spy(resolution=50)
    v.hist()
    plot.degree_distribution(A)
    assert Transfers.bytes < (30_000 if engine == "cuda" else 1)


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "can_draw", lambda: False)
    for draw in (graph().spy, Vector.full(1, 3).hist, lambda: plot.frontiers(Vector.full(1, 3))):
        with pytest.raises(ex.NotSupported, match=r"needs matplotlib: pip install 'semiring\[plot\]'"):
            draw()
