"""What grids call instead of the functions below the operations that read arrays of an object."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from ... import operators
from ...config import engine_for
from ...devices import on_device, whole_of
from ...engines import registry
from ...engines.requests.operands import Index, Mask
from ...engines.requests.operations import BuildMatrix, ExtractRow, Keep, ScatterMatrix, ScatterVector
from ...exceptions import DeviceMismatch, DomainMismatch, IndexOutOfBound, InvalidType, InvalidValue
from ...facade import display
from ...facade.matrix import Matrix
from ...facade.vector import Vector
from ...formats import CSR, Array, VectorStore, dense_values, index_dtype
from ...operators import indexunary
from ...ops.api_map_reduce import total
from ...ops.apply import apply
from ...ops.assign import column_matrix, row_matrix
from ...ops.build import from_triples
from ...ops.cast import cast_store
from ...ops.closure import own_positions
from ...ops.convert import convert, index_list
from ...ops.equal import same, same_entries
from ...ops.extract import column_vector, element, places
from ...ops.layout import held, row_vector
from ...ops.link import numbers, singletons
from ...ops.locate import Groups, groups_of, rows_of_groups
from ...ops.reshape import diagonal_matrix, full_vector, larger, longer
from ...ops.structure import transposed
from ...ops.whole_graphs import of_whole
from ...ops.write import merge
from ...storage import compression, index, memory_plan
from ..grid import Grid, grid_of
from ..part_stores import PartVector
from ..rules import version_of

# -- where objects are ---------------------------------------------------------------------------------------


@version_of(on_device)
def _partition(device: Any, store: Any) -> Any:
    """Return the store of parts of an object that every process has as a whole."""
    return device.executor.grid.partition(store)


@version_of(whole_of)
def _allgather(store: Any) -> Any:
    """Return the whole of a store of parts, on every process.  Collective."""
    return grid_of(store).allgather(store)


def _on_part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that converts the block of each process; an error on one is raised on all.  Collective."""

    @functools.wraps(function)
    def converted(store: Any, *args: Any, **kwargs: Any) -> Any:
        grid = grid_of(store)
        part = grid.part(store)
        made = grid.run_then_barrier(lambda: function(part, *args, **kwargs))
        return store if grid.all_reduce_and(made is part) else grid.with_part(store, made)

    return converted


for _function in (compression.compress, compression.decompress, compression.convert):
    version_of(_function)(_on_part(_function))


@version_of(memory_plan.moved_whole)
def moved(store: CSR, placement: Any, target: str, operation: str) -> Any:
    """Return a matrix whose blocks are at another placement.  Collective."""
    return _on_part(memory_plan.moved)(store, placement, None, operation)


@version_of(compression.measure)
def measure(a: CSR, codec: Any) -> int:
    """Return the bytes that the block of this process would occupy."""
    return compression.measure(grid_of(a).part(a), codec)


# -- vectors and matrices of one another ---------------------------------------------------------------------


@version_of(row_matrix)
def grid_row_matrix(u: VectorStore) -> CSR:
    """Return a vector as a matrix of one row.  Collective."""
    return cast(CSR, grid_of(u).scatter_entries(u, (1, u.size), lambda i: (i * 0, i)))


@version_of(column_matrix)
def grid_column_matrix(u: VectorStore) -> CSR:
    """Return a vector as a matrix of one column.  Collective."""
    return cast(CSR, grid_of(u).scatter_entries(u, (u.size, 1), lambda i: (i, i * 0)))


@version_of(diagonal_matrix)
def grid_diagonal_matrix(u: VectorStore, k: int = 0, *, operation: str = "diag") -> CSR:
    """Return the matrix with a vector on its k-th diagonal.  Collective."""
    n = u.size + abs(k)
    return cast(CSR, grid_of(u).scatter_entries(u, (n, n), lambda i: (i + max(-k, 0), i + max(k, 0))))


@version_of(row_vector)
def grid_row_vector(a: CSR) -> Any:
    """Return a matrix of one row as a vector."""
    return registry.run(ExtractRow(a, 0), engine_for(a.device))


@version_of(column_vector)
def grid_column_vector(a: CSR) -> Any:
    """Return a matrix of one column as a vector."""
    return row_vector(transposed(a))


@version_of(held)
def grid_held(a: CSR, nrows: int, nvals: int) -> CSR:
    """Return a part of a concatenation as it is: parts are listed where blocks are built."""
    return a


@version_of(longer)
def grid_longer(u: VectorStore, size: int) -> Any:
    """Return the vector with a larger size."""
    return registry.run(ScatterVector(u, Index(size, u.size), None), engine_for(u.device))


@version_of(larger)
def grid_larger(a: CSR, nrows: int, ncols: int) -> Any:
    """Return the matrix with a larger shape."""
    whole = ScatterMatrix(a, Index(nrows, a.nrows), Index(ncols, a.ncols), None)
    return registry.run(whole, engine_for(a.device))


@version_of(from_triples)
def grid_from_triples(operation: str, spec: BuildMatrix, device: str) -> Any:
    """Return the matrix of the triples of all processes."""
    return registry.run(spec, engine_for(device))


@version_of(singletons)
def grid_singletons(size: int, device: Any) -> Any:
    """Return the forest in which every row is its own root."""
    grid: Grid = device.executor.grid
    first, last = grid.segment(size)
    dtype = index_dtype(size)
    return PartVector(grid, size, dtype, grid.run_then_barrier(lambda: numbers(first, last, dtype, grid.local)))


@version_of(own_positions)
def grid_own_positions(u: VectorStore, dtype: np.dtype[Any]) -> Any:
    """Return w(i) = i for the entries of u."""
    return cast_store(apply(u, indexunary.rowindex).into(), dtype, u.device)


# -- elements ------------------------------------------------------------------------------------------------


@version_of(places)
def grid_places(a: CSR | VectorStore, rows: Array, cols: Array | None = None) -> None:
    """Return None: no process has the slots of all positions."""


@version_of(element)
def grid_element(a: CSR | VectorStore, row: int, col: int = 0) -> Any:
    """Return A(i, j) or u(i), or None where nothing is stored.  Collective."""
    grid = grid_of(a)
    if isinstance(a, CSR):
        (top, bottom), (left, right) = grid.rows(a.nrows), grid.cols(a.ncols)
    else:
        (top, bottom), (left, right) = grid.segment(a.size), (0, 1)
    here = top <= row < bottom and left <= col < right
    return grid.broadcast_present(element(grid.part(a), row - top, col - left) if here else None)


@version_of(same_entries)
def grid_same_entries(a: Any, b: Any, tolerance: tuple[float, float] | None) -> bool:
    """Return whether the entries of two objects of one shape are equal, or close.  Collective."""
    grid = grid_of(a)
    return grid.all_reduce_and(same(grid.part(a), grid.part(b), check_dtype=False, tolerance=tolerance))


# -- index vectors and groups --------------------------------------------------------------------------------


def _outside(store: PartVector, size: int) -> int | None:
    """Return a value of a full vector of integers that is no index below `size`, or None.  Collective."""
    segment, wrong = dense_values(store.part), None
    if segment.size:
        low, high = int(segment.min()), int(segment.max())
        wrong = low if low < 0 else high if high >= size else None
    return cast("int | None", grid_of(store).broadcast_present(wrong))


@version_of(index.index_of_vector)
def index_of_vector(store: VectorStore, size: int, axis: str) -> Index:
    """Return a full vector as an index: each process checks its segment; of booleans all have all.  Collective."""
    if store.dtype.kind == "b" or not isinstance(store, PartVector):
        return index.index_of_whole(whole_of(store), size, axis, store.device)
    if store.dtype.kind not in "iu":
        raise DomainMismatch(f"{axis}: an index array must hold integers, got {store.dtype}")
    if store.nvals != store.size:
        raise InvalidType(f"a vector used as an index must be full; {store.nvals} of {store.size} are present")
    if (outside := _outside(store, size)) is not None:
        raise IndexOutOfBound(f"index {outside} is out of bounds for {axis} with size {size}")
    return Index(size, store.size, array=store)


@version_of(groups_of)
def grid_groups_of(u: VectorStore, labels: Any, size: int) -> Groups:
    """Return the groups of entries; those without a label are deleted, so that positions stay.  Collective."""
    if not isinstance(labels, VectorStore):
        return groups_of.__wrapped__(u, labels, size)  # type: ignore[attr-defined,no-any-return]
    if labels.dtype.kind not in "iu":
        raise InvalidValue(f"labels must hold integers, got {labels.dtype}")
    engine = engine_for(u.device)
    if labels.nvals != labels.size:
        u = registry.run(Keep(u, Mask(labels, True, False)), engine)
        labels = merge(full_vector(0, labels.size, labels.dtype, labels.device), labels, engine)
    full = cast(PartVector, convert(index_list(labels), "full"))
    if (wrong := _outside(full, size)) is not None:
        raise IndexOutOfBound(f"labels: {wrong} is out of bounds for the groups with size {size}")
    return Groups(u, Index(size, u.size, array=full), None)


@version_of(rows_of_groups)
def grid_rows_of_groups(u: VectorStore, labels: Index, origin: Array | None, ncols: int) -> CSR:
    """Return the matrix whose rows are the groups.  Collective."""
    kept = labels.array
    if not isinstance(kept, PartVector):
        return rows_of_groups.__wrapped__(u, labels, origin, ncols)  # type: ignore[attr-defined,no-any-return]
    first = grid_of(kept).segment(kept.size)[0]
    at = lambda i: (dense_values(kept.part)[i - first].astype(i.dtype), i)  # noqa: E731
    return cast(CSR, grid_of(kept).scatter_entries(u, (labels.size, ncols), at))


# -- whole calls ---------------------------------------------------------------------------------------------


@version_of(total)
def grid_total(store: CSR, turned: bool, function: Any, a: Any, items: Sequence[Any], monoid: Any, values: bool) -> Any:
    """Return the sum over processes of what the function returns for their parts of the items.  Collective."""
    grid = grid_of(store)
    whole: CSR | None = grid.replica(store, values=values) if len(items) >= grid.size else None
    if whole is None:
        return function(a, items)
    first, last = grid.rank * len(items) // grid.size, (grid.rank + 1) * len(items) // grid.size

    def computed() -> Any:
        matrix = a.with_store(transposed(whole, values=values) if turned else whole)
        made: Any = function(matrix, items[first:last])
        if made.store.device != grid.local:
            raise DeviceMismatch(
                f"map_reduce: the function returned an object on {made.store.device}, not {grid.local}"
            )
        return made

    made = grid.collective_call(computed)
    typed = operators.lookup_monoid(monoid).typed(made.store.dtype)
    return made.with_store(grid.reduce_scatter(made.store, typed))


# The most entries, and vertices, of a graph that `ops.small_as_whole` gathers on every process.
_SMALL = 1 << 20


@version_of(of_whole)
def grid_of_whole(A: Matrix, function: Callable[[Matrix], Any]) -> Any:
    """Return ``function(A)``, computed from the whole of a small graph on every process.  Collective."""
    if A.nvals > _SMALL or A.nrows > _SMALL:
        return function(A)
    grid = grid_of(A.store)
    whole = A.to(grid.local)
    return _in_parts(grid, grid.run_then_barrier(lambda: function(whole)))


def _in_parts(grid: Grid, made: Any) -> Any:
    """Return a result that all processes have, on the grid; floats are those of the first one."""
    if isinstance(made, (Matrix, Vector)):
        return made.to(grid.device)
    if isinstance(made, (float, np.floating)):
        return grid.comm.bcast(made, 0)
    if isinstance(made, tuple):
        parts = [_in_parts(grid, part) for part in made]
        return type(made)(*parts) if hasattr(made, "_fields") else tuple(parts)
    if dataclasses.is_dataclass(made) and not isinstance(made, type):
        fields = {field.name: _in_parts(grid, getattr(made, field.name)) for field in dataclasses.fields(made)}
        return dataclasses.replace(made, **fields)
    return made


@version_of(display.header)
def header(x: Any) -> str:
    """Describe an object by the part of this process, so that a single one can show it."""
    store, grid = x.store, grid_of(x)
    if x.ndim == 2:
        (top, bottom), (left, right) = grid.rows(store.nrows), grid.cols(store.ncols)
        part, where = store.pattern.part, f"rows {top}:{bottom}, columns {left}:{right}"
    else:
        first, last = grid.segment(store.size)
        part, where = getattr(store, "part", None), f"positions {first}:{last}"
    shape = f"{x.shape[0]} x {x.shape[1]}" if x.ndim == 2 else f"size {x.size}"
    held = "" if part is None else f", {display.counted(part.nvals)}"
    return f"{type(x).__name__}: {shape}, {x.dtype} on {x.device}; rank {grid.rank} holds {where}{held}"


@version_of(display.preview)
def preview(x: Any) -> Any:
    """Return no lines: entries of other processes cannot be shown without them."""
    return []
