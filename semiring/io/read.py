"""Files by their extension: one function that reads any of them, and one that writes."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from semiring.exceptions import InvalidValue, NotSupported
from semiring.io.adjacency_lists import read_graph_txt, read_metis
from semiring.io.dimacs import read_dimacs
from semiring.io.edge_lists import read_edgelist, read_graphalytics
from semiring.io.files import PathLike, Progress, checked_progress, extension, naming_memory_errors
from semiring.io.gap import read_sg
from semiring.io.jlg import read_jlg
from semiring.io.mapped import read_srb, write_srb
from semiring.io.matrix_market import mmread
from semiring.io.matrix_market_write import mmwrite
from semiring.io.npz import load_npz, save_npz
from semiring.io.placing import check_form, on_the_host, settled

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix
    from semiring.facade.vector import Vector

__all__ = ["READERS", "options_of", "read", "write"]


def _read_e(path: PathLike, *, directed: bool = True, dtype: Any = None, progress: Progress | None = None) -> Matrix:
    return read_graphalytics(path, directed=directed, dtype=dtype, progress=progress)[0]


def _read_sg(path: PathLike, *, dup_op: Any = None, progress: Progress | None = None) -> Matrix:
    return read_sg(path, weights=extension(path)[0] == ".wsg", dup_op=dup_op, progress=progress)


def _read_npz(path: PathLike, *, dup_op: Any = "plus", progress: Progress | None = None) -> Matrix:
    if progress is not None:
        progress(f"reading {os.fspath(path)}", 0.0)
    return load_npz(path, dup_op=dup_op)


#: Extension, without that of a compression, and what reads it.
READERS: Final[dict[str, Callable[..., Any]]] = {
    ".mtx": mmread,
    ".mmio": mmread,
    ".el": partial(read_edgelist, weights=False),
    ".wel": partial(read_edgelist, weights=True),
    ".txt": read_edgelist,
    ".tsv": read_edgelist,
    ".csv": read_edgelist,
    ".edgelist": read_edgelist,
    ".e": _read_e,
    ".jlg": read_jlg,
    ".gr": read_dimacs,
    ".graph": read_metis,
    ".graph-txt": read_graph_txt,
    ".sg": _read_sg,
    ".wsg": _read_sg,
    ".npz": _read_npz,
    ".srb": read_srb,
}

_WRITERS: Final[dict[str, Callable[..., None]]] = {".mtx": mmwrite, ".npz": save_npz, ".srb": write_srb}

_EVERYWHERE: Final = ("progress", "placement", "compress")

# These hold their own compression, or are mapped as they lie.
_UNCOMPRESSED: Final = (".npz", ".srb")


@naming_memory_errors
def read(
    path: PathLike,
    *,
    placement: str | None = None,
    compress: str | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Any:
    """Read a graph, matrix or vector file; its extension says what it is, and may be followed by that of a compression.

    ====================================== ========================================= ========================
    extension                              what                                      read by
    ====================================== ========================================= ========================
    .mtx .mmio                             Matrix Market                             `mmread`
    .el .wel .txt .tsv .csv .edgelist      edge list                                 `read_edgelist`
    .e (and .v)                            LDBC Graphalytics                         `read_graphalytics`
    .jlg                                   JuliaGraphs                               `read_jlg`
    .gr                                    DIMACS, PACE                              `read_dimacs`
    .graph                                 METIS                                     `read_metis`
    .graph-txt                             WebGraph, ASCII                           `read_graph_txt`
    .sg .wsg                               GAP benchmark suite                       `read_sg`
    .npz                                   SciPy                                     `load_npz`
    .srb                                   this library's own (see also `open`)      `read_srb`
    ====================================== ========================================= ========================

    Parameters
    ----------
    path : str or PathLike
    placement : ``"device"``, ``"pinned"``, ``"host"``, ``"auto"`` or None
        Where the entries of a matrix lie (see `open`); None is ``"device"``.
    compress : ``"varint"``, ``"packed"`` or None
        Hold the matrix as compressed rows. With this, or another placement than ``"device"``, a matrix for the GPU is
        made in the memory of the host first, from where it is encoded slice by slice: its plain form is never in device
        memory as a whole. A ``.srb`` file is encoded from its mapped pages.
    progress : callable, optional
        Called as ``progress(what, share)`` during long reads, with the share done from 0 to 1. What it raises ends the
        read, and is passed on as it is.
    **options
        Those of the function that reads this kind of file.

    Returns
    -------
    Matrix (of a ``.srb`` file, also Vector)

    Raises
    ------
    InvalidFormat
        A malformed file; the message gives file and line or byte, what was expected and what was found.
    NotSupported
        An unknown extension.
    InvalidValue
        ``path`` is no path, ``progress`` cannot be called, the reader has no such option, or there is no such placement
        or codec.
    OutOfMemory
        The file, what it unpacks to, or the matrix does not fit where it is to lie; the message gives the bytes.

    Warns
    -----
    IgnoredColumns
        The lines of an edge list have columns after the weight (see `read_edgelist`).

    Notes
    -----
    Cost O(bytes), and sorting the entries of a format that does not have them in rows.  Synchronises on the GPU.
    Text is held whole while it is parsed: the peak is its unpacked size, 8 bytes for each number in it, and the
    building of the matrix.  Each part is compared with the free memory before it is allocated.
    """
    progress = checked_progress(progress)
    kind, compression = extension(_checked_path("read", path))
    if kind == ".v":
        raise NotSupported(
            f"{os.fspath(path)}: the vertices of a Graphalytics graph are read together with its edges: read the .e "
            f"file beside it"
        )
    if kind not in READERS:
        raise NotSupported(
            f"{os.fspath(path)}: expected one of the extensions {' '.join(READERS)} (and .gz .bz2 .xz .zst after it), "
            f"found {kind or 'none'!r}; call the reader by its name, for example semiring.io.read_edgelist"
        )
    if compression and kind in _UNCOMPRESSED:
        raise NotSupported(f"{os.fspath(path)}: expected an uncompressed {kind} file; unpack it first")
    _check_options(kind, READERS[kind], options)
    if kind == ".srb":
        return read_srb(path, placement=placement, compress=compress, progress=progress)
    if placement in (None, "device") and compress is None:
        return READERS[kind](path, progress=progress, **options)
    check_form(placement, compress)
    with on_the_host():
        found = READERS[kind](path, progress=progress, **options)
    if isinstance(found, tuple):  # with the ids of a relabelled graph
        return (_settled(found[0], placement, compress), *found[1:])
    return _settled(found, placement, compress)


def _settled(A: Matrix, placement: str | None, compress: str | None) -> Matrix:
    return type(A)._new(settled("read", A.store, placement, compress))


def write(path: PathLike, A: Matrix | Vector, **options: Any) -> None:
    """Write a file whose extension says what it is: ``.mtx`` (and a compression), ``.npz`` or ``.srb``.

    The file appears when it is complete; on any error nothing is left and an older file stays. Options are those of
    `mmwrite`, `save_npz` and `write_srb`.

    Raises
    ------
    NotSupported
        Another extension, or a Vector for ``.npz``.
    InvalidValue
        A compression after ``.npz`` or ``.srb``, an option that the writer does not have, a ``path`` that is no path,
        or an ``A`` that is neither Matrix nor Vector.

    Notes
    -----
    Only ``.srb`` keeps compressed rows as they are.  Cost O(bytes).  Synchronises, and copies to the host what is in
    the memory of the GPU.
    """
    from semiring.facade.matrix import Matrix
    from semiring.facade.vector import Vector

    kind, compression = extension(_checked_path("write", path))
    if not isinstance(A, (Matrix, Vector)):
        raise InvalidValue(f"write(path, A): expected a Matrix or Vector as A, got {_in_words(A)}")
    if kind not in _WRITERS:
        raise NotSupported(f"{os.fspath(path)}: expected the extension .mtx, .npz or .srb, found {kind or 'none'!r}")
    if compression and kind in _UNCOMPRESSED:
        raise InvalidValue(f"{os.fspath(path)}: expected {kind} without a further compression, got {compression}")
    if kind == ".npz" and isinstance(A, Vector):
        raise NotSupported(f"{os.fspath(path)}: .npz holds matrices; write a vector to .srb or .mtx")
    _check_options(kind, _WRITERS[kind], options)
    _WRITERS[kind](path, A, **options)


def options_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the options that a reader or writer takes, aside from those of `read` itself."""
    parameters = inspect.signature(function).parameters.values()
    return tuple(
        given.name for given in parameters if given.kind is given.KEYWORD_ONLY and given.name not in _EVERYWHERE
    )


def _check_options(kind: str, function: Callable[..., Any], options: dict[str, Any]) -> None:
    known = options_of(function)
    unknown = next((name for name in options if name not in (*known, "progress")), None)
    if unknown is not None:
        raise InvalidValue(f"{unknown}=: expected an option of {kind} files ({', '.join(known) or 'none'})")


def _checked_path(function: str, path: Any) -> PathLike:
    if not isinstance(path, (str, os.PathLike)):
        raise InvalidValue(f"{function}(path, ...): expected a path, got {_in_words(path)}")
    return path


def _in_words(thing: Any) -> str:
    """What was given in place of something else: a short value, or its type."""
    return repr(thing) if isinstance(thing, (str, int, float)) or thing is None else f"a {type(thing).__name__}"
