"""Pictures of two graphs: entries before and after an order, degrees, values and the levels of a search.

    python examples/plots.py [FOLDER]

writes the pictures of the page "Plots and recordings" to FOLDER (default: a temporary one).  The roads of New York come
with the package, and the social-like graph is generated, the same on every machine.
"""

from __future__ import annotations

import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import semiring as sr
from semiring import Matrix, plot


def roads() -> Matrix:
    """Return the roads of New York, a network of 264,346 crossings."""
    with as_file(files("semiring") / "data" / "NY.gr.xz") as path:
        A: Matrix = sr.io.read(path)
        return A


def orders(A: Matrix) -> list[Any]:
    """Draw the entries of `A`, and where an order by breadth-first search moves them."""
    axes: list[Any] = plot.spy(A, sr.algorithms.reverse_cuthill_mckee(A), title="roads of New York")
    return axes


def values(S: Matrix, A: Matrix) -> list[Any]:
    """Draw the degrees of `S`, its PageRank, and the levels of a search of both graphs."""
    from matplotlib import pyplot

    _, axes = pyplot.subplots(2, 2, figsize=(9.6, 7.2), layout="constrained")
    S.name = "social-like graph"
    plot.degree_distribution(S, ax=axes[0, 0])
    plot.hist(sr.algorithms.pagerank(S), log=True, title="PageRank of the social-like graph", ax=axes[0, 1])
    source = int(S.reduce_rowwise("count").reduce("argmax"))
    plot.frontiers(sr.algorithms.bfs_levels(S, source), S, title="levels of the social-like graph", ax=axes[1, 0])
    plot.frontiers(sr.algorithms.bfs_levels(A, 0), A, title="levels of the roads of New York", ax=axes[1, 1])
    return list(axes.flat)


def main() -> None:
    """Write both pictures."""
    import matplotlib

    matplotlib.use("Agg")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    A, S = roads(), sr.random.rmat(14, 16, seed=1)
    for name, axes in (("spy", orders(A)), ("counts", values(S, A))):
        axes[0].figure.savefig(folder / f"{name}.png", dpi=110, metadata={"Software": None})
        print(f"wrote {name}.png")


if __name__ == "__main__":
    main()
