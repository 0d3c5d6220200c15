"""The codecs of compressed rows: one module each, found by its name, with the layout of a tile and a ``DEFINITION``.

Engines have a module of the same name for each codec, and the CUDA kernels files whose names begin with it.
"""

from __future__ import annotations

import importlib
import os

from ..tiles import CodecDefinition

# The name of a codec.
Codec = str


def _modules() -> list[str]:
    try:
        files = (name.partition(".") for name in os.listdir(__path__[0]))
    except NotADirectoryError:  # a zip file, where only this module is needed
        import pkgutil

        return [module.name for module in pkgutil.iter_modules(__path__)]
    return [name for name, _, suffix in files if suffix == "py" and name != "__init__"]


def _definitions() -> dict[str, CodecDefinition]:
    """Return the definitions of all modules of this folder by name, in their stated order."""
    found = {name: importlib.import_module(f"{__name__}.{name}").DEFINITION for name in _modules()}
    return dict(sorted(found.items(), key=lambda item: item[1].order))


DEFINITIONS = _definitions()
CODECS: tuple[Codec, ...] = tuple(DEFINITIONS)
