"""The table of functions in ``docs/networkx.md``: ``python -m tests.nx_backend.table`` writes it again."""

from __future__ import annotations

import sys
from functools import reduce
from pathlib import Path

import networkx as nx
from networkx.utils.backends import _registered_algorithms

from _nx_semiring import FUNCTIONS

PAGE = Path(__file__).resolve().parents[2] / "docs/networkx.md"
HEAD = "| function | what differs, or is left to NetworkX |\n|---|---|\n"


def public_name(name: str) -> str:
    """Return a function of the dispatch namespace as users write it after ``nx.``: `bipartite.density`."""
    original = _registered_algorithms[name].orig_func
    function = getattr(sys.modules[original.__module__], original.__name__)
    parts = original.__module__.removeprefix("networkx.").removeprefix("algorithms.").split(".")
    for length in range(len(parts) + 1):
        for start in (nx, nx.algorithms):
            holder = reduce(lambda found, part: getattr(found, part, None), parts[:length], start)
            known = [own for own, member in vars(holder).items() if member is function] if holder is not None else []
            if known:
                return ".".join((*parts[:length], original.__name__ if original.__name__ in known else known[0]))
    raise LookupError(name)


def table() -> str:
    """Return the rows, one for each function."""
    rows = sorted((public_name(name), note) for name, note in FUNCTIONS.items())
    return "".join(f"| `{name}` | {note} |\n" for name, note in rows)


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(text[: text.index(HEAD) + len(HEAD)] + table(), encoding="utf-8")
