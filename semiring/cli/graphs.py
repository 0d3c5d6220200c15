"""Graphs that commands work on: the arguments that name a file, how it is read, and where a search starts."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

import semiring as sr
from semiring.cli.progress import Progress
from semiring.cli.report import shown
from semiring.config import Config
from semiring.exceptions import InvalidValue, SemiringError
from semiring.formats import CODECS, PLACEMENTS
from semiring.io.files import extension
from semiring.io.read import READERS, options_of
from semiring.memory.arrays import to_host

_MAX_DEGREE = "max-degree"
_CHOSEN = ("dup_op", "base", "skip_lines")


class UsageError(SemiringError):
    """Arguments that are right one by one, and do not go together."""


def add_common(parser: argparse.ArgumentParser) -> None:
    """The arguments of every command that works on matrices."""
    parser.add_argument(
        "--device",
        choices=("auto", "cpu", "cuda", "reference"),
        help="where to compute (default: the GPU if there is one, else the CPU)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_manners(parser)


def add_manners(parser: argparse.ArgumentParser) -> None:
    """The arguments of every command."""
    parser.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        help="say what goes on, on standard error (default: on a terminal, and for long steps elsewhere)",
    )
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")


def add_graph(parser: argparse.ArgumentParser, *, nargs: str | None = None, what: str = "") -> None:
    """The arguments that name a graph file and say how to read it."""
    parser.add_argument("file", metavar="FILE", nargs=nargs, help=f"{what}{' '.join(READERS)}, text also compressed")
    group = parser.add_argument_group("reading")
    group.add_argument("--symmetric", action="store_true", help="store each edge in both directions")
    group.add_argument("--dup-op", metavar="OP", help="combine repeated entries by this operator (default: an error)")
    group.add_argument("--base", type=int, metavar="N", help="edge lists: the number of the first vertex (default: 0)")
    group.add_argument("--skip-lines", type=int, metavar="N", help="edge lists: pass over so many lines at the top")
    group.add_argument("--trust", action="store_true", help=".srb: map the file without checking its contents")
    add_memory(group)


def add_memory(group: Any) -> None:
    """The arguments that say in which form the matrix is held, and where."""
    group.add_argument("--compress", choices=CODECS, help="hold the matrix as compressed rows")
    group.add_argument(
        "--placement",
        choices=(*PLACEMENTS, "auto"),
        help="where its entries lie: in the device's memory (default), pinned or streamed host memory",
    )
    group.add_argument(
        "--device-memory",
        type=memory_argument,
        metavar="SIZE",
        help="use no more of the GPU's memory than this: bytes, or 5.8GB and the like",
    )


def memory_argument(word: str) -> str:
    """An amount of memory, as the setting of that name takes it."""
    try:
        Config(device_memory=word)  # type: ignore[arg-type]  # text is checked and made a number
    except InvalidValue as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return word


def load(args: argparse.Namespace, progress: Progress) -> Any:
    """The Matrix (of some files, Vector) of ``args.file``, on the device where the command computes."""
    kind = extension(args.file)[0]
    options = {name: getattr(args, name) for name in _CHOSEN if getattr(args, name) is not None}
    if options and kind in READERS:
        known = options_of(READERS[kind])
        unknown = [f"--{name.replace('_', '-')}" for name in options if name not in known]
        if unknown:
            raise UsageError(f"{unknown[0]} means nothing for a {kind} file")
    form = {"compress": args.compress, "placement": args.placement}
    # What both directions are made of is read plain.
    form = {} if args.symmetric else {name: given for name, given in form.items() if given is not None}
    with progress.step(f"reading {shown(args.file)}"):
        if args.trust and kind == ".srb":
            A = sr.io.open(args.file, **form)
        else:
            A = sr.io.read(args.file, progress=progress, **form, **options)
    if args.symmetric and isinstance(A, sr.Matrix):
        with progress.step("storing each edge in both directions"):
            A = A.ewise_add(A.T.new(), "any").wait()
        A = A if args.compress is None else A.compress(args.compress)
        A = A if args.placement is None else A.to(placement=args.placement)
    return A


def load_graph(args: argparse.Namespace, progress: Progress) -> sr.Matrix:
    """`load`, where the command needs a square matrix."""
    A = load(args, progress)
    if not isinstance(A, sr.Matrix) or A.nrows != A.ncols:
        shape = " x ".join(map(str, A.shape))
        raise InvalidValue(f"{shown(args.file)}: expected a square matrix, found a {type(A).__name__} of shape {shape}")
    return A


def out_degrees(A: sr.Matrix) -> NDArray[np.int64]:
    """The number of entries of each row, on the host.  O(nvals) at most; synchronises."""
    counted = A.apply("second", right=np.int64(1)).reduce_rowwise("plus")
    return np.asarray(to_host(counted.to_dense(fill_value=0)), np.int64)


def source_argument(word: str) -> int | str:
    """A row number, or ``max-degree``."""
    if word == _MAX_DEGREE:
        return word
    try:
        return int(word)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a row number or {_MAX_DEGREE}, got {word!r}") from None


def source_row(A: sr.Matrix, source: int | str) -> int:
    """The row that a search starts from; ``max-degree``: the first of those with the most entries."""
    if isinstance(source, int):
        return source
    if A.nrows == 0:
        raise InvalidValue("a graph without vertices has no source")
    return int(out_degrees(A).argmax())


def form_facts(A: Any) -> dict[str, Any]:
    """How a matrix is held: its codec (None: plain), where its entries lie, and the bits of its structure an entry."""
    if not isinstance(A, sr.Matrix):
        return {}
    bits = 8 * A.store.pattern.nbytes / A.nvals if A.nvals else None
    return {"codec": A.codec, "placement": A.placement, "bits_an_entry": bits}
