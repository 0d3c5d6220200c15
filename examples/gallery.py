"""The pictures of the documentation's gallery.

    python examples/gallery.py [FOLDER]

writes them to FOLDER (default: a temporary one). The roads of New York come with this package
and the karate club with NetworkX; the other graphs are generated, the same on every machine.
"""

from __future__ import annotations

import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

import semiring as sr
from semiring import Matrix, plot


def roads() -> Matrix:
    """Return the roads of New York, a network of 264,346 crossings."""
    with as_file(files("semiring") / "data" / "NY.gr.xz") as path:
        A: Matrix = sr.io.read(path)
        return A


def panels(count: int) -> list[Any]:
    """Return axes side by side in a new figure."""
    from matplotlib import pyplot

    _, axes = pyplot.subplots(1, count, figsize=(4.8 * count, 3.9), layout="constrained")
    return list(np.ravel(axes))


def stacked(count: int) -> list[Any]:
    """Return axes below one another in a new figure, as wide as a phone."""
    from matplotlib import pyplot

    _, axes = pyplot.subplots(count, 1, figsize=(3.6, 2.9 * count), layout="constrained")
    return list(axes)


def titled(axis: Any, title: str) -> None:
    """Set a title in the style of `semiring.plot`."""
    axis.set_title(title, loc="left", fontsize=10)


def labyrinth(size: int = 32) -> list[Any]:
    """Draw a spanning tree of a grid as a labyrinth, distances in it, and the longest of them."""
    i, j, _ = sr.random.grid2d(size, size).select("triu", 1).to_coo(device="cpu")
    weight = np.random.default_rng(5).permutation(i.size)
    grid = Matrix.from_edgelist(np.column_stack([i, j, weight]), symmetric=True)
    tree = sr.algorithms.minimum_spanning_forest(grid)
    level = sr.algorithms.bfs_levels(tree, 0).to_numpy(0)
    longest = sr.algorithms.shortest_path(tree, 0, int(level.argmax()))
    assert longest is not None
    path = np.array(longest.vertices)

    # A cell of the grid is a pixel, and so is the passage between two; the others are walls.
    pixels = np.full((2 * size + 1, 2 * size + 1), np.nan)
    i, j, _ = tree.to_coo(device="cpu")
    pixels[i // size + j // size + 1, i % size + j % size + 1] = (level[i] + level[j]) / 2
    cells = np.arange(size * size)
    pixels[2 * (cells // size) + 1, 2 * (cells % size) + 1] = level

    left, right = axes = panels(2)
    left.imshow(np.isnan(pixels), cmap="Grays", vmax=1.15)
    titled(left, f"a random spanning tree of {size} x {size} cells")
    right.set_facecolor("#22303c")
    image = right.imshow(pixels, cmap="viridis")
    right.plot(2 * (path % size) + 1, 2 * (path // size) + 1, color="white", linewidth=1.6)
    titled(right, f"steps from the upper left corner, at most {path.size - 1}")
    right.figure.colorbar(image, ax=right, shrink=0.85)
    for axis in axes:
        axis.set_xticks([])
        axis.set_yticks([])
    return axes


def levels(S: Matrix, A: Matrix, axes: list[Any]) -> list[Any]:
    """Draw the sizes of the levels of a search of two graphs."""
    left, right = axes
    hub = int(S.reduce_rowwise("count").reduce("argmax"))
    found = sr.algorithms.bfs_levels(S, hub)
    plot.frontiers(found, S, title="levels of a social-like graph", ax=left)
    found = sr.algorithms.bfs_levels(A, 0)
    plot.frontiers(found, A, title="levels of the roads of New York", ax=right)
    return axes


def degrees(S: Matrix) -> list[Any]:
    """Draw how degrees and PageRank are distributed."""
    left, right = axes = panels(2)
    plot.degree_distribution(S, title="degrees of a social-like graph", ax=left)
    plot.hist(sr.algorithms.pagerank(S), log=True, title="its PageRank", ax=right)
    return axes


def orders(A: Matrix) -> list[Any]:
    """Draw the entries of `A`, and where an order by breadth-first search moves them."""
    order = sr.algorithms.reverse_cuthill_mckee(A)
    axes: list[Any] = plot.spy(A, order, title="roads of New York")
    return axes


def planted(groups: int = 8, size: int = 60) -> Matrix:
    """Return a random graph in which vertices of one group are joined more often."""
    rng = np.random.default_rng(3)
    group = rng.permutation(np.repeat(np.arange(groups), size))
    chance = np.where(group[:, None] == group, 0.25, 0.02)
    i, j = np.nonzero(np.triu(rng.random(chance.shape) < chance, 1))
    edges = np.column_stack([i, j])
    return Matrix.from_edgelist(edges, nrows=group.size, ncols=group.size, symmetric=True)


def communities(A: Matrix) -> list[Any]:
    """Draw the entries of `A`, and the same in the order of communities."""
    found = sr.algorithms.leiden(A, seed=1)
    order = np.argsort(found.labels.to_numpy(), kind="stable")
    before, after = plot.spy(A, order, title=f"{A.nrows} people in any order")
    titled(after, f"by community: modularity {found.modularity:.2f}")
    return [before, after]


def drawing(A: Matrix) -> list[Any]:
    """Draw a graph with names and weights, and the roads near a crossing."""
    left, right = axes = panels(2)
    ways = [("Oslo", "Bergen", 463), ("Oslo", "Bodø", 1198), ("Bodø", "Narvik", 301), ("Narvik", "Tromsø", 233)]
    flights = [("Bergen", "Tromsø", 1210), ("Tromsø", "Oslo", 1117), ("Oslo", "Tromsø", 1117)]
    Matrix.from_edgelist(ways + flights, relabel=True).draw(weights=True, title="five towns", ax=left)
    _, near = sr.algorithms.ego_graph(A, 1000, radius=14)
    near.draw(labels=False, title=f"{near.nrows} crossings of New York within 14 steps", ax=right)
    return axes


def club() -> list[Any]:
    """Draw the karate club with NetworkX: colors are communities, areas betweenness."""
    import networkx as nx

    G = nx.karate_club_graph()
    A = sr.io.from_networkx(G, weight="weight")
    group = sr.algorithms.leiden(A, seed=1).labels.to_numpy()
    between = sr.algorithms.betweenness_centrality(A).to_numpy(0.0)
    (axis,) = axes = panels(1)
    nx.draw_networkx(
        G,
        nx.spring_layout(G, seed=4),
        ax=axis,
        node_color=group,
        cmap="Set2",
        node_size=120 + 1500 * between,
        edge_color="#c6ced5",
        font_size=7,
    )
    titled(axis, "communities and betweenness of a karate club")
    axis.set_axis_off()
    return axes


def main() -> None:
    """Write all pictures."""
    import matplotlib

    matplotlib.use("Agg")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    A, S = roads(), sr.random.rmat(14, 16, seed=1)
    pictures = {
        "labyrinth": labyrinth(),
        "levels": levels(S, A, panels(2)),
        "levels_phone": levels(S, A, stacked(2)),
        "degrees": degrees(S),
        "spy": orders(A),
        "communities": communities(planted()),
        "drawing": drawing(A),
        "club": club(),
    }
    for name, axes in pictures.items():
        axes[0].figure.savefig(folder / f"{name}.png", dpi=200 if "phone" in name else 110, metadata={"Software": None})
        print(f"wrote {name}.png")


if __name__ == "__main__":
    main()
