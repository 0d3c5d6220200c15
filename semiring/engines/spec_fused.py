"""Specs that combine several operations, which an engine need not implement (see `spec`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..formats import CSR
from ..formats.records import record
from .operands import Index, Mask, Rows, Spec
from .spec import Mxm

if TYPE_CHECKING:
    from ..operators.types import TypedIndexUnary, TypedMonoid, TypedSemiring

__all__ = ["FusedMxm", "MxmReduceRows", "MxmReduceScalar", "MxmSelect", "ReplaceRows"]


@record
class FusedMxm(Spec):
    """A product t as in `Mxm`, of the entries that the mask admits, which is read by one operation alone.

    An engine need not implement these specs, nor accept every operand: `ops.fused` then computes t first.  An
    implementation applies the mask.
    """

    name: ClassVar[str] = "mxm_fused"
    decodable: ClassVar[bool] = False
    a: CSR
    by_row: Rows
    by_column: Rows | None
    semiring: TypedSemiring
    mask: Mask | None
    method: str

    @property
    def product(self) -> Mxm:
        """The request for t alone."""
        return Mxm(self.a, self.by_row, self.by_column, self.semiring, self.mask, self.method)

    @property
    def by_rows(self) -> Mxm:
        """The request for t alone, by a method that reads the rows of B."""
        return Mxm(self.a, self.by_row, None, self.semiring, self.mask, self.method)


@record
class MxmReduceScalar(FusedMxm):
    """s = (+)_ij t(i, j) over all entries of a product; the result is a `ScalarResult`."""

    name: ClassVar[str] = "mxm_reduce_scalar"
    monoid: TypedMonoid


@record
class MxmReduceRows(FusedMxm):
    """w(i) = (+)_j t(i, j) of a product, for the rows that have entries."""

    name: ClassVar[str] = "mxm_reduce_rows"
    monoid: TypedMonoid


@record
class MxmSelect(FusedMxm):
    """The entries of a product for which op(t(i, j), i, j, k) holds."""

    name: ClassVar[str] = "mxm_select"
    op: TypedIndexUnary
    k: np.generic


@record
class ReplaceRows(Spec):
    """t(rows[p], :) = a(p, :), and the other rows of c, which has the type of a; None if a row repeats.

    For an engine without it, and where rows repeat, `ops.assign` scatters a and merges it with the rest of c.
    """

    name: ClassVar[str] = "replace_rows"
    decodable: ClassVar[bool] = False
    c: CSR
    rows: Index
    a: CSR
