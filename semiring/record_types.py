"""Record types: values of several numbers, as NumPy's structured dtypes describe them.

A record type is a ``numpy.dtype`` with fields.  A field is a number of a value type, an array of numbers of fixed
shape, or a record.  Whatever the nesting, the *leaves* of a type are its numbers in order, each at an offset in
bytes: that is all that engines need.  An array type, ``np.dtype((np.int64, (4,)))``, is represented by the record
with the one field `ARRAY`, because arrays of an array type do not exist in NumPy.
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from semiring.exceptions import NotNumbers
from semiring.symbolic import Symbolic

__all__ = [
    "ARRAY",
    "Leaf",
    "array_type",
    "described",
    "field_of",
    "frozen",
    "inner",
    "is_array",
    "is_record",
    "leaves",
    "of_columns",
    "of_mapping",
    "of_text",
    "of_value",
    "of_values",
    "parsed",
    "plain",
    "record",
    "shown",
    "spelled",
    "view",
    "zero",
]

DType = np.dtype[Any]
# The name of the only field of an array type.
ARRAY: Final = "[]"


class Leaf(NamedTuple):
    """One number of a record: the names and positions that lead to it, its type, and its offset in bytes."""

    path: tuple[str | int, ...]
    dtype: DType
    offset: int


def is_record(dtype: DType) -> bool:
    """Whether values of this type are records, array types included.

    Parameters
    ----------
    dtype : a value type

    Examples
    --------
    >>> is_record(np.dtype([("x", int)])), is_record(np.dtype(int))
    (True, False)
    """
    return dtype.names is not None


def is_array(dtype: DType) -> bool:
    """Whether this record holds an array type."""
    return dtype.names == (ARRAY,)


@functools.lru_cache(maxsize=4096)
def leaves(dtype: DType) -> tuple[Leaf, ...]:
    """Return the numbers of a record (or of an array field, or the number itself), in order."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        parts: Iterable[tuple[tuple[str | int, ...], DType, int]] = (
            (position, base, number * base.itemsize)
            for number, position in enumerate(itertools.product(*map(range, shape)))
        )
    elif dtype.names is not None:
        assert dtype.fields is not None
        parts = (((name,), dtype.fields[name][0], dtype.fields[name][1]) for name in dtype.names)
    else:
        return (Leaf((), dtype, 0),)
    return tuple(
        Leaf((*path, *leaf.path), leaf.dtype, offset + leaf.offset)
        for path, part, offset in parts
        for leaf in leaves(part)
    )


def field_of(dtype: DType, steps: tuple[str | int, ...]) -> tuple[int, DType] | None:
    """Return the number of the first leaf of a part of `dtype`, and the type of the part; None if there is none.

    A step is a name, or a number: the position of a field, or of an element of an array.
    """
    first = 0
    for step in steps:
        if is_array(dtype):
            dtype = dtype[ARRAY]
        if dtype.subdtype is not None and isinstance(step, int):
            base, shape = dtype.subdtype
            step = step + shape[0] if step < 0 else step
            if not 0 <= step < shape[0]:
                return None
            dtype = np.dtype((base, shape[1:])) if shape[1:] else base
            first += step * len(leaves(dtype))
            continue
        names = dtype.names or ()
        if isinstance(step, int) and -len(names) <= step < len(names):
            step = names[step]
        if step not in names:
            return None
        first += sum(len(leaves(dtype[name])) for name in names[: names.index(str(step))])
        dtype = dtype[str(step)]
    return first, dtype


def array_type(dtype: DType) -> DType:
    """Return the record that holds an array type: one field, `ARRAY`."""
    base, shape = dtype.base, dtype.shape
    return np.dtype([(ARRAY, base, shape)])


def record(dtype: DType, numbers: frozenset[DType]) -> DType | None:
    """Return a structured or array dtype as a record type in native byte order, or None if a part is no number.

    numbers: the types of leaves.
    """
    if dtype.hasobject:
        return None
    native = dtype.newbyteorder("=")
    if native.subdtype is not None:
        native = array_type(native)
    if native.names is None or not native.names or native.itemsize == 0:
        return None
    ends = 0
    for leaf in sorted(leaves(native), key=lambda leaf: leaf.offset):
        if leaf.dtype not in numbers or leaf.offset < ends:  # no number, or fields that overlap
            return None
        ends = leaf.offset + leaf.dtype.itemsize
    return native


def of_mapping(fields: Mapping[Any, Any], lookup: Any) -> DType:
    """Return the record with these fields, aligned as C aligns a struct; `lookup` gives the type of each."""
    made = [(str(name), _field(lookup(kind))) for name, kind in fields.items()]
    return np.dtype(made, align=True)


def of_columns(columns: Mapping[str, np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Return an array of records whose fields are these columns, of one length."""
    dtype = np.dtype([(name, column.dtype) for name, column in columns.items()], align=True)
    records = np.empty(len(next(iter(columns.values()))), dtype)
    for name, column in columns.items():
        records[name] = column
    return records


def _field(dtype: DType) -> DType:
    return dtype[ARRAY] if is_array(dtype) else dtype


_ARRAY: Final = re.compile(r"(\w+)((?:\[\d+(?:, ?\d+)*\])+)")


def of_text(text: str, lookup: Any) -> DType | None:
    """Return the array type that a text names, ``"INT64[4]"`` or ``"bool[3, 4]"``; None if it names none."""
    found = _ARRAY.fullmatch(text.strip())
    if found is None:
        return None
    shape: tuple[int, ...] = ()
    for part in reversed(re.findall(r"\[([^\]]*)\]", found[2])):
        shape += tuple(int(size) for size in part.split(","))
    return np.dtype((lookup(found[1]), shape))


def described(dtype: DType, name: Any = lambda dtype: dtype.name) -> str:
    """Return a record type as text: ``{'x': int64, 'y': float64}``, ``int16[3]``; `name` gives those of numbers."""
    if is_array(dtype):
        dtype = dtype[ARRAY]
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return f"{described(base, name)}[{', '.join(map(str, shape))}]"
    if dtype.names is None:
        return str(name(dtype))
    return "{" + ", ".join(f"{field!r}: {described(dtype[field], name)}" for field in dtype.names) + "}"


@functools.lru_cache(maxsize=4096)
def spelled(dtype: DType) -> str:
    """Return a text that `parsed` turns into `dtype` again, layout included; of a number, NumPy's name."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return repr((spelled(base), shape))
    if dtype.names is None:
        return dtype.name
    assert dtype.fields is not None
    fields = [dtype.fields[name] for name in dtype.names]
    return repr((dtype.names, [spelled(each[0]) for each in fields], [each[1] for each in fields], dtype.itemsize))


@functools.lru_cache(maxsize=4096)
def parsed(text: str) -> DType:
    """Return the type that `spelled` wrote."""
    if not text.startswith("("):
        return np.dtype(text)
    parts = ast.literal_eval(text)
    if len(parts) == 2:
        return np.dtype((parsed(parts[0]), parts[1]))
    names, formats, offsets, itemsize = parts
    kinds = [parsed(each) for each in formats]
    return np.dtype({"names": list(names), "formats": kinds, "offsets": offsets, "itemsize": itemsize})


def of_value(value: Any, dtype: DType) -> np.void:
    """Return a record of type `dtype`: of a number in every field, a tuple, a list, a mapping, a record or an array.

    Raises
    ------
    NotNumbers
        If the value has other fields.
    """
    made = np.zeros(1, dtype)
    try:
        _assign(made, value, dtype)
    except (ValueError, TypeError, IndexError, KeyError, OverflowError) as error:
        raise NotNumbers(f"no {described(dtype)} can be made of {value!r}") from error
    return frozen(made)


def zero(dtype: DType) -> np.generic:
    """Return the number 0 of a type, or the record of zeros."""
    found: np.generic = frozen(np.zeros(1, dtype)) if dtype.names else dtype.type(0)
    return found


def frozen(array: np.ndarray[Any, Any]) -> np.void:
    """Return the record of an array of one, which nobody else holds: read-only, and so hashable."""
    array.flags.writeable = False
    found: np.void = array.reshape(1)[0]
    return found


def of_values(value: Any, dtype: DType) -> Any:
    """Return what a user gives for records: one as `of_value`, or an array of records of as many dimensions as given.

    A record is a tuple, a mapping, a NumPy record or one number; a list and an array hold records.  Of an array type,
    the last dimensions are those of the type.

    Raises
    ------
    NotNumbers
        If there are other fields.
    """
    if isinstance(value, np.ndarray) and value.ndim and value.dtype == dtype:
        return value
    if isinstance(value, np.ndarray) and value.ndim and value.dtype.names is None and not is_array(dtype):
        made = np.zeros(value.shape, dtype)
        for leaf in leaves(dtype):
            view(made, leaf)[...] = value
        return made
    if is_array(dtype) and getattr(getattr(value, "dtype", None), "names", None) is None:
        numbers, shape = _numbers(value, dtype), dtype[ARRAY].shape
        outer = numbers.ndim - len(shape)
        if outer <= 0:
            return of_value(numbers, dtype)
        if numbers.shape[outer:] != shape:
            raise NotNumbers(f"the last dimensions must include the dtype shape {shape}, got shape {numbers.shape}")
        made = np.zeros(numbers.shape[:outer], dtype)
        made[ARRAY] = numbers
        return made
    if isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim):
        parts = [of_values(part, dtype) for part in value]
        return np.stack([np.asarray(part) for part in parts]) if parts else np.zeros(0, dtype)
    return of_value(value, dtype)


def _numbers(value: Any, dtype: DType) -> np.ndarray[Any, Any]:
    try:
        found = np.asarray(value)
    except ValueError as error:
        raise NotNumbers(f"no {described(dtype)} can be made of {value!r}") from error
    if found.dtype.kind not in "biufc":
        raise NotNumbers(f"no {described(dtype)} can be made of {value!r}")
    return found


def plain(value: np.generic) -> Any:
    """Return a scalar in Python's types: a number, a tuple for a record, an array for an array type."""
    if isinstance(value, np.void) and is_array(value.dtype):
        return np.array(value[ARRAY])
    return value.item()


def plain_or(value: Any, default: Any) -> Any:
    """Return a scalar in Python's types, or `default` for None; of a traced loop the number that it computes."""
    if value is None:
        return default
    return value.traced_get(default) if isinstance(value, Symbolic) else plain(value)


def shown(array: Any) -> Any:
    """Return an array of values as users see it: an array type is further dimensions."""
    return array[ARRAY] if array.dtype.names == (ARRAY,) else array


def inner(array: Any, ndim: int) -> Any:
    """Return an array of numbers with more than `ndim` dimensions as one of an array type, which shares its memory."""
    if array.ndim <= ndim or array.dtype.names is not None or 0 in array.shape[ndim:]:
        return array
    dtype = np.dtype([(ARRAY, array.dtype, array.shape[ndim:])])
    whole = np.ascontiguousarray(array).reshape(*array.shape[:ndim], -1)
    return whole.view(dtype).reshape(array.shape[:ndim])


def view(array: Any, leaf: Leaf) -> Any:
    """Return one number of each record of an array, without a copy."""
    axes = (slice(None),) * array.ndim
    for step in leaf.path:
        array = array[step] if isinstance(step, str) else array[(*axes, step)]
    return array


def _assign(made: Any, value: Any, dtype: DType) -> None:
    """Set the one record of `made`."""
    if is_array(dtype):
        if isinstance(value, (np.void, np.ndarray)) and value.dtype.names == (ARRAY,):
            value = value[ARRAY]
        made[ARRAY] = np.asarray(value).reshape((1, *np.shape(value)))  # NumPy broadcasts
        return
    assert dtype.names is not None
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, Mapping):
        if set(value) != set(dtype.names):
            raise ValueError
        value = [value[name] for name in dtype.names]
    elif isinstance(value, (np.void, tuple, list, np.ndarray)):
        value = tuple(value)  # type: ignore[arg-type]
    elif isinstance(value, (bool, int, float, complex, np.number, np.bool_)):
        value = [value] * len(dtype.names)
    if isinstance(value, (str, bytes)) or len(value) != len(dtype.names):
        raise ValueError
    for name, part in zip(dtype.names, value, strict=True):
        inner = dtype[name]
        if inner.names is not None:
            _assign(made[name], part, inner)
        elif np.ndim(part) > len(inner.shape):
            raise ValueError
        else:
            made[name] = np.asarray(part).reshape((1, *np.shape(part))) if inner.subdtype is not None else part
