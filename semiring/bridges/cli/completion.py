"""``semiring completion SHELL``: a script that completes commands, options and files in bash, zsh or fish.

shtab, the package of the extra `completion`, makes the script from the parser.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from semiring.bridges.cli.graphs import add_reporting
from semiring.optional import needed

SHELLS = ("bash", "zsh", "fish")
_INSTALL = """\
bash:  semiring completion bash > ~/.local/share/bash-completion/completions/semiring
zsh:   semiring completion zsh > ~/.zfunc/_semiring      (with fpath+=~/.zfunc before compinit in ~/.zshrc)
fish:  semiring completion fish > ~/.config/fish/completions/semiring.fish
"""
# Arguments of these names are files.
_FILES = ("FILE", "FILE.png", "FROM", "TO", "OUT")


def add(commands: Any, program: Callable[[], argparse.ArgumentParser]) -> None:
    """Declare the command; `program` makes the parser of the whole command line."""
    parser = commands.add_parser(
        "completion",
        help="print a script that completes commands and options in a shell",
        description="Print a script that completes commands, options and files in a shell.",
        epilog=_INSTALL,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))
    add_reporting(parser)
    parser.set_defaults(run=run, program=program)


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    shtab = needed("completion", "shtab")
    print(shtab.complete(_with_files(args.program(), shtab.FILE), args.shell))
    return 0


def _with_files(parser: argparse.ArgumentParser, file: Any) -> argparse.ArgumentParser:
    """Mark the arguments that are files, of a parser and of those below it, as shtab expects it."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                _with_files(below, file)
        elif action.metavar in _FILES:
            action.complete = file  # type: ignore[attr-defined]
    return parser
