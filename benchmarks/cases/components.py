"""Strong components, bridges and blocks, against SciPy, igraph and NetworkX on the same graph.

``rmat16`` is directed.  All programs must agree on the numbers of components, bridges, articulation points and blocks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import semiring as sr

from ..case import Run
from ..programs import Functions, agreeing, igraph_graph, make, measured, networkx_graph, options

al = sr.algorithms

OPTIONS = options("rmat16", "kron16", "roads")


def roots(labels: sr.Vector) -> float:
    """The number of components."""
    return labels.ewise_mult(labels.apply("rowindex"), "eq").select("==", True).nvals


def count(found: Any) -> float:
    """The length of a list or an iterator."""
    return sum(1 for _ in found)


def strong(A: sr.Matrix, *, alone: bool) -> Functions:
    """Strong components of a directed graph."""
    from scipy.sparse import csgraph, csr_array

    same = agreeing(roots)
    programs = {"ours": same(lambda: al.strongly_connected_components(A))}
    if alone:
        return {"strong": programs}
    indptr, indices, _ = A.to_csr(device="cpu")
    S = csr_array((np.ones(A.nvals), indices, indptr), shape=A.shape)
    programs["SciPy"] = same(lambda: csgraph.connected_components(S, True, "strong"), lambda found: found[0])
    if (g := igraph_graph(A, directed=True)) is not None:
        programs["igraph"] = same(lambda: g.connected_components("strong"), len)
    nx, G = networkx_graph(A, directed=True)
    if nx is not None:
        programs["NetworkX"] = same(lambda: list(nx.strongly_connected_components(G)), count)
    return {"strong": programs}


def blocks(A: sr.Matrix, *, alone: bool) -> Functions:
    """Bridges, articulation points and blocks of an undirected graph."""
    bridges, points, blocks = (agreeing() for _ in range(3))
    functions = {
        "bridges": {"ours": bridges(lambda: al.bridges(A), lambda found: found.nvals / 2)},
        "articulation points": {"ours": points(lambda: al.articulation_points(A), lambda found: found.nvals)},
        "blocks": {"ours": blocks(lambda: al.biconnected_components(A), lambda found: found.heads.nvals)},
    }
    if alone:
        return functions
    if (g := igraph_graph(A)) is not None:
        functions["bridges"]["igraph"] = bridges(g.bridges, len)
        functions["articulation points"]["igraph"] = points(g.articulation_points, len)
        functions["blocks"]["igraph"] = blocks(g.biconnected_components, len)
    nx, G = networkx_graph(A)
    if nx is not None:
        functions["articulation points"]["NetworkX"] = points(lambda: list(nx.articulation_points(G)), count)
        functions["blocks"]["NetworkX"] = blocks(lambda: list(nx.biconnected_components(G)), count)
    return functions


def main(run: Run) -> None:
    """The functions for each kind of graph."""
    for name in run.options.graphs:
        A = make(name)
        functions = (blocks if A.is_symmetric_structure else strong)(A, alone=run.on_gpu)
        measured(run, name, functions)
