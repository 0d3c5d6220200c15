"""Link the names of functions in tables to their API pages, and add the words of other libraries to the search.

Both happen while pages are built, so that no page writes a link or a word for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import semiring as sr
from _nx_semiring import get_info

# The leading name of `pagerank`, `sr.io.read(path)`, `A.spy()`, `Matrix.from_coo(rows, columns)`.
_NAME = re.compile(r"((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(\(.*\))?")
_CLASSES = ("Matrix", "Vector", "Scalar", "Labels")
_MODULES = ("algorithms", "ops", "io", "plot", "exceptions", "random")
# The columns whose names mean something else than the functions of that name here; None: all of them.
_FOREIGN: dict[str, tuple[int, ...] | None] = {
    "networkx": None,
    "csgraph": None,
    "cugraph": (0,),
    "python_graphblas": (0, 2),
    "operators": (0,),  # namespaces of operators
}


def targets(code: str, *, page: str, column: int, section: str) -> Iterator[str]:
    """Yield the full names that code in a cell of a table may stand for, in order of preference.

    section: the heading above the table; in one that is named after a class, names are those of its members.
    """
    columns = _FOREIGN.get(page, ())
    found = _NAME.fullmatch(code)
    if found is None or columns is None or column in columns:
        return
    head, _, rest = found[1].partition(".")
    if rest:
        if head in ("sr", "semiring"):
            yield f"semiring.{rest}"
        elif head in _CLASSES or head in _MODULES:
            yield f"semiring.{head}.{rest}"
        elif len(head) == 1:  # `A.spy()`, `v.hist()`, as in all pages
            yield f"semiring.{'Matrix' if head.isupper() else 'Vector'}.{rest}"
        return
    if section in _CLASSES:
        yield f"semiring.{section}.{head}"
    for module in _MODULES[:-1]:
        yield f"semiring.{module}.{head}"
    yield f"semiring.{head}"
    # Methods, not attributes, whose names are words such as `name` and `device`.
    yield from (f"semiring.{kind}.{head}" for kind in _CLASSES if callable(getattr(getattr(sr, kind), head, None)))
    yield f"semiring.{_MODULES[-1]}.{head}"


# Words that programs and users of other libraries have for what a page is about; the search leads there.
WORDS: dict[str, tuple[str, ...]] = {
    "algorithms/paths": (
        *("dijkstra", "bellman-ford", "floyd-warshall", "johnson", "a*", "shortest path", "shortest paths", "bfs"),
        *("breadth-first search", "dfs", "depth-first search", "apsp", "distance", "reachability"),
    ),
    "algorithms/centrality": (
        *("personalized pagerank", "personalised pagerank", "ppr", "centrality", "betweenness centrality"),
        *("closeness centrality", "eigenvector centrality"),
    ),
    "algorithms/cohesion": ("clustering coefficient", "k-core", "k-truss", "motifs", "graphlets", "triangle counting"),
    "algorithms/communities": ("community detection", "clustering", "graph clustering", "modularity"),
    "algorithms/components": ("connected components", "wcc", "scc", "union-find", "weakly connected components"),
    "algorithms/sets": (
        *("mst", "minimum spanning tree", "kruskal", "prim", "boruvka", "graph coloring", "graph colouring"),
        *("matching", "max flow", "maximum flow", "min cut", "mis"),
    ),
    "algorithms/similarity": ("link prediction", "node2vec", "random walk", "jaccard similarity", "cosine similarity"),
    "frames": ("pandas", "polars", "arrow", "dataframe", "data frame", "from_pandas_edgelist", "to_pandas", "parquet"),
    "files": (
        "read_csv",
        "csv",
        "loadtxt",
        "mmread",
        "matrix market",
        "read_edgelist",
        "read_graphml",
        "graphml",
        "cli",
    ),
    "numpy": ("ndarray", "to_numpy", "numpy array", "numpy arrays", "dense"),
    "networkx": ("nx", "networkx", "networkx backend"),
    "csgraph": ("scipy", "scipy.sparse", "csr_matrix", "csr_array", "scipy.sparse.csgraph"),
    "cugraph": ("cugraph", "cudf", "rapids"),
    "python_graphblas": ("graphblas", "python-graphblas", "suitesparse", "suitesparse:graphblas", "gb"),
    "plots": ("matplotlib", "draw", "draw a graph", "visualisation", "visualization", "spy", "plot"),
    "large_graphs": ("out of memory", "out of core", "compression", "outofmemory"),
    "distributed": ("mpi", "multi-gpu", "cluster", "several gpus"),
    "own_algorithms": ("custom algorithm",),
    "compiled_loops": ("sr.compile", "sr.while_loop", "while_loop", "compile a loop", "decorator"),
    "operators": ("udf", "user-defined function", "semirings", "monoid"),
    "installation": ("install", "pip install", "conda", "cuda"),
    "first_calls": ("slow first call", "compilation", "jit", "warm up", "warm-up"),
    "rows": ("concat", "concatenate", "vstack", "hstack", "reshape", "groupby"),
}


def words_of(page: str) -> tuple[str, ...]:
    """Return the words that lead the search to a page."""
    words = WORDS.get(page, ())
    if page == "networkx":
        words += tuple(f"nx.{name}" for name in get_info()["functions"])
    return words


def setup(app: Any) -> None:
    """Connect both to Sphinx."""
    from docutils import nodes
    from sphinx import addnodes
    from sphinx.transforms import SphinxTransform
    from sphinx.transforms.post_transforms import SphinxPostTransform
    from sphinx.util.nodes import make_refnode

    class Words(SphinxTransform):
        """Adds entries of the index, which the search reads, below the title of a page."""

        default_priority = 400

        def apply(self, **_: Any) -> None:
            title = next(self.document.findall(nodes.title), None)
            words = words_of(self.env.docname)
            if title is not None and words:
                section = title.parent
                entries = [("single", word, section["ids"][0], "main", None) for word in words]
                section.insert(1, addnodes.index(entries=entries))

    class Links(SphinxPostTransform):
        """Links code in the cells of tables that names an object with an entry on an API page."""

        default_priority = 5

        def run(self, **_: Any) -> None:
            page, known = self.env.docname, self.env.domains["py"].objects
            for row in [] if page.startswith("api/") else list(self.document.findall(nodes.row)):
                section = row
                while not isinstance(section, nodes.section | nodes.document):
                    section = section.parent
                title = section.next_node(nodes.title)
                heading = title.astext() if title is not None else ""
                for column, cell in enumerate(row.findall(nodes.entry)):
                    for code in list(cell.findall(nodes.literal)):
                        names = targets(code.astext(), page=page, column=column, section=heading)
                        name = next((name for name in names if name in known), None)
                        if name is not None and not isinstance(code.parent, nodes.reference | addnodes.pending_xref):
                            to = known[name]
                            link = make_refnode(self.app.builder, page, to.docname, to.node_id, code.deepcopy(), name)
                            code.replace_self(link)

    app.add_transform(Words)
    app.add_post_transform(Links)
