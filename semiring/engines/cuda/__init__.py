"""The CUDA engine: fixed kernel text behind a generated prologue, compiled on demand by NVRTC, launched through CuPy.

The import registers every operation below and loads CuPy; it compiles nothing.
"""

from __future__ import annotations

import importlib

from ...memory.budget import apply_budget

OPERATIONS = (
    "outofcore.closure",
    "outofcore.link",
    "apply",
    "build",
    "check_compressed",
    "closure",
    "convert",
    "encode",
    "ewise",
    "extract",
    "link",
    "mxm",
    "mxm_dense",
    "mxv",
    "permute",
    "reduce",
    "scatter",
    "select",
    "outofcore.streaming",
    "transpose",
    "write",
    "write_matrix",
)

for _operation in OPERATIONS:
    importlib.import_module(f"{__name__}.{_operation}")

# CuPy is loaded at this point, whichever module imported it first.
apply_budget()
