"""Specs of complete writes  C<M, replace> accum= T  in one request (see `spec`); `ops.write` defines them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..formats import CSR, Bitmap, Full, VectorStore
from ..formats.records import record
from .operands import Mask, Spec
from .spec import Mxv

if TYPE_CHECKING:
    from ..operators.types import TypedBinary

__all__ = ["SHORT", "UpdateMatrix", "UpdateVector", "WriteMatrix", "WriteMxv", "WriteVector"]

# Outputs up to which a product and its write are one request: calls cost more than the work, and a new store costs as
# little as an update in place (reasoned).
SHORT = 1024


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
class WriteMxv(Mxv):
    """The complete write  C<M, replace> accum= T  of a product T of at most `SHORT` outputs.

    Positions and directions: as `Mxv`.  The result has C's dtype.
    """

    name: ClassVar[str] = "write_mxv"
    decodable: ClassVar[bool] = False
    c: VectorStore | None = None
    accum: TypedBinary | None = None
    replace: bool = False


@record
class UpdateVector(Spec):
    """C<M> accum= T in the arrays of C, which nobody else holds; only positions in `listed` may change.

    listed: T, or the vector of a mask that is not complemented; few entries, a list or a bitmap.
    mask: what else limits the write; None: all listed positions are written.  Without an accumulator a listed position
    that T lacks is deleted; where C is full, there is none.
    The result is a new store of the arrays of C, which no longer describes them.  The update ends without an interrupt.
    """

    name: ClassVar[str] = "update_vector"
    c: Bitmap | Full
    t: VectorStore
    listed: VectorStore
    mask: Mask | None
    accum: TypedBinary | None


@record
class UpdateMatrix(Spec):
    """C accum= T in the arrays of C, a bitmap or without missing entries, which nobody else holds.

    t: rows with few entries.  Without an accumulator its entries replace those of C at the same positions.
    Positions of the accumulator, and the result: as `UpdateVector`, of which C are the entries in row-major order.
    """

    name: ClassVar[str] = "update_matrix"
    decodable: ClassVar[bool] = False
    c: CSR
    t: CSR
    accum: TypedBinary | None


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
