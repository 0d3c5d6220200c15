"""``semiring components FILE``: number and sizes of the weakly connected components."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import semiring as sr
from semiring.bridges.cli.graphs import add_common, add_graph, load_graph
from semiring.bridges.cli.progress import Progress
from semiring.bridges.cli.ranks import add_ranks, engine
from semiring.bridges.cli.report import emit, shown
from semiring.bridges.cli.result_table import Outcome
from semiring.bridges.cli.results import add_out, check_out, save
from semiring.bridges.cli.search import timed

_SHOWN = 5


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "components",
        help="weakly connected components",
        description="Number and sizes of the weakly connected components.",
    )
    add_graph(parser)
    parser.add_argument("--method", choices=("afforest", "fastsv"), default="afforest", help="default: afforest")
    add_out(parser, "the smallest vertex of each vertex's component")
    add_ranks(parser)
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Label the components, print a summary, and write the requested file."""
    check_out(args.out)
    progress = Progress(args.progress)
    A = load_graph(args, progress)
    with progress.step("finding components"):
        labels, first_s = timed(lambda: sr.algorithms.connected_components(A, method=args.method))
        _, again_s = timed(lambda: sr.algorithms.connected_components(A, method=args.method))
    if args.out:
        with progress.step("writing"):
            save(args.out, Outcome(labels, "connected_components"))
    sizes = component_sizes(labels)
    largest = sizes[:_SHOWN].tolist()
    facts = {
        "file": shown(args.file),
        "engine": engine(),
        "rows": A.nrows,
        "components": int(sizes.size),
        "largest": largest if args.json else ", ".join(f"{count:,}" for count in largest) or "none",
        "isolated": int((sizes == 1).sum()),
        "ms": again_s * 1e3,
        "first_call_ms": first_s * 1e3,
    }
    if args.out != "-":
        emit(facts, as_json=args.json)
    return 0


def component_sizes(labels: sr.Vector) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the number of rows with each label, largest first.  O(n) on the host; synchronizes."""
    counts = np.bincount(labels.to_numpy())
    return np.sort(counts[counts > 0])[::-1].astype(np.int64)
