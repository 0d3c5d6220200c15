"""``semiring bfs FILE``: levels or parents from one source, with direction and size of each level; or from several."""

from __future__ import annotations

import argparse
from typing import Any

import semiring as sr
from semiring.bridges.cli import chart, picture
from semiring.bridges.cli.frontier import frontiers
from semiring.bridges.cli.graphs import MAX_DEGREE, UsageError, add_common, add_graph, load_graph, row_of, vertex_fact
from semiring.bridges.cli.parameters import vertices
from semiring.bridges.cli.progress import Progress
from semiring.bridges.cli.ranks import add_ranks, engine
from semiring.bridges.cli.report import emit, runs, shown
from semiring.bridges.cli.result_table import Outcome
from semiring.bridges.cli.results import add_out, check_out, save
from semiring.bridges.cli.search import Search, search, timed


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "bfs",
        help="breadth-first search from one source",
        description="Search from one source: levels or parents, with direction and size of each level.",
    )
    add_graph(parser)
    parser.add_argument(
        "--source",
        default=MAX_DEGREE,
        metavar="ROW",
        help="the start vertex: a row, counted from 0, a name with --relabel, or max-degree (default)",
    )
    parser.add_argument(
        "--sources",
        type=vertices,
        metavar="ROW,ROW,...",
        help="several start vertices: levels are the steps from the nearest of them",
    )
    parser.add_argument("--parents", action="store_true", help="with --out: write parents instead of levels")
    add_out(parser, "level (or parent) of each vertex reached")
    parser.add_argument("--chart", action="store_true", help="show the frontier plot in the terminal")
    parser.add_argument("--plot", metavar="FILE.png", help="draw the frontier plot")
    add_ranks(parser)
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Search, print a summary, and write the requested files."""
    check_out(args.out)
    if args.parents and not args.out:
        raise UsageError("--parents selects the output of --out: pass --out too")
    if args.sources is not None and (args.parents or args.chart or args.plot):
        raise UsageError("--parents, --chart and --plot need one --source, not --sources")
    if args.plot:
        picture.check(args.plot)
    progress = Progress(args.progress)
    A = load_graph(args, progress)
    if args.sources is not None:
        return _from_several(args, A, progress)
    source = row_of(A, args.source)
    name = vertex_fact(args, A, source)
    with progress.step(f"searching from {name}"):
        found = search(A, source)
    if args.out:
        with progress.step("writing"):
            written = sr.algorithms.bfs_parents(A, source) if args.parents else found.levels
            save(args.out, Outcome(written, "bfs_parents" if args.parents else "bfs_levels"))
    if args.out != "-":
        emit(_facts(args, A, found), as_json=args.json)
    if args.chart or args.plot:
        with progress.step("counting frontiers"):
            plot = frontiers(f"{shown(args.file)}, from {name}", A, found)
        if args.chart and args.out != "-" and not args.json:
            print(f"\n{chart.chart(plot)}")
        if args.plot:
            picture.draw(args.plot, [plot])
    return 0


def _from_several(args: argparse.Namespace, A: sr.Matrix, progress: Progress) -> int:
    """Search from the nearest of several vertices, print a summary, and write the requested file."""
    sources = [row_of(A, word) for word in args.sources]
    with progress.step(f"searching from {len(sources)} vertices"):
        levels, spent_s = timed(lambda: sr.algorithms.bfs_levels(A, sources, nearest=True))
    if args.out:
        with progress.step("writing"):
            save(args.out, Outcome(levels, "bfs_levels"))
    if args.out != "-":
        facts = {
            "file": shown(args.file),
            "engine": engine(),
            "sources": len(sources),
            "reached": levels.nvals,
            "rows": A.nrows,
            "levels": int(levels.reduce("max").get(-1)) + 1,
            "ms": spent_s * 1e3,
        }
        emit(facts, as_json=args.json)
    return 0


def _facts(args: argparse.Namespace, A: sr.Matrix, found: Search) -> dict[str, Any]:
    facts = {
        "file": shown(args.file),
        "engine": engine(),
        "source": vertex_fact(args, A, found.source),
        "reached": found.reached,
        "rows": A.nrows,
        "levels": int(found.vertices.size),
        "entries_traversed": found.traversed,
        "ms": found.ms,
        "first_call_ms": found.first_s * 1e3,
        "mteps": found.teps / 1e6,
    }
    if args.json:
        per_level = {"vertices": found.vertices.tolist(), "edges": found.edges.tolist()}
        return {**facts, "directions": list(found.directions), **per_level}
    return {**facts, "directions": runs(found.directions)}
