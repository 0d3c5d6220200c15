"""A tour: every idea of the library once, from top to bottom, on one small graph.

0 -4-> 1 -1-> 3        5 -3-> 6
|             ^
1             5
v             |
2 ------------+
2 -2-> 4
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, agg, binary, monoid, semiring, unary

N = 7
EDGES = [(0, 1, 4.0), (0, 2, 1.0), (1, 3, 1.0), (2, 3, 5.0), (2, 4, 2.0), (5, 6, 3.0)]


@pytest.fixture
def A() -> Matrix:
    """The graph: entry (i, j) is the edge from i to j, and its value is the length of the edge."""
    return Matrix.from_edgelist(EDGES, nrows=N, ncols=N)


def test_a_matrix_has_entries_and_missing_is_not_zero(A: Matrix) -> None:
    assert (A.shape, A.nvals, A.dtype) == ((N, N), 6, np.float64)
    assert A[0, 1].value == 4.0
    assert A[0, 3].value is None  # no entry
    assert A.get(0, 3, 0) == 0  # the caller chooses the default
    assert A.T[1, 0].value == 4.0  # the edges reversed
    B = A.dup()
    B[0, 3] = 0  # an explicit zero is an entry
    assert (B.nvals, A.nvals) == (7, 6)


def test_vectors_and_their_conversions() -> None:
    v = Vector.from_coo([0, 5], [1.0, 2.0], size=N)
    assert v.to_dict() == {0: 1.0, 5: 2.0}
    assert v.to_numpy(-1.0).tolist() == [1, -1, -1, -1, -1, 2, -1]
    assert Vector.full(1, N).nvals == N
    assert Vector(np.int32, N).nvals == 0


def test_elementwise_apply_select_reduce(A: Matrix) -> None:
    assert (A + A).isequal(A * 2)  # union: an entry where either has one
    assert A.ewise_mult(A.T).nvals == 0  # intersection: an entry where both have one
    assert A.apply("sqrt")[0, 1].value == 2.0
    assert A.select(">", 2.0).nvals == 3
    assert A.reduce_rowwise("plus")[2].value == 7.0  # by a monoid
    assert A.reduce_rowwise(agg.count).to_dict() == {0: 2, 1: 1, 2: 2, 5: 1}  # by an aggregator
    assert A.reduce_scalar("max").value == 5.0


def test_a_product_over_a_semiring_is_one_step_along_the_edges(A: Matrix) -> None:
    x = Vector.from_coo([0], [0.0], size=N)
    assert x.vxm(A, "min_plus").to_dict() == {1: 4.0, 2: 1.0}  # distance
    assert x.vxm(A, semiring.any_secondi).to_dict() == {1: 0, 2: 0}  # the vertex before
    two_steps = semiring.min_plus(A @ A)  # one operator for a whole expression
    assert two_steps[0, 3].value == 5.0  # by 1; by 2 it is 6
    assert two_steps.isequal(A.mxm(A, "min_plus"))


def test_a_mask_selects_what_is_written_and_an_accumulator_combines(A: Matrix) -> None:
    w = Vector.full(10.0, N)
    reached = Vector.from_coo([1], True, size=N)
    w(~reached.S, accum="min") << Vector.from_coo([0], [0.0], size=N).vxm(A, "min_plus")
    assert w.to_dict() == {0: 10, 1: 10, 2: 1, 3: 10, 4: 10, 5: 10, 6: 10}  # 1 is masked out, 2 takes the minimum
    w(reached.S, replace=True) << 0.0
    assert w.to_dict() == {1: 0.0}  # replace removes what the mask does not admit
    parent = Vector.from_coo([0, 1, 2], [2, 2, 0], size=3)
    lowest = Vector.full(9, 3)
    lowest(accum="min")[parent] << Vector.from_coo([0, 1, 2], [7, 5, 6], size=3)
    assert lowest.to_dict() == {0: 6, 1: 9, 2: 5}  # index 2 occurs twice: the accumulator combines


def test_a_result_is_pending_until_it_is_used(A: Matrix) -> None:
    with sr.explain() as log:
        product = A.mxm(A, "min_plus")  # shapes and types are checked here
    assert not log  # nothing has run
    with sr.explain() as log:
        C = Matrix(float, N, N)
        C(A.S) << product  # computed together with its mask and target
        assert C.nvals == 0  # no edge of A has a path of two edges beside it
    assert "mxm" in [call.operation for call in log]  # the log has each call, its kernel, time and direction


def test_operators_of_your_own_run_on_every_engine(A: Matrix) -> None:
    capped = unary.register_new("tour_capped", lambda x: min(x, 3.0))
    absdiff = binary.register_new("tour_absdiff", "abs(x - y)")
    assert A.apply(capped)[2, 3].value == 3.0
    assert A.ewise_mult(A.apply(capped), absdiff).reduce_scalar("plus").value == 3.0  # 4 - 3 and 5 - 3
    widest = semiring.register_new("tour_widest", monoid.max, binary.min)
    assert widest(A @ A)[0, 3].value == 1.0  # by 1: min(4, 1); by 2: min(1, 5)


def test_a_search_is_a_loop_of_masked_products_and_a_closure(A: Matrix) -> None:
    level, frontier, depth = Vector(np.int32, N), Vector.from_coo([0], True, size=N), 0
    while frontier.nvals:
        level(frontier.S) << depth
        frontier(~level.S, replace=True) << frontier.vxm(A, "any_pair")
        depth += 1
    assert level.to_dict() == {0: 0, 1: 1, 2: 1, 3: 2, 4: 2}  # 5 and 6 are missing: not reached
    assert level.isequal(sr.algorithms.bfs_levels(A, 0))
    distances = sr.ops.closure(Vector.from_coo([0], [0.0], size=N), A, "min_plus")  # the whole loop in one call
    assert distances.to_dict() == {0: 0.0, 1: 4.0, 2: 1.0, 3: 5.0, 4: 3.0}


def test_algorithms_map_matrices_to_vectors(A: Matrix) -> None:
    assert sr.algorithms.sssp(A, 0).to_dict() == {0: 0.0, 1: 4.0, 2: 1.0, 3: 5.0, 4: 3.0}
    label = sr.algorithms.connected_components(A + A.T).to_numpy()
    assert len(set(label[:5])) == 1
    assert label[5] == label[6] != label[0]
    assert sr.algorithms.pagerank(A).reduce("plus").value == pytest.approx(1.0, rel=1e-5)


def test_results_do_not_depend_on_the_storage_kind() -> None:
    R = sr.random.kronecker(8, seed=1)  # one value for all entries: iso-valued
    P = R.compress("packed")  # gaps between columns, or "varint"
    H = P.to(placement="host")  # entries in host memory, read in slices; or "pinned"
    assert (P.format, H.placement) == ("ccsr", "host")
    assert P.nbytes < R.nbytes
    assert H.isequal(R)
    expected = sr.algorithms.bfs_levels(R, 1)
    assert sr.algorithms.bfs_levels(H, 1).isequal(expected)
    order = sr.algorithms.ordering.degree_order(R)  # vertices in another order compress better
    assert R.permute(order).nvals == R.nvals


def test_a_file_keeps_a_matrix(A: Matrix, tmp_path: Path) -> None:
    for name in ("graph.srb", "graph.mtx", "graph.npz"):
        sr.io.write(tmp_path / name, A)
        assert sr.io.read(tmp_path / name).isequal(A)
    assert sr.io.open(tmp_path / "graph.srb", compress="varint").codec == "varint"


def test_an_error_names_what_was_expected_and_changes_nothing(A: Matrix) -> None:
    before = A.dup()
    with pytest.raises(sr.exceptions.DimensionMismatch, match="mxm"):
        A << A.mxm(Matrix(float, 3, 3))
    with pytest.raises(AttributeError, match="min_plus"):  # a SemiringError and the built-in class too
        A.mxm(A, "min_pluss")
    assert A.isequal(before)
