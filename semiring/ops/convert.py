"""Convert vectors between formats, and move stores between devices."""

from __future__ import annotations

from typing import cast

from ..engines import registry
from ..engines.requests.operations import Convert
from ..exceptions import InvalidValue
from ..formats import IndexList, VectorStore
from . import check

FORMATS = ("index", "bitmap", "full")


def convert(u: VectorStore, to: str) -> VectorStore:
    """Return the same vector as ``"index"``, ``"bitmap"`` or ``"full"`` (all entries present).

    To ``"index"`` from a bitmap on the GPU the number of entries is read back: synchronizes.
    """
    if to not in FORMATS:
        raise InvalidValue(f"a vector format is one of {', '.join(FORMATS)}; got {to!r}")
    if u.format == to:
        return u
    if to == "full" and u.nvals != u.size:
        raise InvalidValue(f"only a vector with all entries can be full; {u.nvals} of {u.size} are present")
    return cast(VectorStore, registry.run(Convert(u, to), check.engine_of("convert", u)))


def index_list(u: VectorStore) -> IndexList:
    """Return the vector as an index list."""
    return cast(IndexList, convert(u, "index"))
