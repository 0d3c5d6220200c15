"""An operator on every entry."""

from __future__ import annotations

import cupy

from ...formats import CSR, Bitmap, Full, IndexList, Store
from ..numpy_helpers import evaluate
from ..registry import implements
from ..spec import Apply
from .compile import kernel
from .launch import BLOCK, grid, values_of
from .primitives import entry_form
from .specialise import indexunary, typedefs
