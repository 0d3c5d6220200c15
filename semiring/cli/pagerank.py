"""``semiring pagerank FILE``: the rank of every vertex; prints the highest."""

from __future__ import annotations

import argparse
from typing import Any

import semiring as sr
from semiring.cli import algorithms
from semiring.cli.graphs import add_common, add_graph, row_of
from semiring.cli.parameters import add_option, options_of
from semiring.cli.ranks import add_ranks
from semiring.cli.results import VECTORS, add_out, load_vector
from semiring.io.files import extension


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "pagerank", help="PageRank", description="Compute the rank of every vertex; print the highest."
    )
    add_graph(parser)
    group = parser.add_argument_group("parameters")
    for option in options_of(sr.algorithms.pagerank) or []:
        add_option(group, option)
    group.add_argument(
        "--personalization",
        metavar="ROW|FILE",
        help="where the teleport leads: to a vertex, or in proportion to a Vector (default: to all vertices alike)",
    )
    group.add_argument(
        "--dangling",
        metavar="drop|FILE",
        help="where the mass of sinks goes: nowhere, or in proportion to a Vector (default: as the teleport)",
    )
    parser.add_argument("--top", type=int, default=10, metavar="K", help="how many vertices to show (default: 10)")
    add_out(parser, "the rank of each vertex")
    add_ranks(parser)
    add_common(parser)
    parser.set_defaults(run=run, function=sr.algorithms.pagerank)


def run(args: argparse.Namespace) -> int:
    """Rank the vertices, print the highest, and write the requested file."""

    def further(A: sr.Matrix) -> dict[str, Any]:
        return {name: _vertex_or_vector(A, getattr(args, name)) for name in ("personalization", "dangling")}

    return algorithms.run(args, further=further, values="rank", matrices=False)


def _vertex_or_vector(A: sr.Matrix, word: str | None) -> Any:
    if word is None or word == "drop":
        return word
    return load_vector(word, A) if extension(word)[0] in VECTORS else row_of(A, word)
