"""Record operations as mathematics: ``with sr.Recorder() as r`` collects lines ``C<M.S, replace> += A min.plus B'``.

An operation is recorded when it is executed, under the names of the caller's variables (or the `name` of an object).
A formula is a tuple of parts: text, and names of objects, which may become known later.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextvars import Token
from types import FrameType
from typing import Any, Self, overload

from ..engines import recording
from ..engines.requests.operands import Index, Mask, Rows, Spec
from ..engines.requests.operations import FusedMxm
from ..formats import CSR, AnyPattern, IndexList, VectorStore
from ..formats.vectors import SingleEntry
from ..memory.arrays import to_host
from ..ops.write import Plan, Write
from .storage_slot import Holder

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


# Packages whose variables are not the user's.
_INTERNAL = ("facade", "ops", "engines", "formats", "memory", "operators", "storage", "plot", "apart", "config")
_FRAMES = 8
# Methods that operations call; they are not public.
_CALLED = frozenset({"elements", "region", "request", "write"})
# Operations whose result is at hand, or a transpose that is cached.
_AT_HAND = ("update", "dup", "transpose")


class _Name:
    """The name of a result that no variable had when it was computed; a variable that holds it later renames it."""

    def __init__(self, text: str) -> None:
        self.text, self.temporary = text, True

    def __str__(self) -> str:
        return self.text


class _Frame:
    """One operation that is executed: the requests that it made."""

    def __init__(self, plan: Plan[Any] | None) -> None:
        self.plan = plan
        self.formula: Formula | None = None
        self.kept = False  # whether the formula is that of a mask


class Recorder(Sequence[str]):
    """A list of the operations that were executed, one line of mathematics each.

    Parameters
    ----------
    start : whether to record at once; else `start`, or a ``with`` block, begins
    max_rows : how many lines `repr` shows

    Notes
    -----
    Lines read  ``C<mask, replace> accum= expression``.  ``A'`` is the transpose, ``u | v`` a union, ``u & v`` an
    intersection, ``x A*`` a closure, ``[plus_j A(:, j)]`` a reduction, ``A<tril(A, -1)>`` a selection.  A product
    ``A @ B`` is pending until it is used, and is recorded then: call ``.wait()`` on what no statement uses.
    It holds text, and keeps no object alive.  A recorder inside the block of another one records alone.  Where it does
    not record, an operation costs nothing more; where it does, the caller's variables are read for each one.

    Examples
    --------
    >>> import semiring as sr
    >>> A = sr.Matrix.from_edgelist([(0, 1), (1, 2)], [2.0, 3.0], nrows=3, ncols=3)
    >>> v = sr.Vector.from_coo([0], [0.0], size=3)
    >>> with sr.Recorder() as r:
    ...     _ = v(accum="min") << v.vxm(A, "min_plus")
    >>> print(*r)
    v min= v min.plus A
    """

    def __init__(self, *, start: bool = False, max_rows: int = 40) -> None:
        self.max_rows = max_rows
        self._lines: list[Formula] = []
        self._known: dict[int, tuple[weakref.ref[Any], Any]] = {}
        self._open: list[_Frame] = []  # the operations that are executed, each a step of the one before
        self._count = 0
        self._token: Token[Any] | None = None
        if start:
            self.start()

    # -- recording ---------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to record; what was recorded before stays.

        Examples
        --------
        >>> r, A = sr.Recorder(), Matrix.identity(2, float)
        >>> r.start()
        >>> B = (A @ A).wait()
        >>> r.stop()
        >>> print(*r)
        B = A plus.times A
        """
        if self._token is None:
            self._token = recording.FORMULAS.set(self)
            recording.count_users(1)

    def stop(self) -> None:
        """Stop recording.

        Examples
        --------
        >>> r = sr.Recorder(start=True)
        >>> r.stop()
        >>> r.is_recording
        False
        """
        if self._token is not None:
            self._named_now()
            recording.count_users(-1)
            try:
                recording.FORMULAS.reset(self._token)
            except ValueError:  # started in another context: another cell of a notebook, or another task
                recording.FORMULAS.set(None)
            self._token = None

    def clear(self) -> None:
        """Forget all lines.

        Examples
        --------
        >>> A = Matrix.identity(2, float)
        >>> with sr.Recorder() as r:
        ...     B = (A @ A).wait()
        >>> len(r)
        1
        >>> r.clear()
        >>> len(r)
        0
        """
        self._lines.clear()
        self._known.clear()
        self._count = 0

    @property
    def is_recording(self) -> bool:
        """True between `start` and `stop`."""
        return self._token is not None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # -- the lines ---------------------------------------------------------------------------------------

    @property
    def data(self) -> list[str]:
        """The lines, by python-graphblas's name."""
        return list(self)

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: Any) -> Any:
        """Return one line, or several of them.

        Parameters
        ----------
        at : int or slice

        Examples
        --------
        >>> A = Matrix.identity(2, float)
        >>> with sr.Recorder() as r:
        ...     B = (A @ A).wait()
        >>> r[0]
        'B = A plus.times A'
        """
        lines = self._lines[at]
        return [_text(line) for line in lines] if isinstance(at, slice) else _text(lines)

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()) - _CALLED)

    def __iter__(self) -> Iterator[str]:
        return map(_text, self._lines)

    def __repr__(self) -> str:
        state = " (recording)" if self.is_recording else ""
        lines = "\n".join(f"  {'...' if line is None else line}" for _, line in self._shown())
        return f"Recorder: {len(self)} operation{'' if len(self) == 1 else 's'}{state}" + (
            f"\n{lines}" if lines else ""
        )

    def _repr_html_(self) -> str:
        from .display import html_line, html_table

        lines = [["", "operation"], *([None, None] if line is None else [str(at), line] for at, line in self._shown())]
        return html_table(lines) if len(self) else html_line(repr(self))

    def _shown(self) -> list[tuple[int, str | None]]:
        """Return the first and the last lines with their numbers; None marks what is left out."""
        lines: list[tuple[int, str | None]] = list(enumerate(self))
        if len(lines) <= self.max_rows:
            return lines
        half = max(self.max_rows // 2, 1)
        return [*lines[:half], (half, None), *lines[-half:]]

    # -- called by the operations (`engines.recording.FORMULAS`) -----------------------------------------

    def write(self, plan: Plan[Any], out: Any, write: Write, run: Callable[[], Any], *, alone: bool = False) -> Any:
        """Execute  C<M, replace> accum= T  and add its line, unless it is a step of an operation that has one."""
        within = self._open[-1] if self._open and not alone else None
        if within is not None:  # a step of another operation, which has its line
            made = run()
            if within.formula is None and isinstance(plan.request, Spec):
                within.formula = formula_of(plan.request, self._namer())
            return made
        frame = _Frame(plan)
        request = getattr(plan.request, "spec", plan.request)
        formula = formula_of(request, self._namer()) if isinstance(request, Spec) else None
        if plan.operation in _AT_HAND:  # the requests that follow are those of the write
            formula = self._without_request(plan)
        target = self._target(plan, out)
        prefix = None if target is None else (target, assignment((), write, (), self._namer()))
        self._open.append(frame)
        try:
            made = run()
        finally:
            self._open.pop()
        formula = formula or frame.formula or self._without_request(plan)
        if out is not None and write.plain and len(formula) == 1 and self._adopted(formula[0], target):
            self._know(made, target)
            return made
        if prefix is None:
            target = self._new_name()
            prefix = target, assignment((), write, (), self._namer())
        if plan.mask is not None and not frame.kept:
            prefix = prefix[0], assignment((), Write(plan.mask), (), self._namer())
        self._lines.append((prefix[0], *prefix[1], *formula))
        self._know(made, target)
        return made

    def request(self, spec: Spec, run: Callable[[], Any]) -> Any:
        """Execute a request, and add a line unless it is a step of an operation."""
        within = self._open[-1] if self._open else None
        if within is not None:
            if within.formula is None and within.plan is not None and spec.name not in HOUSEKEEPING:
                within.formula, within.kept = formula_of(spec, self._namer()), spec.name == "keep"
            return self._inside(run)
        formula = None if spec.name in HOUSEKEEPING else formula_of(spec, self._namer())
        made = self._inside(run)
        if formula is None:
            return made
        store = getattr(made, "store", made)
        if not isinstance(store, (CSR, VectorStore)):
            self._lines.append(formula)
            return made
        name = self._new_name()
        self._lines.append((name, " = ", *formula))
        self._know(store, name)
        return made

    def region(self, c: Any, indices: tuple[Any, ...], source: Any, write: Write, run: Callable[[], Any]) -> Any:
        """Execute the assignment to a region and add its line:  C<M, replace>(I, J) accum= A."""
        if self._open:
            return run()
        names = self._namer()
        target = names(c)
        value = names(source) if isinstance(source, (CSR, VectorStore)) else str(source)
        where = "" if all(index.is_all for index in indices) else region_of(*indices)
        line = assignment((target, where), write, (value,), names)
        made = self._inside(run)
        self._lines.append(line)
        self._know(made, target)
        return made

    def elements(self, c: Any, count: int, run: Callable[[], Any]) -> Any:
        """Execute writes to single elements that were collected, and add one line for all."""
        target = self._namer()(c)
        made = self._inside(run)
        self._lines.append((target, f"(...) = {count} element{'' if count == 1 else 's'}"))
        self._know(made, target)
        return made

    def _inside(self, run: Callable[[], Any]) -> Any:
        """Execute steps that have no lines."""
        self._open.append(_Frame(None))
        try:
            return run()
        finally:
            self._open.pop()

    # -- names -------------------------------------------------------------------------------------------

    def _namer(self) -> Callable[..., Any]:
        """Return the function that names stores by the variables of this moment."""
        variables = _variables()

        def name(store: Any, *otherwise: Any) -> Any:
            found = variables.get(id(store))
            known = self._known.get(id(store))
            label = known[1] if known is not None and known[0]() is store else None
            if found is not None:
                if isinstance(label, _Name) and label.temporary:
                    label.text, label.temporary = found, False
                return found
            if label is not None:
                return label
            related = [_related(store, other, text) for other, text in variables.items() if not isinstance(other, int)]
            return next(filter(None, related), otherwise[0] if otherwise else _described(store))

        return name

    def _target(self, plan: Plan[Any], out: Any) -> Any:
        """Return the name of the output: of the object that is written, or of the variable whose result is pending."""
        found = _variables().get(id(plan) if out is None else id(out))
        return self._namer()(out) if found is None and out is not None else found

    def _new_name(self) -> _Name:
        self._count += 1
        return _Name(f"T{self._count}")

    def _adopted(self, value: Any, target: Any) -> bool:
        """Return whether  C = T  only names the temporary result T."""
        if not isinstance(value, _Name) or not value.temporary:
            return False
        value.text, value.temporary = str(target), False
        return True

    def _without_request(self, plan: Plan[Any]) -> Formula:
        """Return the formula of a plan that made no request: its result is at hand."""
        assert callable(plan.request)
        made: Any = plan.request()
        name = None if isinstance(made, Plan) else self._namer()(made, None)
        same = plan.operation in (*_AT_HAND, "extract", "select")
        if name is None:
            return (f"{plan.operation}(...)",)
        return (name,) if same else (f"{plan.operation}(", name, ")")

    def _know(self, store: Any, name: Any) -> None:
        store = getattr(store, "store", store)
        try:
            self._known[id(store)] = weakref.ref(store), name
        except TypeError:
            return

    def _named_now(self) -> None:
        """Name the results that variables hold by now."""
        name = self._namer()
        for reference, label in list(self._known.values()):
            store = reference()
            if store is not None and isinstance(label, _Name) and label.temporary:
                name(store)


def _text(line: Formula) -> str:
    return "".join(map(str, line))


def _variables() -> dict[Any, str]:
    """Return the names of the caller's variables, by the identity of their stores and plans, and by store."""
    found: dict[Any, str] = {}
    frame: FrameType | None = sys._getframe(1)
    seen = 0
    while frame is not None and seen < _FRAMES:
        module = frame.f_globals.get("__name__", "").split(".")
        if module[0] != __name__.partition(".")[0] or (len(module) > 1 and module[1] not in _INTERNAL):
            seen += 1
            for name, value in list(frame.f_locals.items()):
                if isinstance(value, Holder) and name.isidentifier() and not name.startswith("_"):
                    _add(found, value, value.name or name)
        frame = frame.f_back
    return found


def _add(found: dict[Any, str], value: Holder[Any], name: str) -> None:
    elements = value._elements
    for held in (value._store, value._plan, None if elements is None else elements.base):
        if held is not None:
            found.setdefault(id(held), name)
            if not isinstance(held, Plan):
                found.setdefault(held, name)


def _related(store: Any, other: Any, name: str) -> str | None:
    """Return a store by what it shares with that of a variable: its transpose, its structure, or its values."""
    pattern = store if isinstance(store, AnyPattern) else getattr(store, "pattern", None)
    if isinstance(other, CSR):
        if other.cache.get("transpose") is store or other.pattern.facts.get("transpose", 0) is pattern:
            return f"{name}'"
        if other.pattern is pattern:
            return f"pattern({name})"
    values = getattr(store, "values", None)
    return name if values is not None and other.values is values else None


def _described(store: Any) -> str:
    """Return a store that no variable holds by what it is."""
    if isinstance(store, SingleEntry):
        return f"e({store.index})"
    if isinstance(store, (CSR, IndexList)) and not store.nvals:
        return "{}"
    if isinstance(store, (CSR, AnyPattern)):
        return f"[{store.nrows} x {store.ncols}]"
    return f"[{store.iso}]" if store.iso is not None and store.format == "full" else f"[{store.size}]"
