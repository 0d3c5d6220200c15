"""Maximum flows: `scipy.sparse.csgraph.maximum_flow`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csgraph as scipy_csgraph

from semiring import Matrix, algorithms

from .conversion import in_place_of, is_for_scipy, is_on_gpu, sparse_like


@dataclass(frozen=True)
class MaximumFlowResult:
    """A maximum flow computed here; that computed by SciPy is an instance of its class of this name.

    Attributes
    ----------
    flow_value : int
        What flows from the source to the sink.
    flow : N x N sparse matrix
        flow(u, v) = -flow(v, u): what flows from u to v, for every edge and its reverse.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> found = sr.csgraph.maximum_flow(sp.csr_array([[0, 5], [0, 0]]), 0, 1)
    >>> int(found.flow_value), found.flow.toarray().tolist()
    (5, [[0, 5], [-5, 0]])
    """

    flow_value: int
    flow: Any


_scipys = scipy_csgraph.maximum_flow
# The fewest entries, and entries a vertex, of graphs in host memory whose flows take less time here, on two cores.
_LARGE, _DENSE = 200_000, 8


@in_place_of(_scipys, least=_LARGE)
def maximum_flow(csgraph: Any, source: int, sink: int, *, method: str = "dinic") -> Any:
    """max over f of sum_v f(s, v), where f(u, v) = -f(v, u) <= A(u, v), and what enters a vertex leaves it.

    Parameters
    ----------
    csgraph : N x N sparse matrix in CSR format, of SciPy with integers, or of CuPy
        The value of (u, v) is the capacity of the edge from u to v, a whole number, not negative.  CuPy's sparse
        matrices hold no integers.
    source, sink : int
        Two different vertices.
    method : ``"dinic"`` or ``"edmonds_karp"``
        Of SciPy; here there is one method.

    Returns
    -------
    MaximumFlowResult

    Raises
    ------
    TypeError
        For a graph that is not in CSR format.
    ValueError
        For capacities that are not whole numbers or are negative, vertices out of range or equal, another method, or
        if the graph is not square.

    Notes
    -----
    Which of several flows is returned is unspecified.  SciPy computes that of a graph in host memory with fewer than
    200,000 entries, or eight a vertex; else `semiring.algorithms.maximum_flow`, which states cost and synchronization.

    Source: Goldberg, Tarjan, "A New Approach to the Maximum-Flow Problem", JACM 35(4), 1988.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> int(sr.csgraph.maximum_flow(sp.csr_array([[0, 5, 0], [0, 0, 3], [0, 0, 0]]), 0, 2).flow_value)
    3
    """
    if is_for_scipy(csgraph, csgraph.size < _DENSE * csgraph.shape[0]):
        return _scipys(csgraph, source, sink, method=method)
    n = _checked(csgraph, source, sink, method)
    device = "cuda" if is_on_gpu(csgraph) else "cpu"
    parts = csgraph.indptr, csgraph.indices, csgraph.data.astype(np.int64)
    A = Matrix.from_csr(*parts, shape=csgraph.shape, dup_op="plus", copy=False, device=device)
    found = algorithms.maximum_flow(A, source, sink)
    sent = found.flow
    # Every edge and its reverse, also where nothing flows.
    nothing = Matrix(np.int64, n, n, device=device)
    nothing << A.apply("second", right=np.int64(0))
    flow = nothing.ewise_add(nothing.T, "plus").ewise_add(sent.ewise_union(sent.T, "minus", 0, 0), "plus")
    offsets, columns, values = flow.to_csr(csgraph.dtype if device == "cuda" else np.int64, index_dtype=np.int32)
    if device == "cpu" and np.abs(values).max(initial=0) < 2**31:  # the type of SciPy, whose larger capacities wrap
        values = values.astype(np.int32)
    return MaximumFlowResult(int(found.value), sparse_like(csgraph, values.copy(), columns.copy(), offsets.copy()))


def _checked(csgraph: Any, source: int, sink: int, method: str) -> int:
    """Return the number of vertices; TypeError or ValueError for arguments that are not allowed."""
    if getattr(csgraph, "format", None) != "csr":
        raise TypeError("csgraph must be in CSR format")
    if csgraph.dtype.kind not in "iu" and (not is_on_gpu(csgraph) or bool((csgraph.data % 1 != 0).any())):
        raise ValueError("csgraph.data must be of an integer type, or hold whole numbers on a GPU")
    n, ncols = csgraph.shape
    if n != ncols:
        raise ValueError("graph must be specified as a square matrix.")
    if source == sink:
        raise ValueError("source and sink vertices must differ")
    for name, vertex in (("source", source), ("sink", sink)):
        if not 0 <= vertex < n:
            raise ValueError(f"{name} value ({vertex}) must be between 0 and {n - 1}")
    if method not in ("dinic", "edmonds_karp"):
        raise ValueError(f"{method} method is not supported yet.")
    return int(n)
