"""Files that are read onto a grid, and written from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...exceptions import NotSupported
from ...facade.matrix import Matrix
from ...facade.vector import Vector
from ...io.files import PathLike
from ...io.read import PARTS, read_onto, write_from
from ..grid import grid_of
from ..reading import read_in_shares
from ..rules import version_of
from ..scattering import gather
from ..writing import write_file, write_folder


@version_of(read_onto)
def grid_read_onto(device: Any, path: PathLike, options: dict[str, Any]) -> Any:
    """Read a file, of which each process reads its share.  Collective."""
    return read_in_shares(path, device.executor.grid, **options)


@version_of(write_from)
def grid_write_from(
    A: Matrix | Vector, kind: str, writer: Callable[..., None], path: PathLike, options: dict[str, Any]
) -> None:
    """Write an object: each process its part, or the first one the whole.  Collective."""
    store: Any = A.store
    grid = grid_of(store)
    if options and kind in (PARTS, ".srb"):
        raise NotSupported(f"write: a grid has no option {', '.join(options)} of {kind} files")
    if kind == PARTS:
        grid.collective_call(write_folder, path, A, grid)
    elif kind == ".srb":
        grid.collective_call(write_file, path, A, grid)
    else:
        whole = gather(A, 0)
        grid.run_then_barrier(lambda: None if whole is None else writer(path, whole, **options))
