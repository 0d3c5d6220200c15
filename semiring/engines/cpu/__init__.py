"""The CPU engine: numba kernels on the same stores as the GPU's, on all cores, compiled once and cached on disk."""

from ..registry import import_modules

import_modules(__name__, __path__)
