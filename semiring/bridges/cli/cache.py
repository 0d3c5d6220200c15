"""``semiring cache``: the folder of compiled kernels; ``cache --clear`` empties it."""

from __future__ import annotations

import argparse
from typing import Any

from semiring.bridges.cli.graphs import add_reporting
from semiring.bridges.cli.report import emit, size
from semiring.warming import cache


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "cache",
        help="show or empty the folder of compiled kernels",
        description="Show where compiled kernels are kept and how much they take, or (--clear) remove them.",
        epilog="Set SEMIRING_CACHE_DIR to keep them elsewhere. What is removed is compiled again when it is needed.",
    )
    parser.add_argument("--clear", action="store_true", help="remove every compiled kernel")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_reporting(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print what the folder holds, or what was removed from it."""
    found = cache.clear() if args.clear else cache.facts()
    facts: dict[str, Any] = {
        "kernel_cache": str(found.folder),
        "removed": args.clear,
        "kernels": found.kernels,
        "files": found.files,
        "bytes": found.bytes if args.json else size(found.bytes),
    }
    emit(facts, as_json=args.json)
    return 0
