"""The operations that are drawn: for each, its operators and types, and the call that both libraries execute.

An engine compiles anew for each operation, operator and types, so the cases are a fixed list, in an order in which
any first part contains every operation; shapes, contents, storage kinds, masks, accumulators and aliasing are drawn
freely.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from tests.draw import contents
from tests.faults._operation_sides import Operands, Side

Call = Callable[[Side], Any]


class Case(NamedTuple):
    """An operation with its operator and the types of its operands."""

    operation: str
    operator: str
    left: str
    right: str = ""

    def __str__(self) -> str:
        return f"{self.operation} {self.operator} {self.left} {self.right or self.left}"


@dataclass
class Request:
    """What both libraries compute.

    call: the result on one side, as an expression.  shape: of the result, or of the target that a region is of.
    dtype: of the result where there is no expression.  region: positions of the target that
    `assign` and `subassign` write to.  sub: the mask concerns the region alone.  masked: the shape of the mask, if it
    is not that of the target.
    """

    call: Call
    shape: tuple[int, ...]
    dtype: Any
    region: Any = None
    sub: bool = False
    masked: tuple[int, ...] | None = None


def _products(rng: Operands, case: Case) -> Request:
    """C = A B, w = A u, w' = u' A, each operand transposed or not."""
    nrows, inner, ncols = rng.size(), rng.size(), rng.size()
    ta, tb = rng.maybe(0.4), rng.maybe(0.4)
    left, right = case.left, case.right or case.left
    op = case.operator

    def of(s: Side, name: str, transposed: bool) -> Any:
        return getattr(s, name).T if transposed else getattr(s, name)

    if case.operation == "mxm":
        rng.matrix("A", *((inner, nrows) if ta else (nrows, inner)), left)
        rng.matrix("B", *((ncols, inner) if tb else (inner, ncols)), right)
        return Request(
            lambda s: of(s, "A", ta).mxm(of(s, "B", tb), s.operator("semiring", op, left), **s.product_options),
            (nrows, ncols),
            None,
        )
    matrix, vector = (left, right) if case.operation == "mxv" else (right, left)
    rng.vector("u", inner, vector)
    if case.operation == "mxv":
        rng.matrix("A", *((inner, nrows) if ta else (nrows, inner)), matrix)
        return Request(lambda s: of(s, "A", ta).mxv(s.u, s.operator("semiring", op, left)), (nrows,), None)
    rng.matrix("A", *((ncols, inner) if ta else (inner, ncols)), matrix)
    return Request(lambda s: s.u.vxm(of(s, "A", ta), s.operator("semiring", op, left)), (ncols,), None)


def _elementwise(rng: Operands, case: Case) -> Request:
    """On the intersection, on the union, and on the union with given values for missing entries."""
    left, right = case.left, case.right or case.left
    nrows, ncols, tb = rng.size(), rng.size(), rng.maybe(0.3)
    is_vector = rng.maybe(0.5)
    if is_vector:
        shape: tuple[int, ...] = (nrows,)
        rng.vector("u", nrows, left)
        rng.vector("v", nrows, right)
    else:
        shape = (nrows, ncols)
        rng.matrix("A", nrows, ncols, left)
        rng.matrix("B", *((ncols, nrows) if tb else (nrows, ncols)), right)
    fill = [_scalar(rng, name) for name in (left, right)]

    def call(s: Side) -> Any:
        x, y = (s.u, s.v) if is_vector else (s.A, s.B.T if tb else s.B)
        op = s.operator("binary", case.operator)
        if case.operation == "ewise_union":
            return x.ewise_union(y, op, s.scalar(fill[0]), s.scalar(fill[1]))
        return getattr(x, case.operation)(y, op)

    return Request(call, shape, None)


def _one_operand(rng: Operands, case: Case, call: Callable[[Side, Any], Any]) -> Request:
    """Of a vector or of a matrix, which may be transposed."""
    nrows, ncols, t = rng.size(), rng.size(), rng.maybe(0.3)
    if rng.maybe(0.5) and not case.operator.startswith(("tri", "diag", "offdiag", "col", "row")):
        rng.vector("u", nrows, case.left)
        return Request(lambda s: call(s, s.u), (nrows,), None)
    rng.matrix("A", *((ncols, nrows) if t else (nrows, ncols)), case.left)
    return Request(lambda s: call(s, s.A.T if t else s.A), (nrows, ncols), None)


def _apply(rng: Operands, case: Case) -> Request:
    return _one_operand(rng, case, lambda s, x: x.apply(s.operator("unary", case.operator)))


def _apply_bound(rng: Operands, case: Case) -> Request:
    """f(x, y) with one of both bound to a scalar."""
    value, left = _scalar(rng, case.left), rng.maybe(0.5)
    side = "left" if left else "right"
    return _one_operand(rng, case, lambda s, x: x.apply(s.operator("binary", case.operator), **{side: s.scalar(value)}))


def _apply_position(rng: Operands, case: Case) -> Request:
    return _one_operand(rng, case, lambda s, x: x.apply(s.operator("indexunary", case.operator)))


def _select(rng: Operands, case: Case) -> Request:
    thunk = np.int64(rng.pick((-3, -1, 0, 1, 2, 7)))
    if case.operator.startswith("value"):
        thunk = _scalar(rng, case.left)
    return _one_operand(rng, case, lambda s, x: x.select(s.operator("select", case.operator), s.scalar(thunk)))


def _reduce(rng: Operands, case: Case) -> Request:
    """Of the rows, of the columns, or to a scalar."""
    nrows, ncols, how = rng.size(), rng.size(), rng.pick(("rowwise", "columnwise", "scalar", "vector"))
    if how == "vector":
        rng.vector("u", nrows, case.left)
        return Request(lambda s: s.u.reduce(s.operator("monoid", case.operator)), (), None)
    t = rng.maybe(0.3)
    rng.matrix("A", *((ncols, nrows) if t else (nrows, ncols)), case.left)
    shape: tuple[int, ...] = {"rowwise": (nrows,), "columnwise": (ncols,), "scalar": ()}[how]
    return Request(
        lambda s: getattr(s.A.T if t else s.A, f"reduce_{how}")(s.operator("monoid", case.operator)), shape, None
    )


def _places(rng: Operands, size: int, *, unique: bool) -> Any:
    """Positions below `size`: a list, a range, or all of them."""
    kind = rng.pick(("list", "slice", "all"))
    if kind == "all":
        return slice(None)
    if kind == "slice":
        first, last = sorted(int(one) for one in rng.rng.integers(0, size + 1, 2))
        return slice(first, last, rng.pick((1, 1, 2, 3)))
    if unique:
        return rng.rng.permutation(size)[: int(rng.rng.integers(1, size + 1))].tolist()
    return rng.rng.integers(0, size, int(rng.rng.integers(1, size + 2))).tolist()


def _count(places: Any, size: int) -> int:
    return len(range(*places.indices(size))) if isinstance(places, slice) else len(places)


def _extract(rng: Operands, case: Case) -> Request:
    """v[I], A[I, J], a row of A, and a column of it."""
    nrows, ncols, how, t = rng.size(), rng.size(), rng.pick(("vector", "matrix", "row", "column")), rng.maybe(0.3)
    I, J = _places(rng, nrows, unique=False), _places(rng, ncols, unique=False)
    if how == "vector":
        rng.vector("u", nrows, case.left)
        return Request(lambda s: s.u[I], (_count(I, nrows),), None)
    rng.matrix("A", *((ncols, nrows) if t else (nrows, ncols)), case.left)
    i, j = int(rng.rng.integers(nrows)), int(rng.rng.integers(ncols))
    key, shape = {
        "matrix": ((I, J), (_count(I, nrows), _count(J, ncols))),
        "row": ((i, J), (_count(J, ncols),)),
        "column": ((I, j), (_count(I, nrows),)),
    }[how]
    return Request(lambda s: (s.A.T if t else s.A)[key], shape, None)


def _assign(rng: Operands, case: Case) -> Request:
    """C(M)[I, J] << B covers all of C with its mask, C(m)[i, J] << u the row i; C[I, J](M) << B the region alone.

    B and u may be scalars.
    """
    nrows, ncols, sub = rng.size(), rng.size(), case.operation == "subassign"
    I, J = _places(rng, nrows, unique=True), _places(rng, ncols, unique=True)
    i, j = int(rng.rng.integers(nrows)), int(rng.rng.integers(ncols))
    value = _scalar(rng, case.left) if rng.maybe(0.3) else None
    how = rng.pick(("vector", "matrix", "row", "column"))
    shape = (nrows,) if how == "vector" else (nrows, ncols)
    key, part, whole = {
        "vector": (I, (_count(I, nrows),), None),
        "matrix": ((I, J), (_count(I, nrows), _count(J, ncols)), None),
        "row": ((i, J), (_count(J, ncols),), (ncols,)),
        "column": ((I, j), (_count(I, nrows),), (nrows,)),
    }[how]
    name = "B" if len(part) == 2 else "u"
    if value is None:
        (rng.matrix if name == "B" else rng.vector)(name, *part, case.left)
    rng.notes.append(f"region {key}")
    call = lambda s: s.scalar(value) if value is not None else getattr(s, name)  # noqa: E731
    return Request(call, shape, case.left, key, sub, part if sub else whole)


def _transpose(rng: Operands, case: Case) -> Request:
    nrows, ncols = rng.size(), rng.size()
    rng.matrix("A", ncols, nrows, case.left)
    return Request(lambda s: s.A.T, (nrows, ncols), None)


def _diagonal(rng: Operands, case: Case) -> Request:
    """Of a matrix, and the square matrix that has a vector on one."""
    nrows, ncols, k = rng.size(), rng.size(), int(rng.rng.integers(-4, 5))
    if rng.maybe(0.5):
        rng.vector("u", nrows, case.left)
        return Request(lambda s: s.u.diag(k), (nrows + abs(k),) * 2, None)
    rng.matrix("A", nrows, ncols, case.left)
    k = min(max(k, 1 - nrows), ncols - 1)
    length = min(nrows + min(k, 0), ncols - max(k, 0))
    return Request(lambda s: s.A.diag(k), (length,), None)


def _closure(rng: Operands, case: Case) -> Request:
    """x + xA + xAA + ..., against products in a loop until nothing changes."""
    n, t = rng.size(), rng.maybe(0.3)
    rng.vector("u", n, case.left, positive=True)
    rng.matrix("A", n, n, case.left, positive=True)
    if case.operator == "any_pair":  # any of a false start and of true arrivals would do
        rng.all_true("u")

    def call(s: Side) -> Any:
        A = s.A.T if t else s.A
        op = s.operator("semiring", case.operator, case.left)
        if s.is_ours:
            return s.library.ops.closure(s.u, A, op)
        monoid = (op if case.operator.endswith("_pair") else op[case.left]).monoid.binaryop
        total = s.u.dup()
        for _ in range(n):
            before = total.dup()
            total(accum=monoid) << total.vxm(A, op)
            if total.isequal(before):
                break
        return total

    return Request(call, (n,), None)


def _scalar(rng: Operands, dtype: str) -> Any:
    value = contents(rng.rng, 1, np.dtype(dtype))[0]
    # python-graphblas cannot make a scalar of an unsigned number beyond int64.
    return value if dtype != "uint64" or value < 2**63 else value.dtype.type(2**63 - 1)


DRAW: dict[str, Callable[[Operands, Case], Request]] = {
    "mxm": _products,
    "mxv": _products,
    "vxm": _products,
    "ewise_add": _elementwise,
    "ewise_mult": _elementwise,
    "ewise_union": _elementwise,
    "apply": _apply,
    "apply_bound": _apply_bound,
    "apply_position": _apply_position,
    "select": _select,
    "reduce": _reduce,
    "extract": _extract,
    "assign": _assign,
    "subassign": _assign,
    "transpose": _transpose,
    "diag": _diagonal,
    "closure": _closure,
}

_SEMIRINGS = """plus_times int64; min_plus float64; any_pair bool; lor_land bool; plus_times int8 float32;
max_second uint16; plus_times float64; min_firstj int64; max_plus int8; plus_pair int64; min_first int32;
plus_times uint64; max_times float32; min_plus int64; plus_first float32; land_lor bool; lxor_land bool;
plus_times int8; max_secondi int64; min_max uint8; plus_minus int32; times_plus int16"""
_ELEMENTWISE = """plus int64; first float64; lor bool; minus int8; max float32; times int8 float64; second uint16;
min uint64; minus float64; eq int64; plus float32; lt float64; pair int64; land bool; times int32; ge uint8"""
_MOVED = "int64; float64; bool; int8; float32; uint16; uint64"
_LISTS: dict[str, str] = {
    **dict.fromkeys(("mxm", "mxv", "vxm"), _SEMIRINGS),
    **dict.fromkeys(("ewise_add", "ewise_mult", "ewise_union"), _ELEMENTWISE),
    "apply": """ainv int64; abs float64; identity bool; one int8; sqrt float64; lnot bool; abs int8; ainv uint16;
        minv float32; floor float32; bnot uint8; signum float64; exp float64""",
    "apply_bound": "plus int64; minus float64; first int8; lor bool; times uint16; min float32; lt int64; minus int8",
    "apply_position": "rowindex int64; colindex float64",
    "select": """tril int64; valuegt float64; offdiag bool; valuene int8; rowle float32; colgt uint16; valueeq bool;
        triu int8; diag float64; valuele uint64; valuelt int64; valuege float32; rowgt int64; colle bool""",
    "reduce": """plus int64; min float64; lor bool; max int8; plus float32; times int32; land bool; lxor bool;
        bor uint16; band uint8; max uint64; lxnor bool; bxor uint64; min int64; plus float64; plus int8""",
    **{name: "; ".join(f"- {dtype}" for dtype in _MOVED.split("; ")) for name in
       ("extract", "assign", "subassign", "transpose", "diag")},
    "closure": "min_plus int64; any_pair bool; max_min int32; min_plus float64; lor_land bool; min_max int64",
}  # fmt: skip


def _all_cases() -> tuple[Case, ...]:
    rows = [[Case(name, *words.split()) for words in listed.split(";")] for name, listed in _LISTS.items()]
    return tuple(case for layer in zip_longest(*rows) for case in layer if case is not None)


CASES = _all_cases()
