"""``semiring ALGORITHM FILE``: a command for every function of `semiring.algorithms` that accepts one matrix.

The options of a command are the parameters of its function (`semiring.cli.parameters`), and the text of its help is the
function's docstring.
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable
from typing import Any

import semiring as sr
from semiring.cli.graphs import add_common, add_graph, load_graph
from semiring.cli.outcome import outcome_of
from semiring.cli.parameters import add_option, arguments, options_of
from semiring.cli.progress import Progress
from semiring.cli.ranks import add_ranks, engine
from semiring.cli.report import emit, shown, table
from semiring.cli.results import add_out, check_out, save
from semiring.cli.search import timed

# Functions with a command of their own, in its own module.
_ELSEWHERE = frozenset({"bfs_levels", "bfs_parents", "bfs_trace", "connected_components", "pagerank"})
# Functions whose results contain vertices, which `--relabel` maps to the ids of the file.
_RETURNS_VERTICES = frozenset(
    {
        "bfs_order",
        "cdlp",
        "degree_order",
        "label_propagation",
        "locality_order",
        "maximal_matching",
        "maximum_bipartite_matching",
        "reverse_cuthill_mckee",
        "strongly_connected_components",
        "topological_order",
    }
)


def functions() -> dict[str, Callable[..., Any]]:
    """Return the functions that have a command here, by the name of the command."""
    found: dict[str, Callable[..., Any]] = {}
    for name in sr.algorithms.__all__:
        function = getattr(sr.algorithms, name)
        if name not in _ELSEWHERE and inspect.isfunction(function) and options_of(function) is not None:
            found[name.replace("_", "-")] = function
    return found


def add(commands: Any) -> None:
    """Declare the commands."""
    for name, function in functions().items():
        summary = (inspect.getdoc(function) or "").partition("\n")[0].replace("%", "%%").replace("`", "")
        parser = commands.add_parser(name, help=summary, description=summary)
        add_graph(parser)
        group = parser.add_argument_group("parameters")
        for option in options_of(function) or []:
            add_option(group, option)
        parser.add_argument("--top", type=int, default=10, metavar="K", help="how many entries to show (default: 10)")
        add_out(parser, "the result", matrices=True)
        add_ranks(parser)
        add_common(parser)
        parser.set_defaults(run=run, function=function, parser=parser)


def run(args: argparse.Namespace) -> int:
    """Read the graph, call the function, print a summary, and write the requested file."""
    check_out(args.out, matrices=True)
    progress = Progress(args.progress)
    A = load_graph(args, progress)
    function, name = args.function, args.function.__name__
    given = arguments(args, A, progress)
    with progress.step(name.replace("_", " ")):
        found, spent_s = timed(lambda: outcome_of(function(A, **given)))
    if args.out:
        with progress.step("writing"):
            save(args.out, found.main(), ids=args.ids)
    if args.out == "-":
        return 0
    facts = {
        "file": shown(args.file),
        "engine": engine(),
        "rows": A.nrows,
        "ms": spent_s * 1e3,
        **found.facts,
    }
    head, rows = found.top(max(args.top, 0), args.ids, name in _RETURNS_VERTICES)
    if args.json:
        top = [dict(zip(head, row, strict=True)) for row in rows]
        emit({**facts, "top": top} if head else facts, as_json=True)
        return 0
    emit(facts, as_json=False)
    if rows:
        print()
        print(table(head, [[_cell(value) for value in row] for row in rows]))
    return 0


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
