"""Facts of a matrix's structure that are derived once and cached: its transpose, whether it is symmetric.

The immutable pattern (or, where values are involved, the immutable store) holds the cache, so nothing has to be
invalidated when a matrix changes: a changed matrix has another store.
"""

from __future__ import annotations

from typing import cast

from ..engines import registry
from ..engines.requests.operands import Rows
from ..engines.requests.operations import IsSymmetric, Transpose
from ..formats import CSR, AnyPattern, Pattern, structure_only
from ..formats.hypersparse import hypersparse, prefers_hypersparse
from ..memory.allocation import require_rows
from ..record_types import zero
from . import check


def is_symmetric(pattern: AnyPattern) -> bool:
    """Return True if a(j, i) is present wherever a(i, j) is.  Cost O(nvals log degree), once; synchronizes.

    If the rows are read in slices, the cost is O(nvals) and the probability of a wrong result is below 2^-115
    (`engines.sliced`).
    """
    if pattern.nrows != pattern.ncols:
        return False
    if pattern.every_row:
        return True
    known = pattern.facts.get("symmetric")
    if known is None:
        probe = structure_only(pattern)
        known = bool(registry.run(IsSymmetric(pattern), check.engine_of("is_symmetric", probe)))
        pattern.facts["symmetric"] = known
    return known


def knows_symmetric(a: CSR, *, values: bool) -> bool:
    """Return True if it is known that a(j, i) is present wherever a(i, j) is; values: and equal to it."""
    if not a.pattern.facts.get("symmetric", False):
        return False
    return not values or a.iso is not None or bool(a.cache.get("symmetric", False))


def remember_symmetric(made: CSR, a: CSR) -> CSR:
    """Return `made`, of which all that is known of the symmetry of `a` is true."""
    if knows_symmetric(a, values=False):
        made.pattern.facts["symmetric"] = True
    if "symmetric" in a.cache and knows_symmetric(a, values=True):
        made.cache["symmetric"] = True
    return made


def transposed(a: CSR, *, values: bool = True) -> CSR:
    """Return the transpose, cached.  Cost O(nvals) the first time.

    values: False if the caller reads none; a symmetric pattern is then its own transpose.
    """
    if a.iso is None and values:
        stored = a.cache.get("transpose")
        if stored is None:
            stored = _transpose(a, a.dtype.itemsize)
            a.cache["transpose"] = stored
            a.pattern.facts.setdefault("transpose", stored.pattern)
        return cast(CSR, stored)
    iso = zero(a.dtype) if a.iso is None else a.iso
    return CSR(_transposed_pattern(a.pattern), a.dtype, None, iso)


def has_transpose(a: CSR) -> bool:
    """Return True if `transposed` costs nothing.  O(1): it does not check whether the structure is symmetric."""
    facts = a.pattern.facts
    return "transpose" in a.cache or (a.iso is not None and ("transpose" in facts or facts.get("symmetric", False)))


def orientation(a: CSR, transpose: bool, *, values: bool) -> Rows:
    """Return the rows of a, or of its transpose; ready if they cost nothing.  values: whether the caller reads any."""
    if not transpose:
        return Rows(a)
    facts = a.pattern.facts
    structural = a.iso is not None or not values
    ready = "transpose" in a.cache or (structural and ("transpose" in facts or facts.get("symmetric", False)))
    ready = ready or prefers_hypersparse(a.ncols, a.nvals)  # its format chooses the implementation
    return Rows(transposed(a, values=values) if ready else None, lambda: transposed(a, values=values))


def rows(a: CSR, transpose: bool, *, values: bool) -> Rows:
    """Return the rows of a, or of its transpose, for an engine that may or may not read them.

    If no value is read, the first call checks whether the structure is symmetric, because the matrix is then its own
    transpose; a traversal that could only push would cost many times more than the check.
    """
    if not transpose:
        return Rows(a)
    if a.iso is None and values:
        if "transpose" in a.cache:
            return Rows(a.cache["transpose"])
        ready = False
    elif "transpose" in a.pattern.facts:
        ready = True
    else:
        known = a.pattern.facts.get("symmetric")
        ready = is_symmetric(a.pattern) if known is None else known
        if ready:
            return Rows(a)
    ready = ready or prefers_hypersparse(a.ncols, a.nvals)  # its format chooses the implementation
    return Rows(transposed(a, values=values) if ready else None, lambda: transposed(a, values=values))


def _transposed_pattern(pattern: AnyPattern) -> AnyPattern:
    known = pattern.facts.get("transpose")
    if known is not None:
        return cast(AnyPattern, known)
    if is_symmetric(pattern):
        return pattern
    made = _transpose(structure_only(pattern), 0).pattern
    pattern.facts["transpose"] = made
    return made


def _transpose(a: CSR, itemsize: int) -> CSR:
    """Return the transpose; itemsize: bytes of a value."""
    if prefers_hypersparse(a.ncols, a.nvals):
        a = listed_rows(a)
    else:
        require_rows("transpose", a.device, a.ncols, a.nvals, itemsize, scratch=4)
    return cast(CSR, registry.run(Transpose(a), check.engine_of("transpose", a)))


def listed_rows(a: CSR) -> CSR:
    """Return uncompressed rows as hypersparse ones, so that the rule selects the format of a result.

    A matrix in another format is returned as it is.  Cost O(nrows).  Synchronizes.
    """
    return hypersparse(a) if isinstance(a.pattern, Pattern) else a
