"""Grids of one process: requests go to the engine of the parts as they are, because a part is the whole object.

Nothing is divided, encoded or sent.  This holds for the requests of `_WHOLE`, which have one meaning for engines and
grids; others are prepared differently for a grid, have a mask that some implementations fuse and others do not, or hold
orientations that may have to be derived.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ...engines import registry
from ...engines.requests.graphs import AcyclicClosure, LocalMoving, Peel, Span, Treefix, Vote
from ...engines.requests.operands import Index, Mask
from ...engines.requests.operations import (
    Apply,
    BuildVector,
    Convert,
    Ewise,
    ExtractMatrix,
    ExtractRow,
    ExtractVector,
    IsSymmetric,
    Keep,
    Kronecker,
    LocateGroups,
    LocateRows,
    Outside,
    ReduceRows,
    ReduceScalar,
    Scale,
    Scan,
    ScatterMatrix,
    ScatterVector,
    Select,
    SelectK,
    SortRows,
    Transpose,
)
from ...engines.requests.storage import Encode, Permute
from ...formats import CSR, AnyPattern, Full, VectorStore, dense_values, index_dtype
from ...formats.pattern import scalar_facts
from ..grid import Grid
from ..part_stores import PartPattern, PartValues, PartVector
from ..partition import local, local_mask, vector
from ..rules import single

_OF_ENTRIES = (Apply, Convert, Encode, Ewise, Keep, Outside, Select, SelectK)
_OF_POSITIONS = (ExtractMatrix, ExtractRow, ExtractVector, Permute, ScatterMatrix, ScatterVector, Transpose)
_OF_ROWS = (LocateGroups, LocateRows, ReduceRows, ReduceScalar, Scale, Scan, SortRows)
_OF_GRAPHS = (AcyclicClosure, LocalMoving, Peel, Span, Treefix, Vote)
_WHOLE = frozenset(_OF_ENTRIES + _OF_POSITIONS + _OF_ROWS + _OF_GRAPHS + (BuildVector, IsSymmetric, Kronecker))
# Whose result has the structure of the operand.
_KEEP_STRUCTURE = (Apply, Scan)


@single
def alone(function: Callable[[Any, Grid], Any], q: Any, grid: Grid) -> Any:
    """Return the result of a request on a grid of one process; `function` is the operation of grids."""
    kind: Any = type(q)
    if kind not in _WHOLE or not registry.implemented(kind, grid.engine):
        return function(q, grid)
    if kind is Scale and not isinstance(local(q.u), Full):  # engines intersect it with the rows
        return function(q, grid)
    given = {name: getattr(q, name) for name in _names(kind)}
    parts: Any = object.__new__(kind)
    vars(parts).update({name: _part(value) for name, value in given.items()})
    return _whole(registry.run(parts, grid.engine), q, grid)


@functools.cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind))


def _part(value: Any) -> Any:
    """Return the part of an operand."""
    if isinstance(value, (CSR, VectorStore)):
        return local(value)
    if isinstance(value, PartPattern):
        return value.part
    if isinstance(value, Mask):
        return local_mask(value)
    if isinstance(value, Index) and isinstance(value.array, PartVector):
        numbers = dense_values(local(value.array)).astype(index_dtype(value.size), copy=False)
        return Index(value.size, value.count, array=numbers)
    return tuple(map(_part, value)) if type(value) is tuple else value


def _whole(made: Any, q: Any, grid: Grid) -> Any:
    """Return a result of the engine as one of the grid."""
    if isinstance(made, CSR):
        pattern = _pattern(made.pattern, q, grid)
        if made.iso is not None:
            return CSR(pattern, made.dtype, None, made.iso)
        whole = CSR(pattern, made.dtype, PartValues(made.values, None))
        whole.cache["part"] = made
        return whole
    if isinstance(made, VectorStore):
        return vector(grid, made.size, made, iso=made.iso)
    if isinstance(made, AnyPattern):
        return _pattern(made, q, grid)
    if is_dataclass(made) and not isinstance(made, type):
        return replace(made, **{name: _whole(getattr(made, name), q, grid) for name in _names(made.__class__)})
    return made


def _pattern(part: AnyPattern, q: Any, grid: Grid) -> PartPattern:
    """Return the structure of a result: that of an operand with all that is known of it, if it is the same one."""
    if type(q) in _KEEP_STRUCTURE:
        kept: PartPattern = q.a.pattern.with_block(part)
        return kept
    for name in _names(q.__class__):
        value = getattr(q, name)
        pattern = value.pattern if isinstance(value, CSR) else value
        if isinstance(pattern, PartPattern) and pattern.part is part:
            return pattern
    return PartPattern(grid, part.nrows, part.ncols, part, scalar_facts(part))
