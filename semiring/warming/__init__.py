"""Compiling ahead of the first call, and the folder of compiled kernels.

`warm` runs algorithms on small graphs in processes of their own, which leave what they compile in the folder; `cache`
describes and empties it.
"""

from __future__ import annotations

from .ahead import WarmReport, warm

__all__ = ["WarmReport", "warm"]
