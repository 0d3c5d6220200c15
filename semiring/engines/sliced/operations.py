"""All operations in slices: importing this module registers them."""

from .. import sliced
from ..registry import import_modules

import_modules(sliced.__name__, sliced.__path__)
