"""Compile kernels before the first call, and manage the folder of compiled kernels.

`warm` runs algorithms on small graphs in separate processes, which store the kernels that they compile in the folder;
`cache` describes and empties it.
"""

from __future__ import annotations

from .ahead import WarmReport, warm

__all__ = ["WarmReport", "warm"]
