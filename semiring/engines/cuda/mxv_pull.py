"""Pull: every row that the mask admits gathers its products; the strategy follows from the lengths of the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...formats import CSR, Bitmap, Full, VectorStore, word_count
from ..recording import note
from ..requests.operations import Mxv
from ..shared.iso_results import mxv_value
from . import tuning
from .algebra import ring_facts
from .columns import column_argument
from .degrees import degrees, present_rows
from .kernel import Kernel
from .launch import BLOCK, full, grid, values_of, words_of
from .mxv_covered import covers
from .mxv_kernels import PLANS, Output, balanced_kernels, count_bits_kernel, pull_kernel, types_of
from .mxv_mask import KernelMask
from .mxv_ranked import pull_ranked, ranked_columns, ranked_plan
from .primitives import as_dense
from .row_tiles import row_tiles

__all__ = ["pull"]


class _Rows(NamedTuple):
    """The strategy of a pull over the rows of a pattern, and the kernels of earlier pulls; cached with the pattern."""

    skewed: bool
    lanes: int
    longest: int
    plans: dict[tuple[Any, ...], _PullPlan]


class _PullPlan(NamedTuple):
    """The call plan of a pull: its name for `explain`, and its kernel or the two of a balanced pull."""

    chosen: str
    kernel: Kernel | None
    balanced: tuple[Kernel, Kernel] | None


def _rows(a: CSR) -> _Rows:
    known: _Rows | None = a.pattern.facts.get("cuda.pull")
    if known is None:
        facts = degrees(a.pattern)
        average = a.nvals / max(facts.nonempty, 1)  # synchronizes, once for a pattern
        skewed = facts.longest > max(tuning.SKEWED_ROW, tuning.BALANCED_SKEW * average)
        known = a.pattern.facts["cuda.pull"] = _Rows(skewed, _lanes(a, average), facts.longest, {})
    return known


def _pull_plan(q: Mxv, a: CSR, mask: KernelMask, rows: _Rows, valued: bool, likely: bool) -> _PullPlan:
    """valued: products have values of their own.  likely: see `_Choice`."""
    if len(rows.plans) >= PLANS:
        rows.plans.clear()
    types = types_of(q, a, mask, valued)
    early = (not valued or ring_facts(q.semiring).early) and (likely or rows.longest <= tuning.EARLY_ROW)
    if early or not rows.skewed:
        chosen, lanes = ("early", 1) if early else ("group", rows.lanes)
        return _PullPlan(chosen, pull_kernel(q.semiring, types, f"mxv_pull_{chosen}", lanes), None)
    return _PullPlan("balanced", None, balanced_kernels(q.semiring, types))


def pull(q: Mxv, mask: KernelMask, likely: bool, covered: bool | None = None) -> VectorStore:
    """likely: a row is expected to hit an entry of the vector in a few probes.

    covered: whether the vector has all columns that have entries (`mxv_covered`); None: it is not known.
    """
    a, u = q.by_row.get(), as_dense(q.vector)
    constant = mxv_value(q, a, u)
    sums = constant is None and mask.form == 0 and not ring_facts(q.semiring).early
    if sums and isinstance(u, Bitmap) and (covers(u, a.pattern) if covered is None else covered):  # synchronizes
        u = full(u.size, u.dtype, u.iso if u.values is None else u.values)
        q = replace(q, vector=u)
    if not isinstance(u, Full) or mask.form != 0:
        out = Output.of(q, constant)
        note(direction="pull", kernel=_launch(q, a, u, mask, likely, out))
        return out.store(q)
    # Which rows of the product have an entry is a fact of the pattern: only values are left to compute.
    if constant is not None:
        note(direction="pull", kernel="none")
        return present_rows(a.pattern, q.semiring.z, constant)
    values = cupy.empty(q.nout, q.semiring.z)
    note(direction="pull", kernel=_launch(q, a, u, mask, likely, Output(None, values, None, None)))
    return present_rows(a.pattern, q.semiring.z, values)


def _launch(q: Mxv, a: CSR, u: VectorStore, mask: KernelMask, likely: bool, out: Output) -> str:
    """Launch the kernels that fit the rows; return their name for `explain`."""
    rows = _rows(a)
    arguments = (
        a.pattern.indptr, column_argument(a.pattern), *values_of(a), words_of(u), *values_of(u), mask.words,
        mask.values, out.words, out.values, q.nout,
    )  # fmt: skip
    valued = out.constant is None
    if out.words is None and isinstance(u, Full) and rows.skewed:
        found = ranked_columns(q, a, u)
        if found is not None:
            assert out.values is not None
            pull_ranked(ranked_plan(q, a, u, found), a, u.values, found, out.values)
            return "ranked"
    key = q.semiring, a.dtype, u.dtype, type(u), mask.form, mask.complement, mask.dtype, q.flip, valued, likely
    plan = rows.plans.get(key)
    if plan is None:
        plan = rows.plans[key] = _pull_plan(q, a, mask, rows, valued, likely)
    if plan.balanced is not None:
        _balanced(a, plan.balanced, arguments, out)
    elif plan.kernel is not None:
        plan.kernel(grid(32 * word_count(q.nout)), BLOCK, *arguments, out.counter)
    return plan.chosen


def _lanes(a: CSR, average: float) -> int:
    """Return the lanes that process a row together; for compressed rows one or all, which decode by prefix sums."""
    if a.pattern.codec is not None:
        return 32 if average > tuning.DECODED_ROW else 1
    lanes = 1
    while lanes < 32 and 2 * lanes <= average:
        lanes *= 2
    return lanes


def _balanced(a: CSR, kernels: tuple[Kernel, Kernel], arguments: tuple[Any, ...], out: Output) -> None:
    """Divide rows and entries among tiles of equal size; a carry completes the rows that span several."""
    run_balanced, run_carry = kernels
    first_row, words, values = row_tiles(a.pattern), out.words, out.values
    tiles = int(first_row.size) - 1
    hit = cupy.empty(tiles, np.bool_)
    value = None if values is None else cupy.empty(tiles, values.dtype)
    if words is not None:
        words.data.memset_async(0, words.nbytes)
    block = tuning.TILE_BLOCK
    run_balanced(tiles, block, *arguments, a.nvals, first_row, hit, value)
    run_carry(-(-tiles // block), block, a.indptr, first_row, hit, value, tiles, words, values, a.nrows)
    if words is not None:
        size = int(words.size)
        count_bits_kernel()(grid(size), BLOCK, words, size, out.counter)
