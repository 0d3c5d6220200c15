"""Recording of requests whose operands have no contents yet: the body of a loop that is compiled.

While a `Recorder` is in use, requests on stores with placeholders (`program.Structure`, `program.Values`) are recorded
as steps of a program in place of being executed; all other requests are executed as always.  So `ops` defines what a
loop computes, and every rule of it, the types of results included, is that of the operations one by one.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import numpy as np

from ...formats import CSR, AnyPattern, Bitmap, Count, Full, VectorStore
from ..requests.operands import Index, Mask, Rows, Spec, simplified
from ..requests.operations import Located
from ..shared import iso_results
from ..shared.direction import derives_transpose
from .program import Block, Compute, Request, Structure, Values
from .traced import (
    RECORDER,
    Number,
    Typed,
    Untraceable,
    count_users,
    current,
    is_traced,
    kind_of_dtype,
    negated,
    present,
    truth,
)

__all__ = ["Recorder", "Request", "vector"]


# The formats and placements of matrices that programs of a device read.
_READ: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "cpu": (frozenset({"csr"}), frozenset({"device"})),
    "cuda": (frozenset({"csr", "ccsr"}), frozenset({"device", "pinned"})),
}


# Requests about facts of matrices that their kinds include.
_OF_KIND = frozenset({"transpose", "is_symmetric"})
_MATRICES = (CSR, AnyPattern, Rows)


class _NotCounted(Count):
    """The number of entries of a vector of the program."""

    __slots__ = ("_store",)

    def __init__(self, store: Any) -> None:
        super().__init__(store)
        self._store = store

    def get(self) -> Any:
        """Return the number of entries, as a number of the program."""
        return current().count(self._store)


def vector(
    size: int,
    dtype: np.dtype[Any],
    *,
    full: bool = False,
    iso: Any = None,
    structure: Structure | None = None,
    values: Values | None = None,
) -> VectorStore:
    """Return a store with placeholders on the device of the loop that is traced.

    full: all entries are present.  iso: the value that all of them share.
    """
    device = current().device
    if iso is None and values is None:
        values = Values(size, dtype, device)
    held: Any = None if iso is not None else values
    if full:
        return Full(size, dtype, held, iso, device)
    words: Any = Structure(size, device) if structure is None else structure
    made = Bitmap(size, dtype, words, held, iso, Count(0))
    made.count = _NotCounted(words)  # type: ignore[misc]
    return made


def is_crowded(store: Any) -> bool:
    """Return whether a vector has one entry in 16 or more.  May synchronize."""
    return bool(store.nvals * 16 >= store.size > 0)


class Recorder:
    """Records requests as steps.  `block` is the block that steps are added to; `device` executes the program."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.block = Block()
        # Objects that the loop may write to, by identity: its variables, and those made in it.
        self.own: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        # Objects made in the loop, of which some are operations that are not recorded yet.
        self._made: list[weakref.ref[Any]] = []
        # Objects that a list of vectors holds, too, by identity: the loop may not write to them.
        self.held: dict[int, Any] = {}
        self.appended: set[int] = set()  # those that the loop appends
        # Objects that may not be written to now, by identity: within an expression that Python may not evaluate.
        self.kept: weakref.WeakValueDictionary[int, Any] | None = None
        # Stores of the program whose contents are known now: the store with placeholders, and its contents.
        self.constants: list[tuple[Any, Any]] = []
        # Whether a number that may be missing may be read: within a test for None.
        self.optional = False
        # Whether the loop reads more of a matrix than its kind: another one may have another program.
        self.reads_matrices = False
        self._known: dict[int, tuple[Any, Any]] = {}
        # Positions that are likely to be many, in proportion: by identity.
        self._many: dict[int, Structure] = {}

    # -- density -------------------------------------------------------------------------------------------

    def likely_many(self, store: Any) -> bool:
        """Return whether a vector of the program is likely to have a large share of all entries."""
        return isinstance(store, Full) or id(getattr(store, "words", None)) in self._many

    def expect(self, store: Any, *, many: bool) -> None:
        """Note whether a vector of the program is likely to have a large share of all entries."""
        if many and isinstance(store, Bitmap) and isinstance(store.words, Structure):
            self._many[id(store.words)] = store.words

    def _expect_result(self, q: Any, result: Any) -> None:
        """Note the density of the result of a request, from those of its operands."""
        match q.name:
            case "ewise":
                both = map(self.likely_many, (q.a, q.b))
                self.expect(result, many=all(both) if q.mode == "intersect" else any(both))
            case "write_vector":
                self.expect(result, many=self.likely_many(q.c) and not q.replace)
            case "mxv":
                self.expect(result, many=self.likely_many(q.vector) and q.mask is None)

    @contextmanager
    def unwritten(self) -> Iterator[None]:
        """Refuse writes to objects that exist: the program evaluates an expression that Python may not evaluate."""
        before = self.kept
        if before is None:
            self.kept = weakref.WeakValueDictionary(self.own)
        try:
            yield
        finally:
            self.kept = before

    def emit(self, step: Any) -> None:
        """Add a step."""
        self.block.steps.append(step)

    def __enter__(self) -> Recorder:
        self._token = RECORDER.set(self)
        count_users(1)
        return self

    def __exit__(self, *_: object) -> None:
        count_users(-1)
        RECORDER.reset(self._token)

    def made(self, holder: Any) -> None:
        """Note an object that the loop makes by an operation, which is recorded when its result is first used."""
        self.own[id(holder)] = holder
        self._made.append(weakref.ref(holder))

    def settle(self) -> None:
        """Record all operations of objects that exist: a block begins or ends, and its steps may not be executed."""
        made, self._made = self._made, []
        for reference in made:
            holder = reference()
            if holder is not None:
                holder._settle_traced()

    # -- numbers -------------------------------------------------------------------------------------------

    def count(self, structure: Structure) -> Number:
        """Return the number of entries of a structure."""
        made = Number("int")
        self.emit(Compute(made, "count", (structure,)))
        return made

    def element(self, store: Any, at: Any) -> Typed:
        """Return the element of a store at a position, which may be missing."""
        if not isinstance(store, VectorStore):
            raise Untraceable("an element of a Matrix at a position that the loop computes")
        kind, store = kind_of_dtype(store.dtype), self.operand(store)
        if isinstance(store.iso, Typed):
            raise Untraceable("an element of a scalar that was assigned")
        missing = None
        if not isinstance(store, Full):
            missing = Number("bool")
            self.emit(Compute(missing, "absent", (store, at)))
        made = Number(kind, missing)
        self.emit(Compute(made, "element", (store, at)))
        return Typed(made, store.dtype)

    def same(self, a: Any, b: Any, tolerance: Any) -> Number:
        """Return whether two vectors of one size have the same entries (NaN equals NaN)."""
        _numeric(a, b)
        if any(isinstance(store.iso, Typed) for store in (a, b)):
            raise Untraceable("a comparison of a scalar that was assigned")
        made = Number("bool")
        a, b = self.operand(a), self.operand(b)
        if tolerance is None and a.dtype == b.dtype:
            self.emit(Compute(made, "same", (a, b)))
            return made
        if {a.dtype.kind, b.dtype.kind} == {"u", "i"} and np.dtype(np.uint64) in (a.dtype, b.dtype):
            raise Untraceable(f"a comparison of {a.dtype} and {b.dtype}")
        limits = (None, None) if tolerance is None else [present(limit) for limit in tolerance]
        self.emit(Compute(made, "close", (a, b, *limits)))
        return made

    def index(self, store: Any, size: int, *, partial: bool = False) -> Index:
        """Return a vector of integers as positions below `size`, which the program checks.

        partial: whether entries may be missing, of which the result then has arbitrary positions.
        """
        store = self.operand(store)
        if store.dtype.kind not in "iu":
            raise Untraceable("an index that is not of integers")
        if not isinstance(store, Full) and not partial:
            raise Untraceable("a vector as an index that is not known to be full")
        if store.values is None:
            raise Untraceable("an index of one value")
        self.emit(Compute(Number("int"), "positions", (store, size)))
        return Index(size, store.size, array=store.values)

    # -- requests ------------------------------------------------------------------------------------------

    def records(self, spec: Spec) -> bool:
        """Return whether a request has an operand without contents, or is a product.

        A vector that is assumed to be constant often is not, and a product would be executed only to find this.  Other
        requests are executed: their results are constants of the program.
        """
        operands = vars(spec).values()
        if spec.name == "mxv" or any(map(self._concerns, operands)):
            return True
        if spec.name not in _OF_KIND and any(isinstance(value, _MATRICES) for value in operands):
            self.reads_matrices = True
        return False

    def takes(self, spec: Spec) -> bool:
        """Return whether a request becomes a step.

        Not updates in place, because rows are assigned for the whole program; a product with its write or its sum is
        two steps.
        """
        return spec.name not in ("inner", "update_vector", "write_mxv")

    def _concerns(self, value: Any) -> bool:
        if isinstance(value, Mask):
            value = value.store
        if isinstance(value, Index):
            return isinstance(value.array, Values)
        return is_traced(value) or isinstance(value, (Typed, Values, Structure))

    def operand(self, store: Any) -> Any:
        """Return a vector operand as a store with placeholders: one whose contents are known is a constant."""
        if is_traced(store) or not isinstance(store, VectorStore):
            return store
        if isinstance(store, Full) and store.values is None:
            return store
        found = self._known.get(id(store))
        if found is None:
            full = store.format == "full"
            found = store, vector(store.size, store.dtype, full=full, iso=store.iso)
            self.expect(found[1], many=is_crowded(store))
            self._known[id(store)] = found
            self.constants.append((found[1], store))
        return found[1]

    def request(self, spec: Any) -> Any:
        """Record a request; return its result."""
        method = getattr(self, f"_{spec.name}", None)
        if method is None:
            raise Untraceable(f"the operation {spec.name}")
        for name, value in vars(spec).items():
            if isinstance(value, CSR) or (name in ("c", "t", "a", "b", "u", "v", "vector") and value is None):
                raise Untraceable(f"the operation {spec.name} of a Matrix")
            if isinstance(value, Mask):
                spec = _replaced(spec, name, Mask(self.operand(value.store), value.structural, value.complement))
            elif isinstance(value, VectorStore):
                spec = _replaced(spec, name, self.operand(value))
        result = method(spec)
        if isinstance(result, _Alias):
            return result.store
        self._expect_result(spec, result)
        self.emit(Request(spec, result))
        return result

    def _mxv(self, q: Any) -> Any:
        if q.vector.dtype.kind not in "biuf" or q.semiring.z.kind not in "biuf":
            raise Untraceable(f"a product of {q.semiring.z}")
        formats, placements = _READ[self.device]
        kinds = [rows.kind for rows in (q.by_row, q.by_column) if rows.kind is not None]
        for kind in kinds:
            if kind.format not in formats or kind.placement not in placements:
                raise Untraceable(f"a product with a Matrix in the format {kind.format}, {kind.placement}")
        in_place = all(kind.uncompressed and kind.placement == "device" for kind in kinds)
        # Each iteration may read all entries: sums of rows cost less than atomics on columns.
        sums = self.device == "cuda" and in_place and self.likely_many(q.vector)
        if q.direction == "auto" and (sums or derives_transpose("auto", q.semiring.add.is_any, in_place)):
            q.by_row.get()
        matrix = q.by_row if q.by_row.ready else q.by_column
        iso = None if isinstance(q.vector.iso, Typed) else iso_results.mxv_value(q, matrix.get(), q.vector)
        return vector(q.nout, q.semiring.z, iso=iso)

    def _ewise(self, q: Any) -> Any:
        a, b = isinstance(q.a, Full), isinstance(q.b, Full)
        _numeric(q.a, q.b)
        runtime = any(isinstance(value, Typed) for value in (q.a.iso, q.b.iso, q.alpha, q.beta))
        iso = None if runtime else iso_results.ewise_value(q)
        full = q.mask is None and (a and b if q.mode == "intersect" else a or b)
        return vector(q.a.size, q.op.z, full=full, iso=iso)

    def _apply(self, q: Any) -> Any:
        _numeric(q.a)
        if q.op.z.kind not in "biuf":
            raise Untraceable(f"values of {q.op.z}")
        runtime = isinstance(q.a.iso, Typed) or isinstance(q.k, Typed)
        iso = None if runtime else iso_results.apply_value(q)
        structure = None if isinstance(q.a, Full) else q.a.words
        made = vector(q.a.size, q.op.z, full=structure is None, iso=iso, structure=structure)
        return made if iso is None else _Alias(made)

    def _select(self, q: Any) -> Any:
        _numeric(q.a)
        return vector(q.a.size, q.a.dtype, iso=_known_iso(q.a))

    def _keep(self, q: Any) -> Any:
        _numeric(q.a)
        simple = simplified(q.mask)
        if simple is True:
            return _Alias(q.a)
        return vector(q.a.size, q.a.dtype, iso=_known_iso(q.a))

    def _write_vector(self, q: Any) -> Any:
        _numeric(q.c, q.t)
        full = isinstance(q.c, Full) and (q.accum is not None or isinstance(q.t, Full))
        full = full or (q.mask is None and q.accum is not None and isinstance(q.t, Full))
        full = full or (isinstance(q.c, Full) and _same_structure(q.mask, q.t))
        full = full and not (q.replace and q.mask is not None)
        runtime = isinstance(q.t.iso, Typed) or isinstance(q.c.iso, Typed)
        iso = None if runtime else iso_results.write_value(q)
        return vector(q.c.size, q.c.dtype, full=full, iso=iso)

    def _reduce_scalar(self, q: Any) -> Any:
        _numeric(q.a)
        if isinstance(q.a.iso, Typed):
            raise Untraceable("a reduction of a scalar that was assigned")
        kind = kind_of_dtype(q.monoid.z)
        missing = None
        if not (isinstance(q.a, Full) and q.a.size):
            missing = negated(truth(self.count(q.a.words) if isinstance(q.a, Bitmap) else 0))
        return Typed(Number(kind, missing), q.monoid.z)

    def _extract_vector(self, q: Any) -> Any:
        _numeric(q.u)
        return vector(q.index.count, q.u.dtype, full=isinstance(q.u, Full), iso=_known_iso(q.u))

    def _scatter_vector(self, q: Any) -> Any:
        _numeric(q.u)
        return vector(q.index.size, q.u.dtype)

    def _locate_groups(self, q: Any) -> Any:
        _numeric(q.u)
        if q.u.dtype == np.uint64 or isinstance(q.u.iso, Typed):
            raise Untraceable(f"a search in values of {q.u.dtype}")
        made = vector(q.index.size, q.u.dtype, iso=q.u.iso)
        assert isinstance(made, Bitmap)
        return Located(made, vector(made.size, np.dtype(np.int64), structure=cast(Structure, made.words)))

    def _outside(self, q: Any) -> Any:
        _numeric(q.a)
        return vector(q.a.size, q.a.dtype, iso=_known_iso(q.a))


class _Alias:
    """A result that is at hand."""

    def __init__(self, store: Any) -> None:
        self.store = store


def _replaced(spec: Any, name: str, value: Any) -> Any:
    made = object.__new__(type(spec))
    vars(made).update(vars(spec))
    setattr(made, name, value)
    return made


def _same_structure(mask: Any, t: Any) -> bool:
    """Return whether a mask admits the entries of a vector, and no others."""
    if not isinstance(mask, Mask) or not mask.structural or mask.complement:
        return False
    return isinstance(mask.store, Bitmap) and isinstance(t, Bitmap) and mask.store.words is t.words


def _known_iso(store: Any) -> Any:
    return None if isinstance(store.iso, Typed) else store.iso


def _numeric(*stores: Any) -> None:
    for store in stores:
        if store.dtype.kind not in "biuf":
            raise Untraceable(f"values of {store.dtype}")
