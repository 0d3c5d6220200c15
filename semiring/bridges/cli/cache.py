"""``semiring cache``: the folder of compiled kernels; ``--clear`` empties it, ``--pack`` writes one file of it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from semiring import kernel_store
from semiring.bridges.cli.graphs import add_reporting
from semiring.bridges.cli.report import emit, size


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "cache",
        help="show, pack or empty the folder of compiled kernels",
        description="Show where compiled kernels are kept and how much they take, write them to one file (--pack), or "
        "remove them (--clear).",
        epilog="Set SEMIRING_CACHE_DIR to keep them elsewhere, SEMIRING_SHARED_CACHE to read folders of kernels or of "
        "packs too. What is removed is compiled again when it is needed.",
    )
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--clear", action="store_true", help="remove every compiled kernel")
    one.add_argument("--pack", metavar="FILE", type=Path, help="write every compiled kernel to FILE, NAME.pack")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_reporting(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print what the folder holds, or what was removed from it or packed."""
    found = kernel_store.clear() if args.clear else kernel_store.facts()
    facts: dict[str, Any] = {
        "kernel_cache": str(found.folder),
        "removed": args.clear,
        "kernels": found.kernels,
        "files": found.files,
        "bytes": found.bytes if args.json else size(found.bytes),
        "kernels_in_packs": found.packed,
    }
    if args.pack is not None:
        written = kernel_store.write_pack(args.pack, kernel_store.entries())
        facts |= {"pack": str(args.pack), "pack_bytes": written if args.json else size(written)}
    emit(facts, as_json=args.json)
    return 0
