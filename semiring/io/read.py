"""`read` and `write`: the reader or writer is chosen by the extension of the file."""

from __future__ import annotations

import errno
import functools
import inspect
import os
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from semiring.config import checked_device, default_device, use
from semiring.devices import dispatched, in_parts
from semiring.exceptions import InvalidValue, LostLabels, NotSupported
from semiring.io.adjacency_lists import read_graph_txt, read_metis
from semiring.io.dimacs import read_dimacs
from semiring.io.edge_lists import read_edgelist
from semiring.io.edge_lists_write import write_dimacs, write_edgelist
from semiring.io.files import PathLike, Progress, checked_progress, extension, naming_memory_errors
from semiring.io.gap import read_sg
from semiring.io.graphalytics import read_graphalytics
from semiring.io.jlg import read_jlg
from semiring.io.konect import read_konect
from semiring.io.label_sets import label_sets
from semiring.io.markup import read_gml, read_graphml
from semiring.io.markup_write import write_gml, write_graphml
from semiring.io.matrix_market import mmread
from semiring.io.matrix_market_write import mmwrite
from semiring.io.npz import load_npz, save_npz
from semiring.io.parquet import read_parquet, write_parquet
from semiring.io.placement import check_storage, convert, on_the_host
from semiring.io.srb_mapped import read_srb, write_srb
from semiring.io.vectors import write_vector

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix
    from semiring.facade.vector import Vector

__all__ = ["READERS", "VECTOR_WRITERS", "WRITERS", "options_of", "read", "readers", "write", "writers"]


def _read_e(path: PathLike, *, directed: bool = True, dtype: Any = None, progress: Progress | None = None) -> Matrix:
    return read_graphalytics(path, directed=directed, dtype=dtype, progress=progress)[0]


def _read_sg(path: PathLike, *, dup_op: Any = None, progress: Progress | None = None) -> Matrix:
    return read_sg(path, weights=extension(path)[0] == ".wsg", dup_op=dup_op, progress=progress)


def _read_npz(path: PathLike, *, dup_op: Any = "plus", progress: Progress | None = None) -> Matrix:
    if progress is not None:
        progress(f"reading {os.fspath(path)}", 0.0)
    return load_npz(path, dup_op=dup_op)


# Files of this collection have a beginning of their name instead of an extension.
KONECT: Final = "out."

#: Extension, without that of a compression, and its reader.
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
    ".graphml": read_graphml,
    ".gml": read_gml,
    ".parquet": read_parquet,
    KONECT: read_konect,
    ".npz": _read_npz,
    ".srb": read_srb,
}

#: Extension and its writer.
WRITERS: Final[dict[str, Callable[..., None]]] = {
    ".mtx": mmwrite,
    ".el": write_edgelist,
    ".wel": write_edgelist,
    ".txt": write_edgelist,
    ".tsv": write_edgelist,
    ".csv": write_edgelist,
    ".edgelist": write_edgelist,
    ".gr": write_dimacs,
    ".graphml": write_graphml,
    ".gml": write_gml,
    ".parquet": write_parquet,
    ".npz": save_npz,
    ".srb": write_srb,
}
#: Extension and the writer of a vector.
VECTOR_WRITERS: Final[dict[str, Callable[..., None]]] = {
    ".mtx": mmwrite,
    ".tsv": write_vector,
    ".csv": write_vector,
    ".parquet": write_parquet,
    ".srb": write_srb,
}

_EVERYWHERE: Final = ("progress", "placement", "compress")

# Formats with internal compression, or mapped without a copy.
_UNCOMPRESSED: Final = (".npz", ".parquet", ".srb")


@naming_memory_errors
def read(
    path: PathLike,
    *,
    device: str | None = None,
    placement: str | None = None,
    compress: str | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Any:
    """Read a graph, matrix or vector file by its extension, which may be followed by that of a compression.

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
    .graphml                               GraphML                                   `read_graphml`
    .gml                                   GML                                       `read_gml`
    .parquet                               Parquet                                   `read_parquet`
    out.NAME                               KONECT                                    `read_konect`
    .sg .wsg                               GAP benchmark suite                       `read_sg`
    .npz                                   SciPy                                     `load_npz`
    .srb                                   format of this library (see also `open`)  `read_srb`
    ====================================== ========================================= ========================

    Parameters
    ----------
    path : str or PathLike
    device : ``"cpu"``, ``"cuda"``, or that of a grid of processes, optional
        By default that of new objects, on which every process of a grid reads the whole file. With the device of a grid
        each process reads its share of a file that all can read, of the formats above or a folder ``NAME.parts`` of
        `write`; all make this call, and all raise what one of them raises.
    placement : ``"device"``, ``"pinned"``, ``"host"``, ``"auto"`` or None
        Where the entries of a matrix reside (see `open`); None is ``"device"``.
    compress : a codec, as in `Matrix.compress`, or None
        Store the matrix as compressed rows. With this, or another placement than ``"device"``, a matrix for the GPU is
        first built in host memory and encoded from there slice by slice: the uncompressed matrix is never in device
        memory as a whole. A ``.srb`` file is encoded from its mapped pages.
    progress : callable, optional
        Called as ``progress(what, share)`` during long reads, with the share done from 0 to 1. Its exceptions end
        the read and propagate unchanged.
    **options
        Those of the reader of this extension. On a grid also ``verify`` of ``.srb`` files and parts: compare all
        checksums, of which each process computes its share, and check every index of uncompressed rows; False only for
        files that you trust (see `open`).

    Returns
    -------
    Matrix (for a ``.srb`` file, also Vector)

    Raises
    ------
    InvalidFormat
        A malformed file; the message contains file and line or byte, what was expected and what was found.
    NotSupported
        An unknown extension, or a package that the reader needs is not installed.
    FileNotFoundError, IsADirectoryError
    InvalidValue
        ``path`` is not a path, ``progress`` cannot be called, the reader has no such option, or the placement or codec
        is unknown.
    OutOfMemory
        The file, its unpacked content or the matrix does not fit in memory; the message contains the bytes.

    Warns
    -----
    GuessedLayout
        The header, separator or comments of an edge list are guessed (see `read_edgelist`).
    IgnoredColumns
        The lines of an edge list have columns after the weight (see `read_edgelist`).
    SparseIds
        The ids of an edge list are sparse.

    Notes
    -----
    Cost O(bytes), and a sort of the entries for a format that is not ordered by rows.  Synchronizes on the GPU.
    The whole text is in memory while it is parsed: the peak is its unpacked size, 8 bytes for each number in it, and
    the building of the matrix.  Each part is compared with the free memory before it is allocated.

    Examples
    --------
    >>> sr.io.write("graph.mtx", Matrix.from_coo([0, 1], [1, 2], [1.5, 2.5], shape=(3, 3)))
    >>> A = sr.io.read("graph.mtx")
    >>> A.shape, A.to_dicts()
    ((3, 3), {0: {1: 1.5}, 1: {2: 2.5}})
    """
    progress = checked_progress(progress)
    if device is not None:
        given = {**options, "placement": placement, "compress": compress, "progress": progress}
        return read_onto(checked_device(device), _checked_path("read", path), given)
    kind, compression = extension(_checked_path("read", path))
    if kind not in READERS and os.path.basename(os.fspath(path)).startswith(KONECT):
        kind = KONECT
    if kind == ".v":
        raise NotSupported(
            f"{os.fspath(path)}: the vertices of a Graphalytics graph are read together with its edges: read the .e "
            f"file beside it"
        )
    if kind not in READERS:
        _check_file(path)
        raise NotSupported(
            f"{os.fspath(path)}: expected one of the extensions {' '.join(READERS)} (and .gz .bz2 .xz .zst after it), "
            f"found {kind or 'none'!r}; call a reader directly, for example semiring.io.read_edgelist"
        )
    if compression and kind in _UNCOMPRESSED:
        raise NotSupported(f"{os.fspath(path)}: expected an uncompressed {kind} file; unpack it first")
    check_options(kind, READERS[kind], options)
    check_storage(placement, compress)
    _check_file(path)  # before a reader raises for a package that is missing
    if kind == ".srb":
        return read_srb(path, placement=placement, compress=compress, progress=progress)
    if placement in (None, "device") and compress is None:
        return READERS[kind](path, progress=progress, **options)
    with on_the_host():
        found = READERS[kind](path, progress=progress, **options)
    return _converted(found, placement, compress)


@dispatched()
def read_onto(device: str, path: PathLike, options: dict[str, Any]) -> Any:
    """Read a file onto a device; options: those of `read`."""
    with nullcontext() if device == default_device() else use(device):
        return read(path, **options)


def _check_file(path: PathLike) -> None:
    """Raise FileNotFoundError, or IsADirectoryError."""
    if not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))


def _converted(A: Matrix, placement: str | None, compress: str | None) -> Matrix:
    return type(A)._new(convert("read", A.store, placement, compress))._labeled_as(A)


# A folder with a file for each process of a grid.
PARTS: Final = ".parts"


def write(path: PathLike, A: Matrix | Vector, **options: Any) -> None:
    """Write a file in the format of its extension; text formats with the extension of a compression too.

    ====================================== =======================================================
    extension                              written by
    ====================================== =======================================================
    .mtx                                   `mmwrite`
    .el .wel .txt .tsv .csv .edgelist      `write_edgelist`; a Vector to .tsv and .csv `write_vector`
    .gr                                    `write_dimacs`
    .graphml                               `write_graphml`
    .gml                                   `write_gml`
    .parquet                               `write_parquet`
    .npz                                   `save_npz`
    .srb                                   `write_srb`
    .parts                                 a folder with a file for each process of a grid
    ====================================== =======================================================

    The write is atomic: on any error an older file or folder is unchanged.

    The processes of a grid all make this call for an object in parts, and all raise what one of them raises.  Into
    ``.srb`` each writes its rows, compressed ones uncompressed; of ``.parts`` each writes its part as it is, compressed
    rows too, and nothing is sent.  For the other formats the first process gathers the object and writes it.

    Parameters
    ----------
    path : str or PathLike
    A : Matrix or Vector
        Its labels are written too.  ``.srb``, ``.mtx`` and ``.npz`` hold those that are text, numbers, and tuples of
        these; the others text or integers, in place of positions; ``.gr`` none.
    **options
        Those of the writer.

    Raises
    ------
    NotSupported
        Another extension, a Vector for a format of matrices alone, or an option of ``.srb`` or ``.parts`` on a grid.
    InvalidValue
        A compression after ``.npz``, ``.parquet`` or ``.srb``, an option that the writer does not have, a ``path`` that
        is not a path, or an ``A`` that is neither Matrix nor Vector.  Also labels that the format would return as
        others.
    DomainMismatch
        Values of a type that the format does not hold.
    OSError
        With the file's name.

    Warns
    -----
    LostLabels
        The format does not hold labels: ``.gr``.  No format holds their attributes.
    LostWeights
        The format does not hold weights: ``.el``.

    Notes
    -----
    Only ``.srb`` keeps compressed rows compressed.  Cost O(bytes).  Synchronizes, and copies arrays in GPU memory to
    the host.

    Examples
    --------
    >>> sr.io.write("graph.mtx.gz", Matrix.identity(3), comment="made by an example")
    >>> sr.io.read("graph.mtx.gz").nvals
    3
    """
    from semiring.facade.matrix import Matrix
    from semiring.facade.vector import Vector

    kind, compression = extension(_checked_path("write", path))
    if not isinstance(A, (Matrix, Vector)):
        raise InvalidValue(f"write(path, A): expected a Matrix or Vector as A, got {_shown(A)}")
    if kind == PARTS and not in_parts(A.device):
        raise NotSupported(f"{os.fspath(path)}: a folder of parts is written from a Matrix or Vector on a grid")
    if kind not in WRITERS and kind != PARTS:
        known = " ".join(WRITERS)
        raise NotSupported(f"{os.fspath(path)}: expected one of the extensions {known}, found {kind or 'none'!r}")
    if compression and kind in (*_UNCOMPRESSED, PARTS):
        raise InvalidValue(f"{os.fspath(path)}: expected {kind} without a further compression, got {compression}")
    writers = VECTOR_WRITERS if isinstance(A, Vector) else WRITERS
    if kind not in writers and kind != PARTS:
        raise NotSupported(f"{os.fspath(path)}: {kind} holds matrices; a vector is written to {' '.join(writers)}")
    writer = writers[".srb" if kind == PARTS else kind]
    check_options(kind, writer, options)
    write_from(A, kind, writer, path, options)
    if any(labels.attributes for labels in label_sets(A).values()):
        text = "files hold no attributes of labels; .labels.to_pandas() is a table for a file of its own"
        warnings.warn(f"{os.fspath(path)}: {text}", LostLabels, stacklevel=2)


@dispatched()
def write_from(A: Matrix | Vector, kind: str, writer: Callable[..., None], path: PathLike, options: Any) -> None:
    """Write an object in a format, by its writer."""
    writer(path, A, **options)


@functools.cache
def options_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the options of a reader or writer, other than those of `read` itself."""
    parameters = inspect.signature(function).parameters.values()
    return tuple(item.name for item in parameters if item.kind is item.KEYWORD_ONLY and item.name not in _EVERYWHERE)


def readers() -> dict[str, tuple[str, ...]]:
    """Return the extensions of files that `read` reads, without that of a compression, with the options of each reader.

    ``"out."`` is the beginning of a name, of KONECT's files.

    Examples
    --------
    >>> sr.io.readers()[".sg"]
    ('dup_op',)
    """
    return {kind: options_of(reader) for kind, reader in READERS.items()}


def writers() -> dict[str, tuple[str, ...]]:
    """Return the extensions of files that `write` writes a Matrix to, with the options of each writer.

    Examples
    --------
    >>> ".srb" in sr.io.writers(), ".sg" in sr.io.writers()
    (True, False)
    """
    return {kind: options_of(writer) for kind, writer in WRITERS.items()}


def check_options(kind: str, function: Callable[..., Any], options: dict[str, Any]) -> None:
    """Raise InvalidValue for an option that a reader or writer does not have."""
    allowed = options_of(function)
    unknown = next((name for name in options if name not in (*allowed, "progress")), None)
    if unknown is not None:
        raise InvalidValue(f"{unknown}=: expected an option of {kind} files ({', '.join(allowed) or 'none'})")


def _checked_path(function: str, path: Any) -> PathLike:
    if not isinstance(path, (str, os.PathLike)):
        raise InvalidValue(f"{function}(path, ...): expected a path, got {_shown(path)}")
    return path


def _shown(thing: Any) -> str:
    """Return a wrong argument for a message: a short value, or its type."""
    return repr(thing) if isinstance(thing, (str, int, float)) or thing is None else f"a {type(thing).__name__}"
