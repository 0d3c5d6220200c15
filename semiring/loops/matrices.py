"""Matrices of a loop: constants of its program, which other matrices of the same kinds may replace.

A program depends on the kinds of its matrices alone, unless the loop reads more of one: the number of its entries, an
element, the result of an operation that has no other operand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engines.programs.traced import RECORDER
from ..facade.matrix import Matrix
from ..formats import CSR
from ..formats.hypersparse import prefers_hypersparse
from ..ops import structure
from .keys import described

# Names that do not concern the contents of a matrix; internal ones do not either.
_OPERAND = frozenset(
    {"T", "device", "dtype", "mxv", "ncols", "ndim", "nrows", "operand", "shape", "store", "unlabeled", "vxm"}
)
_STATE = ("_chain", "_elements", "_labels", "_origin", "_plan", "_store", "_transpose_of", "name")


class Operand(Matrix):
    """A matrix while a loop is traced: the recorder notes that its contents are read."""

    __slots__ = ("matrix",)

    matrix: Matrix

    def __getattribute__(self, name: str) -> Any:
        if name[0] != "_" and name not in _OPERAND and (recorder := RECORDER.get()) is not None:
            recorder.reads_matrices = True
        return super().__getattribute__(name)

    @classmethod
    def _new(cls, *state: Any, **name: Any) -> Any:
        return Matrix._new(*state, **name)  # a result is no operand

    @property
    def T(self) -> Any:
        """The transpose."""
        return operand(super().T)


def operand(matrix: Matrix) -> Matrix:
    """Return a matrix as a loop has it while it is traced."""
    made = object.__new__(Operand)
    for name in _STATE:
        setattr(made, name, getattr(matrix, name))
    made.matrix = matrix
    return made


def kind(matrix: Matrix) -> Any:
    """Return what a program depends on of a matrix whose contents the loop does not read."""
    if type(matrix) is not Matrix or matrix._labels is not None:
        return described(matrix)
    a, turned = matrix.operand
    pattern, facts = a.pattern, a.pattern.facts
    return (
        *(a.kind, a.dtype, a.shape, turned, a.device, None if a.iso is None else a.iso.tobytes()),
        *(getattr(pattern, name).dtype for name in pattern.ARRAYS),
        *("transpose" in a.cache, "transpose" in facts, facts.get("symmetric")),
        *(prefers_hypersparse(n, a.nvals) for n in a.shape),
    )


class Roles:
    """Which orientations of its matrices a program reads, so that others can take their places.

    stores: of the matrices.  The program itself does not hold them.
    """

    def __init__(self, stores: Sequence[CSR]) -> None:
        self._symmetric = [a.pattern.facts.get("symmetric") for a in stores]
        self._of: dict[int, tuple[int, bool]] = {}
        for number, a in enumerate(stores):
            turned = [a.cache["transpose"].pattern] if "transpose" in a.cache else []
            turned += [a.pattern.facts["transpose"]] if "transpose" in a.pattern.facts else []
            for pattern in turned:
                self._of.setdefault(id(pattern), (number, True))
        for number, a in enumerate(stores):
            self._of[id(a.pattern)] = number, False

    def named(self, read: Sequence[CSR]) -> list[tuple[int, bool, bool]] | None:
        """Return matrix, whether transposed, and whether with its values, of each store; None if one is unknown."""
        found = [self._of.get(id(a.pattern)) for a in read]
        if None in found:
            return None
        return [(*role, a.values is not None) for role, a in zip(found, read, strict=True) if role is not None]

    def taken(self, roles: list[tuple[int, bool, bool]], stores: Sequence[CSR]) -> list[CSR] | None:
        """Return the stores of other matrices in these roles; None where these have other symmetries."""
        for a, symmetric in zip(stores, self._symmetric, strict=True):
            if symmetric is not None and structure.is_symmetric(a.pattern) != symmetric:
                return None
        return [structure.transposed(stores[n], values=v) if turned else stores[n] for n, turned, v in roles]
