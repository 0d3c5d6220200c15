"""Import all modules of an engine: each registers the operations that it implements."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable


def import_modules(package: str, path: Iterable[str]) -> None:
    """Import the modules of a package and of its subpackages, in the order of their names."""
    for module in pkgutil.walk_packages(path, f"{package}."):
        importlib.import_module(module.name)
