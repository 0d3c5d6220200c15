"""A matrix on the disk that changes: a file of it, and a log of the batches that came after, which survive a crash.

A journal is a folder:

    journal.json   the number N of the current files, replaced atomically
    N.srb          the matrix when the log was begun
    N.log          a record of each batch since
    lock           locked while the journal is open

A record is the magic ``SRJ1``, the CRC-32 of what follows it (uint32) and its bytes (uint64, both little-endian); then
a line of JSON and the arrays that it lists, one after the other.  It is forced to the disk before the call returns.  A
record that is cut off or wrong at the end of the log is that of a call that did not return, and is dropped when the
journal is opened; one before a whole record is an error.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np

from ..devices import in_parts
from ..exceptions import InvalidFormat, InvalidType, InvalidValue, NotSupported
from ..facade.changes import BatchCounts, changed_matrix
from ..facade.matrix import Matrix
from ..labels import Labels
from ..memory.arrays import to_device, to_host
from ..ops.build import duplicate_operator
from ..storage.changes import Changes, UnsortedEdges
from .atomic import atomic_writer
from .label_sets import decode_sets, encode_sets, label_sets, set_label_sets
from .srb_mapped import read_srb, write_srb

if TYPE_CHECKING:
    from .files import PathLike

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["Journal"]

_MAGIC = b"SRJ1"
_HEAD = struct.Struct("<4sIQ")
_ROLES = ("rows", "columns")


class Journal:
    """A matrix that changes in batches, each of which is on the disk when its call returns.

    Parameters
    ----------
    folder : str or PathLike
        of the journal; made if `A` is given
    A : Matrix, optional
        what a new journal begins with; None: open the journal that there is, and apply its log
    sync : bool
        False: leave it to the system when batches reach the disk.  They survive the end of the process then, and not
        that of the machine

    Raises
    ------
    FileNotFoundError
        If there is no journal, and no `A`.
    InvalidValue
        If there is one, and `A` is given; or another object or process has it open.
    InvalidFormat
        For a log that is damaged before its end.
    NotSupported
        For a matrix on a grid of processes.
    OSError

    Notes
    -----
    Opening costs a read of the matrix, and of the log.  Batches are applied as those of `Matrix.insert`.

    Examples
    --------
    >>> with sr.io.Journal("roads", Matrix.from_edgelist([(0, 1), (1, 2)])) as roads:
    ...     roads.insert([(2, 0)])
    ...     roads.delete([(0, 1)])
    BatchCounts(positions=1, found=0, missing=1)
    BatchCounts(positions=1, found=1, missing=0)
    >>> with sr.io.Journal("roads") as roads:
    ...     roads.matrix.to_dicts(), roads.batches
    ({1: {2: True}, 2: {0: True}}, 2)
    """

    def __init__(self, folder: PathLike, A: Matrix | None = None, *, sync: bool = True) -> None:
        self._folder, self._sync, self._number = Path(os.fsdecode(folder)), sync, 0
        self._log: Any = None
        self._broken: str | None = None
        if A is None:
            self._current()  # FileNotFoundError before a lock is made
        elif in_parts(A.device):
            raise NotSupported("Journal: a matrix on a grid of processes; write it with io.write")
        else:
            self._folder.mkdir(exist_ok=True)
        self._lock: Any = _locked(self._folder)
        try:
            self._open(A)
        except BaseException:
            self.close()
            raise

    def _open(self, A: Matrix | None) -> None:
        # While the lock is held: until then another process may exchange the files.
        if A is not None:
            names = {path.name for path in self._folder.iterdir()}
            if "journal.json" in names:
                raise InvalidValue(f"Journal: {self._folder} is a journal already; open it without a matrix")
            if others := names - {"lock", "0.srb", "0.log"}:
                raise InvalidValue(f"Journal: {self._folder} has other files, such as {min(others)}")
            self._matrix, self.batches = A.snapshot(), 0
            self._begin()
            return
        self._number = self._current()
        base: Any = read_srb(self._path("srb"))
        self._matrix, self.batches, end = _replayed(base, self._path("log"))
        self._log = self._path("log").open("r+b", buffering=0)
        self._log.truncate(end)
        self._log.seek(end)
        self._remove_others()

    def _current(self) -> int:
        """Return the number of the current files."""
        return int(json.loads((self._folder / "journal.json").read_bytes())["number"])

    @property
    def matrix(self) -> Matrix:
        """The present matrix: a snapshot, which is not changed by later batches, nor changes the journal.  O(1)."""
        return self._matrix.snapshot()

    @property
    def nbytes(self) -> int:
        """Bytes of the log."""
        return int(self._log.tell()) if self._log is not None else 0

    def insert(self, edges: Any, values: Any = None, **how: Any) -> BatchCounts:
        """Insert a batch, as `Matrix.insert`; on the disk when the call returns.

        Parameters
        ----------
        edges, values : as `Matrix.insert`
        how : its other arguments; `dup_op` by its name

        Raises
        ------
        InvalidType
            For an operator that is given as an object.
        OSError
            If the record cannot be written; the journal is unchanged.  Others as `Matrix.insert`.

        Examples
        --------
        >>> with sr.io.Journal("calls", Matrix(int, 3, 3)) as calls:
        ...     calls.insert([(0, 1, 5)], dup_op="plus").missing
        1
        """
        return self._change("insert", edges, values, how)

    def upsert(self, edges: Any, values: Any = None, **how: Any) -> BatchCounts:
        """Insert a batch whose vertices may be new, as `Matrix.upsert`; on the disk when the call returns.

        Parameters
        ----------
        edges, values : as `Matrix.upsert`
        how : its other arguments

        Raises
        ------
        OSError, SemiringError
            The journal is unchanged.

        Examples
        --------
        >>> with sr.io.Journal("names", Matrix.from_edgelist([("ann", "bob")], relabel=True)) as names:
        ...     names.upsert([("bob", "eve")]).missing
        1
        """
        return self._change("upsert", edges, values, how)

    def delete(self, edges: Any, **how: Any) -> BatchCounts:
        """Delete a batch, as `Matrix.delete`; on the disk when the call returns.

        Parameters
        ----------
        edges : as `Matrix.delete`
        how : its other arguments

        Raises
        ------
        OSError, SemiringError
            The journal is unchanged.

        Examples
        --------
        >>> with sr.io.Journal("links", Matrix.from_edgelist([(0, 1)])) as links:
        ...     links.delete([(0, 1)]).found
        1
        """
        return self._change("delete", edges, None, how)

    def _change(self, kind: str, edges: Any, values: Any, how: dict[str, Any]) -> BatchCounts:
        log = self._writable()
        name = how.get("dup_op")
        if name is not None and not isinstance(name, str):
            raise InvalidType(f"Journal.{kind}: dup_op= is the name of an operator, got {type(name).__name__}")
        made = self._matrix.snapshot()
        counts: BatchCounts = getattr(made, kind)(edges, *(() if kind == "delete" else (values,)), **how)
        record = _record(counts.edges(), name, self._matrix, made)
        end, before = log.tell(), (self._matrix, self.batches)
        try:
            rest = memoryview(record)
            while rest:
                rest = rest[log.write(rest) :]
            if self._sync:
                os.fsync(log.fileno())
            self._matrix, self.batches = made, self.batches + 1
        except BaseException as error:  # an interrupt at any point too
            self._matrix, self.batches = before
            try:
                log.truncate(end)
                log.seek(end)
            except OSError:
                self._broken = str(error)
            raise
        return counts

    def compact(self) -> None:
        """Write the matrix anew, and begin an empty log; a crash leaves the old state or the new one.

        Raises
        ------
        OSError
            The journal is unchanged.

        Notes
        -----
        Cost of a write of the matrix.

        Examples
        --------
        >>> with sr.io.Journal("trips", Matrix(int, 2, 2)) as trips:
        ...     _ = trips.insert([(0, 1, 5)])
        ...     trips.compact()
        ...     trips.nbytes, trips.matrix.nvals
        (0, 1)
        """
        log, number = self._writable(), self._number
        self._number = number + 1
        try:
            self._begin()
        finally:
            if self._current() == self._number:  # also where an interrupt came after the exchange
                log.close()
                self.batches = 0
                self._remove_others()
            else:
                if self._log is not log:
                    self._log.close()
                for suffix in ("srb", "log"):
                    self._path(suffix).unlink(missing_ok=True)
                self._number, self._log = number, log

    def close(self) -> None:
        """Close the files; the object cannot be used any more."""
        for file in (self._log, self._lock):
            if file is not None:
                file.close()
        self._log = self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Journal({str(self._folder)!r}, batches={self.batches})"

    def _writable(self) -> Any:
        if self._log is None:
            raise InvalidValue("Journal: it is closed")
        if self._broken is not None:
            raise InvalidValue(f"Journal: a record could not be taken back ({self._broken}); open it again")
        return self._log

    def _path(self, suffix: str) -> Path:
        return self._folder / f"{self._number}.{suffix}"

    def _begin(self) -> None:
        """Write the matrix and an empty log, and make them the current ones."""
        write_srb(self._path("srb"), self._matrix)
        self._log = self._path("log").open("w+b", buffering=0)
        _sync_folder(self._folder)
        with atomic_writer(self._folder / "journal.json") as file:
            file.write(json.dumps({"number": self._number}).encode())
        _sync_folder(self._folder)

    def _remove_others(self) -> None:
        """Remove the files of other numbers, which a crash or `compact` has left."""
        for path in self._folder.iterdir():
            if path.suffix in (".srb", ".log") and path.stem.isdigit() and int(path.stem) != self._number:
                with contextlib.suppress(OSError):
                    path.unlink()


def _locked(folder: Path) -> Any:
    """Return the locked file of a folder; InvalidValue if it is locked."""
    file = (folder / "lock").open("a+b")
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.close()
            raise InvalidValue(f"Journal: {folder} is open elsewhere") from error
    return file


def _sync_folder(folder: Path) -> None:
    """Force the names of new files to the disk, where the system can."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _record(edges: UnsortedEdges, name: str | None, before: Matrix, after: Matrix) -> bytes:
    """Return the record of a batch; name: of the operator."""
    arrays = {
        "rows": edges.rows,
        "columns": edges.cols,
        "values": np.array([edges.iso]) if edges.values is None and not edges.deletes else edges.values,
    }
    held = {role: to_host(array) for role, array in arrays.items() if array is not None}
    old, new = label_sets(before), label_sets(after)
    added = {role: labels.take(range(len(old[role]), len(labels))) for role, labels in new.items() if role in _ROLES}
    about, encoded = encode_sets("Journal", {role: labels for role, labels in added.items() if len(labels)})
    held |= encoded
    head = {
        "deletes": edges.deletes,
        "iso": edges.iso is not None,
        "dup_op": name,
        "symmetric": edges.symmetric,
        "shape": [after.nrows, after.ncols],
        "label_sets": about,
        "arrays": [[role, None if role == "values" else array.dtype.str, array.size] for role, array in held.items()],
    }
    payload = json.dumps(head).encode() + b"\n" + b"".join(array.tobytes() for array in held.values())
    return _HEAD.pack(_MAGIC, zlib.crc32(payload), len(payload)) + payload


def _records(path: Path) -> Iterator[tuple[dict[str, Any], bytes, int]]:
    """Yield the head, the bytes of the arrays, and the end in the file of each whole record."""
    with path.open("rb") as file:
        while (payload := _payload(file)) is not None:
            head, _, content = payload.partition(b"\n")
            yield json.loads(head), content, file.tell()
        begin = file.tell()
        rest = file.read()
    at = rest.find(_MAGIC, 1)
    while at >= 0:
        if _payload(io.BytesIO(rest[at:])) is not None:
            raise InvalidFormat(f"{path}: the record at byte {begin} is damaged, and a whole one follows it")
        at = rest.find(_MAGIC, at + 1)


def _payload(file: IO[bytes]) -> bytes | None:
    """Return what follows the head of a record; None, and the file where it was, if there is no whole record."""
    begin = file.tell()
    size = file.seek(0, os.SEEK_END) - begin
    file.seek(begin)
    head = file.read(_HEAD.size)
    if len(head) == _HEAD.size:
        magic, check, count = _HEAD.unpack(head)
        if magic == _MAGIC and count <= size - _HEAD.size:
            payload = file.read(count)
            if zlib.crc32(payload) == check:
                return payload
    file.seek(begin)
    return None


def _replayed(base: Matrix, path: Path) -> tuple[Matrix, int, int]:
    """Return the matrix after the batches of a log, how many there are, and the end of the last one."""
    changes, batches, end, device, dtype = Changes.to(base.store), 0, 0, base.device, base.dtype
    names: dict[str, list[Any]] = {}
    for head, content, end in _records(path):  # noqa: B007  # the last end is returned
        at, arrays = 0, {}
        for role, kind, count in head["arrays"]:
            each = np.frombuffer(content, dtype if kind is None else np.dtype(kind), count, at)
            arrays[role], at = each, at + each.nbytes
        values = arrays.get("values")
        edges = UnsortedEdges(
            to_device(arrays["rows"], device),
            to_device(arrays["columns"], device),
            None if values is None or head["iso"] else to_device(values, device),
            values[0] if values is not None and head["iso"] else None,
            head["symmetric"],
        )
        op = None if head["deletes"] else duplicate_operator(head["dup_op"] or "last", dtype)
        changes = changes.resized((head["shape"][0], head["shape"][1])).then(edges, op)
        for role, labels in decode_sets(head["label_sets"], arrays, str(path)).items():
            names.setdefault(role, []).extend(labels)
        batches += 1
    sets = {
        role: labels if role not in names else Labels([*labels, *names[role]])
        for role, labels in label_sets(base).items()
    }
    return set_label_sets(changed_matrix(type(base), changes), sets), batches, end
