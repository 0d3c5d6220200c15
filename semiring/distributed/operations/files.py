"""Files that are read onto a grid."""

from __future__ import annotations

from typing import Any

from ...io.files import PathLike
from ...io.read import read_onto
from ..reading import read_in_shares
from ..rules import version_of


@version_of(read_onto)
def grid_read_onto(device: Any, path: PathLike, options: dict[str, Any]) -> Any:
    """Read a file, of which each process reads its share.  Collective."""
    return read_in_shares(path, device.executor.grid, **options)
