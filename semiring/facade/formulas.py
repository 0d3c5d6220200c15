"""Requests to an engine as formulas:  ``A min.plus B'``,  ``plus(u | v)``,  ``[max_j A(:, j)]``.

A formula is a tuple of parts: text, and names of objects, which may become known later.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engines.requests.operands import Index, Mask, Rows, Spec
from ..engines.requests.operations import FusedMxm
from ..formats import CSR, AnyPattern, VectorStore
from ..memory.arrays import to_host

# The parts of a formula; a name has its text when it is printed.
Formula = tuple[Any, ...]
# Names a store.
Namer = Callable[..., Any]

# Accumulators that Python's operators write.
_ACCUM = {"plus": "+=", "minus": "-=", "times": "*=", "truediv": "/=", "lor": "|=", "land": "&=", "second": "="}
# Positions that are listed.
_FEW = 4
# Requests about the storage of an object, which are no operations of the algebra.
HOUSEKEEPING = frozenset(
    {"is_symmetric", "convert", "slices", "measure_compressed", "check_compressed", "encode", "import_csr", "transpose"}
)


def assignment(target: Formula, write: Any, formula: Formula, names: Namer) -> Formula:
    """Return  C<M, replace> accum= T  for the target C, a `Write`, and the formula of T."""
    inside: list[Any] = [] if write.mask is None else [mask_of(write.mask, names)]
    if write.replace:
        inside.append(("replace",))
    mask: Formula = ("<", *_joined(inside), ">") if inside else ()
    name = None if write.accum is None else str(getattr(write.accum, "name", ""))
    sign = "=" if not name else _ACCUM.get(name, f"{name}=")
    return (*target, *mask, f" {sign} ", *formula)


def mask_of(mask: Mask, names: Namer) -> Formula:
    """Return a mask:  M.S, ~M.V."""
    return ("~" if mask.complement else "", names(mask.store), ".S" if mask.structural else ".V")


def formula_of(spec: Spec, names: Namer) -> Formula:
    """Return what a request computes."""
    known = _FORMULAS.get(spec.name)
    if known is not None:
        return known(spec, names)
    operands = [names(value) for value in vars(spec).values() if isinstance(value, (CSR, VectorStore, AnyPattern))]
    return (f"{spec.name}(", *_joined([(operand,) for operand in operands]), ")")


def region_of(*indices: Any) -> str:
    """Return the part of an object that is read or written:  (2:10, :)."""
    return f"({', '.join(_index(index) for index in indices)})"


def _joined(formulas: list[Any], by: str = ", ") -> Formula:
    parts: list[Any] = []
    for at, formula in enumerate(formulas):
        parts += [by] if at else []
        parts += formula
    return tuple(parts)


def _index(index: Any) -> str:
    if isinstance(index, int):
        return str(index)
    assert isinstance(index, Index)
    if index.is_all:
        return ":"
    if index.array is not None:
        listed = to_host(index.array).tolist() if index.count <= _FEW else []
        return str(listed[0]) if len(listed) == 1 else str(listed) if listed else f"[{index.count} positions]"
    if index.count == 1:
        return str(index.start)
    stop = index.start + index.step * index.count
    end = "" if stop < 0 else str(stop)
    return f"{index.start}:{end}" if index.step == 1 else f"{index.start}:{end}:{index.step}"


def _side(straight: Rows, turned: Rows | None, names: Namer) -> Formula:
    """Return the name of a matrix of which one orientation or both are at hand."""
    found = None
    for rows, mark in ((straight, ""), (turned, "'")):
        if rows is not None and rows.ready:
            name = names(rows.get(), None)
            if name is not None:
                return (name, mark)
            found = found or (rows, mark)
    if found is None:
        return (names(straight.get()),)
    return (names(found[0].get()), found[1])


def _times(semiring: Any) -> str:
    return f" {semiring.label or f'{semiring.add.name}.{semiring.mult.name}'} "


def _mxv(spec: Any, names: Namer) -> Formula:
    if spec.flip:
        return (names(spec.vector), _times(spec.semiring), *_side(spec.by_column, spec.by_row, names))
    return (*_side(spec.by_row, spec.by_column, names), _times(spec.semiring), names(spec.vector))


def _mxm(spec: Any, names: Namer) -> Formula:
    return (names(spec.a), _times(spec.semiring), *_side(spec.by_row, spec.by_column, names))


def _product(spec: FusedMxm, names: Namer) -> Formula:
    mask: Formula = () if spec.mask is None else ("<", *mask_of(spec.mask, names), ">")
    return ("(", *_mxm(spec, names), ")", *mask)


def _ewise(spec: Any, names: Namer) -> Formula:
    sign = " & " if spec.mode == "intersect" else " | "
    defaults = f", {spec.alpha}, {spec.beta}" if spec.mode == "fill" else ""
    return (f"{spec.op.name}(", names(spec.a), sign, names(spec.b), f"{defaults})")


def _called(op: Any, operand: Any, thunk: Any) -> Formula:
    """Return an operator of one value, which may have a thunk or a bound side:  sin(A), minus(2, A), tril(A, -1)."""
    if "k" not in op.uses:
        return (f"{op.name}(", operand, ")")
    first = [name for name in op.expr.variables if name in ("k", "x")] == ["k", "x"]
    return (f"{op.name}({thunk}, ", operand, ")") if first else (f"{op.name}(", operand, f", {thunk})")


def _select(spec: Any, names: Namer) -> Formula:
    operand = names(spec.a)
    return (operand, "<", *_called(spec.op, operand, spec.k), ">")


def _selected_product(spec: Any, names: Namer) -> Formula:
    return (*_product(spec, names), "<", *_called(spec.op, "", spec.k), ">")


def _closure(spec: Any, names: Namer) -> Formula:
    return (names(spec.frontier), *_closed(spec, names))


def _closed(spec: Any, names: Namer) -> Formula:
    return (_times(spec.semiring), *_side(spec.by_row, spec.by_column, names), "*")


def _kept(spec: Any, names: Namer) -> Formula:
    return (names(spec.a), "<", *mask_of(spec.mask, names), ">")


def _scale(spec: Any, names: Namer) -> Formula:
    sides = (names(spec.u), names(spec.a)) if spec.by_rows else (names(spec.a), names(spec.u))
    return (f"{spec.op.name}(", sides[0], " & ", sides[1], ")")


_FORMULAS: dict[str, Callable[[Any, Namer], Formula]] = {
    "mxv": _mxv,
    "write_mxv": _mxv,
    "mxm": _mxm,
    "ewise": _ewise,
    "select": _select,
    "keep": _kept,
    "scale": _scale,
    "closure": _closure,
    "closure_rows": lambda s, names: (names(s.frontiers), *_closed(s, names)),
    "closure_many": lambda s, names: ("S any.pair ", *_side(s.by_row, s.by_column, names), "*"),
    "mxm_select": _selected_product,
    "apply": lambda s, names: _called(s.op, names(s.a), s.k),
    "kronecker": lambda s, names: (names(s.a), f" kron.{s.op.name} ", names(s.b)),
    "inner": lambda s, names: (names(s.u), "'", _times(s.semiring), names(s.v)),
    "reduce_rows": lambda s, names: (f"[{s.monoid.name}_j ", names(s.a), "(:, j)]"),
    "reduce_scalar": lambda s, names: (f"[{s.monoid.name} ", names(s.a), "]"),
    "mxm_reduce_rows": lambda s, names: (f"[{s.monoid.name}_j ", *_product(s, names), "(:, j)]"),
    "mxm_reduce_scalar": lambda s, names: (f"[{s.monoid.name} ", *_product(s, names), "]"),
    "extract_vector": lambda s, names: (names(s.u), region_of(s.index)),
    "extract_matrix": lambda s, names: (names(s.a), region_of(s.rows, s.cols)),
    "extract_row": lambda s, names: (names(s.a), f"({s.row}, :)"),
    "transpose": lambda s, names: (names(s.a), "'"),
    "scan": lambda s, names: (f"scan_{s.monoid.name}(", names(s.a), ")"),
    "sort_rows": lambda s, names: ("sort(", names(s.a), ")"),
    "select_k": lambda s, names: (f"{s.how}_{s.k}(", names(s.a), ")"),
    "reshape": lambda s, names: ("reshape(", names(s.a), f", {s.nrows} x {s.ncols})"),
    "concat": lambda s, names: ("concat(", *_joined([(names(tile),) for tile in s.tiles]), ")"),
    "build_vector": lambda s, names: (f"build({s.indices.size} entries)",),
    "build_matrix": lambda s, names: (f"build({s.rows.size} entries)",),
}
