"""Hubs and authorities (HITS)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semiring import Matrix, Vector, compile

from ..checks import Values, Weight, count, number, read_weight, square
from ..progress import Progress, reporter
from ..vertex_labels import algorithm
from .iteration import distance, floating, not_converged, products_with, start_vector


class Hits(NamedTuple):
    """Hubs and authorities of the vertices.

    Attributes
    ----------
    hubs : Vector of size n, full
    authorities : Vector of size n, full

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 2), (1, 2)])
    >>> sr.algorithms.hits(A).authorities.to_dict()
    {0: 0.0, 1: 0.0, 2: 1.0}
    """

    hubs: Vector
    authorities: Vector


@algorithm(hubs="v", authorities="v")
def hits(
    A: Matrix,
    *,
    weight: Weight = None,
    start: Values | None = None,
    tol: float = 1e-8,
    max_iter: int = 100,
    normalized: bool = True,
    dtype: Any = np.float64,
    progress: Progress | None = None,
) -> Hits:
    """a(v) ~ sum over edges (u, v) of h(u); h(u) ~ sum over edges (u, v) of a(v): the principal singular vectors of A.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v: u is a hub, v an authority.
    weight : True or str, optional
        True: an edge counts as its value, which must be finite and not negative; str: as that field of its record.
        Default: values are not read, and every edge counts 1.
    start : Vector of size n, or {vertex: value}, hubs to begin with, not negative; default: all equal
    tol : stop when the sum of |change| of the hubs, whose largest is 1, is below it
    max_iter : the largest number of iterations
    normalized : bool
        Whether the entries of each vector sum to 1; otherwise the largest is 1.
    dtype : float64 or float32
    progress : function of (iterations done, None), called after each one

    Returns
    -------
    Hits : (hubs, authorities).  Without edges all entries are 0.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, DomainMismatch
    ConvergenceFailure
        If `max_iter` iterations do not reach `tol`; ``.result`` is the last pair.

    Notes
    -----
    Power iteration with A A'; weights of any size have the result of these weights divided by the largest.  Where
    several singular vectors have the largest singular value, as in disconnected graphs, the result depends on `start`.
    Cost two products an iteration.  The iterations are one program (`compile`), which synchronizes once; with
    `progress`, and where loops are not compiled, three times an iteration.

    Sources: Kleinberg, "Authoritative Sources in a Hyperlinked Environment", 1999.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 2), (1, 2), (1, 3)])
    >>> hubs, authorities = sr.algorithms.hits(A)
    >>> [round(x, 2) for x in hubs.to_numpy().tolist()], [round(x, 2) for x in authorities.to_numpy().tolist()]
    ([0.38, 0.62, 0.0, 0.0], [0.0, 0.0, 0.62, 0.38])
    """
    n, kind = square("hits", A), floating("hits", dtype)
    tol, max_iter, report = number("hits", "tol", tol), count("hits", "max_iter", max_iter), reporter("hits", progress)
    A, weighted = read_weight("hits", A, weight)
    B, over_in, over_out, *_ = products_with("hits", A, kind, weighted=weighted)
    none = Vector.full(kind.type(0), n, device=A.device)
    hubs = Vector.full(kind.type(1), n, device=A.device)
    if start is not None:
        hubs = start_vector("hits", "start", start, n, kind, A.device)
    if n == 0 or A.nvals == 0:
        report(0, None)
        return Hits(none, none.dup())
    hubs, authorities, change = _iterated(B, over_in, over_out, none, _scaled(hubs, "max"), tol, max_iter, report)
    if not change < tol:
        raise not_converged("hits", max_iter, change, tol, Hits(hubs, authorities) if max_iter else None)
    if normalized:
        return Hits(_scaled(hubs, "plus").wait(), _scaled(authorities, "plus").wait())
    return Hits(hubs, authorities)


@compile
def _iterated(
    A: Matrix, over_in: Any, over_out: Any, none: Vector, hubs: Vector, tol: float, max_iter: int, report: Progress
) -> tuple[Vector, Vector, float]:
    """a ~ A' h, h ~ A a, of which the largest entries are 1; return h, a and the last change of h."""
    authorities, change = none, np.inf
    for done in range(1, max_iter + 1):
        authorities = _scaled(none.ewise_add(hubs.vxm(A, over_in), "plus"), "max")
        following = _scaled(none.ewise_add(A.mxv(authorities, over_out), "plus"), "max")
        change = distance(following, hubs)  # synchronizes
        hubs = following
        report(done, None)
        if change < tol:
            break
    return hubs, authorities, change


def _scaled(x: Vector, monoid: str) -> Vector:
    """Divide a vector by its largest entry or by its sum, unless that is 0.  Synchronizes."""
    total = x.reduce(monoid).get(1.0)
    return x.apply("truediv", right=total if total != 0 else 1.0)
