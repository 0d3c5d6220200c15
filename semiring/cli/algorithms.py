"""``semiring ALGORITHM FILE``: a command for every function of `semiring.algorithms` that accepts one matrix.

The options of a command are the parameters of its function: numbers, words and switches by their annotations, vertices
by the names of `_VERTEX_PARAMETERS`, Vectors as files.  The text of its help is the function's docstring.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import semiring as sr
from semiring.cli.graphs import add_common, add_graph, load_graph, number_of, source_argument, source_row
from semiring.cli.machine import engine_description
from semiring.cli.outcome import outcome_of
from semiring.cli.progress import Progress
from semiring.cli.report import emit, shown, table
from semiring.cli.results import add_out, check_out, load_vector, save
from semiring.cli.search import timed

# Functions with a command of their own, in its own module.
_ELSEWHERE = frozenset({"bfs_levels", "bfs_parents", "bfs_trace", "connected_components", "pagerank"})
_VERTEX_PARAMETERS = frozenset({"source", "target", "u", "v"})
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
_NUMBERS: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "str": str}


class Option(NamedTuple):
    """An option of a command: the parameter, what kind of value it accepts, and its default."""

    name: str
    kind: str
    default: Any
    help: str

    @property
    def flag(self) -> str:
        """Return the word on the command line."""
        return "--" + self.name.replace("_", "-")


def functions() -> dict[str, Callable[..., Any]]:
    """Return the functions that have a command here, by the name of the command."""
    found: dict[str, Callable[..., Any]] = {}
    for name in sr.algorithms.__all__:
        function = getattr(sr.algorithms, name)
        if name not in _ELSEWHERE and inspect.isfunction(function) and options_of(function) is not None:
            found[name.replace("_", "-")] = function
    return found


def options_of(function: Callable[..., Any]) -> list[Option] | None:
    """Return the options of a function, or None if it has another first parameter than A, or needs another object."""
    first, *others = inspect.signature(function).parameters.values()
    if first.name != "A":
        return None
    described, made = _described_parameters(function), []
    for parameter in others:
        kind = _kind(parameter)
        if kind is not None:
            default = None if parameter.default is parameter.empty else parameter.default
            made.append(Option(parameter.name, kind, default, described.get(parameter.name, "")))
        elif parameter.default is parameter.empty:
            return None
    return made


def _kind(parameter: inspect.Parameter) -> str | None:
    """Return ``int float str bool vertex vector progress``, or None for what a command line cannot give."""
    words = [word.strip() for word in str(parameter.annotation).split("|")]
    if parameter.name in _VERTEX_PARAMETERS and "int" in words:
        return "vertex"
    for kind in (*_NUMBERS, "bool"):
        if kind in words:
            return kind
    if "Vector" in words:
        return "vector"
    return "progress" if parameter.name == "progress" else None


def _described_parameters(function: Callable[..., Any]) -> dict[str, str]:
    """Return what the docstring says of each parameter."""
    text = inspect.getdoc(function) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    described = {}
    for entry in re.split(r"\n(?=\w)", section.group(1)) if section else []:
        names, _, what = entry.partition(" : ")
        for name in names.split(","):
            described[name.strip()] = " ".join(what.split()).replace("`", "").rstrip(".")
    return described


def add(commands: Any) -> None:
    """Declare the commands."""
    for name, function in functions().items():
        summary = (inspect.getdoc(function) or "").partition("\n")[0].replace("%", "%%").replace("`", "")
        parser = commands.add_parser(name, help=summary, description=summary)
        add_graph(parser)
        group = parser.add_argument_group("parameters")
        for option in options_of(function) or []:
            _add_option(group, option)
        parser.add_argument("--top", type=int, default=10, metavar="K", help="how many entries to show (default: 10)")
        add_out(parser, "the result", matrices=True)
        add_common(parser)
        parser.set_defaults(run=run, function=function, parser=parser)


def _add_option(group: Any, option: Option) -> None:
    described = option.help.replace("%", "%%")
    if option.kind == "progress":
        return
    if option.kind == "bool":
        group.add_argument(
            option.flag,
            action=argparse.BooleanOptionalAction,
            default=option.default,
            dest=f"p_{option.name}",
            help=described,
        )
        return
    source = option.kind == "vertex" and option.name == "source" and option.default is None
    kind = source_argument if option.kind == "vertex" else _NUMBERS.get(option.kind, str)
    metavar = {"vertex": "ROW", "int": "N", "float": "X", "str": "WORD", "vector": "FILE"}[option.kind]
    shown_default = f" (default: {option.default})" if option.default is not None else ""
    group.add_argument(
        option.flag,
        type=kind,
        default="max-degree" if source else option.default,
        required=option.kind == "vertex" and option.default is None and not source,
        metavar=metavar,
        dest=f"p_{option.name}",
        help=described + (" (default: max-degree)" if source else shown_default),
    )


def run(args: argparse.Namespace) -> int:
    """Read the graph, call the function, print a summary, and write the requested file."""
    check_out(args.out, matrices=True)
    progress = Progress(args.progress)
    A = load_graph(args, progress)
    function, name = args.function, args.function.__name__
    given = {option.name: _argument(args, A, option, progress) for option in options_of(function) or []}
    with progress.step(name.replace("_", " ")):
        found, spent_s = timed(lambda: outcome_of(function(A, **given)))
    if args.out:
        with progress.step("writing"):
            save(args.out, found.main(), ids=args.ids)
    if args.out == "-":
        return 0
    facts = {
        "file": shown(args.file),
        "engine": engine_description(),
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


def _argument(args: argparse.Namespace, A: sr.Matrix, option: Option, progress: Progress) -> Any:
    if option.kind == "progress":
        return lambda done, total: progress(args.function.__name__, done / total if total else 0.0)
    value = getattr(args, f"p_{option.name}")
    if option.kind == "vertex" and value is not None:
        return source_row(A, number_of(args, value))
    if option.kind == "vector" and value is not None:
        return load_vector(value, A.nrows)
    return value


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
