"""The CUDA engine: fixed kernel text behind a generated prologue, compiled on demand by NVRTC, launched through CuPy.

The import registers every operation and loads CuPy; it compiles nothing.
"""

from ...memory.budget import apply_budget
from ..registry import import_modules

import_modules(__name__, __path__)

# CuPy is loaded at this point, whichever module imported it first.
apply_budget()
