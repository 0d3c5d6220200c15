"""The executable specification: every operation on dense value and presence arrays, slow and obvious.

Other engines are tested against this one.  It does not mask early, fuses nothing, has no special cases for
iso values or terminals, and folds strictly from left to right, so that the code is the definition of the result.

The monoid ``any`` keeps the first value here (by ascending inner index, column, or position).  That is one
legal result: another engine may keep any other value of the same group.
"""

from ..registry import import_modules

import_modules(__name__, __path__)
