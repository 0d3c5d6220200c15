"""Atomic writes: a file appears complete or not at all.

The bytes are written to a temporary file in the folder of the target and flushed to the disk; the file is then renamed
to the target.  The writer holds a lock (``flock``) on the temporary file, which the system releases when the process
ends, also by a signal.  An unlocked temporary file is therefore left over from a killed process, and the next write of
the same target removes it.  A process id in the name would not suffice: it is not unique across containers and hosts.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from typing import IO, Final, cast

from semiring.io.decompress import zstandard_module
from semiring.io.files import PathLike, errors_naming, extension, open_to_write

try:
    import fcntl
except ImportError:  # Windows, where an open file cannot be removed
    fcntl = None  # type: ignore[assignment]

__all__ = ["atomic_writer"]

_SUFFIX: Final = ".part"
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


@contextlib.contextmanager
def atomic_writer(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a file for writing that replaces ``path`` only when the block ends without an error.

    On any error ``path`` is unchanged and the temporary file is removed.  A file that is replaced keeps its mode, and
    its owner and group where the system allows it; a symbolic link is kept, and its target is written.  A pipe, a
    terminal or another special file is written directly.  The last extension of the name chooses the compression.

    Parameters
    ----------
    path : str or PathLike

    Returns
    -------
    context manager, with a file that is open for writing bytes

    Raises
    ------
    OSError
        The one that ``open(path, "wb")`` or its stream would raise, with this path: a missing or unwritable folder, an
        unwritable file, a full disk.

    Examples
    --------
    >>> with sr.io.atomic_writer("ranks.txt") as file:
    ...     file.write(b"0.25 0.75")
    9
    """
    target = os.path.realpath(path)
    names = [target, os.path.dirname(target)]  # in errors of the system, which name `path` instead
    with errors_naming(path, names):
        before = _existing(path)
    if before is not None and not stat.S_ISREG(before.st_mode):
        with open_to_write(path, "wb", path) as special, _compressed(special, path) as stream:
            yield stream
        return
    with errors_naming(path, names):
        _remove_stale(target)
    temporary = _name_beside(target)
    try:  # starts before the file exists, so that an interrupt at any point removes it
        with errors_naming(path, names):
            while (raw := _created(temporary, 0o666 if before is None else 0o600, path)) is None:
                temporary = _name_beside(target)  # another writer may still remove the former name
        with raw:
            with _compressed(raw, path) as stream:
                yield stream
            raw.flush()
            with errors_naming(path, [temporary]):
                if before is not None:
                    _copy_permissions(raw.fileno(), before)
                os.fsync(raw.fileno())
                if fcntl is not None:  # while the lock is held, so that no other writer removes the file as stale
                    os.replace(temporary, target)
        if fcntl is None:
            with errors_naming(path, [temporary]):
                os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _existing(path: PathLike) -> os.stat_result | None:
    """Return the status of an existing file; OSError if it cannot be written, None if it does not exist."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not os.access(path, os.W_OK):  # a rename would replace it regardless
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return found


def _name_beside(target: str) -> str:
    """Return a unique path for a temporary file in the same folder."""
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{name}.{secrets.token_hex(6)}{_SUFFIX}")


def _created(path: str, mode: int, shown: PathLike) -> IO[bytes] | None:
    """Create and lock a file for writing; return None if another writer removes it as stale before the lock.

    The system applies umask to `mode`.
    """
    # An opener, and not os.open with os.fdopen, so that an interrupt never leaks a descriptor.
    raw = open_to_write(path, "xb", shown, lambda name, _: os.open(name, _FLAGS, mode))
    try:
        if _lock(raw.fileno()) and os.path.exists(path):
            return raw
    except BaseException:
        raw.close()
        raise
    raw.close()
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    return None


def _lock(descriptor: int) -> bool:
    """Lock a file; return False if another process holds the lock, True also where the file system has no locks."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _remove_stale(target: str) -> None:
    """Remove the temporary files of this target whose writers have ended."""
    folder, name = os.path.split(target)
    pattern = re.compile(re.escape(f".{name}.") + "[0-9a-f]{12}" + re.escape(_SUFFIX))
    try:
        with os.scandir(folder) as entries:
            found = [entry.path for entry in entries if pattern.fullmatch(entry.name)]
    except PermissionError:  # a folder may be writable and not readable
        return
    for path in found:
        with contextlib.suppress(OSError):
            _remove_unlocked(path)


def _remove_unlocked(path: str) -> None:
    if fcntl is None:
        os.unlink(path)
        return
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        # Where the file system has no locks this raises, and the file stays: its writer may still run.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
    finally:
        os.close(descriptor)


def _copy_permissions(descriptor: int, before: os.stat_result) -> None:
    """Copy owner, group and mode of the replaced file, as far as the system allows."""
    if not hasattr(os, "fchown"):
        return
    mode, mine = stat.S_IMODE(before.st_mode), os.fstat(descriptor)
    if mine.st_uid != before.st_uid:
        with contextlib.suppress(OSError):
            os.fchown(descriptor, before.st_uid, -1)
    if mine.st_gid != before.st_gid:
        try:
            os.fchown(descriptor, -1, before.st_gid)
        except OSError:
            # The group is another one: replace the permissions of the old group by those of others.
            mode &= ~0o070 | (mode & 0o007) << 3
    os.fchmod(descriptor, mode)


@contextlib.contextmanager
def _compressed(raw: IO[bytes], path: PathLike) -> Iterator[IO[bytes]]:
    compression = extension(path)[1]
    if not compression:
        yield raw
        return
    with _compressor(raw, compression, path) as stream:
        yield stream


def _compressor(raw: IO[bytes], compression: str, path: PathLike) -> IO[bytes]:
    if compression == ".gz":
        import gzip

        # No name and no time in the header, so that equal matrices produce equal files.
        return cast("IO[bytes]", gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0))
    if compression == ".bz2":
        import bz2

        return cast("IO[bytes]", bz2.BZ2File(raw, "wb"))
    if compression == ".xz":
        import lzma

        return cast("IO[bytes]", lzma.LZMAFile(raw, "wb"))
    compressor = zstandard_module(os.fspath(path)).ZstdCompressor(level=3)
    return cast("IO[bytes]", compressor.stream_writer(raw, closefd=False))
