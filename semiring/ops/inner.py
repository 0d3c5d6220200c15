"""The inner product over a semiring:  s = (+)_k  u(k) (x) v(k)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from .. import operators
from ..formats import VectorStore
from ..operators.types import TypedMonoid
from .ewise import ewise_mult
from .write import Plan


def inner(u: VectorStore, v: VectorStore, semiring: Any) -> tuple[Plan[VectorStore], TypedMonoid]:
    """The products u(k) (x) v(k), and the monoid that is to collect them."""
    typed = operators.lookup_semiring(semiring).typed(u.dtype, v.dtype)
    # As a factor u is a row, while element by element both are columns: its row and column change places.
    expr = re.sub(r"\bx([ij])\b", lambda word: "xj" if word.group(1) == "i" else "xi", typed.mult.expr)
    return ewise_mult(u, v, replace(typed.mult, expr=expr)), typed.add
