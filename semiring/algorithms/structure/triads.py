"""The triad census of a directed graph: how many triples of vertices have each of the 16 structures.

With M the edges in both directions, D the other ones, and their degrees m, o (out) and i (in), closed triads are sums
over masked products, such as  030T = sum(D D where D)  and  300 = sum(M M where M) / 6.  The open ones follow from the
pairs of neighbors of a vertex, as  021D = sum(o (o - 1) / 2) - 030T - 120D,  and those with one pair or none from the
number of all triples.

Sources: Holland, Leinhardt, "Local Structure in Social Networks", Sociological Methodology 7, 1976 (names); Moody,
"Matrix Methods for Calculating the Triad Census", Social Networks 20(4), 1998.
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector

from ..checks import square
from ..vertex_labels import algorithm


@algorithm()
def triad_census(A: Matrix) -> dict[str, int]:
    """Return the number of triples of vertices with each structure, by its name of Holland and Leinhardt.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read, self-loops are ignored.

    Returns
    -------
    dict of str to int
        In a name the digits count mutual, one-way and missing pairs; D, U, C and T are down, up, cyclic, transitive.

    Raises
    ------
    DimensionMismatch

    Notes
    -----
    Cost four products under the mask of the structure.  Counts are exact up to 2**63.  Synchronizes.

    Source: Moody, "Matrix Methods for Calculating the Triad Census", Social Networks 20(4), 1998.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (0, 2), (2, 3)])
    >>> {name: count for name, count in sr.algorithms.triad_census(A).items() if count}
    {'012': 1, '021C': 2, '030T': 1}
    """
    n = square("triad_census", A)
    S = A.select("offdiag").apply("second", right=np.int64(1)).wait()
    both = S.T.dup()
    M, D = S.dup(mask=both.S), S.dup(mask=~both.S)
    every = S.ewise_add(both, "any").dup()
    chains = D.mxm(D, "plus_pair", mask=every.S).dup()
    pairs = M.mxm(M, "plus_pair", mask=S.S).dup()
    transitive, cyclic = _sum(chains, D), _sum(chains, D.T) // 3
    down = _sum(D.T.mxm(D, "plus_pair", mask=M.S), M) // 2
    up = _sum(D.mxm(D.T, "plus_pair", mask=M.S), M) // 2
    through, two, three = _sum(chains, M), _sum(pairs, D), _sum(pairs, M) // 6

    m, o, i = (
        _full(part) for part in (M.reduce_rowwise("plus"), D.reduce_rowwise("plus"), D.reduce_columnwise("plus"))
    )
    found = {
        "021D": _inner(o, o, 1) - transitive - down,
        "021U": _inner(i, i, 1) - transitive - up,
        "021C": _inner(i, o) - transitive - 3 * cyclic - through,
        "111D": _inner(m, i) - 2 * down - through - two,
        "111U": _inner(m, o) - 2 * up - through - two,
        "030T": transitive,
        "030C": cyclic,
        "201": _inner(m, m, 1) - two - 3 * three,
        "120D": down,
        "120U": up,
        "120C": through,
        "210": two,
        "300": three,
    }
    # Every pair of vertices is in n - 2 triples: those with other pairs are known.
    one_way = D.nvals * (n - 2) - sum(int(name[1]) * count for name, count in found.items())
    mutual = M.nvals // 2 * (n - 2) - sum(int(name[0]) * count for name, count in found.items())
    found = {"012": one_way, "102": mutual, **found}
    return {"003": n * (n - 1) * (n - 2) // 6 - sum(found.values()), **found}


def _sum(product: Matrix, where: Matrix) -> int:
    """Return the sum of a product over the entries of another matrix."""
    return int(product.ewise_mult(where, "first").reduce_scalar("plus").get(0))


def _full(part: Vector) -> Vector:
    made = Vector.full(0, part.size, np.int64, device=part.device)
    made(accum="plus") << part
    return made


def _inner(x: Vector, y: Vector, less: int = 0) -> int:
    """Return sum x (y - less), or half of it for less = 1: pairs of different neighbors."""
    total = int(x.ewise_mult(y.apply("minus", right=less), "times").reduce("plus").get(0))
    return total // 2 if less else total
