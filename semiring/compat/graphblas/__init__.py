"""python-graphblas's interface on this library: ``import semiring.compat.graphblas as gb``.

Nearly all of it is :mod:`semiring` itself, and ``import semiring as gb`` is enough for most programs.  This package
adds what contradicts the names and rules of :mod:`semiring`: see decision 25 in ``docs/decisions``.
"""

import sys
from types import ModuleType

from semiring.bridges import graphblas as _bridge
from semiring.bridges.graphblas import *  # noqa: F403  # the names are listed once, in the bridge

__all__ = _bridge.__all__

# ``from semiring.compat.graphblas.binary import plus`` and ``import semiring.compat.graphblas.unary.numpy``.  Type
# checkers read the modules that this package does not share with `semiring` from the ``.pyi`` files.
for _name in __all__:
    _module = getattr(_bridge, _name)
    if isinstance(_module, ModuleType):
        sys.modules[f"{__name__}.{_name}"] = _module
        if (_ufuncs := getattr(_module, "numpy", None)) is not None:
            sys.modules[f"{__name__}.{_name}.numpy"] = _ufuncs


def __dir__() -> list[str]:
    return sorted(__all__)
