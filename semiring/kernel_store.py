"""Compiled kernels on disk: the user's folder, folders that users share, and packs.

A kernel is found by a key, a digest of all that its code depends on: texts, types, compiler options, the processor.  So
a file serves any installation, in any folder, and is never used for another version of the sources.

``ENGINE/KEY.bin``  one kernel: a line that names what compiled it, a digest, the code.  In the folder
`config.cache_dir`, where `save` writes, and in those of `config.shared_cache`, which are only read.
``*.pack``  many kernels, compressed in blocks, with a table of keys and a digest for each block.  In the folders of
`config.shared_cache`, and in the package ``semiring_kernels``, if it is installed.

A file that is torn, damaged or of an unknown form counts as missing.
"""

from __future__ import annotations

import bisect
import contextlib
import functools
import hashlib
import importlib.util
import lzma
import os
import re
import struct
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .config import config
from .exceptions import InvalidValue

__all__ = ["Facts", "Pack", "claimed", "clear", "entries", "facts", "load", "packs", "save", "writable", "write_pack"]

_STAMP = b"semiring kernel 1 "
_DIGEST = 32
# Seconds after which an unfinished file of another process counts as abandoned.
_ABANDONED = 3600.0
_cleaned: set[Path] = set()


def load(engine: str, key: str, maker: str = "") -> bytes | None:
    """Return the code of a kernel, or None.

    maker: the compiler and its version; a file of the user's own folder that another one made is not used.
    """
    own = _read(Path(config.cache_dir) / engine / f"{key}.bin", maker.encode())
    if own is not None:
        return own
    for folder in config.shared_cache:
        found = _read(folder / engine / f"{key}.bin", None)
        if found is not None:
            return found
    wanted = bytes.fromhex(key)
    for pack in packs():
        found = pack.load(wanted)
        if found is not None:
            return found
    return None


def _read(path: Path, maker: bytes | None) -> bytes | None:
    """Return the code in a file; None unless it is whole, and of this maker (None: any)."""
    try:
        kept = path.read_bytes()
    except OSError:
        return None
    head, _, rest = kept.partition(b"\n")
    if not head.startswith(_STAMP) or (maker is not None and head != _STAMP + maker):
        return None
    body = rest[_DIGEST:]
    return body if hashlib.sha256(body).digest() == rest[:_DIGEST] else None


def save(engine: str, key: str, body: bytes, maker: str = "") -> None:
    """Store the code of a kernel in the user's folder.

    It is written under another name, which is then replaced: no process reads a part.  On a disk that is full or
    cannot be written nothing is stored, and the next process compiles again.
    """
    folder = Path(config.cache_dir) / engine
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        if folder not in _cleaned:
            _cleaned.add(folder)
            _remove_abandoned(folder)
        content = _STAMP + maker.encode() + b"\n" + hashlib.sha256(body).digest() + body
        _write(folder / f"{key}.bin", [content])


# Seconds between attempts to claim a kernel, and after which its compilation by another process is not awaited.
_POLL = 0.01
_LONGEST = 60.0


@contextlib.contextmanager
def claimed(engine: str, key: str) -> Iterator[bool]:
    """Exclude the user's other processes on this machine from compiling a kernel; yield whether one was waited for.

    So the processes of a grid compile each kernel once.  Nothing is excluded where files cannot be locked, where
    another process needs longer than a minute, or where kernels cannot be stored: each process would then wait in vain.
    """
    file = _claims() if writable() else None
    if file is None:
        yield False
        return
    import fcntl

    # A byte of the file stands for a kernel of a folder.  The lock ends with the process at the latest.
    at = int(hashlib.sha256(f"{config.cache_dir}/{engine}/{key}".encode()).hexdigest()[:15], 16)
    began, waited, held = time.monotonic(), False, False
    while not held and time.monotonic() - began < _LONGEST:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, at)
            held = True
        except (BlockingIOError, PermissionError):
            waited = True
            time.sleep(_POLL)
        except OSError:
            break
    try:
        yield waited
    finally:
        if held:
            fcntl.lockf(file, fcntl.LOCK_UN, 1, at)


@functools.cache
def _claims() -> int | None:
    """Return the file whose bytes are locked, which is open as long as the process; None where there is none."""
    if not hasattr(os, "getuid"):
        return None
    path = Path(tempfile.gettempdir()) / f"semiring-{os.getuid()}.lock"
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return None


def _write(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file, whole or not at all; others may read it, as the user's umask says."""
    partial = path.with_name(f"{path.stem}_{os.getpid()}_{threading.get_ident()}.part")
    try:
        with partial.open("wb") as out:
            out.writelines(parts)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _remove_abandoned(folder: Path) -> None:
    """Remove unfinished files of killed processes."""
    for path in folder.glob("*.part"):
        if time.time() - path.stat().st_mtime > _ABANDONED:
            path.unlink(missing_ok=True)


def writable() -> bool:
    """Return whether compiled kernels can be stored; creates the user's folder."""
    folder = Path(config.cache_dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return os.access(folder, os.W_OK)
    except OSError:
        return False


# --- packs -------------------------------------------------------------------------------------------------

_PACK = b"semiring kernels pack 1\n"
_HEAD = struct.Struct("<QQ32s")  # the numbers of kernels and of blocks, the digest of both tables
_KERNEL = struct.Struct("<32sIII")  # the key, its block, the first byte in the block, the number of bytes
_BLOCK = struct.Struct("<QI32s")  # the first byte in the file, the number of bytes, their digest
_BLOCK_BYTES = 1 << 20
_KEPT_BLOCKS = 8


class Pack:
    """A file of many kernels; its tables are read when the first kernel is looked for.

    A pack that cannot be read, or whose tables are damaged, has no kernels.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._tables: tuple[bytes, bytes] | None = None
        self._blocks: OrderedDict[int, bytes] = OrderedDict()

    def _open(self) -> tuple[bytes, bytes]:
        if self._tables is None:
            self._tables = b"", b""
            with contextlib.suppress(OSError, struct.error), self.path.open("rb") as file:
                if file.read(len(_PACK)) == _PACK:
                    kernels, blocks, digest = _HEAD.unpack(file.read(_HEAD.size))
                    size = os.fstat(file.fileno()).st_size
                    if kernels * _KERNEL.size + blocks * _BLOCK.size <= size:
                        tables = file.read(kernels * _KERNEL.size + blocks * _BLOCK.size)
                        if hashlib.sha256(tables).digest() == digest:
                            self._tables = tables[: kernels * _KERNEL.size], tables[kernels * _KERNEL.size :]
        return self._tables

    def keys(self) -> list[bytes]:
        """Return the keys of the kernels, in order."""
        with self._lock:
            table, _ = self._open()
        return [key for key, *_ in _KERNEL.iter_unpack(table)]

    def load(self, key: bytes) -> bytes | None:
        """Return the code of a kernel, or None."""
        with self._lock:
            table, _ = self._open()
            rows = range(len(table) // _KERNEL.size)
            at = bisect.bisect_left(rows, key, key=lambda row: table[row * _KERNEL.size : row * _KERNEL.size + 32])
            if at == len(rows):
                return None
            found, number, first, size = _KERNEL.unpack_from(table, at * _KERNEL.size)
            if found != key:
                return None
            block = self._block(number)
            return None if block is None or len(block) < first + size else block[first : first + size]

    def _block(self, number: int) -> bytes | None:
        kept = self._blocks.get(number)
        if kept is None:
            try:
                first, size, digest = _BLOCK.unpack_from(self._open()[1], number * _BLOCK.size)
                with self.path.open("rb") as file:
                    file.seek(first)
                    packed = file.read(size)
                if hashlib.sha256(packed).digest() != digest:
                    return None
                kept = lzma.decompress(packed)
            except (OSError, struct.error, lzma.LZMAError):
                return None
            self._blocks[number] = kept
            if len(self._blocks) > _KEPT_BLOCKS:
                self._blocks.popitem(last=False)
        self._blocks.move_to_end(number)
        return kept


def write_pack(path: Path, kernels: Iterable[tuple[str, bytes]]) -> int:
    """Write a pack, whole or not at all; return its bytes.

    path: ends in ``.pack``.  kernels: keys and codes, those that are used together one after the other: a block is read
    as a whole.

    Raises
    ------
    InvalidValue
        For another ending: `packs` would not find the file.
    OSError
        If it cannot be written.
    """
    if path.suffix != ".pack":
        raise InvalidValue(f"a file of compiled kernels is named NAME.pack; got {str(path)!r}")
    table: list[tuple[bytes, int, int, int]] = []
    blocks: list[bytes] = []
    block = bytearray()
    for key, body in kernels:
        if block and len(block) + len(body) > _BLOCK_BYTES:
            blocks.append(lzma.compress(block))
            block.clear()
        table.append((bytes.fromhex(key), len(blocks), len(block), len(body)))
        block += body
    blocks.append(lzma.compress(block))
    rows = b"".join(_KERNEL.pack(*row) for row in sorted(table))
    at = len(_PACK) + _HEAD.size + len(rows) + len(blocks) * _BLOCK.size
    places = b""
    for packed in blocks:
        places += _BLOCK.pack(at, len(packed), hashlib.sha256(packed).digest())
        at += len(packed)
    head = _HEAD.pack(len(table), len(blocks), hashlib.sha256(rows + places).digest())
    _write(path, [_PACK, head, rows, places, *blocks])
    return at


def packs() -> list[Pack]:
    """Return the packs of the shared folders, and of the package ``semiring_kernels``."""
    return _packs_in(tuple(config.shared_cache))


@functools.lru_cache(maxsize=8)
def _packs_in(folders: tuple[Path, ...]) -> list[Pack]:
    package = importlib.util.find_spec("semiring_kernels")
    places = [*folders, *(map(Path, package.submodule_search_locations or ()) if package is not None else ())]
    return [Pack(path) for folder in places for path in sorted(folder.glob("*.pack"))]


# --- the user's folder --------------------------------------------------------------------------------------

# Only the files that are written here, and in `bridges.networkx.automatic`: other programs may use the folder too.
_WRITTEN = {
    "cpu": re.compile(r"[0-9a-f]{64}\.bin|\w+\.part"),
    "cuda": re.compile(r"[0-9a-f]{64}\.bin|\w+\.part"),
    "networkx": re.compile(r"[\w.+-]+/[\w.]+\.ran"),
}


@dataclass(frozen=True)
class Facts:
    """The compiled kernels in the user's folder.

    folder: where they are.  files, bytes: of all versions of the engines together.  kernels: the number of files with
    the machine code of a kernel for one combination of types.  packed: the kernels in packs, which are elsewhere.
    """

    folder: Path
    files: int
    kernels: int
    bytes: int
    packed: int = 0


def facts() -> Facts:
    """Count the files of the user's folder, O(files), and the kernels of packs."""
    sizes = dict(_files())
    kernels = sum(path.suffix == ".bin" for path in sizes)
    packed = sum(len(pack.keys()) for pack in packs())
    return Facts(Path(config.cache_dir), len(sizes), kernels, sum(sizes.values()), packed)


def clear() -> Facts:
    """Remove every compiled kernel from the user's folder, and return what was removed.

    Other files in the folder are kept.  Running processes keep the kernels that they have loaded, and compile
    and store again any others that they need.

    Raises
    ------
    OSError
        If a file cannot be removed.
    """
    removed = facts()
    for path, _ in list(_files()):
        path.unlink(missing_ok=True)
    for engine in _WRITTEN:
        folder = removed.folder / engine
        for emptied in (*folder.glob("*/"), folder):
            with contextlib.suppress(OSError):  # it contains other files, or a process has just written to it
                emptied.rmdir()
    return removed


def entries() -> Iterator[tuple[str, bytes]]:
    """Yield key and code of every kernel in the user's folder, in the order in which they were stored."""
    kernels = [path for path, _ in _files() if path.suffix == ".bin"]
    for path in sorted(kernels, key=lambda path: path.stat().st_mtime_ns):
        body = _read(path, None)
        if body is not None:
            yield path.stem, body


def _files() -> Iterator[tuple[Path, int]]:
    """Yield each file that an engine wrote, with its size in bytes."""
    for engine, written in _WRITTEN.items():
        folder = Path(config.cache_dir) / engine
        for path in folder.rglob("*"):
            if written.fullmatch(path.relative_to(folder).as_posix()):
                with contextlib.suppress(FileNotFoundError):
                    yield path, os.stat(path).st_size
