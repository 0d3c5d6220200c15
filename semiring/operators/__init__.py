"""Operators: what is computed, as rows of data. Nothing here computes on arrays.

Modules `unary`, `binary`, `indexunary`, `select`, `monoid`, `semiring`, `agg` and `op` hold the families; the
functions ``lookup_*`` convert what a user writes into one; `family` and `families` define how a type is chosen, `types`
what an engine receives, `expression` how the text of an operator is parsed.
"""

from __future__ import annotations

from semiring.operators import agg, binary, indexunary, monoid, op, select, semiring, unary
from semiring.operators.agg import lookup_agg
from semiring.operators.catalog import catalog
from semiring.operators.lookup import (
    lookup_binary,
    lookup_indexunary,
    lookup_monoid,
    lookup_select,
    lookup_semiring,
    lookup_unary,
    typed,
)
from semiring.operators.table import Operators
from semiring.operators.ufuncs import install

install()
for _module in (unary, binary, indexunary, select, monoid, semiring):
    _module.__class__ = Operators
del install, Operators, _module

__all__ = [
    "agg",
    "binary",
    "catalog",
    "indexunary",
    "lookup_agg",
    "lookup_binary",
    "lookup_indexunary",
    "lookup_monoid",
    "lookup_select",
    "lookup_semiring",
    "lookup_unary",
    "monoid",
    "op",
    "select",
    "semiring",
    "typed",
    "unary",
]
