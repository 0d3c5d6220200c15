"""``semiring pagerank FILE``: the rank of every vertex; prints the highest."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import semiring as sr
from semiring.cli.graphs import add_common, add_graph, load_graph
from semiring.cli.machine import engine_description
from semiring.cli.outcome import named
from semiring.cli.progress import Progress
from semiring.cli.report import emit, shown, table
from semiring.cli.results import add_out, check_out, save
from semiring.cli.search import timed


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "pagerank", help="PageRank", description="Compute the rank of every vertex; print the highest."
    )
    add_graph(parser)
    parser.add_argument("--damping", type=float, default=0.85, metavar="D", help="default: 0.85")
    parser.add_argument("--tol", type=float, default=1e-6, metavar="T", help="largest sum of changes (default: 1e-6)")
    parser.add_argument("--max-iter", type=int, default=100, metavar="N", help="default: 100")
    parser.add_argument("--top", type=int, default=10, metavar="K", help="how many vertices to show (default: 10)")
    add_out(parser, "the rank of each vertex")
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Rank the vertices, print the highest, and write the requested file."""
    check_out(args.out)
    progress = Progress(args.progress)
    A = load_graph(args, progress)
    with progress.step("ranking"):
        rank, spent_s = timed(lambda: sr.algorithms.pagerank(A, args.damping, args.tol, args.max_iter))
    if args.out:
        with progress.step("writing"):
            save(args.out, rank, ids=args.ids)
    if args.out == "-":
        return 0
    values = rank.to_numpy()
    first = np.lexsort((np.arange(values.size), -values))[: max(args.top, 0)]
    facts = {"file": shown(args.file), "engine": engine_description(), "rows": A.nrows, "ms": spent_s * 1e3}
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
