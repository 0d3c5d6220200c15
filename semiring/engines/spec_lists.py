"""Specs of lists of vectors in the program of a loop (see `program`): vectors are added and removed at the end."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..formats import VectorStore
from ..formats.records import record
from .operands import Spec

__all__ = ["Append", "Item", "VectorList"]


class VectorList:
    """A list of vectors of one size and type, which the steps of a program change in their order.

    size, dtype: None until a vector of it is known.  Further steps are operations of `program.Compute`: ``length``,
    ``drop`` (remove the last vector) and ``clear``.
    """

    def __init__(self, size: int | None = None, dtype: np.dtype[Any] | None = None) -> None:
        self.size, self.dtype = size, dtype


@record
class Append(Spec):
    """Add a copy of a vector at the end of a list."""

    name: ClassVar[str] = "append"
    decodable: ClassVar[bool] = False
    vectors: VectorList
    store: VectorStore


@record
class Item(Spec):
    """The vector at a position of a list, which the program checks; a Number or an integer, from 0."""

    name: ClassVar[str] = "item"
    decodable: ClassVar[bool] = False
    vectors: VectorList
    at: Any
