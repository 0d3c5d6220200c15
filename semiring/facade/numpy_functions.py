"""NumPy's functions on a Matrix or a Vector: universal functions, and `np.sum`, `np.concatenate` and the like.

A universal function of one operand is `apply` of the operator of its name.  One that Python spells as an operator,
``np.add`` as ``+``, is that operator.  Other functions receive `numpy.asarray` of the object, which exists where every
position holds a value on the CPU; else the error names what the library has instead.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..dtypes import BOOL
from ..exceptions import InvalidType, UnknownOperator
from ..operators import lookup_binary
from ..operators.lookup import lookup_unary
from .migration_errors import instead_of
from .operand import BITS, check_booleans, is_scalar
from .storage_slot import Holder

# A universal function -> Python's operator, and the method by which a right operand computes it.
_OPERATORS: dict[Any, tuple[Any, str]] = {
    np.add: (operator.add, "__radd__"),
    np.subtract: (operator.sub, "__rsub__"),
    np.multiply: (operator.mul, "__rmul__"),
    np.divide: (operator.truediv, "__rtruediv__"),
    np.floor_divide: (operator.floordiv, "__rfloordiv__"),
    np.remainder: (operator.mod, "__rmod__"),
    np.divmod: (divmod, "__rdivmod__"),
    np.power: (operator.pow, "__rpow__"),
    np.equal: (operator.eq, "__eq__"),
    np.not_equal: (operator.ne, "__ne__"),
    np.less: (operator.lt, "__gt__"),
    np.less_equal: (operator.le, "__ge__"),
    np.greater: (operator.gt, "__lt__"),
    np.greater_equal: (operator.ge, "__le__"),
    np.matmul: (operator.matmul, "__rmatmul__"),
    np.bitwise_or: (operator.or_, "__ror__"),
    np.bitwise_and: (operator.and_, "__rand__"),
    np.bitwise_xor: (operator.xor, "__rxor__"),
}
# A method of a universal function -> what to write here.
_METHODS = {
    "reduce": '.reduce("plus"), or .reduce_rowwise("plus") and .reduce_columnwise("plus") of a Matrix',
    "accumulate": '.scan("plus")',
    "reduceat": '.reduce_by(labels, "plus", size=) of a Vector',
    "outer": 'v.outer(w, "times")',
    "at": 'w(accum="plus") << v.reduce_by(indices, "plus", size=w.size)',
}
_OPTIONS = {
    "out": "C << result for a Matrix or a Vector C, or x[...] = result.to_numpy(fill_value=0) for an array",
    "where": "C(mask) << result",
    "dtype": "result.dup(dtype)",
}
# Functions that read no entries.
_FACTS = {
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.iscomplexobj: lambda a: a.dtype.kind == "c",
    np.isrealobj: lambda a: a.dtype.kind != "c",
}
# Functions that write to their first argument.
_WRITERS = {np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask}


def array_ufunc(self: Any, ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return a universal function of operands of which `self` is one."""
    if method == "__call__" and not options and ufunc in _OPERATORS:
        return _infix(*_OPERATORS[ufunc], *inputs)
    name, kind = f"np.{ufunc.__name__}", type(self).__name__
    if method != "__call__":
        raise InvalidType(f"{name}.{method} accepts no {kind}; use {_METHODS[method]}")
    if options:
        hints = "; ".join(f"{option}=: write {_OPTIONS[option]}" for option in options if option in _OPTIONS)
        raise InvalidType(f"{name} of a {kind}: {', '.join(options)} not accepted{'; ' if hints else ''}{hints}")
    try:
        if len(inputs) == 1:
            return self.apply("lnot" if ufunc is np.invert and self.dtype == BOOL else lookup_unary(ufunc))
        op = lookup_binary(ufunc)
    except UnknownOperator:
        raise InvalidType(
            f"{name}: no operator has this name; an expression in its place is .apply(lambda x: ...), or a binary "
            f"operator, binary.register_anonymous(lambda x, y: ...)"
        ) from None
    left, right = inputs
    if is_scalar(right):
        return left.apply(op, right)
    if is_scalar(left):
        return right.apply(op, left=left)
    raise InvalidType(
        f"{name} of two operands, of which one lacks entries that the other has, is ambiguous: use "
        f"u.ewise_add(v, {op.name!r}), which keeps entries that only one has, or u.ewise_mult(v, {op.name!r})"
    )


def _infix(operation: Any, reflected: str, left: Any, right: Any) -> Any:
    if not isinstance(left, Holder):
        return getattr(right, reflected)(left) if is_scalar(left) else right._beside(left, operation, reflected=True)
    if operation in BITS and isinstance(right, Holder):
        check_booleans(operation, left, right)
    method = (
        f"__{operation.__name__.strip('_')}__"  # not the operator, which calls a scalar's method for NotImplemented
    )
    return getattr(left, method)(right)


def array_function(self: Any, function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return a function of NumPy of arguments of which `self` is one, or one is a sequence that contains it."""
    if function in _FACTS:
        return _FACTS[function](self)
    name = f"{function.__module__.replace('numpy', 'np', 1)}.{function.__name__}"
    if function in _WRITERS or isinstance(options.get("out"), Holder):
        raise InvalidType(f"{name} writes to no {type(self).__name__}; write {_OPTIONS['out']}")

    def converted(value: Any) -> Any:
        if isinstance(value, Holder):
            try:
                return np.asarray(value)
            except TypeError as error:
                raise _refused(name, value, error) from None
        return type(value)(map(converted, value)) if type(value) in (list, tuple) else value

    return function(*map(converted, args), **{key: converted(value) for key, value in options.items()})


def _refused(name: str, value: Any, error: TypeError) -> InvalidType:
    hint = instead_of(type(value), name.rpartition(".")[2])
    if hint is None:
        return InvalidType(f"{name}: {error}")
    return InvalidType(
        f"{name} of a {type(value).__name__}: use {hint}; NumPy's function needs .to_numpy(fill_value=0)"
    )
