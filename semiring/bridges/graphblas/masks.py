"""Masks with python-graphblas's behaviour: a mask that is kept in a name sees later writes to its object."""

from __future__ import annotations

from typing import Any

from semiring.engines.operands import Mask as _Mask
from semiring.facade.writing import MaskView

__all__ = ["LiveMask", "Mask"]


class Mask(MaskView):
    """A mask of which `new` makes objects of this package: ``A.S & B.V`` and its like, of the present entries.

    Examples
    --------
    >>> import semiring.compat.graphblas as gb
    >>> v, w = gb.Vector.from_coo([0], 5, size=3), gb.Vector.from_coo([1], 6, size=3)
    >>> (v.S | w.S).new().to_dict()
    {0: True, 1: True}
    """

    __slots__ = ()

    def _of(self, mask: _Mask) -> MaskView:
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
    def _mask(self) -> _Mask:  # type: ignore[override]
        return _Mask(self.parent.store, self.structure, self._complement)

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
