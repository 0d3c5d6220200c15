"""The operators that differential tests draw from.

An engine compiles anew for each combination of operator and types, which costs a second or more; so a run uses a small
pool, while shapes, formats and masks are drawn freely.  The pool is a sample (`tests.sampling`): most of it from rows
that are chosen to contain one operator of every kind, the rest from every built-in operator on every type and from
semirings that the table does not list.  ``--exhaustive`` uses all of them.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

from semiring.dtypes import BOOL, FC32, FC64, FP32, FP64, INT8, INT32, INT64, UINT8, UINT16, UINT64
from semiring.operators import binary, catalog, indexunary, lookup_semiring, monoid, select, semiring, unary
from tests import sampling

DType = np.dtype[Any]

absdiff = binary.register_new("absdiff_of_tests", "abs(x - y)")
clip = unary.register_new("clip_of_tests", lambda x: min(max(x, 0), 2))
near = indexunary.register_new("near_of_tests", lambda x, i, j, k: abs(i - j) <= k)
wider = monoid.register_new("wider_of_tests", lambda x, y: x if x > y else y, identity=0)
udf = semiring.register_new("udf_of_tests", wider, absdiff)


class Semiring(NamedTuple):
    """A typed semiring, and the types of the operands (which are cast where they differ)."""

    typed: Any
    left: DType
    right: DType


class Operator(NamedTuple):
    """A typed operator or monoid, and the type of its (first) operand."""

    typed: Any
    operand: DType


def _parameters(name: str, usual: list[Any], more: list[Any]) -> list[Any]:
    """Parametrization of a test: a sample of the usual rows and one of the others, and under --exhaustive all rows.

    As many as there are usual rows; a third of these on the CPU engine, which takes longest to compile.
    """
    others = [row for row in dict.fromkeys(more) if row not in usual]
    count = max(len(usual) // 3, 2) if sampling.engine == "cpu" else len(usual)
    sample = sampling.draw(name, usual, count - 1) + sampling.draw(f"{name}, others", others, 1)
    return [pytest.param(row, id=_id(row), marks=sampling.marks(row, sample)) for row in [*usual, *others]]


def _id(row: Any) -> str:
    typed, *operands = row
    return "-".join([typed.name, typed.z.name, *(operand.name for operand in operands)])


def _own_types(*kinds: str) -> list[Operator]:
    """Every built-in operator of these kinds, on its own types."""
    return [Operator(typed, (typed.op if kind == "monoid" else typed).x) for kind, typed in catalog(*kinds)]


def _composed() -> list[Semiring]:
    adds = ("plus", "min", "max", "times", "any")
    by_value = ("times", "plus", "minus", "first", "second", "pair", "max")
    by_position = ("firsti", "firstj", "secondi", "secondj")
    logic = ("lor_land", "land_lor", "lxor_land", "lxnor_lor")
    rows = [
        *product(adds, by_value, (INT8, UINT16, INT32, UINT64, FP32, FP64)),
        *product(adds, by_position, (INT32, INT64)),
        *product(("plus", "times", "any"), ("times", "first", "second", "pair", "minus", "div"), (FC32, FC64)),
    ]
    typed = [lookup_semiring(f"{add}_{mult}")[on] for add, mult, on in rows]
    typed += [lookup_semiring(name)[BOOL] for name in logic]
    return [Semiring(found, found.x, found.y) for found in typed]


SEMIRINGS = _parameters(
    "semirings",
    [
        Semiring(semiring.plus_times[FP64], FP64, FP64),
        Semiring(semiring.plus_times[FP32], INT8, FP32),
        Semiring(semiring.min_plus[INT32], INT32, INT32),
        Semiring(semiring.max_second[UINT8], FP64, UINT8),
        Semiring(semiring.lor_land[BOOL], BOOL, BOOL),
        Semiring(semiring.plus_pair[INT64], BOOL, BOOL),
        Semiring(semiring.any_pair[BOOL], BOOL, BOOL),
        Semiring(semiring.any_secondi[INT64], BOOL, BOOL),
        Semiring(semiring.min_firstj[INT64], INT32, BOOL),
        Semiring(semiring.any_first[UINT16], UINT16, INT32),
        Semiring(udf[INT64], INT64, INT64),
    ],
    _composed(),
)

MONOIDS = _parameters(
    "monoids",
    [
        Operator(monoid.plus[FP64], FP64),
        Operator(monoid.plus[INT8], INT8),
        Operator(monoid.min[FP32], INT32),
        Operator(monoid.max[UINT64], UINT64),
        Operator(monoid.times[INT32], INT32),
        Operator(monoid.lor[BOOL], FP32),
        Operator(monoid.lxnor[BOOL], BOOL),
        Operator(monoid.any[INT64], INT64),
        Operator(wider[INT64], INT64),
    ],
    _own_types("monoid"),
)

BINARIES = _parameters(
    "binaries",
    [
        Operator(binary.plus[FP64], FP64),
        Operator(binary.plus[INT8], INT8),
        Operator(binary.minus[UINT8], INT32),
        Operator(binary.first[FP32], FP32),
        Operator(binary.pair[BOOL], INT64),
        Operator(binary.lt[INT32], FP64),
        Operator(binary.secondi[INT64], BOOL),
        Operator(absdiff[INT64], INT64),
    ],
    _own_types("binary"),
)

# Accumulators read values only.
ACCUMULATORS = _parameters(
    "accumulators",
    [Operator(binary.plus[FP64], FP64), Operator(binary.first[INT8], INT8), Operator(absdiff[INT64], INT64)],
    [row for row in _own_types("binary") if not row.typed.uses & {"xi", "xj", "yi", "yj"}],
)

INDEXUNARIES = _parameters(
    "indexunaries",
    [
        Operator(indexunary.rowindex[INT64], FP64),
        Operator(indexunary.colindex[INT64], INT32),
        Operator(indexunary.diagindex[INT64], BOOL),
        Operator(indexunary.valuegt[INT32], INT32),
        Operator(near[INT64], INT64),
    ],
    _own_types("indexunary"),
)

SELECTS = _parameters(
    "selects",
    [
        Operator(select.tril[INT64], FP64),
        Operator(select.offdiag[INT64], INT64),
        Operator(select.rowle[INT64], UINT8),
        Operator(select.colgt[INT64], BOOL),
        Operator(select.valuene[FP64], FP64),
        Operator(select.valuelt[INT32], INT8),
    ],
    _own_types("select"),
)
