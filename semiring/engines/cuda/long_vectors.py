"""Index lists of very large size: without a slot for each index (`engines.rows.sparse_vectors`)."""

from __future__ import annotations

from ...formats import VectorStore
from ..registry import VECTORS, implements
from ..requests.operations import Ewise, ExtractVector, Keep, ScatterVector, WriteVector
from ..rows import sparse_vectors
from ..rows.sparse_vectors import are_long


@implements(Ewise, engine="cuda", accepts=VECTORS, when=are_long, priority=1)
def ewise_long(q: Ewise) -> VectorStore:
    """T = op(a, b), on index lists of very large size."""
    return sparse_vectors.ewise(q, "cuda")


@implements(Keep, engine="cuda", accepts=VECTORS, when=are_long, priority=1)
def keep_long(q: Keep) -> VectorStore:
    """T = the entries of a that the mask admits, on index lists of very large size."""
    return sparse_vectors.keep(q, "cuda")


@implements(WriteVector, engine="cuda", accepts=VECTORS, when=are_long, priority=1)
def write_vector_long(q: WriteVector) -> VectorStore:
    """C<M, replace> accum= T, on index lists of very large size."""
    return sparse_vectors.write_vector(q, "cuda")


@implements(ExtractVector, engine="cuda", accepts=VECTORS, when=are_long, priority=1)
def extract_vector_long(q: ExtractVector) -> VectorStore:
    """t(p) = u(index[p]), from an index list of very large size."""
    return sparse_vectors.extract_vector(q, "cuda")


@implements(ScatterVector, engine="cuda", accepts=VECTORS, when=are_long, priority=1)
def scatter_vector_long(q: ScatterVector) -> VectorStore:
    """t(index[p]) = u(p), into a very large size."""
    return sparse_vectors.scatter_vector(q, "cuda")
