"""Index lists of very large size: without a slot for each index (`engines.vectors_as_rows`)."""

from __future__ import annotations

from ...formats import VectorStore
from .. import vectors_as_rows
from ..registry import VECTORS, implements
from ..spec import Ewise, ExtractVector, Keep, ScatterVector
from ..spec_write import WriteVector
from ..vectors_as_rows import are_long


@implements(Ewise, engine="cuda", accepts=VECTORS, when=are_long, priority=1)
def ewise_long(q: Ewise) -> VectorStore:
    """T = op(a, b), on index lists of very large size."""
    return vectors_as_rows.ewise(q, "cuda")


@implements(Keep, engine="cuda", accepts=VECTORS, when=are_long, priority=1)
def keep_long(q: Keep) -> VectorStore:
    """T = the entries of a that the mask admits, on index lists of very large size."""
    return vectors_as_rows.keep(q, "cuda")


@implements(WriteVector, engine="cuda", accepts=VECTORS, when=are_long, priority=1)
def write_vector_long(q: WriteVector) -> VectorStore:
    """C<M, replace> accum= T, on index lists of very large size."""
    return vectors_as_rows.write_vector(q, "cuda")


@implements(ExtractVector, engine="cuda", accepts=VECTORS, when=are_long, priority=1)
def extract_vector_long(q: ExtractVector) -> VectorStore:
    """t(p) = u(index[p]), from an index list of very large size."""
    return vectors_as_rows.extract_vector(q, "cuda")


@implements(ScatterVector, engine="cuda", accepts=VECTORS, when=are_long, priority=1)
def scatter_vector_long(q: ScatterVector) -> VectorStore:
    """t(index[p]) = u(p), into a very large size."""
    return vectors_as_rows.scatter_vector(q, "cuda")
