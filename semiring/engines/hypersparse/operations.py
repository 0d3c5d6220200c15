"""All operations on hypersparse matrices: importing this module registers them."""

from .. import hypersparse
from ..registry import import_modules

import_modules(hypersparse.__name__, hypersparse.__path__)
