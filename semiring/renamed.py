"""Names of earlier versions: what replaces each of them, and the errors that name the replacement.

The old names do not work.  A program that uses one raises an error at once, and needs one rename.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Final, NoReturn

__all__ = ["KEYWORDS", "NAMES", "SINCE", "keyword_error", "raise_no_attribute"]

#: The version that has the new names.
SINCE: Final = "0.3"

#: Old name -> what to write instead, by the module or the class that had the old name.
NAMES: Final[dict[str, dict[str, str]]] = {
    "semiring.algorithms": {
        "bfs_layers": "bfs_levels(A, sources, nearest=True)",
        "betweenness": "betweenness_centrality",
        "cdlp": 'label_propagation(A, method="synchronous")',
        "closeness": "closeness_centrality",
        "colouring": "coloring",
        "edge_betweenness": "edge_betweenness_centrality",
        "harmonic": "harmonic_centrality",
        "lcc": 'clustering(A, method="graphalytics")',
        "two_colouring": "two_coloring",
    },
    "semiring.ops": {"sum_apart": "map_reduce"},
    "Matrix": {"reduce": "reduce_scalar", "unlabelled": "unlabeled"},
    "Vector": {"unlabelled": "unlabeled"},
}

#: Keyword arguments of algorithms: (old, new, the functions that had it).
_ARGUMENTS: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "weights",
        "weight",
        "average_shortest_path_length betweenness_centrality closeness_centrality cut_size degrees "
        "edge_betweenness_centrality eigenvector_centrality fiedler_vector global_efficiency google_matrix "
        "harmonic_centrality hits incidence_matrix katz_centrality modularity_matrix pagerank wiener_index",
    ),
    ("k", "samples", "betweenness_centrality edge_betweenness_centrality"),
    ("k", "top", "adamic_adar common_neighbors cosine jaccard overlap resource_allocation"),
    (
        "weighted",
        "weight",
        "average_clustering clustering cosine jaccard maximal_matching node2vec_walks overlap random_walks "
        "shortest_path",
    ),
)
#: Old keyword argument -> new one, by the function.
KEYWORDS: Final[dict[str, dict[str, str]]] = {}
for _old, _new, _functions in _ARGUMENTS:
    for _function in _functions.split():
        KEYWORDS.setdefault(_function, {})[_old] = _new


def raise_no_attribute(module: str, name: str) -> NoReturn:
    """Raise the error for a name that a module lacks; call it in the ``__getattr__`` of the module, and nowhere else.

    ``from module import name`` raises ImportError.
    """
    text = f"has no attribute {name!r}"
    new = NAMES.get(module, {}).get(name)
    if new is None:
        raise AttributeError(f"module {module!r} {text}", name=name)
    hint = f"module {module!r} {text}; use {new}, its name since {SINCE}"
    # `from module import name` replaces an AttributeError by an ImportError with another text.
    if sys._getframe(2).f_code.co_name == "_handle_fromlist":
        raise ImportError(hint, name=module)
    raise AttributeError(hint, name=name)


def keyword_error(function: str, given: Iterable[str]) -> TypeError | None:
    """Return the error for a call of an algorithm with an old keyword argument; None if none of them is old."""
    renamed = KEYWORDS.get(function, {})
    old = next((name for name in given if name in renamed), None)
    if old is None:
        return None
    return TypeError(f"{function}() has no argument {old!r}; use {renamed[old]!r}, its name since {SINCE}")
