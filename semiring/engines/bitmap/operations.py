"""All operations on bitmap matrices: importing this module registers them."""

from .. import bitmap
from ..registry import import_modules

import_modules(bitmap.__name__, bitmap.__path__)
