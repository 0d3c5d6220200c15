"""Reorder rows and columns:  B(i, j) = A(p(i), q(j)).

A request to an engine holds the permutation of the rows and the inverse of that of the columns: rows are
gathered, columns are renumbered.
"""

from __future__ import annotations

from typing import cast

from ..engines import registry
from ..engines.requests.storage import Encode, Permute
from ..formats import CSR, Array, array_module, device_of
from ..memory.allocation import allocating
from ..memory.arrays import assign_at
from . import check, structure
from .write import Plan


def permute(a: CSR, rows: Array, cols: Array) -> Plan[CSR]:
    """B(i, j) = A(rows(i), cols(j)), for permutations on A's device; the same array for both keeps A's symmetry.

    Compressed rows stay compressed, by the same codec.
    """

    def request() -> CSR:
        engine = check.engine_of("permute", a)
        with allocating("permute", a.device):
            places = inverse(cols)
        made = cast(CSR, registry.run(Permute(a, rows, places), engine))
        if a.pattern.codec is not None:
            pattern = registry.run(Encode(made.pattern, a.pattern.codec), engine)
            made = CSR(pattern, made.dtype, made.values, made.iso)
        if rows is not cols:
            return made
        if "symmetric" in a.pattern.facts:
            made.pattern.facts["symmetric"] = a.pattern.facts["symmetric"]
        return structure.remember_symmetric(made, a)

    return Plan("permute", a.shape, a.dtype, a.device, request)


def inverse(permutation: Array) -> Array:
    """Return the permutation q with q(p(k)) = k."""
    xp = array_module(device_of(permutation))
    made = xp.empty(permutation.size, dtype=permutation.dtype)
    assign_at(made, permutation, xp.arange(permutation.size, dtype=permutation.dtype))
    return made
