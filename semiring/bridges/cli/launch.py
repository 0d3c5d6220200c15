"""``semiring launch -n N PROGRAM``: a program as N processes, each with its share of the cores and its GPU."""

from __future__ import annotations

import argparse
import os
from typing import Any

import semiring as sr
from semiring.bridges.cli.graphs import UsageError
from semiring.bridges.cli.report import shown


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "launch",
        help="run a program as several processes",
        description=(
            "Run a Python program as N processes through MPI, each with its share of the cores and a GPU of its own. "
            "An error in one process ends all."
        ),
    )
    parser.add_argument("-n", type=int, required=True, metavar="N", dest="count", help="how many processes")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error of the launch")
    parser.add_argument(
        "-m", nargs=argparse.REMAINDER, metavar="MODULE", dest="module", help="a module and its arguments, not a file"
    )
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM", help="a file and its arguments")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Start the processes and wait for them."""
    words = args.program[1:] if args.program[:1] == ["--"] else args.program
    if not words and not args.module:
        raise UsageError("launch: expected a program, a file or -m MODULE, after the options")
    if args.module:
        return sr.distributed.launch(args.count, ["-m", *args.module])
    if not os.path.isfile(words[0]):
        raise UsageError(f"launch: {shown(words[0])}: no such file")
    return sr.distributed.launch(args.count, words)
