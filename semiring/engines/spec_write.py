"""Specs of complete writes  C<M, replace> accum= T  in one request (see `spec`); `ops.write` defines them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..formats import CSR, VectorStore
from ..formats.records import record
from .operands import Mask, Spec

if TYPE_CHECKING:
    from ..operators.types import TypedBinary

__all__ = ["WriteMatrix", "WriteVector"]


@record
class WriteVector(Spec):
    """The complete write  C<M, replace> accum= T  for vectors, in one pass.

    The result has C's dtype.
    """

    name: ClassVar[str] = "write_vector"
    c: VectorStore
    t: VectorStore
    mask: Mask | None
    accum: TypedBinary | None
    replace: bool


@record
class WriteMatrix(Spec):
    """The complete write  C<M, replace> accum= T  for matrices; as `WriteVector`.

    Positions of the accumulator: ``xi = yi = i``, ``xj = yj = j``.
    """

    name: ClassVar[str] = "write_matrix"
    decodable: ClassVar[bool] = False
    c: CSR
    t: CSR
    mask: Mask | None
    accum: TypedBinary | None
    replace: bool
