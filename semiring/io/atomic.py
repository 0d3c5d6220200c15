"""Files that appear whole or not at all.

The bytes go to a temporary file in the folder of the target, are flushed to the disk, and are renamed over the target.
The writer holds a lock (``flock``) on the temporary file, which the system releases when the process ends, however it
ends.  A temporary file that nobody has locked is therefore what a killed process left, and the next write of the same
target removes it.  A process id in the name would not do: other containers and hosts have processes of their own.
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
from semiring.io.files import PathLike, extension

try:
    import fcntl
except ImportError:  # Windows, which lets nobody remove a file that is open
    fcntl = None  # type: ignore[assignment]

__all__ = ["atomic_writer"]

_SUFFIX: Final = ".part"
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


@contextlib.contextmanager
def atomic_writer(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes the place of ``path`` only when the block ends without an error.

    On any error ``path`` stays as it was and the temporary file is removed.  A file that is replaced keeps its mode,
    and its owner and group where the system allows it; a symbolic link stays, and its target is written.  What is no
    regular file (a pipe, a terminal) is written directly.  The name's last extension chooses the compression.

    Raises
    ------
    OSError
        The one that ``open(path, "wb")`` would raise, with this path: a folder that is missing, or may not be written,
        or a file that may not.
    """
    with _errors_naming(path):
        before = _existing(path)
    if before is not None and not stat.S_ISREG(before.st_mode):
        with open(path, "wb") as special, _compressed(special, path) as stream:
            yield stream
        return
    target = os.path.realpath(path)
    with _errors_naming(path):
        _remove_stale(target)
    temporary = _name_beside(target)
    try:  # from before the file is made: an interrupt at any moment finds its name here
        with _errors_naming(path):
            while (raw := _created(temporary, 0o666 if before is None else 0o600)) is None:
                temporary = _name_beside(target)  # whoever removes a file by its name may still be about to
        with raw:
            with _compressed(raw, path) as stream:
                yield stream
            raw.flush()
            with _errors_naming(path):
                if before is not None:
                    _copy_permissions(raw.fileno(), before)
                os.fsync(raw.fileno())
                if fcntl is not None:  # while the lock is held: nobody takes the file for a stale one
                    os.replace(temporary, target)
        if fcntl is None:
            with _errors_naming(path):
                os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _existing(path: PathLike) -> os.stat_result | None:
    """The file that is there; OSError if it is none that can be written."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not os.access(path, os.W_OK):  # a rename would replace it all the same
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return found


def _name_beside(target: str) -> str:
    """The path of a temporary file that nobody else makes."""
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{name}.{secrets.token_hex(6)}{_SUFFIX}")


def _created(path: str, mode: int) -> IO[bytes] | None:
    """A new locked file, open for writing, or None if another writer takes it for a stale one and removes it.

    What umask takes off `mode` is off.
    """
    # An opener, and not os.open with os.fdopen: no moment has a descriptor that nothing closes.
    raw = open(path, "xb", opener=lambda name, _: os.open(name, _FLAGS, mode))  # noqa: SIM115
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
    """False if another process holds the lock; True also where the file system knows no locks."""
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
        # Where the file system has no locks this raises, and the file stays: its writer may be at work.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
    finally:
        os.close(descriptor)


def _copy_permissions(descriptor: int, before: os.stat_result) -> None:
    """Give a file the owner, the group and the mode of the one that it replaces, as far as the system allows."""
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
            # What the old group was allowed is not for another one: it gets what everybody has.
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

        # No name and no time in the header: equal matrices give equal files.
        return cast("IO[bytes]", gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0))
    if compression == ".bz2":
        import bz2

        return cast("IO[bytes]", bz2.BZ2File(raw, "wb"))
    if compression == ".xz":
        import lzma

        return cast("IO[bytes]", lzma.LZMAFile(raw, "wb"))
    compressor = zstandard_module(os.fspath(path)).ZstdCompressor(level=3)
    return cast("IO[bytes]", compressor.stream_writer(raw, closefd=False))


@contextlib.contextmanager
def _errors_naming(path: PathLike) -> Iterator[None]:
    """Let the system's errors name the file that the caller named, not the temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
