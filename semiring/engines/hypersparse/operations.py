"""All operations on hypersparse matrices: importing this module registers them."""

from .. import hypersparse
from ..discovery import import_modules
from .rewriting import has_few_rows, with_all_rows_first

__all__ = ["has_few_rows", "with_all_rows_first"]

import_modules(hypersparse.__name__, hypersparse.__path__)
