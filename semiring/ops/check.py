"""The checks of every operation before it calls an engine: devices, shapes, masks."""

from __future__ import annotations

from typing import Any, cast

from ..config import engine_for
from ..devices import in_parts
from ..dtypes import DType
from ..engines import registry
from ..engines.requests.operands import Mask
from ..engines.requests.operations import Convert
from ..exceptions import DeviceMismatch, DimensionMismatch, DomainMismatch, InvalidValue, RankMismatch
from ..formats import CSR, Full, Store, VectorStore


def shape_of(operand: Any) -> tuple[int, ...]:
    """(nrows, ncols) of a matrix, (size,) of a vector; of a store or a plan."""
    return (operand.size,) if isinstance(operand, VectorStore) else operand.shape


def one_device(operation: str, device: str, *stores: Any) -> str:
    """Return `device`, on which all stores (or plans, or None) must reside; DeviceMismatch otherwise."""
    for store in stores:
        if store is not None and store.device != device:
            hint = "move one with .to('cuda') or .to('cpu')"
            if in_parts(device, store.device):
                hint = ".to(grid.device) divides one over the grid, .to('cpu') gathers one"
                if in_parts(device) and in_parts(store.device):
                    hint = "grids of other processes or another shape: .to('cpu').to(grid.device) divides one again"
            raise DeviceMismatch(f"{operation}: operands are on {device} and {store.device}; {hint}")
    return device


def engine_of(operation: str, first: Store, *others: Store | None) -> str:
    """Return the engine for these operands; DeviceMismatch if they reside on different devices."""
    return engine_for(one_device(operation, first.device, *others))


def same_shape(operation: str, a: Any, b: Any) -> None:
    """Raise DimensionMismatch unless both have one shape; mentions `.T` where transposing would fit."""
    if isinstance(a, VectorStore) and isinstance(b, VectorStore) and a.size == b.size:
        return
    left, right = shape_of(a), shape_of(b)
    if left != right:
        raise DimensionMismatch(f"{operation}: shapes {left} and {right} differ{transpose_hint(left, right)}")


def output_shape(operation: str, out: Store | None, mask: Mask | None, shape: tuple[int, ...]) -> None:
    """Raise DimensionMismatch unless the output and the mask have the shape of the result."""
    if out is not None and (out.shape if isinstance(out, CSR) else (out.size,)) != shape:
        raise _other_shape(operation, "output", out, shape)
    if mask is None:
        return
    of = mask.store
    if (of.shape if isinstance(of, CSR) else (of.size,)) != shape:
        if len(shape_of(mask.store)) != len(shape):
            kinds = {1: "Vector", 2: "Matrix"}
            expected, got = kinds[len(shape)], kinds[len(shape_of(mask.store))]
            raise RankMismatch(f"{operation}: the result is a {expected}, and its mask must be one too; got a {got}")
        raise _other_shape(operation, "mask", mask.store, shape)


def _other_shape(operation: str, role: str, store: Store, shape: tuple[int, ...]) -> DimensionMismatch:
    got = shape_of(store)
    hint = transpose_hint(shape, got)
    return DimensionMismatch(f"{operation}: the result has shape {shape}, the {role} {got}{hint}")


def transpose_hint(a: tuple[int, ...], b: tuple[int, ...]) -> str:
    """Return the hint for a message where transposing one of two matrices would make the shapes agree, else ''."""
    return "; they would fit with .T" if len(a) == len(b) == 2 and a == b[::-1] else ""


def vector_size(operation: str, u: Any, expected: int, a: Any, transposed: bool) -> None:
    """Raise DimensionMismatch unless the vector fits the matrix."""
    (size,) = shape_of(u)
    if size != expected:
        shape = shape_of(a)
        nrows, ncols = shape[::-1] if transposed else shape
        other = nrows if expected == ncols else ncols
        hint = "; it would fit with .T" if other == size else ""
        raise DimensionMismatch(
            f"{operation}: a matrix of shape ({nrows}, {ncols}) needs a vector of size {expected}, got {size}{hint}"
        )


def full_vector(operation: str, name: str, v: VectorStore, n: int, dtypes: tuple[DType, ...]) -> Full:
    """Return the vector `name` in the format full; an error unless its type is listed and all entries are present."""
    if v.size != n:
        raise DimensionMismatch(f"{operation}: {name} has size {v.size}, and the matrix {n} rows")
    if v.dtype not in dtypes:
        raise DomainMismatch(f"{operation}: {name} must be {' or '.join(map(str, dtypes))}, got {v.dtype}")
    if not isinstance(v, Full):
        if v.nvals == n:
            return cast(Full, registry.run(Convert(v, "full"), engine_of(operation, v)))
        raise InvalidValue(f"{operation}: {name} must have an entry for every row, and has {v.nvals} of {n}")
    return v
