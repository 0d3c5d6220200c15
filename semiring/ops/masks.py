"""Masks of masks: the positions that both admit, or that one of them admits.

With ~ for the complement:  a & ~b  keeps the entries of a that b does not admit,  ~a & ~b = ~(a | b), and
a | b = ~(~a & ~b).  So the result is a structure of at most the entries of both, complemented or not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import BOOL
from ..engines import registry
from ..engines.requests.operands import Mask
from ..engines.requests.operations import Ewise, Keep
from ..formats import with_values
from . import check
from .build import filled_region
from .cast import typed_second
from .reshape import full_vector


def both(a: Mask, b: Mask) -> Mask:
    """Return the mask that admits the positions that both admit."""
    check.same_shape("mask", a.store, b.store)
    engine = check.engine_of("mask", a.store, b.store)
    if a.complement and not b.complement:
        a, b = b, a
    if b.complement and not a.complement:
        return Mask(registry.run(Keep(_admitted(a, engine), b), engine), structural=True, complement=False)
    mode = "union" if a.complement else "intersect"
    pair = Ewise(_admitted(a, engine), _admitted(b, engine), typed_second(BOOL), mode)
    return Mask(registry.run(pair, engine), structural=True, complement=a.complement)


def either(a: Mask, b: Mask) -> Mask:
    """Return the mask that admits the positions that one of them or both admit."""
    return both(a.negated(), b.negated()).negated()


def truth(mask: Mask, dtype: np.dtype[Any]) -> Any:
    """Return the store that has 1 of a type at every position that the mask admits."""
    one, engine = dtype.type(1), check.engine_of("mask", mask.store)
    if not mask.complement:
        return with_values(_admitted(mask, engine), dtype, None, one)
    shape, device = check.shape_of(mask.store), mask.store.device
    if len(shape) == 1:
        return registry.run(Keep(full_vector(one, shape[0], dtype, device), mask), engine)
    return registry.run(Keep(filled_region((shape[0], shape[1]), one, dtype, device, operation="mask"), mask), engine)


def _admitted(mask: Mask, engine: str) -> Any:
    """Return the entries that a mask without its complement admits, with true for the value of each."""
    store = mask.store
    kept = store if mask.structural else registry.run(Keep(store, Mask(store, False, False)), engine)
    return with_values(kept, BOOL, None, BOOL.type(True))
