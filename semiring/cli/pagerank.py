"""``semiring pagerank FILE``: the rank of every vertex; prints the highest."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import semiring as sr
from semiring.cli.graphs import add_common, add_graph, load_graph, number_of, source_argument, source_row
from semiring.cli.outcome import named
from semiring.cli.parameters import add_option, arguments, options_of
from semiring.cli.progress import Progress
from semiring.cli.ranks import add_ranks, engine
from semiring.cli.report import emit, shown, table
from semiring.cli.results import VECTORS, add_out, check_out, load_vector, save
from semiring.cli.search import timed
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
    check_out(args.out)
    progress = Progress(args.progress)
    A = load_graph(args, progress)
    given = arguments(args, A, progress)
    for name in ("personalization", "dangling"):
        given[name] = _vertex_or_vector(args, A, getattr(args, name))
    with progress.step("ranking"):
        rank, spent_s = timed(lambda: sr.algorithms.pagerank(A, **given))
    if args.out:
        with progress.step("writing"):
            save(args.out, rank, ids=args.ids)
    if args.out == "-":
        return 0
    values = rank.to_numpy()
    first = np.lexsort((np.arange(values.size), -values))[: max(args.top, 0)]
    facts = {"file": shown(args.file), "engine": engine(), "rows": A.nrows, "ms": spent_s * 1e3}
    if args.json:
        names = named(first, args.ids).tolist()
        top = [{"vertex": name, "rank": float(values[v])} for name, v in zip(names, first, strict=True)]
        emit({**facts, "top": top}, as_json=True)
        return 0
    emit(facts, as_json=False)
    print()
    names = named(first, args.ids).tolist()
    print(table(["vertex", "rank"], [[str(name), f"{values[v]:.6g}"] for name, v in zip(names, first, strict=True)]))
    return 0


def _vertex_or_vector(args: argparse.Namespace, A: sr.Matrix, word: str | None) -> Any:
    if word is None or word == "drop":
        return word
    if extension(word)[0] in VECTORS:
        return load_vector(word, A.nrows)
    return source_row(A, number_of(args, source_argument(word)))
