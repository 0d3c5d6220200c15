"""The helper `random` of expressions, for numba."""

from __future__ import annotations

import numpy as np

from ..shared.expression_numpy import MIXERS, WEYL
from .compile import device

_WEYL = tuple(map(np.uint64, WEYL))
_MIXERS = tuple(map(np.uint64, MIXERS))


@device
def random(i, j, k):
    """Return the highest 53 bits of a mixture of three integers, as a number in [0, 1)."""
    z = np.uint64(i) * _WEYL[0] + np.uint64(j) * _WEYL[1] + np.uint64(k) * _WEYL[2]
    z = (z ^ (z >> np.uint64(30))) * _MIXERS[0]
    z = (z ^ (z >> np.uint64(27))) * _MIXERS[1]
    return np.float64((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53
