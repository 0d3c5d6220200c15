"""``--ranks N``: a command as N processes, each of which holds a part of the graph; the first one prints.

The command starts itself under MPI's launcher.  Each process reads its part of a file (`semiring.io.read`).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import semiring as sr
from semiring.bridges.cli.machine import engine_description

if TYPE_CHECKING:
    from semiring.distributed import Grid

S = TypeVar("S", sr.Matrix, sr.Vector)

# The processes of this command, if it is one of them.
_grid: Grid | None = None


def add_ranks(parser: argparse.ArgumentParser) -> None:
    """Add the argument that divides the work among processes."""
    parser.add_argument(
        "--ranks", type=int, metavar="N", help="compute as N processes, with a part of the graph each (needs MPI)"
    )


def conflict(args: argparse.Namespace) -> str | None:
    """Return why the arguments of a command exclude several processes, or None."""
    if args.file == "-":
        return "--ranks: each process reads its part of the graph, and there is one standard input: pass a file"
    given = next((name for name in ("compress", "placement") if getattr(args, name, None) is not None), None)
    return f"--{given} is not available with --ranks" if given else None


def start(count: int, words: Sequence[str]) -> int:
    """Run a command line as `count` processes; return the exit code."""
    return sr.distributed.launch(count, ["-m", "semiring.cli", *words])


def launched() -> bool:
    """Return whether this process is one of several."""
    from semiring.distributed import process

    return process.launched()


@contextlib.contextmanager
def one_of(args: argparse.Namespace) -> Iterator[None]:
    """Take part in a command of several processes: all but the first one print errors only, and the first precedes."""
    from semiring.distributed import Grid, process

    global _grid
    _grid = Grid()
    try:
        with contextlib.ExitStack() as until_the_end:
            if _grid.rank:
                args.progress = False
                nowhere = until_the_end.enter_context(open(os.devnull, "w", encoding="utf-8"))
                until_the_end.enter_context(contextlib.redirect_stdout(nowhere))
                warnings.simplefilter("ignore")
            yield
    except BaseException:
        process.give_precedence()
        raise
    finally:
        _grid = None


def grid() -> Grid | None:
    """Return the grid of the processes, if there are several."""
    return _grid


def read(path: str, *, progress: Any = None, **options: Any) -> Any:
    """Read a file as a whole, or each of several processes its part; these report no progress."""
    if _grid is None:
        return sr.io.read(path, progress=progress, **options)
    return sr.io.read(path, device=_grid.device, **options)


def divided(A: S) -> S:
    """Return a Matrix or a Vector in parts, if there are several processes."""
    return A if _grid is None else A.to(_grid.device)


def whole(x: sr.Matrix | sr.Vector) -> sr.Matrix | sr.Vector:
    """Return all of an object of several processes, on each of them."""
    return x if _grid is None or x.device != _grid.device else x.to(_grid.local)


def prints() -> bool:
    """Return whether this process writes the results."""
    return _grid is None or _grid.rank == 0


def engine() -> str:
    """Return the engine and its hardware, and the processes."""
    if _grid is None:
        return engine_description()
    return f"{engine_description()}, in each of {_grid.size} processes"
