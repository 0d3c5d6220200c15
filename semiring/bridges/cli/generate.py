"""``semiring generate KIND ... OUT``: make a graph and write it; equal arguments and seed produce equal graphs."""

from __future__ import annotations

import argparse
import time
from typing import Any, Final

import semiring as sr
from semiring.bridges.cli.convert import add_target, check_target, write
from semiring.bridges.cli.graphs import add_common
from semiring.bridges.cli.machine import engine_description
from semiring.bridges.cli.progress import Progress
from semiring.bridges.cli.report import emit, shown

#: Kind -> its description, its sizes in order, and its further arguments.
_KINDS: Final[dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]]] = {
    "rmat": (
        "a recursive-matrix graph of 2**SCALE vertices, directed unless --symmetric",
        ("scale",),
        ("edge_factor", "seed", "weights", "a", "b", "c", "symmetric", "permute", "no_loops"),
    ),
    "kronecker": (
        "the Graph500 graph of 2**SCALE vertices, undirected",
        ("scale",),
        ("edge_factor", "seed", "weights"),
    ),
    "uniform": (
        "edges between uniform random vertices below N, undirected",
        ("n",),
        ("edge_factor", "seed", "weights"),
    ),
    "grid2d": ("the grid of ROWS x COLS points", ("rows", "cols"), ()),
    "grid3d": ("the grid of DEPTH x ROWS x COLS points", ("depth", "rows", "cols"), ()),
    "path": ("the path of N vertices", ("n",), ()),
    "star": ("one vertex and its LEAVES", ("leaves",), ()),
}

_OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "edge_factor": {"type": int, "metavar": "K", "help": "edges drawn for each vertex (default: 16)"},
    "seed": {"type": int, "metavar": "N", "help": "default: 0"},
    "weights": {"choices": ("uniform",), "help": "integer weights from 1 to 255"},
    "a": {"type": float, "metavar": "P", "help": "probability of the upper left quadrant (default: 0.57)"},
    "b": {"type": float, "metavar": "P", "help": "of the upper right (default: 0.19)"},
    "c": {"type": float, "metavar": "P", "help": "of the lower left (default: 0.19)"},
    "symmetric": {"action": "store_true", "default": None, "help": "store each edge in both directions"},
    "permute": {"action": "store_true", "default": None, "help": "renumber the vertices at random"},
    "no_loops": {"action": "store_false", "default": None, "dest": "loops", "help": "no edge from a vertex to itself"},
}


def add(commands: Any) -> None:
    """Declare the command and its kinds."""
    parser = commands.add_parser(
        "generate",
        help="make a graph",
        description="Make a graph and write it; equal arguments and seed produce equal graphs.",
    )
    kinds = parser.add_subparsers(title="kinds", metavar="KIND", required=True)
    for kind, (about, sizes, options) in _KINDS.items():
        made = kinds.add_parser(kind, help=about, description=f"{about[0].upper()}{about[1:]}.")
        for name in sizes:
            made.add_argument(name, type=int, metavar=name.upper())
        add_target(made, "out")
        for name in options:
            made.add_argument(f"--{name.replace('_', '-')}", **_OPTIONS[name])
        add_common(made)
        made.set_defaults(run=run, kind=kind)


def run(args: argparse.Namespace) -> int:
    """Make the graph, write it, and print its properties."""
    check_target(args, args.out)
    progress = Progress(args.progress)
    _, sizes, options = _KINDS[args.kind]
    names = [_OPTIONS[name].get("dest", name) for name in options]
    given = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    if options:
        given["progress"] = progress
    start = time.perf_counter()
    with progress.step(f"making {args.kind}"):
        A = getattr(sr.random, args.kind)(*(getattr(args, name) for name in sizes), **given)
    write(args, args.out, A, progress)
    if args.out == "-":
        return 0
    facts = {
        "out": shown(args.out),
        "kind": args.kind,
        "engine": engine_description(),
        "shape": list(A.shape),
        "entries": A.nvals,
        "dtype": str(A.dtype),
        "seconds": time.perf_counter() - start,
    }
    emit(facts, as_json=args.json)
    return 0
