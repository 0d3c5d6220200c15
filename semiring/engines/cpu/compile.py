"""Compilation of kernels with numba: one decorator, one cache on disk, one line on standard error the first time.

An exception during compilation would leave inconsistent tables in the compiler.  So kernels are compiled on a thread
of their own (`semiring.worker_thread`): an interrupt propagates immediately, the compiler continues, and the kernel is
available at the next call.

The name of the cache folder contains a digest of all sources that kernels are compiled from: numba tracks only the file
of a kernel, and would not detect a change in a function that the kernel calls.  NUMBA_CACHE_DIR is respected if it is
set; numba's global setting is restored for functions of the user.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, IndexDataCacheFile, _CacheLocator
from numba.core.compiler_lock import global_compiler_lock

from ...config import config
from ...worker_thread import apart
from ..shared import compilations

_settings: Any = numba.config
# Without unused wrappers, which are an eighth of the compile time.
_njit: Any = functools.partial(numba.njit, nogil=True, error_model="numpy", no_cfunc_wrapper=True)


def _sources_digest() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    engines = files(__package__.rpartition(".")[0])
    for source in (*_sources(engines / "cpu"), engines / "shared" / "direction.py"):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _sources(folder: Traversable) -> Iterator[Traversable]:
    """Yield the modules of a folder, which may be in a zip file, and of its subfolders, in the order of their names."""
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir():
            yield from _sources(item)
        elif item.name.endswith(".py"):
            yield item


def _cache_folder() -> str | None:
    """Return the folder of compiled kernels, or None where it cannot be written (kernels are then not cached)."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return str(_settings.CACHE_DIR)
    folder = config.cache_dir / "cpu" / _sources_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return str(folder) if os.access(folder, os.W_OK) else None


_folder = _cache_folder()
_kernels: set[Any] = set()


class _ZippedLocator(_CacheLocator):
    """The place in the cache of a kernel whose module is in a zip file: numba caches those of files only."""

    def __init__(self, function: Callable[..., Any], path: str, archive: str) -> None:
        self._line, self._archive = function.__code__.co_firstlineno, archive
        self._folder: str = os.path.join(_settings.CACHE_DIR, self.get_suitable_cache_subpath(path))

    def get_cache_path(self) -> str:
        return self._folder

    def get_source_stamp(self) -> tuple[int, int]:
        """Return the version of the zip file."""
        facts = os.stat(self._archive)
        return facts.st_mtime_ns, facts.st_size

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _ZippedLocator | None:
        """Return the place of a kernel in the folder that is set, or None unless its module is in a zip file."""
        archive = getattr(getattr(sys.modules.get(py_func.__module__), "__loader__", None), "archive", None)
        return cls(py_func, py_file, archive) if archive is not None and _settings.CACHE_DIR else None


_locators: Any = CompileResultCacheImpl._locator_classes
_locators.insert(0, _ZippedLocator)


def kernel(function: Callable[..., Any]) -> Any:
    """Decorate a function that Python calls: compiled for each combination of argument types, cached, without GIL."""
    before = _settings.CACHE_DIR
    try:
        if _folder is not None:
            _settings.CACHE_DIR = _folder
        made: Any = _njit(cache=_folder is not None)(function)
    finally:
        _settings.CACHE_DIR = before
    if _folder is not None:
        made._cache._cache_file = _CacheFile.of(made._cache)
    # The dispatcher calls these for new argument types, and for each argument that is neither an array nor a number;
    # the instance attributes override the methods.
    made._compile_for_args = functools.partial(_compile_apart, made)
    made.typeof_pyval = functools.partial(_type_of, made)
    _kernels.add(made)
    return made


def _compile_apart(dispatcher: Any, *args: Any) -> Any:
    """Compile a kernel for these arguments, or load it from disk."""
    return apart(functools.partial(type(dispatcher)._compile_for_args, dispatcher, *args))


def _type_of(dispatcher: Any, argument: Any) -> Any:
    """Return the numba type of an argument; that of an operator by one look-up (half of the time of a call)."""
    try:
        return argument._numba_type_
    except AttributeError:
        return type(dispatcher).typeof_pyval(dispatcher, argument)


def device(function: Callable[..., Any]) -> Any:
    """Decorate a function that only kernels call; it is compiled into them."""
    return _njit(no_cpython_wrapper=True)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Decorate a function as `device` that is called for little work each time: a call of it counts references."""
    return _njit(no_cpython_wrapper=True, forceinline=True)(function)


# Whether this thread, which forks, holds the compiler's lock.
_forking = threading.local()


def reassociated(function: Callable[..., Any]) -> Any:
    """Decorate a function as `device`; in it and in what it calls, floats may be added in any order."""
    return _njit(no_cpython_wrapper=True, fastmath={"reassoc", "nsz"})(function)


def _before_fork() -> None:
    """Wait for a running compilation: a child forked during it would inherit a lock that is never released."""
    _forking.holds = False
    global_compiler_lock.acquire()
    _forking.holds = True


def _after_fork() -> None:
    if _forking.holds:
        global_compiler_lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)

# Seconds after which an unfinished file of another process counts as abandoned.
_ABANDONED = 3600.0


class _CacheFile(IndexDataCacheFile):
    """The compiled forms of one kernel on disk: a data file for each combination of types, named by its key.

    numba numbers the data files and keeps an index of them: of processes that compile at the same time, one overwrites
    the index entries of another, or loads what it has compiled for other types.  Here there is no index.  A file is
    written under a temporary name and then renamed, so that no process reads a partial file.
    """

    @classmethod
    def of(cls, cache: Any) -> _CacheFile:
        """Return the cache file of a kernel, in the place of numba's own."""
        locator = cache._impl.locator
        return cls(cache.cache_path, cache._impl.filename_base, locator.get_source_stamp())

    def save(self, key: Any, data: Any) -> None:
        """Add an entry; on a full or read-only disk the next process compiles again."""
        with contextlib.suppress(OSError):
            self._remove_abandoned()
            self._save_data(self._name(key), (key, data))

    def load(self, key: Any) -> Any:
        """Return the entry, or None if there is no readable one."""
        try:
            saved, data = self._load_data(self._name(key))
        except Exception:  # no file, or damaged bytes, which may raise any exception
            return None
        return data if saved == key else None

    def _name(self, key: Any) -> str:
        """Return the name of a data file, from the kernel, the version of its source file, and the types."""
        digest = hashlib.sha256(repr((self._source_stamp, key)).encode()).hexdigest()[:32]
        return f"{self._index_name.removesuffix('.nbi')}.{digest}.nbc"

    def _remove_abandoned(self) -> None:
        """Remove unfinished files of killed processes."""
        for path in Path(self._cache_path).glob("*.tmp.*"):
            if time.time() - path.stat().st_mtime > _ABANDONED:
                path.unlink(missing_ok=True)


class _Announcer(event.Listener):
    """Reports and counts the kernels that are compiled; numba sends the event only where the cache has no entry."""

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        if dispatcher not in _kernels:
            return
        compilations.note(dispatcher.__name__)
        if config.quiet:
            return
        names = [arg.label for arg in event.data["args"] if hasattr(arg, "label")]
        operators = f" for {' '.join(names)}" if names else ""
        what = f"{dispatcher.__module__.rpartition('.')[2]}.{dispatcher.__name__}"
        print(f"semiring: compiling CPU kernel {what}{operators} (first time only)", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Print nothing at the end."""


event.register("numba:compile", _Announcer())
