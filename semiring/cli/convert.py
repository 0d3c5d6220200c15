"""``semiring convert FROM TO``: read a graph or matrix in any format, and write it in another."""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

import semiring as sr
from semiring.cli.graphs import UsageError, add_common, add_graph, load, storage_facts
from semiring.cli.progress import Progress
from semiring.cli.report import emit, shown, size
from semiring.exceptions import NotSupported
from semiring.io.files import extension

WRITTEN = (".mtx", ".npz", ".srb")


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "convert",
        help="convert a file to another format",
        description="Read a graph or matrix in any format, and write it in another.",
    )
    add_graph(parser)
    parser.add_argument("to", metavar="TO", help=f"{' '.join(WRITTEN)}, .mtx also compressed (.mtx.gz)")
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read, write, and print the sizes of both files."""
    check_target(args.to)
    if args.compress and extension(args.to)[0] != ".srb":
        raise UsageError("--compress: only .srb files store compressed rows")
    progress = Progress(args.progress)
    start = time.perf_counter()
    A = load(args, progress)
    write(args.to, A, progress)
    facts = {
        "from": shown(args.file),
        "to": shown(args.to),
        "shape": list(A.shape),
        "entries": A.nvals,
        "dtype": str(A.dtype),
        **storage_facts(A),
        "bytes_from": os.path.getsize(args.file),
        "bytes_to": os.path.getsize(args.to),
        "seconds": time.perf_counter() - start,
    }
    if not args.json:
        facts |= {"bytes_from": size(facts["bytes_from"]), "bytes_to": size(facts["bytes_to"])}
    emit(facts, as_json=args.json)
    return 0


def check_target(path: str) -> None:
    """Raise NotSupported for a file that cannot be written, before any work is done."""
    kind = extension(path)[0]
    if kind not in WRITTEN:
        raise NotSupported(
            f"{shown(path)}: expected one of the extensions {' '.join(WRITTEN)}, found {kind or 'none'!r}"
        )


def write(path: str, A: Any, progress: Progress) -> None:
    """Write a matrix or vector, atomically."""
    with progress.step(f"writing {shown(path)}"):
        sr.io.write(path, A)
