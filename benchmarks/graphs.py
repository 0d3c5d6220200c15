"""The graphs that are measured, by name: ``kron22``, ``grid5000x5000``, ``uniform2000000x32``, ``star100000000``.

They are generated on the device of new objects, and are the same on every device; see `semiring.random`.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import semiring as sr

SEED = 1
_NAME = re.compile(r"([a-z]+)(\d+)(?:x(\d+))?(?:x(\d+))?(w?)")


def make(name: str) -> sr.Matrix:
    """The graph of that name; with a ``w`` at its end, weights from 1 to 255 (kron and uniform).

    ``kron<scale>``: Graph500 Kronecker, edge factor 16.  ``uniform<vertices>x<edges a vertex>``.
    ``grid<rows>x<columns>``, ``grid<layers>x<rows>x<columns>``.  ``star<leaves>``.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise SystemExit(f"no graph is called {name!r}; examples: kron18, grid1000x1000, uniform100000x32, star1000")
    kind, first, second = found[1], int(found[2]), int(found[3] or 16)
    weights = "uniform" if found[5] else None
    match kind:
        case "kron":
            return sr.random.kronecker(first, second, seed=SEED, weights=weights)
        case "uniform":
            return sr.random.uniform(first, second, seed=SEED, weights=weights)
        case "grid":
            return (
                sr.random.grid2d(first, second) if found[4] is None else sr.random.grid3d(first, second, int(found[4]))
            )
        case "star":
            return sr.random.star(first)
    raise SystemExit(f"no graph is called {name!r}; there are kron, uniform, grid and star")


def arrays(A: sr.Matrix) -> tuple[Any, Any]:
    """(indptr, indices) on the matrix's device, shared with it."""
    indptr, indices, _ = A.to_csr(index_dtype=None)
    return indptr, indices


def sources(A: sr.Matrix, count: int) -> list[int]:
    """Random rows that are not isolated, distinct if there are enough; the same for every device."""
    indptr, _ = arrays(A)
    occupied = (indptr[1:] > indptr[:-1]).nonzero()[0]
    total = int(occupied.size)
    drawn = np.random.default_rng(SEED).choice(total, size=count, replace=total < count)
    return [int(occupied[int(place)]) for place in drawn]


def module(A: sr.Matrix) -> Any:
    """NumPy or CuPy, whichever owns the matrix's arrays."""
    if A.device == "cpu":
        return np
    import cupy

    return cupy


def floats(A: sr.Matrix, dtype: Any) -> sr.Matrix:
    """The same pattern with random values from [0.5, 1.5)."""
    xp = module(A)
    indptr, indices = arrays(A)
    values = xp.random.default_rng(SEED).random(A.nvals, dtype=dtype)
    values += dtype(0.5)
    return sr.Matrix.from_csr(indptr, indices, values, ncols=A.ncols, copy=False)


def dense(A: sr.Matrix, dtype: Any) -> Any:
    """A random array with one value from [0.5, 1.5) for each column of the matrix."""
    values = module(A).random.default_rng(SEED + 1).random(A.ncols, dtype=dtype)
    values += dtype(0.5)
    return values
