"""The one definition of how a result is written to its output.

    C<M, replace> accum= T

1. ``Z = T``, or with an accumulator ``Z = C accum T`` on the union of both: where only one is present, that one.
2. Where the mask admits, the output becomes Z: entries of Z are stored, and entries of C that Z lacks are deleted.
3. Elsewhere C is unchanged, or (`replace`) emptied.

Values are cast to the type of C.  A missing mask admits everything; a complemented one admits the positions that
its store does not.  An output that does not exist yet (`out=None`) is an empty one of T's type.

It is one engine call where the engine implements `WriteVector` or `WriteMatrix` for the operands, or else composed of
the calls `Ewise` (union and merge) and `Keep`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar, cast

import numpy as np

from .. import dtypes
from ..config import config, engine_for
from ..devices import in_parts
from ..dtypes import is_record
from ..engines import recording, registry
from ..engines.requests.operands import Mask, Spec
from ..engines.requests.operations import Ewise, Keep, Mxv, WriteMatrix, WriteMxv, WriteVector
from ..formats import CSR, IndexList, Store, VectorStore
from ..formats.hypersparse import empty_matrix
from ..formats.records import tuple_of
from ..formats.vectors import empty_vector
from . import check
from .cast import cast_store, typed_second
from .update import Lease, updated

S = TypeVar("S", CSR, VectorStore)


class Write(NamedTuple):
    """How a result is written: the mask, the accumulator, and whether the rest is emptied.

    accum: a binary operator (family or typed), or None.
    lease: of the output's store, which then may be updated in place; None: a new store is made.
    """

    mask: Mask | None = None
    accum: Any = None
    replace: bool = False
    lease: Lease | None = None

    @property
    def plain(self) -> bool:
        """True if the result becomes the output without a mask or an accumulator."""
        return self.mask is None and self.accum is None


PLAIN = Write()
write_of = tuple_of(Write)  # every write makes one
# Index lists with fewer entries than one in so many positions are written as lists.
_LISTED = 16


@dataclass(eq=False, slots=True)
class Plan(Generic[S]):
    """An operation that is checked and not yet executed, so that an output and a mask can still be fused into it.

    operation: its name, for messages.  shape, dtype: of the result.  device: where its operands reside.
    request: the request to the engine, or a function that returns the result or its plan.
    mask: limits the result itself, before a write; None: it has all entries.
    is_short: a product of so few outputs that its write makes a new store, in one request where an engine has it.
    Operands are immutable stores, so the result is that of the moment when the plan was made.
    """

    operation: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    device: str
    request: Spec | Callable[[], S | Plan[S]]
    mask: Mask | None = None
    is_short: bool = False
    # The uses that `ops.fused` has counted: one alone is fused, others read the stored result.
    uses: int = field(default=0, init=False, repr=False)
    _made: S | None = field(default=None, init=False, repr=False)

    @property
    def pending(self) -> bool:
        """Whether the result is not stored yet."""
        return self._made is None

    def under(self, mask: Mask | None) -> Plan[S]:
        """Return the plan of the same operation whose result has only entries that the mask admits."""
        if mask is None:
            return self
        check.output_shape(self.operation, None, mask, self.shape)
        check.one_device(self.operation, self.device, mask.store)
        return Plan(self.operation, self.shape, self.dtype, self.device, self.request, mask)

    def result(self) -> S:
        """Return the result alone; it is computed once for all holders of this plan."""
        made = self._made
        if made is None:
            made = self._made = self.into(alone=True)
        return made

    def into(self, out: S | None = None, write: Write = PLAIN, *, alone: bool = False, listed: bool = False) -> S:
        """Execute the operation and return the new store of the output  C<M, replace> accum= T.

        alone: for the sake of the result, which a recorder then lists on a line of its own.
        listed: a recorder lists it already.
        """
        if recording.users and not listed and (listener := recording.FORMULAS.get()) is not None:
            return listener.write(self, out, write, partial(self.into, out, write, listed=True), alone=alone)  # type: ignore[no-any-return]
        mask, device = write.mask, self.device
        if out is not None or mask is not None:
            check.output_shape(self.operation, out, mask, self.shape)
            if (out is not None and out.device != device) or (mask is not None and mask.store.device != device):
                check.one_device(self.operation, device, out, None if mask is None else mask.store)
        engine, request = engine_for(device), self.request
        if self._made is not None:
            return finish(self._made, engine, out, write)  # type: ignore[no-any-return]
        if self.mask is not None:
            if out is not None or mask is not None:  # it limits the result, and the mask of the write limits the output
                whole = Plan(self.operation, self.shape, self.dtype, self.device, request)
                return finish(whole.into(None, Write(self.mask)), engine, out, write)  # type: ignore[no-any-return]
            mask, write = self.mask, Write(self.mask)
        if not isinstance(request, Spec):
            computed = request()
            if isinstance(computed, Plan):
                return computed.into(out, write)
            return finish(computed, engine, out, write)  # type: ignore[no-any-return]
        if self.is_short and out is not None and config.fusion:
            made = _written_short(request, engine, out, write)  # type: ignore[arg-type]
            if made is not None:
                return made  # type: ignore[no-any-return]
        if mask is not None and request.maskable and config.fusion:
            masked = request.with_mask(mask)
            row = registry.find(masked, engine)
            if row is not None and "mask" in row.fuses:
                made = registry.call(row, masked)
                return made if out is None else finish(made, engine, out, write, masked=True)  # type: ignore[no-any-return]
        made = registry.run(request, engine)
        return made if out is None and mask is None else finish(made, engine, out, write)  # type: ignore[no-any-return]


def stored(operand: S | Plan[S]) -> S:
    """Return the store of an operand, which is computed if it is a plan."""
    return operand.result() if isinstance(operand, Plan) else operand


def _written_short(request: Mxv, engine: str, out: Any, write: Write) -> Any:
    """C<M, replace> accum= T  for a short product T, in one request; None where others make fewer steps."""
    mask, accum, dtype = write.mask, write.accum, request.semiring.z
    if accum is None and (mask is None or write.replace):  # only entries of T remain
        return None
    if isinstance(out, IndexList) and out.nvals * _LISTED < out.size:
        return None
    if dtype != out.dtype:
        if is_record(dtype) or is_record(out.dtype):  # the write itself casts no records
            return None
        if accum is not None:
            dtype = dtypes.unify(out.dtype, dtype)
    q, accum = request, None if accum is None else accum.typed(dtype, dtype)
    whole = WriteMxv(
        *(q.nout, q.ninner, q.by_row, q.by_column, q.vector, q.semiring, q.flip, mask, q.direction),
        *(out, accum, write.replace),
    )
    row = registry.find(whole, engine)
    return None if row is None else registry.call(row, whole)


def finish(t: Any, engine: str, out: Store | None, write: Write, *, masked: bool = False) -> Any:
    """C<M, replace> accum= T, for a T that is computed.  `masked`: T already has no entry outside the mask."""
    accum = write.accum
    if accum is not None and out is not None:
        both = t.dtype if t.dtype == out.dtype else dtypes.unify(out.dtype, t.dtype)
        accum = accum.typed(both, both)
    is_new = out is None or (config.fusion and _is_empty(out))
    mask = None if write.mask is None or (masked and (write.replace or is_new)) else write.mask
    if out is None or is_new:  # only T has entries
        made = t if mask is None else registry.run(Keep(t, mask), engine)
        return made if out is None else cast_store(made, out.dtype, engine)
    if write.accum is None and mask is None:
        return cast_store(t, out.dtype, engine)  # everything else is replaced, or nothing else exists
    if t.dtype != out.dtype and (is_record(t.dtype) or is_record(out.dtype)):
        t = cast_store(t, out.dtype, engine)  # the write itself casts no records
    if config.fusion and not write.replace and (write.lease is not None or isinstance(out, CSR)):
        made = updated(write.lease, out, t, write.mask, accum, engine, masked=masked)
        if made is not None:
            return made
    if config.fusion and not (isinstance(out, CSR) and _is_one_step(out, t, write, accum)):
        # Under `replace`, C may have entries outside the mask even if T has none, so the mask is passed on.
        options = write.mask, accum, write.replace
        whole: Spec = WriteMatrix(out, t, *options) if isinstance(out, CSR) else WriteVector(out, t, *options)
        row = registry.find(whole, engine)
        if row is not None:
            return registry.call(row, whole)
    return _compose(t, engine, out, write.mask, accum, write.replace)


def _is_empty(out: Store) -> bool:
    """Return True if a store is known to have no entry, so that accumulating into it is writing."""
    return isinstance(out, (IndexList, CSR)) and not in_parts(out.device) and out.nvals == 0


def _is_one_step(c: CSR, t: CSR, write: Write, accum: Any) -> bool:
    """Return True if `_compose` makes one request of the engine, which then costs less than the fused write.

    Under `replace` without an accumulator it selects entries of T; without a mask, in one type, it is a union.
    """
    if accum is None:
        return write.replace
    return write.mask is None and accum.z == c.dtype == t.dtype


def _compose(t: Any, engine: str, c: Any, mask: Mask | None, accum: Any, replace_rest: bool) -> Any:
    if accum is None:
        z = cast_store(t, c.dtype, engine)
    elif accum.z == c.dtype == t.dtype:
        z = registry.run(Ewise(c, t, accum, "union"), engine)
    else:
        # An entry of one side only is never cast to the accumulator's type: an int64 would lose digits in a float64.
        both = cast_store(registry.run(Ewise(c, t, accum, "intersect"), engine), c.dtype, engine)
        z = merge(merge(c, cast_store(t, c.dtype, engine), engine), both, engine)
    if mask is None:
        return z
    inside = registry.run(Keep(z, mask), engine)
    if replace_rest:
        return inside
    rest = registry.run(Keep(c, mask.negated()), engine)
    return merge(inside, rest, engine)


def merge(a: S, b: S, engine: str) -> S:
    """Return the union of two stores of one type; where both have an entry, that of b."""
    return cast(S, registry.run(Ewise(a, b, typed_second(a.dtype), "union"), engine))


def emptied(store: S, dtype: np.dtype[Any] | None = None) -> S:
    """Return a store of the same shape without entries."""
    chosen = store.dtype if dtype is None else dtype
    if isinstance(store, CSR):
        return empty_matrix(store.nrows, store.ncols, chosen, store.device)
    return empty_vector(store.size, chosen, store.device)
