"""The executable specification: every operation on dense value and presence arrays, slow and obvious.

Other engines are tested against this one.  It masks nothing early, fuses nothing, knows no shortcut for
iso values or terminals, and folds strictly from left to right: what it answers can be read off the code.

The monoid ``any`` keeps the first value it meets here (ascending inner index, column, or position).  That is
one legal answer: another engine may keep any other value of the same group.
"""

from . import assembly, closure, codecs, construction, elementwise, indexing, link, permute, products, reduction

__all__ = [
    "assembly",
    "closure",
    "codecs",
    "construction",
    "elementwise",
    "indexing",
    "link",
    "permute",
    "products",
    "reduction",
]
