"""Private names of python-graphblas that its tests about operators use, each as what equals it here.

A function that uses one of them is counted apart (`suite.Function.kind` is ``"private"``), so that the counts of the
interface alone remain visible.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from semiring import dtypes as own_dtypes
from semiring.compat.graphblas import agg, binary, dtypes, indexunary, monoid, op, select, semiring, unary
from semiring.operators import table
from semiring.operators.agg import Aggregator
from semiring.operators.attributes import TypedRelations
from semiring.operators.families import Binary, IndexUnary, Monoid, Select, Semiring, Unary
from semiring.operators.family import Family, ScalarFamily
from semiring.operators.parameterized import Parameterized

_CLASSES = {
    Select: "SelectOp",
    IndexUnary: "IndexUnaryOp",
    Unary: "UnaryOp",
    Binary: "BinaryOp",
    Monoid: "Monoid",
    Semiring: "Semiring",
    Aggregator: "Aggregator",
}
_MODULES = {
    "unary": unary,
    "binary": binary,
    "indexunary": indexunary,
    "select": select,
    "monoid": monoid,
    "semiring": semiring,
    "aggregator": agg,
}


def find_opclass(operator: Any) -> tuple[Any, str]:
    """``core.operator.find_opclass``: the operator and the name of its class."""
    found = getattr(operator, "parent", operator)
    return operator, next((name for kind, name in _CLASSES.items() if isinstance(found, kind)), "UNKNOWN")


def get_typed_op(operator: Any, dtype: Any, dtype2: Any = None, *, kind: str = "") -> Any:
    """``core.operator.get_typed_op``: the operator on these types."""
    types = dtype if dtype2 is None else (dtype.np_type, dtype2.np_type)
    if isinstance(operator, str):
        for name in kind.split("|"):
            if name not in _MODULES:
                raise ValueError(f"Unable to get op from string {operator!r}")
            try:
                operator = _MODULES[name].from_string(operator)
            except ValueError:
                continue
            break
        else:
            raise ValueError(f"Unknown {' or '.join(kind.split('|'))} string: {operator!r}")
    if isinstance(operator, TypedRelations):
        return operator
    if not isinstance(operator, (Family, Aggregator, Parameterized)):
        raise TypeError(f"Unable to get typed operator from {operator!r}")
    return operator[types]  # type: ignore[index]


def install(classes: ModuleType, types: ModuleType) -> None:
    """Add the names to ``core.operator`` and ``core.dtypes``, and to operators and their modules."""
    names = {
        "find_opclass": find_opclass,
        "UNKNOWN_OPCLASS": "UNKNOWN",
        "get_typed_op": get_typed_op,
        "get_semiring": semiring.get_semiring,
        "OpPath": table.Path,
        "OpBase": (Family, TypedRelations, Aggregator),
        "ParameterizedUdf": Parameterized,
    }
    vars(classes).update(names)
    for made in (TypedRelations, ScalarFamily):
        made._numba_func = property(lambda self: self.orig_func)  # type: ignore[union-attr]
    for module in (unary, binary, monoid, semiring, op, indexunary, select):
        # Operators that are made at their first use, and names that are given up: there are none.
        vars(module).update(_delayed={}, _deprecated={})
    for kind, name in (("unary", "_unary_names"), ("binary", "_binary_names")):
        vars(_MODULES[kind].numpy)[name] = dict.fromkeys(dir(_MODULES[kind].numpy)).keys()
    monoid.numpy._monoid_identities = dict.fromkeys(dir(monoid.numpy))
    known: list[Any] = [bool, int, float, "bool", "int", "float", *own_dtypes.ALL]
    for dtype in map(dtypes.lookup_dtype, own_dtypes.ALL):
        known += [dtype, dtype.name, dtype.np_type.type, dtype.np_type.name, dtype.c_type]
    types._registry = {key: dtypes.lookup_dtype(key) for key in known}  # type: ignore[attr-defined]
    dtypes._INDEX = dtypes.UINT64  # type: ignore[attr-defined]


def built_in(kind: str) -> set[str]:
    """Return the names of the built-in operators of a kind."""
    return {name for name in table.names(kind) if table.find(kind, name).builtin}
