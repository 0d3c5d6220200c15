"""The table of proofs in docs/algorithms/proofs.md, written by ``python -m tests.algorithms.proofs.table``."""

from __future__ import annotations

from . import DEFINITION, PROOFS

PROGRAMS = (DEFINITION, "SciPy", "igraph", "NetworkX", "NetworKit")
# Results that others recorded, and the tests that compare with them.
RECORDED: dict[str, tuple[str, ...]] = {
    "bfs_levels": ("truth.json", "Graphalytics", "GraphScope"),
    "bfs_parents": ("truth.json",),
    "betweenness_centrality": ("truth.json", "LAGraph", "runs of NetworkX"),
    "clustering": ("truth.json", "Graphalytics"),
    "connected_components": ("truth.json", "Graphalytics", "LAGraph"),
    "core_numbers": ("truth.json", "LAGraph", "GraphScope"),
    "degree_centrality": ("GraphScope",),
    "degrees": ("truth.json",),
    "diameter": ("truth.json",),
    "k_truss": ("cuGraph", "GraphChallenge"),
    "katz_centrality": ("cuGraph",),
    "label_propagation": ("truth.json", "Graphalytics"),
    "minimum_spanning_forest": ("truth.json", "LAGraph"),
    "pagerank": ("truth.json", "Graphalytics", "LAGraph"),
    "square_clustering": ("LAGraph",),
    "sssp": ("truth.json", "Graphalytics", "GraphScope"),
    "strongly_connected_components": ("truth.json", "LAGraph", "WebGraph"),
    "transitivity": ("truth.json",),
    "triangle_count": ("truth.json", "LAGraph", "GraphChallenge"),
    "triangles": ("GraphScope",),
}
# Functions that the tests of their families alone prove: queries of several matrices, and draws.
OF_THEIR_FAMILIES = frozenset(
    {"context_free_path_query", "fiedler_vector", "regular_path_query", "swap_edges", "triad_census"}
)


def used(function: str, program: str) -> float:
    """Up to how many entries of a graph a program proves a function; 0 if it does not."""
    return max((proof.entries for proof in PROOFS if function in proof.functions and proof.by == program), default=0)


def proofs_of(function: str) -> int:
    """By how many independent ways a function is proved."""
    return sum(used(function, program) > 0 for program in PROGRAMS) + len(RECORDED.get(function, ()))


def table() -> str:
    """Rows of functions, columns of programs; a cell has the largest graph, in entries."""
    families: dict[str, set[str]] = {}
    for proof in PROOFS:
        families.setdefault(proof.family, set()).update(proof.functions)
    lines = [
        "| function | property | SciPy | igraph | NetworkX | NetworKit | recorded |",
        "|---|---|---|---|---|---|---|",
    ]
    seen: set[str] = set()
    for family in sorted(families):
        for function in sorted(families[family] - seen):
            cells = [_cell(used(function, program)) for program in PROGRAMS]
            lines.append(f"| `{function}` | {' | '.join(cells)} | {', '.join(RECORDED.get(function, ()))} |")
        seen |= families[family]
    return "\n".join(lines)


def _cell(entries: float) -> str:
    if entries == 0:
        return ""
    if entries == float("inf"):
        return "any"
    return f"{entries / 1e6:g} M" if entries >= 1e6 else f"{entries / 1e3:g} k"


if __name__ == "__main__":
    print(table())
