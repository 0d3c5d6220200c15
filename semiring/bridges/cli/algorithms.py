"""``semiring ALGORITHM FILE``: a command for every function of `semiring.algorithms` that accepts one matrix.

The options of a command are the parameters of its function (see `parameters`), and the text of its help is the
function's docstring.
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable
from typing import Any

import semiring as sr
from semiring.bridges.cli.graphs import add_common, add_graph, load_graph, vertex_fact
from semiring.bridges.cli.parameters import add_option, arguments, options_of
from semiring.bridges.cli.progress import Progress
from semiring.bridges.cli.ranks import add_ranks, engine
from semiring.bridges.cli.report import cell, emit, shown, table
from semiring.bridges.cli.result_table import Outcome
from semiring.bridges.cli.results import add_out, check_out, save
from semiring.bridges.cli.search import timed

# Functions with a command of their own, in its own module.
_ELSEWHERE = frozenset({"bfs_levels", "bfs_parents", "bfs_trace", "connected_components", "pagerank"})


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
        declare(commands, name, function).set_defaults(run=run)


def declare(commands: Any, name: str, function: Callable[..., Any], *, summary: str = "", matrices: bool = True) -> Any:
    """Declare the command of a function; return its parser.  matrices: whether the result may be a Matrix."""
    summary = summary or (inspect.getdoc(function) or "").partition("\n")[0].replace("%", "%%").replace("`", "")
    parser = commands.add_parser(name, help=summary, description=summary)
    add_graph(parser)
    group = parser.add_argument_group("parameters")
    for option in options_of(function) or []:
        add_option(group, option)
    parser.add_argument("--top", type=int, default=10, metavar="K", help="how many entries to show (default: 10)")
    add_out(parser, "the result", matrices=matrices)
    add_ranks(parser)
    add_common(parser)
    parser.set_defaults(function=function, matrices=matrices)
    return parser


def run(
    args: argparse.Namespace,
    *,
    further: Callable[[sr.Matrix], dict[str, Any]] | None = None,
    values: str = "value",
) -> int:
    """Read the graph, call the function, print a summary, and write the requested file.

    further: arguments that are no options of the function.  values: the head of the values.
    """
    check_out(args.out, matrices=args.matrices)
    progress = Progress(args.progress)
    A = load_graph(args, progress)
    function, name = args.function, args.function.__name__
    given = arguments(args, A, progress) | (further(A) if further else {})
    with progress.step(name.replace("_", " ")):
        found, spent_s = timed(lambda: _outcome(function, A, given))
    if args.out:
        with progress.step("writing"):
            save(args.out, found)
    if args.out == "-":
        return 0
    ends = [option.name for option in options_of(function) or [] if option.kind == "vertex"]
    facts = {
        "file": shown(args.file),
        "engine": engine(),
        "rows": A.nrows,
        **{end: vertex_fact(args, A, given[end]) for end in ends if given[end] is not None},
        "ms": spent_s * 1e3,
        **found.facts,
    }
    if not found.parts and found.paths is None:
        emit(facts if args.json else {fact: "none" if x is None else x for fact, x in facts.items()}, as_json=args.json)
        return 0
    made = found.table()
    head = [values if column == "value" else column for column in made.head]
    rows = made.rows(made.order[: max(args.top, 0)])
    if args.json:
        emit({**facts, "top": [dict(zip(head, row, strict=True)) for row in rows]}, as_json=True)
        return 0
    emit(facts, as_json=False)
    if rows:
        print()
        print(table(head, [[cell(value) for value in row] for row in rows]))
    return 0


def _outcome(function: Callable[..., Any], A: sr.Matrix, given: dict[str, Any]) -> Outcome:
    """Call the function; no path is an empty list of paths."""
    result = function(A, **given)
    if result is None and "Route" in str(inspect.signature(function).return_annotation):
        result = []
    return Outcome(result, function.__name__, A.row_labels)
