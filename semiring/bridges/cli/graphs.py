"""Graphs of the commands: the arguments that name a file and its options, the reader, and the source of a search."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import semiring as sr
from semiring.bridges.cli import ranks
from semiring.bridges.cli.progress import Progress
from semiring.bridges.cli.report import shown
from semiring.config import Config
from semiring.exceptions import InvalidValue, SemiringError
from semiring.formats import CODECS, PLACEMENTS

MAX_DEGREE: Final = "max-degree"
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
# Options of the commands, and the parameters of the readers.
_CHOSEN = {
    "dup_op": "dup_op",
    "base": "base",
    "skip_lines": "skip_lines",
    "nrows": "nrows",
    "header": "header",
    "sep": "sep",
    "comment": "comment",
    "source_column": "source",
    "target_column": "target",
    "weight_column": "weight",
}


class UsageError(SemiringError):
    """Arguments that are valid individually, but not in combination."""


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of every command that works on matrices."""
    parser.add_argument(
        "--device",
        choices=("auto", "cpu", "cuda", "reference"),
        help="where to compute (default: the GPU if there is one, else the CPU)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_reporting(parser)


def add_reporting(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of every command."""
    parser.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        help="report progress on standard error (default: on a terminal, and for long steps elsewhere)",
    )
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")


def add_graph(parser: argparse.ArgumentParser, *, nargs: str | None = None, what: str = "") -> None:
    """Add the arguments that name a graph file and its reader options."""
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs=nargs,
        help=f"{what}{' '.join(sr.io.readers())}, text also compressed; or -: standard input",
    )
    group = parser.add_argument_group("reading")
    group.add_argument("--symmetric", action="store_true", help="store each edge in both directions")
    group.add_argument(
        "--merge-op", metavar="OP", help="the same, and combine the two values of an edge by this operator"
    )
    group.add_argument(
        "--dup-op", metavar="OP", help="combine repeated entries by this operator, mean or last (default: an error)"
    )
    group.add_argument("--base", type=int, metavar="N", help="edge lists: the number of the first vertex (default: 0)")
    group.add_argument("--skip-lines", type=int, metavar="N", help="edge lists: skip N lines at the top")
    group.add_argument(
        "--nrows", type=int, metavar="N", help="edge lists: the number of vertices (default: those up to the last id)"
    )
    group.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="edge lists: the first line holds the names of columns, or an edge (default: detect)",
    )
    group.add_argument("--sep", metavar="C", help="edge lists: the character between columns (default: detect)")
    group.add_argument(
        "--comment", metavar="C", help="edge lists: skip lines that begin with one of these (default: #%%, .csv: none)"
    )
    for role, default in (("source", "the first"), ("target", "the second"), ("weight", "the third, if there is one")):
        group.add_argument(
            f"--{role}-column", type=_column, metavar="NAME", help=f"edge lists, .parquet: by name or number from 0 "
            f"(default: {default})",
        )  # fmt: skip
    group.add_argument("--unweighted", action="store_true", help="edge lists: read the ends of the edges alone")
    group.add_argument(
        "--relabel", action="store_true", help="edge lists: the ids in the file, text or numbers, are names of vertices"
    )
    group.add_argument(
        "--input-format", metavar="EXT", help="the format of standard input (default: .txt, an edge list)"
    )
    group.add_argument("--trust", action="store_true", help=".srb: map the file without checking its contents")
    add_memory(group)


def add_memory(group: Any) -> None:
    """Add the arguments of the storage kind: codec and placement."""
    group.add_argument("--compress", choices=CODECS, help="store the matrix as compressed rows")
    group.add_argument(
        "--placement",
        choices=(*PLACEMENTS, "auto"),
        help="where its entries reside: device memory (default), pinned or streamed host memory",
    )
    group.add_argument(
        "--device-memory",
        type=memory_argument,
        metavar="SIZE",
        help="the limit of GPU memory: bytes, or a size such as 5.8GB",
    )


def _column(word: str) -> int | str:
    """Return a column of a table: its number, or its name."""
    return int(word) if word.isdecimal() else word


def memory_argument(word: str) -> str:
    """Return an amount of memory that the setting `device_memory` accepts."""
    try:
        Config(device_memory=word)  # type: ignore[arg-type]  # text is checked and made a number
    except InvalidValue as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return word


def load(args: argparse.Namespace, progress: Progress) -> Any:
    """Read ``args.file`` as a Matrix (or Vector), on the device of the command."""
    args.symmetric = args.symmetric or args.merge_op is not None
    if args.file == "-":
        with _standard_input(args) as path:
            return _load(args, path, progress)
    if args.input_format is not None:
        raise UsageError("--input-format is the format of standard input: pass - as FILE")
    return _load(args, args.file, progress)


@contextlib.contextmanager
def _standard_input(args: argparse.Namespace) -> Iterator[str]:
    """Copy standard input to a file for the time of reading."""
    kind = args.input_format or ".txt"
    kind = kind if kind.startswith(".") else f".{kind}"
    if sr.io.extension(f"-{kind}")[0] not in sr.io.readers():
        raise UsageError(f"--input-format {shown(kind)}: expected one of {' '.join(sr.io.readers())}")
    with tempfile.TemporaryDirectory(prefix="semiring-") as folder:
        path = os.path.join(folder, f"standard-input{kind}")
        with open(path, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        args.standard_input = path
        yield path


def _load(args: argparse.Namespace, path: str, progress: Progress) -> Any:
    kind = sr.io.extension(path)[0]
    args.bytes_read = os.path.getsize(path) if os.path.isfile(path) else None
    options = {_CHOSEN[name]: getattr(args, name) for name in _CHOSEN if getattr(args, name) is not None}
    if options.get("sep") == "\\t":  # as a shell passes '\t'
        options["sep"] = "\t"
    if args.unweighted:
        options["weights"] = False
    allowed = sr.io.readers().get(kind)
    if options and allowed is not None:
        unknown = [name for name in options if name not in allowed or (name == "weights" and kind == ".parquet")]
        if unknown:
            given = {parameter: name for name, parameter in _CHOSEN.items()} | {"weights": "unweighted"}
            flag = f"--{given[unknown[0]].replace('_', '-')}"
            raise UsageError(f"{flag} is not an option of {kind} files")
    if args.relabel and args.nrows is not None:
        raise UsageError("--nrows: the names of --relabel give the number of vertices")
    storage = {"compress": args.compress, "placement": args.placement}
    # The union with the transpose needs an uncompressed, device-resident matrix.
    storage = {} if args.symmetric else {name: value for name, value in storage.items() if value is not None}
    if args.relabel and "relabel" not in sr.io.readers().get(kind, ()):
        raise UsageError(f"--relabel is an option of edge lists; names in {kind or 'such'} files are read without it")
    with progress.step(f"reading {shown(args.file)}"):
        if args.trust and kind == ".srb":
            A = sr.io.open(path, **storage) if ranks.grid() is None else ranks.read(path, verify=False)
        elif args.relabel:
            A = ranks.read(path, progress=progress, relabel=True, **options)
            A = A if args.compress is None or args.symmetric else A.compress(args.compress)
            A = A if args.placement is None or args.symmetric else A.to(placement=args.placement)
        else:
            A = ranks.read(path, progress=progress, **storage, **options)
    if args.symmetric and isinstance(A, sr.Matrix):
        with progress.step("storing each edge in both directions"):
            A = A.ewise_add(A.T.dup(), args.merge_op or "any").wait()
        A = A if args.compress is None else A.compress(args.compress)
        A = A if args.placement is None else A.to(placement=args.placement)
    return A


def load_graph(args: argparse.Namespace, progress: Progress) -> sr.Matrix:
    """Read a matrix; InvalidValue for a Vector."""
    A = load(args, progress)
    if not isinstance(A, sr.Matrix):
        raise InvalidValue(f"{shown(args.file)}: expected a matrix, found a Vector of size {A.size}")
    return A


def load_pairs(args: argparse.Namespace, path: str, A: sr.Matrix) -> sr.Matrix:
    """Read pairs of vertices of A: a matrix of its shape, or an edge list whose ids are those of the graph."""
    allowed = sr.io.readers().get(sr.io.extension(path)[0], ())
    if A.row_labels is not None and A.column_labels is not None and "relabel" in allowed:
        named = sr.io.read(path, relabel=True)
        rows, columns, values = named.to_coo(device="cpu")
        ends = ((A.row_labels, rows), (A.column_labels, columns))
        rows, columns = (rows_of(labels, [str(name) for name in named.labels[end]]) for labels, end in ends)
        return ranks.divided(sr.Matrix.from_coo(rows, columns, values, shape=A.shape))
    size: dict[str, Any] = {"nrows": A.nrows} if "nrows" in allowed else {}
    pairs = ranks.read(path, **size)
    if not isinstance(pairs, sr.Matrix) or pairs.shape != A.shape:
        shapes = f"{' x '.join(map(str, A.shape))}, found a {type(pairs).__name__} of shape {pairs.shape}"
        raise InvalidValue(f"{shown(path)}: expected a matrix of shape {shapes}")
    return pairs


def out_degrees(A: sr.Matrix) -> NDArray[np.int64]:
    """Return the number of entries of each row, on the host.  O(nvals) at most; synchronizes."""
    counted = A.apply("second", right=np.int64(1)).reduce_rowwise("plus")
    return np.asarray(counted.to_dense(fill_value=0, device="cpu"), np.int64)


def row_of(A: sr.Matrix, word: str) -> int:
    """Return the row of a vertex: of its name where the graph has names, else of its number.

    ``max-degree`` is the first row with the most entries.
    """
    labels = A.row_labels
    if word == MAX_DEGREE and (labels is None or word not in labels):
        if A.nrows == 0:
            raise InvalidValue("a graph without vertices has no source")
        return int(out_degrees(A).argmax())
    if labels is not None:
        return int(rows_of(labels, [word])[0])
    try:
        return int(word)
    except ValueError:
        raise UsageError(
            f"expected a row number or {MAX_DEGREE}, got {word!r}; names of vertices need --relabel"
        ) from None


def rows_of(labels: sr.Labels, words: Sequence[str]) -> NDArray[np.int64]:
    """Return the rows of names as they are written: of integer labels too, which `Labels.index` leaves as they are."""
    if labels.to_numpy().dtype.kind not in "iu":
        return labels.rows(words)
    return labels.rows([int(word) if _INTEGER.fullmatch(word) else word for word in words])


def vertex_fact(args: argparse.Namespace, A: sr.Matrix, row: int) -> Any:
    """Return the name of a vertex, or its row, as a fact; as text without separators of thousands."""
    vertex = row if A.row_labels is None else A.row_labels[row]
    return vertex if args.json else str(vertex)


def storage_facts(A: Any) -> dict[str, Any]:
    """Return the codec of a matrix (None: uncompressed), its placement, and the bits of its structure an entry."""
    if not isinstance(A, sr.Matrix):
        return {}
    bits = 8 * A.store.pattern.nbytes / A.nvals if A.nvals else None
    return {"codec": A.codec, "placement": A.placement, "bits_an_entry": bits}
