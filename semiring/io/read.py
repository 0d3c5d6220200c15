"""Files by their extension: one function that reads any of them, and one that writes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from semiring.exceptions import InvalidValue, NotSupported
from semiring.io.adjacency_lists import read_graph_txt, read_metis
from semiring.io.dimacs import read_dimacs
from semiring.io.edge_lists import read_edgelist, read_graphalytics, read_jlg
from semiring.io.files import PathLike, Progress, extension
from semiring.io.gap import read_sg
from semiring.io.mapped import read_srb, write_srb
from semiring.io.matrix_market import mmread
from semiring.io.matrix_market_write import mmwrite
from semiring.io.npz import load_npz, save_npz

if TYPE_CHECKING:
    from semiring.matrix import Matrix
    from semiring.vector import Vector

__all__ = ["READERS", "read", "write"]


def _read_el(path: PathLike, **options: Any) -> Any:
    return read_edgelist(path, **{"weights": False, **options})


def _read_wel(path: PathLike, **options: Any) -> Any:
    return read_edgelist(path, **{"weights": True, **options})


def _read_e(path: PathLike, **options: Any) -> Matrix:
    return read_graphalytics(path, **options)[0]


def _read_wsg(path: PathLike, **options: Any) -> Matrix:
    return read_sg(path, weights=True, **options)


def _read_npz(path: PathLike, *, progress: Progress | None = None, **options: Any) -> Matrix:
    if progress is not None:
        progress(f"reading {os.fspath(path)}", 0.0)
    return load_npz(path, **options)


#: Extension, without that of a compression, and what reads it.
READERS: Final[dict[str, Callable[..., Any]]] = {
    ".mtx": mmread,
    ".mmio": mmread,
    ".el": _read_el,
    ".wel": _read_wel,
    ".txt": read_edgelist,
    ".tsv": read_edgelist,
    ".csv": read_edgelist,
    ".edgelist": read_edgelist,
    ".e": _read_e,
    ".jlg": read_jlg,
    ".gr": read_dimacs,
    ".graph": read_metis,
    ".graph-txt": read_graph_txt,
    ".sg": read_sg,
    ".wsg": _read_wsg,
    ".npz": _read_npz,
    ".srb": read_srb,
}

# These hold their own compression, or are mapped as they lie.
_UNCOMPRESSED: Final = (".npz", ".srb")


def read(path: PathLike, *, progress: Progress | None = None, **options: Any) -> Any:
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
    progress : callable, optional
        Called as ``progress(what, share)`` during long reads, with the share done from 0 to 1.
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
    """
    kind, compression = extension(path)
    if kind not in READERS:
        raise NotSupported(
            f"{os.fspath(path)}: expected one of the extensions {' '.join(READERS)} (and .gz .bz2 .xz .zst after it), "
            f"found {kind or 'none'!r}; call the reader by its name, for example semiring.io.read_edgelist"
        )
    if compression and kind in _UNCOMPRESSED:
        raise NotSupported(f"{os.fspath(path)}: expected an uncompressed {kind} file; unpack it first")
    return READERS[kind](path, progress=progress, **options)


def write(path: PathLike, A: Matrix | Vector, **options: Any) -> None:
    """Write a file whose extension says what it is: ``.mtx`` (and a compression), ``.npz`` or ``.srb``.

    The file appears when it is complete; on any error nothing is left and an older file stays. Options are those of
    `mmwrite`, `save_npz` and `write_srb`.

    Raises
    ------
    NotSupported
        Another extension, or a Vector for ``.npz``.
    InvalidValue
        A compression after ``.npz`` or ``.srb``.
    """
    from semiring.vector import Vector

    kind, compression = extension(path)
    if kind not in (".mtx", ".npz", ".srb"):
        raise NotSupported(f"{os.fspath(path)}: expected the extension .mtx, .npz or .srb, found {kind or 'none'!r}")
    if compression and kind in _UNCOMPRESSED:
        raise InvalidValue(f"{os.fspath(path)}: expected {kind} without a further compression, got {compression}")
    if kind == ".npz":
        if isinstance(A, Vector):
            raise NotSupported(f"{os.fspath(path)}: .npz holds matrices; write a vector to .srb or .mtx")
        save_npz(path, A, **options)
    elif kind == ".mtx":
        mmwrite(path, A, **options)
    else:
        write_srb(path, A, **options)
