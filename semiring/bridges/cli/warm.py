"""``semiring warm [ALGORITHM...]``: compile the kernels of algorithms before they are called."""

from __future__ import annotations

import argparse
from typing import Any

import semiring as sr
from semiring.bridges.cli.graphs import add_common
from semiring.bridges.cli.progress import Progress
from semiring.bridges.cli.report import emit
from semiring.config import config


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "warm",
        help="compile the kernels of algorithms ahead",
        description="Compile the kernels that algorithms need and keep them on disk, so that first calls do not wait.",
        epilog="--architecture sm_90: for GPUs that this machine need not have. `semiring cache` shows what is kept.",
    )
    parser.add_argument(
        "algorithms",
        metavar="ALGORITHM",
        nargs="*",
        help="names in semiring.algorithms, operations (mxm, ...), or all (default: searches, components, PageRank, "
        "orders)",
    )
    parser.add_argument(
        "--types", metavar="TYPE", nargs="+", help="of the values (default: bool, int64, float64 and float32)"
    )
    parser.add_argument("--architecture", metavar="SM", help="of GPUs, such as sm_90 (default: that of this machine)")
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compile, and print what was compiled."""
    progress = Progress(False if args.progress is None and config.quiet else args.progress)
    with progress.step("compiling kernels") as step:
        report = sr.warm(*args.algorithms, types=args.types, architecture=args.architecture, progress=step)
    facts: dict[str, Any] = {
        "device": report.device,
        "algorithms": report.kernels if args.json else len(report.kernels),
        "kernels_compiled": report.compiled,
        "processes": report.processes,
        "seconds": round(report.seconds, 3) if args.json else f"{report.seconds:.1f} s",
        "kernel_cache": str(config.cache_dir),
    }
    emit(facts, as_json=args.json)
    return 0
