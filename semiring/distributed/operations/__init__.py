"""The operations on a grid of processes, one file a kind: importing this package registers them."""

from ...engines.registry import import_modules

import_modules(__name__, __path__)
