"""The spec of an acyclic closure: every row of an acyclic matrix once, after all rows before it (see `spec`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..formats import CSR, VectorStore
from ..formats.records import record
from .operands import Spec

if TYPE_CHECKING:
    from ..operators.types import TypedIndexUnary, TypedSemiring

__all__ = ["AcyclicClosure", "AcyclicResult"]


@record
class AcyclicClosure(Spec):
    """c(v) = f( x(v) (+) (+)_u c(u) (x) A(u, v) ), where each c(u) is final before it is multiplied.

    A row is finished after all rows with an entry in its column.  Rows without a value, because neither x nor a product
    has one, are finished too, and contribute none.  Rows on a cycle and behind one are never finished.
    a: square.  x: of the type of the monoid.  then: f, which reads no position and no thunk; None: f(z) = z.  Its
        result is cast to the type of the monoid.
    The positions of a product are those of vxm.
    The result is an `AcyclicResult`; the values of unfinished rows are arbitrary.
    """

    name: ClassVar[str] = "acyclic_closure"
    a: CSR
    x: VectorStore
    semiring: TypedSemiring
    then: TypedIndexUnary | None


@record
class AcyclicResult:
    """The vector c, and how many rows were finished."""

    store: VectorStore
    finished: int
