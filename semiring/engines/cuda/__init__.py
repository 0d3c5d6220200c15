"""The CUDA engine: fixed kernel text behind a generated prologue, compiled on demand by NVRTC, launched through CuPy.

Importing it registers every operation below; it loads CuPy, and compiles nothing.
"""

from __future__ import annotations

import importlib

OPERATIONS = (
    "apply",
    "build",
    "closure",
    "convert",
    "ewise",
    "extract",
    "link",
    "mxm",
    "mxv",
    "reduce",
    "scatter",
    "select",
    "transpose",
    "write",
)

for _operation in OPERATIONS:
    importlib.import_module(f"{__name__}.{_operation}")
