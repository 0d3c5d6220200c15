"""Connected components: `scipy.sparse.csgraph.connected_components`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csgraph as scipy_csgraph

from semiring import Vector, algorithms, ops

from .conversion import in_place_of, is_on_gpu, module_of, pattern, to_csr

_scipys = scipy_csgraph.connected_components


@in_place_of(_scipys, least=20_000)
def connected_components(
    csgraph: Any, directed: bool = True, connection: str = "weak", return_labels: bool = True
) -> Any:
    """label(v) = the number of the component of v.

    Parameters
    ----------
    csgraph : N x N array or sparse matrix, of SciPy or CuPy
    directed : bool
        False: edges count in both directions.
    connection : ``"weak"`` or ``"strong"``
        Whether a path in either direction joins two vertices, or each must have a path to the other.
    return_labels : bool

    Returns
    -------
    int, or (int, array of N int32)
        The number of components, and the component of each vertex.

    Raises
    ------
    ValueError
        For another connection, or if the graph is not square.

    Notes
    -----
    Weak components are numbered by their smallest vertices, as SciPy numbers them.  Strong components of a graph in
    host memory are SciPy's; on a GPU they are numbered by their smallest vertices, where SciPy numbers them in the
    order in which its search completes them.  Cost O(N + nnz) for weak components; else as
    `semiring.algorithms.strongly_connected_components`.  Synchronizes.

    Source: Sutton, Ben-Nun, Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling", IPDPS
    2018.

    Examples
    --------
    >>> count, labels = sr.csgraph.connected_components(np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]]))
    >>> count, labels.tolist()
    (2, [0, 0, 1])
    """
    kind = connection.lower()
    if kind not in ("weak", "strong"):
        raise ValueError("connection must be 'weak' or 'strong'")
    strong = directed and kind == "strong"
    if strong and not is_on_gpu(csgraph):
        return _scipys(csgraph, directed, connection, return_labels)
    csr = to_csr(csgraph, directed=strong)
    A = pattern(csr)
    if strong:
        found = algorithms.strongly_connected_components(A)
    else:
        # Without a search for the giant component, which pays for a matrix that is used again.
        forest, visited = ops.link_sample(ops.singletons(Vector(bool, A.nrows, device=A.device)), A)
        found = ops.link(forest, A, first=visited)
    xp = module_of(csr)
    smallest = found.to_dense()
    is_first = smallest == xp.arange(A.nrows, dtype=smallest.dtype)
    number = xp.cumsum(is_first, dtype=np.int32)
    count = int(number[-1]) if A.nrows else 0  # synchronizes
    return (count, number[smallest] - np.int32(1)) if return_labels else count
