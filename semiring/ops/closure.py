"""The closure of a vector under a matrix, in one call.

    c = x (+) x A (+) x A^2 (+) ...

frontier by frontier: entries that are new or have improved are multiplied again, until nothing changes.  The semiring
alone determines the algorithm:

    levels       min_plus   over a pattern of ones, from {source: 0}
    parents      any_secondi                        from {source: source}
    reachable    any_pair                           from {source: True}
    distances    min_plus   over weights            from {source: 0}
    widest path  max_min    over capacities         from {source: +inf}
    components   min_first  over a symmetric matrix from {v: v for all v}

The monoid must be idempotent (x (+) x = x); otherwise the iteration would not converge.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from .. import operators
from ..config import config, engine_for
from ..devices import dispatched
from ..dtypes import largest
from ..engines import registry
from ..engines.requests.graphs import Closure, ClosureResult, StrictParents
from ..engines.requests.operations import ReduceScalar, scalar_value
from ..engines.rows.residency import is_resident
from ..engines.shared.direction import derives_transpose
from ..engines.shared.iso_results import POSITIONS
from ..exceptions import ConvergenceFailure, DimensionMismatch, DomainMismatch, InvalidValue, NotSupported
from ..formats import CSR, IndexList, VectorStore
from ..memory.arrays import as_type
from ..operators import semiring as semirings
from ..operators.types import TypedSemiring
from . import check, structure
from .cast import cast_store
from .convert import index_list
from .ewise import ewise_mult
from .select import select


def closure(
    frontier: VectorStore,
    a: CSR,
    semiring: Any,
    *,
    transposed: bool = False,
    max_steps: int | None = None,
    trace: bool = False,
    parents: bool = False,
    direction: str | None = None,
) -> ClosureResult:
    """Return the closure of `frontier` under `a`, with the facts of its run.

    Shapes: A (n, n); the frontier n; the result n, of the semiring's type.
    max_steps: how many frontiers may be expanded; a closure that still changes after these raises
        ConvergenceFailure (its `.result` is the store so far).  Default: the number of rows of A, after which only
        a cycle that improves indefinitely (a negative one, for shortest paths) can still change an entry.
    direction: "auto", "push" or "pull"; None: the configured one.
    parents: also return, for each entry, the row of the entry that its value was computed from (`_parents`).
    Raises DomainMismatch for a monoid that is not idempotent; with parents, for one that is not min or max.
    Cost: O(nvals) where entries are final on arrival (levels, parents), else O(nvals) a step.
    Synchronizes once, at the end.
    """
    if a.nrows != a.ncols:
        raise DimensionMismatch(f"closure: the matrix must be square, got shape {a.shape}")
    if frontier.size != a.nrows:
        check.vector_size("closure", frontier, a.nrows, a, transposed)
    typed = typed_semiring(semiring, frontier.dtype, a)
    if parents:
        _check_parents(typed)
    if max_steps is not None and max_steps < 0:
        raise InvalidValue(f"closure: max_steps must not be negative, got {max_steps}")
    if direction not in (None, "auto", "push", "pull"):
        raise InvalidValue(f"closure: direction is 'auto', 'push' or 'pull', got {direction!r}")
    direction = config.direction if direction is None else direction
    device = a.device
    if frontier.device != device:
        check.one_device("closure", frontier.device, a)
    engine = engine_for(device)
    if frontier.dtype != typed.mult.z:
        frontier = cast_store(frontier, typed.mult.z, engine)
    values = "y" in typed.mult.uses
    final = final_on_arrival(frontier, a, typed)
    by_row = structure.rows(a, transposed, values=values)
    oriented = structure.orientation if direction == "push" else structure.rows
    by_column = oriented(a, not transposed, values=values)
    if not by_column.ready and derives_transpose(direction, final, is_resident(a)):
        by_column.get()
        by_column = structure.rows(a, not transposed, values=values)
    request = Closure(
        frontier=frontier,
        by_row=by_row,
        by_column=by_column,
        semiring=typed,
        final_on_arrival=final,
        max_steps=max(a.nrows, 1) if max_steps is None else max_steps,
        direction=direction,
        strategy=config.strategy,
        trace=trace,
    )
    result: ClosureResult
    if parents and not final and config.fusion:
        with_parents = replace(request, parents=True)
        row = registry.find(with_parents, engine)
        if row is not None and "parents" in row.fuses:
            request = with_parents
    result = registry.run(request, engine)
    if not result.converged:
        raise ConvergenceFailure(
            f"closure: still changing after {result.steps} steps",
            result=result.store,
            iterations=result.steps,
        )
    if parents and (not request.parents or _reaches_infinity(request, result.store, engine)):
        return replace(result, parents=_parents(request, result.store, final))
    return result


def typed_semiring(semiring: Any, dtype: np.dtype[Any], a: CSR) -> TypedSemiring:
    """Return the semiring for frontiers of this type; DomainMismatch for a monoid that is not idempotent."""
    typed: TypedSemiring = operators.typed("semiring", semiring, dtype, a.dtype)
    if "V" in (dtype.kind, a.dtype.kind, typed.z.kind):
        raise NotSupported(
            "closure: not defined on records; multiply step by step, or use a field: A.apply(lambda x: x.w)"
        )
    if not (typed.add.is_any or "idempotent" in typed.add.op.laws):
        raise DomainMismatch(
            f"closure: the monoid of {typed.name} is not idempotent, so the iteration does not converge; "
            "use one of min, max, any, lor, land, bor, band"
        )
    return typed


def _reaches_infinity(q: Closure, closed: VectorStore, engine: str) -> bool:
    """Return whether a value became infinite, and so equal to all that follow: the order of steps chose its row."""
    if q.semiring.z.kind != "f":
        return False
    extreme = [scalar_value(registry.run(ReduceScalar(u, q.semiring.add), engine)) for u in (closed, q.frontier)]
    worst = -np.inf if q.semiring.add.expr.order < 0 else np.inf
    return bool(extreme[0] == worst != extreme[1])


def _check_parents(typed: TypedSemiring) -> None:
    if not typed.add.expr.order or typed.z.kind == "c":
        raise DomainMismatch(
            f"closure_with_parents: the value of an entry is that of one path under min or max only, got {typed.name}"
        )
    if typed.mult.uses & POSITIONS:
        raise DomainMismatch(f"closure_with_parents: the operator of {typed.name} reads positions")


def _parents(q: Closure, closed: VectorStore, final: bool) -> VectorStore:
    """Return p with closed(v) = closed(p(v)) (x) A(p(v), v), a forest; roots, which kept their value, are their own.

    The entries for which this holds are *tight*: a search of them from the roots has no cycle, even where a product
    equals its operand.  Where entries are final on arrival, all that a search from the frontier follows are tight.
    """
    followed: Any = q.by_row.get()
    dtype = np.dtype(np.int32 if followed.nrows < largest(np.dtype(np.int32)) else np.int64)
    start: Any = q.frontier
    if not final:
        quick = _strict_parents(StrictParents(followed, closed, start, q.semiring))
        if quick is not None:
            return quick
        values: Any = closed  # a vector is every row of a matrix, or every column
        arriving: Any = ewise_mult(values, followed, q.semiring.mult).into()
        tight, kept = ewise_mult(arriving, values, "eq").into(), ewise_mult(start, values, "eq").into()
        followed, start = select(tight, "==", True).into(), select(kept, "==", True).into()
    return closure(own_positions(start, dtype), followed, semirings.any_secondi[dtype]).store


def _strict_parents(request: StrictParents) -> VectorStore | None:
    """Return the parents found in one pass; None where an entry has no strictly better row, or no engine finds them."""
    engine = engine_for(request.a.device)
    if not config.fusion or not registry.implemented(StrictParents, engine):
        return None
    row = registry.find(request, engine)
    return None if row is None else cast(VectorStore | None, registry.call(row, request))


@dispatched()
def own_positions(u: VectorStore, dtype: np.dtype[Any]) -> Any:
    """Return w(i) = i for the entries of u."""
    entries = index_list(u)
    return IndexList(entries.size, dtype, entries.indices, as_type(entries.indices, dtype))


def final_on_arrival(frontier: VectorStore | CSR, a: CSR, semiring: TypedSemiring) -> bool:
    """Return True if an entry, once present, can never change.

    This holds for the monoid `any`, whatever is multiplied; and for min_plus where every step adds the same
    weight >= 0 to the same start value: the first path that reaches a vertex is a shortest one.
    """
    if semiring.add.is_any:
        return True
    mult = semiring.mult
    # By their expressions: a user-defined operator may have the name of a built-in one.
    shortest = semiring.add.expr.order < 0 and mult.expr.is_addition
    if frontier.iso is None or a.iso is None or not shortest:
        return False
    start, weight = frontier.iso.item(), a.iso.item()
    if mult.z.kind == "f":
        return bool(weight >= 0)
    # Levels that overflow their type would wrap around and be smaller than their predecessors.
    return bool(weight >= 0) and int(start) + int(weight) * a.nrows <= largest(mult.z)
