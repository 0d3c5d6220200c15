"""Compile kernels before the first call: `warm` runs algorithms in separate processes, which store the kernels."""

from __future__ import annotations

from .ahead import WarmReport, warm

__all__ = ["WarmReport", "warm"]
