"""``semiring bench SUITE``: Graph500, GAP, Graphalytics, and the ceilings of the machine at hand."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any

from semiring.bridges.bench import GAP_GRAPHS, GAP_KERNELS
from semiring.bridges.cli.graphs import add_common


def add(commands: Any) -> None:
    """Declare the command and its suites."""
    parser = commands.add_parser(
        "bench",
        help="benchmark suites on this machine",
        description="Run a benchmark suite on this machine: every result is verified, and printed with its time.",
    )
    suites = parser.add_subparsers(title="suites", metavar="SUITE", required=True)
    made = _declare(suites, "graph500", "construction, searches and shortest paths of the Graph500 list")
    _add_scale(made, "16")
    made.add_argument("--edgefactor", type=_count, default=16, metavar="K", help="edges a vertex (default: 16)")
    made.add_argument("--roots", type=_count, default=64, metavar="N", help="searches of each kind (default: 64)")
    _add_measuring(made)
    made = _declare(suites, "gap", "the six kernels of the GAP Benchmark Suite")
    _add_scale(made, None)
    made.add_argument(
        "--graphs", type=_names("graphs", GAP_GRAPHS), metavar="NAME,...", help="generated ones: kron, urand, or both "
        "(default: both, at scale 14; none with --files)",
    )  # fmt: skip
    made.add_argument("--files", metavar="FOLDER", help="measure the graphs in the files of a folder")
    made.add_argument(
        "--kernels", type=_names("kernels", GAP_KERNELS), default=GAP_KERNELS, metavar="NAME,...",
        help=f"only these (default: {','.join(GAP_KERNELS)})",
    )  # fmt: skip
    made.add_argument("--trials", type=_count, metavar="N", help="at most N of each kernel (default: as GAP's rules)")
    _add_measuring(made)
    made = _declare(suites, "graphalytics", "the six algorithms of LDBC Graphalytics")
    made.add_argument("--files", metavar="FOLDER", help="data sets: NAME.properties, .v, .e and reference results")
    made.add_argument("--scale", type=_scale, metavar="S", help="of a generated graph (default, without --files: 12)")
    made.add_argument("--runs", type=_count, default=5, metavar="N", help="calls of each algorithm (default: 5)")
    _add_measuring(made, plot=False)
    made = _declare(suites, "ceilings", "bytes, gathers and atomics a second, and latencies, of this machine")
    made.add_argument("--output", metavar="FILE", help="write FILE.jsonl and FILE.txt; a folder: named by machine")


def _declare(suites: Any, name: str, summary: str) -> Any:
    made = suites.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
    add_common(made)
    made.set_defaults(run=_run, suite=name)
    return made


def _add_scale(parser: Any, default: str | None) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--scale", dest="scales", type=lambda word: [_scale(word)], default=None if default is None else [int(default)],
        metavar="S", help=f"2**S vertices (default: {default or 14})",
    )  # fmt: skip
    group.add_argument("--scales", type=_scales, metavar="A-B", help="every scale from A to B")


def _add_measuring(parser: Any, *, plot: bool = True) -> None:
    parser.add_argument("--seed", type=_seed, default=1, metavar="N", help="of graphs and sources (default: 1)")
    parser.add_argument("--peers", action="store_true", help="run other installed programs beside ours")
    parser.add_argument("--output", metavar="FILE", help="write FILE.jsonl and FILE.txt; a folder: named by machine")
    if plot:
        parser.add_argument("--plot", metavar="FILE", help="with --scales: draw time and rate by scale (.png .svg)")


def _count(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1, got {word!r}")
    return int(word)


def _seed(word: str) -> int:
    if not word.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number from 0, got {word!r}")
    return int(word)


def _scale(word: str) -> int:
    if not word.isdecimal() or not 1 <= int(word) <= 30:
        raise argparse.ArgumentTypeError(f"expected a scale from 1 to 30, got {word!r}")
    return int(word)


def _scales(word: str) -> list[int]:
    found = re.fullmatch(r"(\d+)-(\d+)", word)
    if found is None or int(found[1]) >= int(found[2]):
        raise argparse.ArgumentTypeError(f"expected two scales, as in 10-16, got {word!r}")
    return list(range(_scale(found[1]), _scale(found[2]) + 1))


def _names(what: str, known: tuple[str, ...]) -> Callable[[str], tuple[str, ...]]:
    def parse(words: str) -> tuple[str, ...]:
        names = tuple(words.split(","))
        unknown = [name for name in names if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"no {what} {unknown[0]!r}; there are {', '.join(known)}")
        return names

    return parse


def _run(args: argparse.Namespace) -> int:
    """Run the suite; its modules are imported here, so that other commands do not load them."""
    from semiring.bridges.bench import commands

    return commands.run(args)
