"""The labels of an object in a file: numbers, text in UTF-8, or JSON, decoded on first use.

A *label set* is a `Labels` and what it names: ``rows`` (of a Vector: positions), ``columns`` and ``values``.  A file
describes each set by ``{"of", "kind", "count"}`` and stores arrays, of set k:

======== ===================== ===========================================================================
kind     labels                arrays
======== ===================== ===========================================================================
integer  of 64 bits            ``labels{k}``: count numbers, int64 or uint64
text     text of any kind      ``labels{k}_ends``: of each label the end of its bytes, int64;
                               ``labels{k}``: the bytes, UTF-8 (a lone surrogate as three bytes)
json     text, numbers, bools, as ``text``, each label in JSON; a tuple is an array
         tuples of these
======== ===================== ===========================================================================
"""

from __future__ import annotations

import itertools
import json
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import InvalidFormat, InvalidType, InvalidValue, LostLabels
from semiring.labels import Labels

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix
    from semiring.facade.vector import Vector
    from semiring.io.triples import Triples

    _Object = TypeVar("_Object", bound=Matrix | Vector)

__all__ = [
    "ROLES",
    "check_labels",
    "common_labels",
    "decode_sets",
    "encode_sets",
    "grouped",
    "is_number_like",
    "json_labels",
    "label_arrays",
    "label_sets",
    "named_values",
    "parsed_labels",
    "set_label_sets",
    "without_value_labels",
    "written_labels",
]

ROLES: Final = ("rows", "columns", "values")
_KINDS: Final = ("integer", "text", "json")
_INTEGERS: Final = ("<i8", "<u8")

# What a reader could take for a number.
_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


# -- of an object ----------------------------------------------------------------------------------------


def _attributes(A: Matrix | Vector) -> dict[str, str]:
    """Return the attribute of each label set that an object can have."""
    axes = {"rows": "row_labels", "columns": "column_labels"} if A.ndim == 2 else {"rows": "labels"}
    return axes | {"values": "value_labels"}


def label_sets(A: Matrix | Vector) -> dict[str, Labels]:
    """Return the labels of an object by what they name."""
    found = {role: getattr(A, name) for role, name in _attributes(A).items()}
    return {role: labels for role, labels in found.items() if labels is not None}


def set_label_sets(A: _Object, sets: Mapping[str, Labels]) -> _Object:
    """Give an object the labels of a file; return it."""
    for role, name in _attributes(A).items():
        if role in sets:
            setattr(A, name, sets[role])
    return A


def common_labels(function: str, A: Matrix) -> Labels | None:
    """Return the labels of the vertices of a graph.

    InvalidValue where rows and columns have different ones: position i would be two vertices in one.
    """
    if A.labels is None and (A.row_labels is not None or A.column_labels is not None):
        raise InvalidValue(
            f"{function}: expected the same labels for rows and columns, found different ones; A.labels = None "
            "numbers vertices by position"
        )
    return A.labels


def without_value_labels(function: str, A: _Object) -> _Object:
    """Return an object without names of its values, for formats that hold none; the warning is LostLabels."""
    if A.value_labels is None:
        return A
    text = f"{function}: the file holds no names of values; they are written as positions (.srb .mtx .npz hold names)"
    warnings.warn(text, LostLabels, stacklevel=3)
    made = A.dup()
    made.value_labels = None
    return cast("_Object", made)


def named_values(A: Matrix, entries: Triples) -> Triples:
    """Return the entries of a matrix with the names of its values in place of these, if it has any."""
    if A.value_labels is None:
        return entries
    return replace(entries, values=A.value_labels[np.broadcast_to(entries.values, len(entries.rows))])


def grouped(sets: Mapping[str, Labels]) -> list[tuple[Labels, list[str]]]:
    """Return the different label sets, each with all that it names."""
    groups: list[tuple[Labels, list[str]]] = []
    for role, labels in sets.items():
        found = next((roles for other, roles in groups if other is labels or other == labels), None)
        if found is None:
            groups.append((labels, [role]))
        else:
            found.append(role)
    return groups


# -- arrays, of .srb and .npz ----------------------------------------------------------------------------


def encode_sets(function: str, sets: Mapping[str, Labels]) -> tuple[list[dict[str, Any]], dict[str, NDArray[Any]]]:
    """Return the descriptions and the arrays of label sets.  Raises InvalidType for other labels."""
    about, arrays = [], {}
    for k, (labels, roles) in enumerate(grouped(sets)):
        values = labels.to_numpy()
        if values.dtype.kind in "iu":
            kind = "integer"
            arrays[f"labels{k}"] = values.astype(values.dtype.newbyteorder("<"), copy=False)
        else:
            texts = values.tolist()
            kind = "text" if all(isinstance(label, str) for label in texts) else "json"
            texts = json_labels(function, labels) if kind == "json" else texts
            encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
            arrays[f"labels{k}_ends"] = np.cumsum([len(each) for each in encoded], dtype="<i8")
            arrays[f"labels{k}"] = np.frombuffer(b"".join(encoded), np.uint8)
        about.append({"of": roles, "kind": kind, "count": len(labels)})
    return about, arrays


def label_arrays(about: Any, shape: tuple[int, ...], elements: Callable[[str], int]) -> dict[str, tuple[int, Any]]:
    """Return the arrays of described label sets, in order: of each the number of elements, and the types it may have.

    elements: returns the number of elements that the file states for an array.  Raises ValueError for a description
    that contradicts itself or the shape.
    """
    expected: dict[str, tuple[int, Any]] = {}
    lengths = dict(zip(ROLES, shape, strict=False))
    named: list[str] = []
    for k, each in enumerate(about):
        roles, kind, count = each["of"], each["kind"], each["count"]
        if kind not in _KINDS or type(count) is not int or count < 0 or not roles:
            raise ValueError(f"expected labels of a kind {', '.join(_KINDS)}, found {each}")
        for role in roles:
            if role not in (*lengths, ROLES[-1]) or lengths.get(role, count) != count or role in named:
                raise ValueError(f"expected labels for the shape {list(shape)}, found {each}")
            named.append(role)
        if kind == "integer":
            expected[f"labels{k}"] = count, _INTEGERS
        else:
            expected[f"labels{k}_ends"] = count, _INTEGERS[:1]
            expected[f"labels{k}"] = elements(f"labels{k}"), ("|u1",)
    return expected


def decode_sets(
    about: Iterable[Mapping[str, Any]], arrays: Mapping[str, NDArray[Any]], where: str
) -> dict[str, Labels]:
    """Return the labels that arrays hold; those of text are decoded on first use.  O(1)."""
    sets: dict[str, Labels] = {}
    for k, each in enumerate(about):
        content = arrays[f"labels{k}"]
        if each["kind"] == "integer":
            made = Labels.of_distinct(content.astype(content.dtype.newbyteorder("="), copy=False))
        else:
            made = _Encoded(content, arrays[f"labels{k}_ends"], each["kind"], f"{where}: labels{k}")
        sets |= dict.fromkeys(each["of"], made)
    return {role: sets[role] for role in ROLES if role in sets}


def check_labels(sets: Mapping[str, Labels], name: str) -> None:
    """Raise InvalidFormat for labels that do not decode, or occur twice; name: of the file.  O(n)."""
    for labels in {id(labels): labels for labels in sets.values()}.values():
        try:
            Labels(labels.to_numpy())
        except InvalidValue as error:
            raise InvalidFormat(f"{name}: {error}") from error


class _Encoded(Labels):
    """Labels that are decoded on first use."""

    __slots__ = ("_content", "_ends", "_kind", "_where")

    def __init__(self, content: NDArray[Any], ends: NDArray[Any], kind: str, where: str) -> None:
        self._content, self._ends, self._kind, self._where = content, ends, kind, where
        self._attributes, self._index, self._integers = {}, None, None

    def __len__(self) -> int:
        return len(self._ends)

    def __getattr__(self, name: str) -> Any:
        if name != "_values":  # the slot is empty until it is read
            raise AttributeError(name)
        values = np.empty(len(self), object)
        try:
            texts = _texts(self._content, self._ends)
            values[:] = parsed_labels(texts) if self._kind == "json" else texts
        except (ValueError, RecursionError) as error:
            raise InvalidFormat(f"{self._where}: expected labels in UTF-8, found: {error}") from error
        values.setflags(write=False)
        self._values = values
        return values


def _texts(content: NDArray[Any], ends: NDArray[Any]) -> list[str]:
    """Return the texts whose bytes end at positions.  Raises ValueError."""
    lengths = np.diff(ends, prepend=0)
    if (lengths < 0).any() or (int(ends[-1]) if len(ends) else 0) != content.size:
        raise ValueError(f"expected ends that ascend to {content.size}")
    text = content.tobytes().decode("utf-8", "surrogatepass")
    if len(text) < content.size:  # the ends in characters: bytes but those that continue one
        begins = (content & 0xC0) != 0x80
        if not begins[(ends - lengths)[lengths > 0]].all():
            raise ValueError("a label that ends within a character")
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(begins, dtype=np.int64)])[ends]
    bounds = [0, *ends.tolist()]
    return [text[a:b] for a, b in itertools.pairwise(bounds)]


# -- JSON ------------------------------------------------------------------------------------------------


def json_labels(function: str, labels: Labels) -> list[str]:
    """Return each label in JSON, in ASCII.  Raises InvalidType for labels that JSON does not hold."""
    made = []
    for label in labels:
        try:
            made.append(json.dumps(_plain(label)))
        except (TypeError, ValueError, RecursionError):
            raise InvalidType(
                f"{function}: a file holds labels that are text, numbers or tuples of these, found {label!r:.60} of "
                f"type {type(label).__name__}; A.labels = sr.Labels(map(str, A.labels)) makes them text"
            ) from None
    return made


def _plain(label: Any) -> Any:
    """Return a label as JSON has it; TypeError if it would be read back as another one."""
    label = label.item() if isinstance(label, np.generic) else label
    if type(label) is tuple:
        return [_plain(part) for part in label]
    if type(label) not in (str, int, float, bool):
        raise TypeError(type(label).__name__)
    return label


def parsed_labels(texts: list[str]) -> list[Any]:
    """Return the labels of texts in JSON.  Raises ValueError."""
    made = [_hashable(each) for each in json.loads(f"[{','.join(texts)}]")]
    if len(made) != len(texts):
        raise ValueError("a label that is no value of JSON")
    return made


def _hashable(label: Any) -> Any:
    if isinstance(label, list):
        return tuple(_hashable(part) for part in label)
    if isinstance(label, dict) or label is None:
        raise ValueError("a label that is no text, number or array")
    return label


# -- text formats, Parquet, GraphML and GML --------------------------------------------------------------


def written_labels(function: str, labels: Labels, fault: Callable[[str], str | None] | None = None) -> list[str]:
    """Return the text of each label, of integers their digits, for a format that holds integers or text.

    fault: returns what is wrong with a text, or None.

    Raises
    ------
    InvalidValue
        Labels that would not be read back as the same: neither text nor integers of int64, or with a fault.
    """
    values = labels.to_numpy()
    if values.dtype == np.int64:
        return [str(label) for label in values.tolist()]
    texts: list[Any] = values.tolist()
    for label in texts:
        if not isinstance(label, str):
            raise InvalidType(
                f"{function}: the file holds text or integers of int64 as labels, found {label!r:.60} of type "
                f"{type(label).__name__}; A.labels = sr.Labels(map(str, A.labels)) makes them text, and .srb keeps it"
            )
        found = fault(label) if fault is not None else None
        if found is None and not label.isascii():
            try:
                label.encode()
            except UnicodeEncodeError:
                found = "it is no Unicode text"
        if found is not None:
            raise InvalidValue(f"{function}: the label {label!r:.60} does not fit: {found}")
    return texts


def is_number_like(label: str) -> bool:
    """Return whether a reader could take a text for a number."""
    return _NUMBER.fullmatch(label) is not None
