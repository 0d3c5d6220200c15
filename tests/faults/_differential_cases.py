"""The operations of the differential campaign: those of `_operation_cases`, and those that only the specification has.

A *block* of trials shares what an engine compiles for: the operation with its operator and types, the storage kinds,
accumulators and types of masks.  All else is drawn for each trial: shapes, structures, values, transposes, writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import semiring as sr
from semiring.formats import CSR, PLACEMENTS, Bitmap, Full, IndexList, Pattern, Placement, Store, index_dtype
from tests.draw import VECTOR_FORMATS, make_vector, matrix_of
from tests.faults import _operation_cases
from tests.faults._operation_cases import Case, Request
from tests.faults._operation_sides import Operands, Side
from tests.storage_kinds import KINDS, OTHER_FORMATS, in_format, in_kind

# "one row", "one column": beside few other entries.
STYLES = (
    "random", "random", "sparse", "sparse", "dense", "empty", "full", "full rows", "one row", "one column", "diagonal",
)  # fmt: skip
_DENSITIES = {"random": 0.3, "dense": 0.7, "full": 1.0, "empty": 0.0}
_SIZES = (1, 1, 2, 3, 5, 8, 17, 31, 32, 33, 40, 65)
_FORMED = 0.3
_ISO = 0.2
_SPECIAL = 0.2
# A large dimension has entries at as many of its positions as the dimension that is drawn has.
_LARGE = 70_000

# Those that may have a dimension of size 0, and those whose results do not depend on positions.
_MAYBE_EMPTY = frozenset(("mxm", "mxv", "vxm", "ewise_add", "ewise_mult", "apply", "select", "reduce", "transpose"))
_ANYWHERE = _MAYBE_EMPTY | {"ewise_union", "apply_bound"}


class Drawn(Operands):
    """Operands of any structure, in the storage kinds of a block; with large dimensions if `large`."""

    def __init__(self, rng: np.random.Generator, engine: str, block: Block, large: bool) -> None:
        super().__init__(rng, engine)
        self.block, self.large = block, large
        # Ties between 0.0 and -0.0 and the order of NaN are an engine's own.
        self.special = 0.0 if block.case.operation in ("sort", "selectk") else _SPECIAL
        self.formats: dict[str, str] = {}

    def size(self) -> int:
        if self.block.case.operation in _MAYBE_EMPTY and not self.large and self.maybe(0.03):
            return 0
        return int(self.rng.choice(_SIZES))

    def matrix(self, name: str, nrows: int, ncols: int, dtype: Any, *, positive: bool = False) -> None:
        style, iso, dtype = self.pick(STYLES), self.maybe(_ISO), np.dtype(dtype)
        store = matrix_of(self._present(nrows, ncols, style), dtype, iso, self.rng)
        self.stores[name], self.shapes[name] = self._finished(store, positive), (nrows, ncols)
        if self.maybe(_FORMED):
            self.kinds[name] = self.pick(self.block.kinds)
            if self.kinds[name][0] in OTHER_FORMATS:
                self.formats[name] = str(self.kinds[name][0])
        self.notes.append(f"{name} {nrows}x{ncols} {dtype} {style}{' iso' if iso else ''} {self.kinds.get(name, '')}")

    def vector(self, name: str, size: int, dtype: Any, *, positive: bool = False) -> None:
        style, iso, dtype = self.pick(STYLES[:7]), self.maybe(_ISO), np.dtype(dtype)
        format = self.pick(VECTOR_FORMATS if style == "full" and not self.large else VECTOR_FORMATS[:2])
        store = make_vector(size, dtype, format, _DENSITIES.get(style, 0.05), iso, int(self.rng.integers(2**31)))
        self.stores[name], self.shapes[name] = self._finished(store, positive), (size,)
        self.notes.append(f"{name} {size} {dtype} {style}{' iso' if iso else ''} {format}")

    def _present(self, nrows: int, ncols: int, style: str) -> np.ndarray[Any, Any]:
        if style == "diagonal":
            return np.eye(nrows, ncols, dtype=np.bool_)
        if style == "full rows":
            return np.repeat(self.rng.random((nrows, 1)) < 0.7, ncols, axis=1)
        found = self.rng.random((nrows, ncols)) < _DENSITIES.get(style, 0.05)
        if style == "one row" and nrows:
            found[int(self.rng.integers(nrows))] = True
        if style == "one column" and ncols:
            found[:, int(self.rng.integers(ncols))] = True
        return found


class Block:
    """What the trials of a block share: see the module.

    wider: the share of targets of a wider type than the result's.  large: of trials with large dimensions.
    """

    def __init__(self, seed: int, number: int) -> None:
        order = np.random.default_rng([seed, 0]).permutation(len(CASES))
        self.case = CASES[order[number % len(CASES)]]
        rng = np.random.default_rng([seed, number, 1])
        kinds: list[tuple[str | None, Placement]] = [*KINDS, *((name, "device") for name in OTHER_FORMATS)]
        self.kinds = [kinds[int(rng.integers(len(kinds)))]]
        if self.kinds[0][0] in OTHER_FORMATS:
            self.kinds[0] = (self.kinds[0][0], PLACEMENTS[int(rng.integers(len(PLACEMENTS)))])
        self.accumulators = {kind: [names[int(rng.integers(len(names)))]] for kind, names in _ACCUMULATORS.items()}
        self.mask_types = ("bool",) if rng.random() < 0.7 else ("int64",)
        self.wider = 0.5 if rng.random() < 0.2 else 0.0
        positional = self.case.operator[-1:] in ("i", "j") or (
            self.case.operation == "select" and not self.case.operator.startswith("value")
        )
        self.large = 0.15 if self.case.operation in _ANYWHERE and not positional else 0.0

    def __str__(self) -> str:
        return f"{self.case}"


_ACCUMULATORS = {
    "b": ("lor", "land", "second", "first", "lxor"),
    "": ("plus", "min", "max", "second", "minus", "first"),
}


class Specified(Side):
    """The engine ``reference``: uncompressed matrices without large dimensions."""

    def __init__(self, operands: Operands) -> None:
        super().__init__(sr, operands)

    def _ours(self, name: str, store: Any) -> Any:
        return _object(store)


class Tested(Side):
    """The engine that is compared.  method: of a product of matrices."""

    def __init__(self, operands: Drawn, method: str) -> None:
        super().__init__(sr, operands)
        self.drawn = operands
        self.product_options = {"method": method}

    def _ours(self, name: str, store: Any) -> Any:
        drawn = self.drawn
        if drawn.large:
            store = spread(store)
        if drawn.engine == "cuda":
            store = store.to("cuda")
        kind = drawn.kinds.get(name)
        if name in drawn.formats:
            store = in_format(store, drawn.formats[name], kind[1], drawn.engine)  # type: ignore[index]
        elif kind is not None:
            store = in_kind(store, *kind, drawn.engine)
        return _object(store)


def _object(store: Store) -> Any:
    return sr.Matrix._new(store) if isinstance(store, CSR) else sr.Vector._new(store)


def large_size(size: int) -> int:
    """The large dimension that stands for one of this size, the same wherever it occurs."""
    return _LARGE + 1000 * size


def places(size: int) -> np.ndarray[Any, Any]:
    """The positions of the large dimension that may have entries, ascending."""
    found = np.random.default_rng(size).choice(large_size(size), size, replace=False)
    return np.sort(found)


def spread(store: Any) -> Any:
    """The store with its entries at the positions of large dimensions."""
    if isinstance(store, CSR):
        nrows, ncols = (large_size(size) for size in store.shape)
        counts = np.zeros(nrows + 1, np.int64)
        counts[places(store.nrows) + 1] = np.diff(store.indptr)
        indptr = np.cumsum(counts).astype(index_dtype(store.nvals))
        indices = places(store.ncols)[store.indices].astype(index_dtype(ncols))
        return replace(store, pattern=Pattern(nrows, ncols, indptr, indices), cache={})
    size = large_size(store.size)
    if isinstance(store, Full):
        at, values = np.arange(store.size), store.values
    elif isinstance(store, Bitmap):
        at = np.flatnonzero(np.unpackbits(store.words.view(np.uint8), bitorder="little")[: store.size])
        values = None if store.values is None else store.values[at]
    else:
        at, values = store.indices, store.values
    return IndexList(size, store.dtype, places(store.size)[at].astype(index_dtype(size)), values, store.iso)


def gathered(found: Any, shape: tuple[int, ...]) -> Any:
    """The arrays of a result with large dimensions at the positions that stand for these; `shape` is the small one."""
    at, values, got, dtype = found
    assert got == tuple(large_size(size) for size in shape), f"shape {got}"
    small = []
    for size, part in zip(shape, at, strict=True):
        known = places(size)
        where = np.searchsorted(known, part)
        assert part.size == 0 or (known[np.minimum(where, size - 1)] == part).all(), "an entry where none can be"
        small.append(where)
    return small, values, shape, dtype


def _outer(rng: Operands, case: Case) -> Request:
    n, m = rng.size(), rng.size()
    rng.vector("u", n, case.left)
    rng.vector("v", m, case.left)
    return Request(lambda s: s.u.outer(s.v, s.operator("binary", case.operator)), (n, m), None)


def _kronecker(rng: Operands, case: Case) -> Request:
    sizes = [rng.pick((1, 2, 3, 5, 7)) for _ in range(4)]
    ta, tb = rng.maybe(0.3), rng.maybe(0.3)
    rng.matrix("A", *(sizes[1::-1] if ta else sizes[:2]), case.left)
    rng.matrix("B", *(sizes[:1:-1] if tb else sizes[2:]), case.left)

    def call(s: Side) -> Any:
        return (s.A.T if ta else s.A).kronecker(s.B.T if tb else s.B, s.operator("binary", case.operator))

    return Request(call, (sizes[0] * sizes[2], sizes[1] * sizes[3]), None)


def _rowwise(rng: Operands, case: Case) -> Request:
    """Running totals, sorting and choices of k entries, in rows or columns."""
    nrows, ncols, order = rng.size(), rng.size(), rng.pick(("rowwise", "columnwise"))
    k, part = int(rng.rng.integers(0, 9)), int(rng.maybe(0.5))
    rng.matrix("A", nrows, ncols, case.left)

    def call(s: Side) -> Any:
        if case.operation == "scan":
            return s.A.scan(s.operator("monoid", case.operator), order)
        if case.operation == "sort":
            return s.A.sort(case.operator, order)[part]
        return s.A.selectk(case.operator, k, order, seed=k)

    return Request(call, (nrows, ncols), None)


def _laid_out(rng: Operands, case: Case) -> Request:
    """The same entries at other positions, or those of two matrices side by side."""
    nrows, ncols, order = rng.size(), rng.size(), rng.pick(("rowwise", "columnwise"))
    rng.matrix("A", nrows, ncols, case.left)
    down, right = (int(rng.rng.integers(-5, 6)) for _ in range(2))
    if case.operator == "hstack":
        other = rng.size()
        rng.matrix("B", nrows, other, case.left)
        return Request(lambda s: s.library.hstack([s.A, s.B]), (nrows, ncols + other), None)
    if case.operator == "vstack":
        other = rng.size()
        rng.matrix("B", other, ncols, case.left)
        return Request(lambda s: s.library.vstack([s.A, s.B]), (nrows + other, ncols), None)
    if case.operator == "reposition":
        return Request(lambda s: s.A.reposition(down, right), (nrows, ncols), None)
    if case.operator == "flatten":
        return Request(lambda s: s.A.flatten(order=order), (nrows * ncols,), None)
    return Request(lambda s: s.A.reshape(ncols, nrows, order=order), (ncols, nrows), None)


def _broadcast(rng: Operands, case: Case) -> Request:
    """A matrix and a vector, which is the row that every row is combined with."""
    nrows, ncols, union = rng.size(), rng.size(), rng.maybe(0.5)
    rng.matrix("A", nrows, ncols, case.left)
    rng.vector("u", ncols, case.left)
    name = "ewise_add" if union else "ewise_mult"
    return Request(lambda s: getattr(s.A, name)(s.u, s.operator("binary", case.operator)), (nrows, ncols), None)


def _power(rng: Operands, case: Case) -> Request:
    n, exponent = rng.pick((1, 2, 5, 17)), int(rng.rng.integers(0, 4))
    rng.matrix("A", n, n, case.left)
    return Request(lambda s: s.A.power(exponent, s.operator("semiring", case.operator, case.left)), (n, n), None)


_LISTS = {
    "outer": "times int64; plus float32; second bool",
    "kronecker": "times int64; plus float64; first int8; lor bool",
    "scan": "plus int64; min float32; lor bool; times int8",
    "sort": "lt int64; gt float32; lt bool; gt int8",
    "selectk": "largest int64; smallest float32; first int8; last bool; random uint16",
    "layout": "hstack int64; vstack float32; reposition bool; flatten int8; reshape float64; reshape bool",
    "broadcast": "times int64; plus float32; first int8; lor bool",
    "power": "plus_times int64; min_plus float64; lor_land bool",
}
_OWN: dict[str, Callable[[Operands, Case], Request]] = {
    "outer": _outer,
    "kronecker": _kronecker,
    **dict.fromkeys(("scan", "sort", "selectk"), _rowwise),
    "layout": _laid_out,
    "broadcast": _broadcast,
    "power": _power,
}
DRAW: dict[str, Callable[[Operands, Case], Request]] = {**_operation_cases.DRAW, **_OWN}
# What SuiteSparse executes too.
WITH_ORACLE = frozenset(_operation_cases.DRAW) | {"outer", "kronecker"}
CASES: tuple[Case, ...] = (
    *_operation_cases.CASES,
    *(Case(name, *words.split()) for name, listed in _LISTS.items() for words in listed.split(";")),
)
