"""The inner product over a semiring:  s = (+)_k  u(k) (x) v(k)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .. import operators
from ..config import config
from ..engines import registry
from ..engines.spec import Inner, scalar_value
from ..formats import VectorStore
from . import check
from .ewise import ewise_mult
from .reduce import reduce_scalar


def inner(u: VectorStore, v: VectorStore, semiring: Any) -> tuple[np.dtype[Any], Callable[[], np.generic | None]]:
    """The type of s, and a function that waits for its value (None: u and v have no position in common).

    The work is queued here: one pass over both where the engine fuses the products with their sum, else
    the products as a vector, and its reduction.
    """
    check.same_shape("inner", u, v)
    engine = check.engine_of("inner", u, v)
    typed = operators.lookup_semiring(semiring).typed(u.dtype, v.dtype)
    spec = Inner(u, v, typed)
    row = registry.find(spec, engine) if config.fusion else None
    if row is not None:
        return typed.add.z, partial(scalar_value, registry.call(row, spec))
    # As a factor u is a row, while element by element both are columns: its row and column change places.
    expr = re.sub(r"\bx([ij])\b", lambda word: "xj" if word.group(1) == "i" else "xi", typed.mult.expr)
    products = ewise_mult(u, v, replace(typed.mult, expr=expr)).into()
    return typed.add.z, reduce_scalar(products, typed.add)
