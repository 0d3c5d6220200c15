"""``semiring convert FROM TO``: read a graph or matrix in any format, and write it in another."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from typing import Any

import semiring as sr
from semiring.bridges.cli.graphs import UsageError, add_common, add_graph, load, storage_facts
from semiring.bridges.cli.progress import Progress
from semiring.bridges.cli.report import emit, shown, size
from semiring.exceptions import NotSupported

WRITTEN = tuple(sr.io.writers())


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "convert",
        help="convert a file to another format",
        description="Read a graph or matrix in any format, and write it in another.",
    )
    add_graph(parser)
    add_target(parser, "to")
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read, write, and print the sizes of both files."""
    check_target(args, args.to)
    if args.compress and sr.io.extension(args.to)[0] != ".srb":
        raise UsageError("--compress: only .srb files store compressed rows")
    progress = Progress(args.progress)
    start = time.perf_counter()
    A = load(args, progress)
    write(args, args.to, A, progress)
    if args.to == "-":
        return 0
    facts = {
        "from": shown(args.file),
        "to": shown(args.to),
        "shape": list(A.shape),
        "entries": A.nvals,
        "dtype": str(A.dtype),
        **storage_facts(A),
        "bytes_from": args.bytes_read,
        "bytes_to": os.path.getsize(args.to),
        "seconds": time.perf_counter() - start,
    }
    if not args.json:
        facts |= {name: size(facts[name]) for name in ("bytes_from", "bytes_to") if facts[name] is not None}
    emit(facts, as_json=args.json)
    return 0


def add_target(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the arguments that name the file to write."""
    known = f"{' '.join(WRITTEN)}, text also compressed (.mtx.gz)"
    parser.add_argument(name, metavar=name.upper(), help=f"{known}; or -: standard output")
    parser.add_argument(
        "--output-format", metavar="EXT", help="the format on standard output (default: .txt, an edge list)"
    )


def check_target(args: argparse.Namespace, path: str) -> None:
    """Raise NotSupported for a file that cannot be written, before any work is done."""
    if args.output_format is not None and path != "-":
        raise UsageError("--output-format is the format of standard output: pass - as the file to write")
    kind = sr.io.extension(_named(args, path))[0]
    if kind not in WRITTEN:
        raise NotSupported(
            f"{shown(path)}: expected one of the extensions {' '.join(WRITTEN)}, found {kind or 'none'!r}"
        )


def write(args: argparse.Namespace, path: str, A: Any, progress: Progress) -> None:
    """Write a matrix or vector: atomically to a file, or to standard output."""
    if path != "-":
        with progress.step(f"writing {shown(path)}"):
            sr.io.write(path, A)
        return
    with progress.step("writing to standard output"), tempfile.TemporaryDirectory(prefix="semiring-") as folder:
        copy = os.path.join(folder, _named(args, path))
        sr.io.write(copy, A)
        sys.stdout.flush()
        with open(copy, "rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)


def _named(args: argparse.Namespace, path: str) -> str:
    """Return the name of the file to write; for standard output one with its format."""
    return path if path != "-" else f"output.{(args.output_format or 'txt').removeprefix('.')}"
