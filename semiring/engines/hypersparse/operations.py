"""All operations on hypersparse matrices: importing this module registers them."""

from .. import hypersparse
from ..discovery import import_modules
from .rewriting import with_all_rows_first

__all__ = ["with_all_rows_first"]

import_modules(hypersparse.__name__, hypersparse.__path__)
