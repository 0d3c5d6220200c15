"""The two libraries that execute a random operation: the same operands, built from the same stores."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import numpy as np

import semiring as sr
from semiring.engines.reference.dense import densify
from semiring.formats import CSR, Placement, Store
from tests.draw import VECTOR_FORMATS, make_matrix, make_vector
from tests.storage_kinds import KINDS, in_kind

SIZES = (1, 2, 3, 5, 8, 17, 33, 40)
DENSITIES = (0.0, 0.05, 0.3, 0.7, 1.0)
ISO = 0.25
FORMED = 0.2
SPECIAL = 0.3


def graphblas() -> Any:
    """python-graphblas, with errors raised where they happen."""
    gb = importlib.import_module("graphblas")
    gb.init("suitesparse", blocking=True)
    return gb


class Operands:
    """Stores by name, drawn for one trial."""

    def __init__(self, rng: np.random.Generator, engine: str) -> None:
        self.rng, self.engine, self.special = rng, engine, SPECIAL
        self.stores: dict[str, Store] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.kinds: dict[str, tuple[str | None, Placement]] = {}
        self.notes: list[str] = []

    def size(self) -> int:
        """A size, drawn."""
        return int(self.rng.choice(SIZES))

    def maybe(self, chance: float) -> bool:
        """True with that probability."""
        return bool(self.rng.random() < chance)

    def pick(self, choices: Any) -> Any:
        """One of the choices."""
        return choices[int(self.rng.integers(len(choices)))]

    def matrix(self, name: str, nrows: int, ncols: int, dtype: Any, *, positive: bool = False) -> None:
        """A matrix under this name, in any storage kind."""
        density, iso, seed = self.pick(DENSITIES), self.maybe(ISO), int(self.rng.integers(2**31))
        store = make_matrix(nrows, ncols, np.dtype(dtype), density, iso, seed)
        self.stores[name], self.shapes[name] = self._finished(store, positive), (nrows, ncols)
        if self.maybe(FORMED):
            self.kinds[name] = self.pick(KINDS)
        self.notes.append(f"{name} {nrows}x{ncols} {np.dtype(dtype)} density {density} {self.kinds.get(name, '')}")

    def vector(self, name: str, size: int, dtype: Any, *, positive: bool = False) -> None:
        """A vector under this name, in any format."""
        density, iso, seed = self.pick(DENSITIES), self.maybe(ISO), int(self.rng.integers(2**31))
        format = self.pick(VECTOR_FORMATS)
        store = make_vector(size, np.dtype(dtype), format, density, iso, seed)
        self.stores[name], self.shapes[name] = self._finished(store, positive), (size,)
        self.notes.append(f"{name} {size} {np.dtype(dtype)} {format} density {density}")

    def all_true(self, name: str) -> None:
        """Replace the values of an operand by one that is true."""
        store: Any = self.stores[name]
        self.stores[name] = replace(store, values=None, iso=store.dtype.type(1))

    def _finished(self, store: Any, positive: bool) -> Any:
        """With NaN, infinities and -0.0 among some floats; or, if `positive`, with small values from 0 on."""
        if positive:
            if store.iso is not None:
                return replace(store, iso=store.dtype.type(abs(int(store.iso)) % 8))
            return replace(store, values=(np.abs(store.values.astype(np.float64)) % 8).astype(store.dtype))
        if store.dtype.kind == "f" and store.values is not None and self.maybe(self.special):
            special = self.rng.random(store.values.size) < 0.15
            drawn = self.rng.choice(np.array([np.nan, np.inf, -np.inf, -0.0], store.dtype), store.values.size)
            return replace(store, values=np.where(special, drawn, store.values))
        return store


class Side:
    """One of the two libraries: its operands by name, made when they are first used.

    product_options: keyword arguments of a product of matrices.
    """

    def __init__(self, library: Any, operands: Operands) -> None:
        self.library, self._operands = library, operands
        self.is_ours = library is sr
        self.product_options: dict[str, str] = {}

    def __getattr__(self, name: str) -> Any:
        store = self.__dict__["_operands"].stores.get(name)
        if store is None:
            return getattr(self.library, name)
        made = self._ours(name, store) if self.is_ours else theirs_of(self.library, store)
        setattr(self, name, made)
        return made

    def _ours(self, name: str, store: Any) -> Any:
        engine = self._operands.engine
        if engine == "cuda":
            store = store.to("cuda")
        form = self._operands.kinds.get(name)
        if form is not None:
            store = in_kind(store, *form, engine)
        kind = sr.Matrix if isinstance(store, CSR) else sr.Vector
        return kind._new(store)

    def operator(self, kind: str, name: str, dtype: str = "") -> Any:
        """An operator by the name of its module and its own; `dtype` is read where the libraries differ."""
        module = getattr(self.library, kind)
        if not self.is_ours and kind == "semiring":
            if name[-1] in "ij":
                module = module.ss  # positional semirings are SuiteSparse's own
            elif name.endswith("_pair"):
                return getattr(module, name)[dtype]  # of bool it makes int64 there
        return getattr(module, name)

    def scalar(self, value: np.generic) -> Any:
        """A typed scalar as an argument."""
        return value if self.is_ours else self.library.Scalar.from_value(value.item(), dtype=value.dtype)

    def done(self, result: Any) -> Any:
        """An object, of an expression of python-graphblas or of ours."""
        return result.dup() if self.is_ours else result.new()


def theirs_of(gb: Any, store: Any) -> Any:
    """The same entries in SuiteSparse."""
    if isinstance(store, CSR):
        values = store.values if store.values is not None else np.full(store.nvals, store.iso, store.dtype)
        indptr, indices = store.indptr.astype(np.uint64), store.indices.astype(np.uint64)
        return gb.Matrix.from_csr(indptr, indices, values, ncols=store.ncols, dtype=store.dtype)
    values, present = densify(store)
    at = np.flatnonzero(present)
    return gb.Vector.from_coo(at, values[at], size=store.size, dtype=store.dtype)


def arrays(result: Any) -> tuple[list[np.ndarray[Any, Any]], np.ndarray[Any, Any], tuple[int, ...], str]:
    """Positions (in order), values, shape and type of a result of either library; a scalar has one position or none."""
    if not hasattr(result, "to_coo"):
        value = result.value
        dtype = np.dtype(getattr(result.dtype, "np_type", result.dtype))
        return [], np.array([] if value is None else [value], dtype), (), dtype.name
    *at, values = (np.asarray(part.get() if hasattr(part, "get") else part) for part in result.to_coo())
    dtype = np.dtype(getattr(result.dtype, "np_type", result.dtype))
    return [part.astype(np.int64) for part in at], values, tuple(result.shape), dtype.name
