"""A Matrix or Vector as a folder: a ``.srb`` file for each part, and ``index.json``, which lists them.

The index is replaced last and in one step, and a new write has new names: so the folder holds the old object or the
new one, whole, at every moment.  Any number of processes reads it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from semiring import Matrix, Vector

from ..dtypes import BOOL
from ..exceptions import InvalidFormat, InvalidValue
from ..formats import CSR, VectorStore
from ..formats.hypersparse import empty_matrix
from ..formats.vectors import empty_vector
from ..io.atomic import atomic_writer
from ..io.files import PathLike
from ..io.label_sets import label_sets, set_label_sets
from ..io.srb import Store
from ..io.srb_mapped import write_srb
from ..io.srb_reading import map_store
from ..labels import Labels
from ..ops.layout import concat
from .grid import Grid
from .local_parts import local_part
from .partition import concatenate
from .srb_blocks import Bounds, block_of_file, segment_of_file

__all__ = ["INDEX", "Index", "files_of", "read_index", "read_part", "remove_others", "write_index", "write_parts"]

INDEX = "index.json"
VERSION = 1
_PART = re.compile(r"[\w.-]+\.srb")


class Index(NamedTuple):
    """The description of an object in parts: ``"matrix"`` or ``"vector"``, its shape, and a file for each part.

    symmetric: whether the structure of the matrix is symmetric, as far as that was known.
    labels: the file of its labels, an object without entries.
    """

    kind: str
    shape: tuple[int, ...]
    symmetric: bool | None
    iso: bool
    parts: list[dict[str, Any]]
    labels: dict[str, Any] | None = None

    def content(self) -> dict[str, Any]:
        """Return the description as the index has it: without labels as before, so that earlier programs read it."""
        return {key: value for key, value in self._asdict().items() if key != "labels" or value is not None}


def write_parts(A: Matrix | Vector, folder: str, grid: Grid, prefix: str = "") -> Index:
    """Write the part of this process under a new name; return the description of all, the same everywhere.  Collective.

    On an error on any process each removes its file.
    """
    token = grid.comm.bcast(secrets.token_hex(4) if grid.rank == 0 else None, 0)
    name, labels = (f"{prefix}part-{k:03}-of-{grid.size:03}.{token}.srb" for k in (grid.rank + 1, 0))
    part, rows, cols = local_part(A)
    kind = "matrix" if isinstance(A, Matrix) else "vector"
    sets = label_sets(A)

    def written() -> dict[str, Any]:
        write_srb(os.path.join(folder, name), part)
        if sets and grid.rank == 0:
            write_srb(os.path.join(folder, labels), set_label_sets(_empty(kind, A.shape), sets))
        ranges = [[span.start, span.stop] for span in (rows, cols) if span is not None]
        return {"file": name, "ranges": ranges, "nvals": int(part.nvals)}

    try:
        about = grid.run_then_barrier(written)
    except BaseException:
        for written_name in (name, labels) if grid.rank == 0 else (name,):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, written_name))
        raise
    store: Any = A.store
    symmetric = store.pattern.facts.get("symmetric") if isinstance(store, CSR) else None
    parts = grid.comm.allgather(about)
    return Index(kind, tuple(A.shape), symmetric, store.iso is not None, parts, {"file": labels} if sets else None)


def _empty(kind: str, shape: tuple[int, ...]) -> Matrix | Vector:
    """Return an object without entries."""
    if kind == "matrix":
        return Matrix._new(empty_matrix(shape[0], shape[1], BOOL, "cpu"))
    return Vector._new(empty_vector(shape[0], BOOL, "cpu"))


def write_index(folder: str, content: dict[str, Any]) -> None:
    """Replace the index of a folder, in one step."""
    with atomic_writer(os.path.join(folder, INDEX)) as stream:
        stream.write(json.dumps({"semiring": VERSION, **content}, indent=1).encode())


def read_index(folder: PathLike) -> dict[str, Any]:
    """Return the index of a folder.  Raises InvalidFormat, and OSError if there is none."""
    path = os.path.join(folder, INDEX)
    with open(path, "rb") as stream:
        text = stream.read()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidFormat(f"{path}: expected JSON, found: {error}") from error
    if not isinstance(found, dict) or found.get("semiring") != VERSION:
        raise InvalidFormat(f"{path}: expected an index of version {VERSION}, found {text[:40]!r}")
    return found


def checked_index(content: Any, path: str) -> Index:
    """Return the description of one object after a check of every number.  Raises InvalidFormat."""
    try:
        index = Index(**content)
        made = index._replace(shape=tuple(index.shape))
        ranks = {"matrix": 2, "vector": 1}[made.kind]
        spans = [[tuple(span) for span in part["ranges"]] for part in made.parts]
        sound = len(made.shape) == ranks and made.symmetric in (None, True, False) and made.iso in (True, False)
        sound = sound and all(type(n) is int and n >= 0 for n in made.shape)
        for part, ranges in zip(made.parts, spans, strict=True):
            sound = sound and len(ranges) == ranks and _PART.fullmatch(part["file"]) is not None
            for (first, last), extent in zip(ranges, made.shape, strict=True):
                sound = sound and type(first) is int and type(last) is int and 0 <= first <= last <= extent
        sound = sound and (made.labels is None or _PART.fullmatch(made.labels["file"]) is not None)
        covered = sum(int(np.prod([last - first for first, last in ranges], dtype=object)) for ranges in spans)
        sound = sound and covered == int(np.prod(made.shape, dtype=object))
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise InvalidFormat(f"{path}: expected the description of parts, found {error!r}") from error
    if not sound:
        raise InvalidFormat(f"{path}: expected parts that cover a {made.kind} of shape {made.shape}, found others")
    return made


def read_part(
    folder: str, index: Index, grid: Grid, *, verify: bool
) -> tuple[CSR | VectorStore, Store, Mapping[str, Labels]]:
    """Return the part of this process, on the CPU, the description of the first file, and the labels of the object.

    Only files with positions of this process are read, and of these only what it holds.
    """
    files = [_opened(folder, index, part, verify and k % grid.size == grid.rank) for k, part in enumerate(index.parts)]
    labels: Mapping[str, Labels] = {}
    if index.labels is not None:
        whole = {**index.labels, "ranges": [(0, extent) for extent in index.shape]}
        labels = _opened(folder, index, whole, verify).labels
    if index.kind == "vector":
        first, last = grid.segment(index.shape[0])
        segments = []
        for file, part in sorted(zip(files, index.parts, strict=True), key=lambda each: each[1]["ranges"]):
            ((begin, end),) = part["ranges"]
            low, high = max(first, begin), min(last, end)
            if low < high:
                segments.append(segment_of_file(file, low - begin, high - begin, verify=verify))
        if not segments:
            return empty_vector(last - first, files[0].dtype, "cpu"), files[0], labels
        return concatenate(segments, "cpu", "cpu"), files[0], labels
    rows, cols = grid.rows(index.shape[0]), grid.cols(index.shape[1])
    blocks: dict[Bounds, dict[Bounds, CSR]] = {}
    for file, part in zip(files, index.parts, strict=True):
        (top, bottom), (left, right) = part["ranges"]
        i, j = (max(rows[0], top), min(rows[1], bottom)), (max(cols[0], left), min(cols[1], right))
        if i[0] < i[1] and j[0] < j[1]:
            own = (i[0] - top, i[1] - top), (j[0] - left, j[1] - left)
            blocks.setdefault(i, {})[j] = block_of_file(file, *own, verify=verify)
    if not blocks:
        return empty_matrix(rows[1] - rows[0], cols[1] - cols[0], files[0].dtype, "cpu"), files[0], labels
    tiles = [[line[j] for j in sorted(line)] for _, line in sorted(blocks.items())]
    return (tiles[0][0] if len(tiles) == len(tiles[0]) == 1 else concat(tiles).into()), files[0], labels


def _opened(folder: str, index: Index, part: dict[str, Any], verify: bool) -> Store:
    path = os.path.join(folder, part["file"])
    file = map_store(path, verify=verify)
    shape = tuple(last - first for first, last in part["ranges"])
    if (file.kind, file.shape) != (index.kind, shape):
        raise InvalidFormat(f"{path}: expected a {index.kind} of shape {shape}, found a {file.kind} of {file.shape}")
    return file


def files_of(content: Any) -> set[str]:
    """Return the names of the part files in an index, at any depth."""
    if isinstance(content, dict):
        own = {content["file"]} if isinstance(content.get("file"), str) else set()
        return own.union(*(files_of(each) for each in content.values()))
    return set().union(*(files_of(each) for each in content)) if isinstance(content, list) else set()


def remove_others(folder: str, kept: set[str]) -> None:
    """Remove the part files that are not in the index: those of the object before, and of writes that failed."""
    for name in os.listdir(folder):
        if name not in kept and re.fullmatch(r"[\w-]*part-\d+-of-\d+\.[0-9a-f]{8}\.srb", name):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, name))


def made_folder(folder: str, what: str) -> None:
    """Make a folder for parts; InvalidValue if there is another one."""
    if os.path.isdir(folder) and os.listdir(folder) and not os.path.exists(os.path.join(folder, INDEX)):
        others = [name for name in os.listdir(folder) if "part-" not in name]
        if others:
            raise InvalidValue(f"{folder}: expected a new folder or {what}, found a folder with {others[0]!r}")
    os.makedirs(folder, exist_ok=True)
