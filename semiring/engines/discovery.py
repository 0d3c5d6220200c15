"""Find the modules of an engine: each registers the operations that it implements when it is imported."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from types import ModuleType


def import_modules(package: str, path: Iterable[str]) -> None:
    """Import the modules of a package and of its subpackages, in the order of their names."""
    for _ in modules(package, path):
        pass


def modules(package: str, path: Iterable[str]) -> Iterator[ModuleType]:
    """Import the modules of a package and of its subpackages, in the order of their names, and yield each."""
    import pkgutil

    for module in pkgutil.walk_packages(path, f"{package}."):
        yield importlib.import_module(module.name)
