"""``semiring pagerank FILE``: the rank of every vertex; prints the highest."""

from __future__ import annotations

import argparse
from typing import Any

import semiring as sr
from semiring.bridges.cli import algorithms
from semiring.bridges.cli.graphs import row_of
from semiring.bridges.cli.results import VECTORS, load_vector


def add(commands: Any) -> None:
    """Declare the command."""
    summary = "PageRank: compute the rank of every vertex; print the highest."
    parser = algorithms.declare(commands, "pagerank", sr.algorithms.pagerank, summary=summary, matrices=False)
    parser.set_defaults(run=run)
    parser.add_argument(
        "--personalization",
        metavar="ROW|FILE",
        help="where the teleport leads: to a vertex, or in proportion to a Vector (default: to all vertices alike)",
    )
    parser.add_argument(
        "--dangling",
        metavar="drop|FILE",
        help="where the mass of sinks goes: nowhere, or in proportion to a Vector (default: as the teleport)",
    )


def run(args: argparse.Namespace) -> int:
    """Rank the vertices, print the highest, and write the requested file."""

    def further(A: sr.Matrix) -> dict[str, Any]:
        return {name: _vertex_or_vector(A, getattr(args, name)) for name in ("personalization", "dangling")}

    return algorithms.run(args, further=further, values="rank")


def _vertex_or_vector(A: sr.Matrix, word: str | None) -> Any:
    if word is None or word == "drop":
        return word
    return load_vector(word, A) if sr.io.extension(word)[0] in VECTORS else row_of(A, word)
