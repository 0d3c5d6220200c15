"""Masks with python-graphblas's behavior: a mask that is kept in a name sees later writes to its object."""

from __future__ import annotations

from typing import Any

import semiring

__all__ = ["LiveMask", "Mask"]

_Masks: Any = type(semiring.Matrix(bool, 1, 1, device="cpu").S)


class Mask(_Masks):  # type: ignore[misc]
    """A mask of which `new` makes objects of this package: ``A.S & B.V`` and its like, of the present entries.

    Examples
    --------
    >>> import semiring.compat.graphblas as gb
    >>> v, w = gb.Vector.from_coo([0], 5, size=3), gb.Vector.from_coo([1], 6, size=3)
    >>> (v.S | w.S).new().to_dict()
    {0: True, 1: True}
    """

    __slots__ = ()

    def _of(self, mask: Any) -> Mask:
        return Mask(mask)

    def _classes(self) -> tuple[type[Any], type[Any]]:
        from semiring.bridges.graphblas.objects import Matrix, Vector

        return Matrix, Vector


class LiveMask(Mask):
    """``A.S``, ``A.V`` or a complement: of the entries that A has when the mask is used.

    Examples
    --------
    >>> import semiring.compat.graphblas as gb
    >>> v, w = gb.Vector.from_coo([0], 5, size=3), gb.Vector(int, 3)
    >>> todo = ~v.S
    >>> v[1] = 6
    >>> (w(todo) << 1).to_dict()
    {2: 1}
    """

    __slots__ = ("_complement", "parent", "structure")

    def __init__(self, parent: Any, structure: bool, complement: bool = False) -> None:
        self.parent, self.structure, self._complement = parent, structure, complement

    @property
    def _mask(self) -> Any:
        own = semiring.Matrix if isinstance(self.parent, semiring.Matrix) else semiring.Vector
        view: Any = (own.S if self.structure else own.V).fget(self.parent)  # type: ignore[attr-defined]
        return (~view if self._complement else view)._mask

    @property
    def value(self) -> bool:
        """Whether an entry must be nonzero too."""
        return not self.structure

    @property
    def complement(self) -> bool:
        """Whether it admits the other positions."""
        return self._complement

    def __invert__(self) -> LiveMask:
        return LiveMask(self.parent, self.structure, not self._complement)
