"""Parses the command line, runs the command, and returns the exit code.

0 done; 1 an error, reported in one line on standard error; 2 wrong usage, or a ``SEMIRING_*`` variable with a wrong
value; 130 interrupted; 141 the reader of the output has closed it (as for a process that SIGPIPE ends).
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import functools
import os
import sys
import traceback
import warnings
from collections.abc import Collection, Iterator, Sequence

import semiring as sr
from semiring.bridges.cli import (
    algorithms,
    bench,
    bfs,
    cache,
    completion,
    components,
    convert,
    demo,
    generate,
    info,
    launch,
    pagerank,
    ranks,
    warm,
)
from semiring.bridges.cli.error_text import in_shell_words
from semiring.bridges.cli.graphs import UsageError
from semiring.bridges.cli.machine import unavailable_reason
from semiring.bridges.cli.parsing import Parser
from semiring.bridges.cli.report import shown
from semiring.config import check_environment, config, use
from semiring.exceptions import DeviceMismatch, InvalidValue, SemiringError

ERROR, USAGE, INTERRUPTED, CLOSED = 1, 2, 130, 141

_COMMANDS = (info, bfs, components, pagerank, convert, generate, demo, bench, launch, warm, cache)


@functools.cache
def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; it is made once, from the signatures and docstrings of 130 functions."""
    made = Parser(
        prog="semiring",
        description="Sparse linear algebra over semirings: inspect, search, label, rank, convert and generate graphs.",
        epilog="Exit codes: 0 done, 1 an error (reported on standard error), 2 wrong usage, 130 interrupted.",
    )
    made.add_argument("--version", action="version", version=f"semiring {sr.__version__}")
    commands = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add(commands)
    completion.add(commands, parser)
    algorithms.add(commands)
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; return its exit code.

    Parameters
    ----------
    argv : the words after ``semiring``; by default those of the process
    """
    if sys.stdout is None:  # closed by the caller, as in `semiring info >&-`: its descriptor may become that of a file
        _print_error("error: standard output is closed")
        return ERROR
    try:
        args = parser().parse_args(argv)
    except SystemExit as stop:  # argparse has printed the help, the version, or what is wrong
        return stop.code if isinstance(stop.code, int) else USAGE
    try:
        check_environment()
    except InvalidValue as error:
        _print_error(f"error: {error}")
        return USAGE
    try:
        device, memory = getattr(args, "device", None), getattr(args, "device_memory", None)
        with _short_warnings(args), _chosen_device(device), _allowed_memory(memory):
            code: int = _run(args, sys.argv[1:] if argv is None else argv)
            sys.stdout.flush()
            return code
    except BrokenPipeError:
        # The interpreter flushes again at exit: redirect the stream to the null device.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED
    except KeyboardInterrupt:
        _print_error("interrupted")
        return INTERRUPTED
    except UsageError as error:
        _print_error(f"error: {error}")
        return USAGE
    except (SemiringError, OSError, MemoryError) as error:
        if args.debug:
            traceback.print_exc()
            return ERROR
        line = _one_line(error)
        _print_error(f"error: {line if isinstance(error, OSError) else _in_shell_words(line, args)}")
        return ERROR


def _run(args: argparse.Namespace, words: Sequence[str]) -> int:
    count = getattr(args, "ranks", None)
    if count is None:
        return args.run(args)  # type: ignore[no-any-return]
    if not ranks.launched():
        reason = ranks.conflict(args)  # before any process starts
        if reason is not None:
            raise UsageError(reason)
        return ranks.start(count, words)
    with ranks.one_of(args):
        return args.run(args)  # type: ignore[no-any-return]


@contextlib.contextmanager
def _short_warnings(args: argparse.Namespace) -> Iterator[None]:
    """Report each warning in one line, like an error, without the source line."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: _print_error(f"warning: {_in_shell_words(str(message), args)}")
        yield


@contextlib.contextmanager
def _chosen_device(device: str | None) -> Iterator[None]:
    if device is None:
        yield
        return
    reason = unavailable_reason("cuda") if device == "cuda" else None
    if reason is not None:
        raise DeviceMismatch(f"--device cuda: {reason}")
    with use(device):
        yield


@contextlib.contextmanager
def _allowed_memory(device_memory: str | None) -> Iterator[None]:
    if device_memory is None:
        yield
        return
    with config.set(device_memory=device_memory):
        yield


def _one_line(error: BaseException) -> str:
    """Return the message in one line; for an OSError the file and the system's reason."""
    if isinstance(error, OSError) and error.strerror and (error.filename is not None or error.errno == errno.ENOSPC):
        # The errors of files name them: what has no name is standard output.
        where = "standard output" if error.filename is None else shown(error.filename)
        return f"{where}: {error.strerror}"
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0] if len(lines) == 1 else f"{lines[0]} (--debug shows the rest)"


def _in_shell_words(message: str, args: argparse.Namespace) -> str:
    """Return a message whose arguments of Python are the options of the command, and whose copy is standard input."""
    options: Collection[str] = {name.removeprefix("p_") for name in vars(args)}
    file = getattr(args, "file", None)
    message = message.replace(getattr(args, "standard_input", "\0"), "standard input")
    return in_shell_words(message, options, file="" if file in (None, "-") else shown(file))


def _print_error(what: str) -> None:
    with contextlib.suppress(OSError):
        print(f"semiring: {what}", file=sys.stderr)
