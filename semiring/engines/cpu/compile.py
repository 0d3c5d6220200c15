"""Compilation of kernels with numba: one decorator, one store on disk, one line on standard error the first time.

An exception during compilation would leave inconsistent tables in the compiler.  So kernels are compiled on a thread
of their own (`semiring.worker_thread`): an interrupt propagates immediately, the compiler continues, and the kernel is
available at the next call.

Machine code is kept in `semiring.kernel_store` instead of numba's cache: the key contains a digest of all sources that
kernels are compiled from (numba tracks only the file of a kernel, and would not detect a change in a function that the
kernel calls), and neither paths nor times of files, so that a compiled kernel serves any installation.  The annotated
source, two fifths of the bytes of numba's own files, is left out.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import event, serialize
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime.nrt import rtsys

from ... import kernel_store
from ...config import config
from ...worker_thread import apart
from ..shared import compilations


@functools.cache
def _versions() -> str:
    """Return a digest of the sources that kernels are compiled from, and of what compiles them."""
    compilers = (sys.implementation.cache_tag, numba.__version__, llvmlite.__version__, np.__version__)
    digest = hashlib.sha256(repr(compilers).encode())
    library = files(__package__.partition(".")[0])
    # Kernels take constants from the formats, and from what engines share.
    for folder in (library / "engines" / "cpu", library / "engines" / "shared", library / "formats"):
        for source in _sources(folder):
            digest.update(source.read_bytes())
    return digest.hexdigest()


def _sources(folder: Traversable) -> Iterator[Traversable]:
    """Yield the modules of a folder, which may be in a zip file, and of its subfolders, in the order of their names."""
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir():
            yield from _sources(item)
        elif item.name.endswith(".py"):
            yield item


# Processors that packs are compiled for (NUMBA_CPU_NAME), each with the features that a processor must have.
_LEVELS = {
    "x86-64-v3": frozenset({"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}),
    "generic": frozenset({"neon"}),
}


@functools.cache
def _targets(triple: str, processor: str, features: str) -> tuple[str, ...]:
    """Return the processors whose code this one executes: itself, and the levels of packs that it has."""
    system = triple.split("-")
    found = {name for name in features.split(",") if name.startswith("+")}
    served = [f"{triple} {processor} {features}"] if processor not in _LEVELS else []
    for level, needed in _LEVELS.items():
        if processor == level or {f"+{name}" for name in needed} <= found:
            served.append(f"{system[0]} {' '.join(system[-2:])} {level}")
    return tuple(served)


class _Stored(_Cache):
    """The compiled forms of one kernel in the store, one for each combination of argument types.

    The key has the types themselves, not their names: a damaged or foreign file cannot serve other types.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        code = function.__code__
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        constants = [getattr(constant, "co_code", constant) for constant in code.co_consts]
        what = function.__module__, function.__qualname__, code.co_code, constants, code.co_names
        self._identity = f"{what} {hashlib.sha256(serialize.dumps(cells)).hexdigest()}"
        # The claim of the kernel that is compiled now.
        self.claim = contextlib.ExitStack()

    @property
    def cache_path(self) -> str:
        return str(config.cache_dir)

    def enable(self) -> None: ...

    def disable(self) -> None: ...

    def flush(self) -> None: ...

    def _keys(self, signature: Any, codegen: Any) -> list[str]:
        parts = [_versions(), self._identity, repr(signature)]
        return [
            hashlib.sha256("\0".join([*parts, target]).encode()).hexdigest()
            for target in _targets(*codegen.magic_tuple())
        ]

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled kernel of these types, or None.

        What only a compilation needs, the implementations of Python's and NumPy's functions, is not loaded: half a
        second, with SciPy's linear algebra.
        """
        rtsys.initialize(target_context)
        keys = self._keys(signature, target_context.codegen())
        body = _first(keys)
        if body is None and self.claim.enter_context(kernel_store.claimed("cpu", keys[0])):
            body = _first(keys[:1])  # another process has compiled it meanwhile
        if body is None:
            return None  # numba compiles it: the claim ends with that
        self.claim.close()
        return CompileResult._rebuild(target_context, *pickle.loads(body))

    def save_overload(self, signature: Any, result: Any) -> None:
        """Store a kernel, unless its code contains addresses of this process."""
        with self.claim:
            if not result.lifted and not result.library.has_dynamic_globals:
                self._save(signature, result)

    def _save(self, signature: Any, result: Any) -> None:
        library, described = result.library, result.fndesc
        described.typemap = described.calltypes = None
        # As numba's own files, but for the annotated source.
        fields = (
            *(library.serialize_using_object_code(), described, result.environment, result.signature),
            *(result.objectmode, result.lifted, "", result.reload_init, tuple(result._find_referenced_environments())),
        )
        kernel_store.save("cpu", self._keys(signature, result.codegen)[0], serialize.dumps(fields))


def _first(keys: list[str]) -> bytes | None:
    return next((body for key in keys if (body := kernel_store.load("cpu", key)) is not None), None)


# Without unused wrappers, which are an eighth of the compile time.
_njit: Any = functools.partial(numba.njit, nogil=True, error_model="numpy", no_cfunc_wrapper=True)
_kernels: set[Any] = set()


def kernel(function: Callable[..., Any]) -> Any:
    """Decorate a function that Python calls: compiled for each combination of argument types, cached, without GIL."""
    made: Any = _njit()(function)
    made._cache = _Stored(function)
    # The dispatcher calls these for new argument types, and for each argument that is neither an array nor a number;
    # the instance attributes override the methods.
    made._compile_for_args = functools.partial(_compile_apart, made)
    made._compilation_chain_init_hook = _load_no_extensions
    made.typeof_pyval = functools.partial(_type_of, made)
    _kernels.add(made)
    return made


def _load_no_extensions() -> None:
    """Do not import the packages that extend numba by types of their own: kernels have arrays and numbers alone."""


def _compile_apart(dispatcher: Any, *args: Any) -> Any:
    """Compile a kernel for these arguments, or load it from disk."""
    return apart(functools.partial(_compiled, dispatcher, *args))


def _compiled(dispatcher: Any, *args: Any) -> Any:
    try:
        return type(dispatcher)._compile_for_args(dispatcher, *args)
    except BaseException:
        # What is not stored is not claimed any more: this kernel, and one that it calls.
        for made in _kernels:
            made._cache.claim.close()
        raise


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

    def on_end(self, event: Any) -> None: ...


event.register("numba:compile", _Announcer())
