"""Triangles and k-trusses by masked products.

Entry (i, j) of L L' under the mask L counts the common neighbors of i and j that come before both, so the sum over all
entries is the number of triangles.  A k-truss is the largest subgraph in which each edge is part of at least k - 2
triangles: edges with less support are removed until none is left.
"""

from __future__ import annotations

import numpy as np

import semiring as sr
from semiring import Matrix


def triangles(A: Matrix) -> int:
    """Return the number of triangles of a symmetric matrix without a diagonal.  No entry of the product is stored."""
    L = A.select("tril", -1)
    return int(L.mxm(L.T, "plus_pair", mask=L.S).reduce_scalar("plus").get(0))


def truss(A: Matrix, k: int) -> Matrix:
    """Return the k-truss; values are the number of triangles of each edge."""
    support = A.mxm(A.T, "plus_pair", mask=A.S).select("valuege", k - 2).dup()
    while support.nvals < A.nvals:
        A = support
        support = A.mxm(A.T, "plus_pair", mask=A.S).select("valuege", k - 2).dup()
    return support


def main() -> None:
    """Count in a graph whose numbers are known, and in a generated one."""
    # Vertices 0 to 4 form a complete graph: 10 triangles.  5 and 6 form another triangle with 4, and 7 is a leaf.
    rows, columns = np.triu_indices(5, 1)
    edges = [*zip(rows.tolist(), columns.tolist(), strict=True), (4, 5), (5, 6), (4, 6), (6, 7)]
    A = Matrix.from_edgelist(edges, nrows=8, ncols=8)
    A = (A + A.T).dup()
    assert triangles(A) == 11
    sizes = {k: truss(A, k).nvals // 2 for k in (3, 4, 5, 6)}
    assert sizes == {3: 13, 4: 10, 5: 10, 6: 0}
    print("edges of the k-trusses:", sizes)

    K = sr.random.kronecker(10, seed=1)
    K = K.select("offdiag").dup()
    corners = K.mxm(K, "plus_pair", mask=K.S).reduce_rowwise("plus").reduce("plus").value
    assert corners == 6 * triangles(K)
    print(f"a graph of {K.nvals // 2} edges has {triangles(K)} triangles")


if __name__ == "__main__":
    main()
