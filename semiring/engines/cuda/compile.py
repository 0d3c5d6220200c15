"""Kernel text to machine code: includes expanded, compiled by NVRTC, kept on disk, loaded on first launch.

The compiled text is ``semiring.cuh``, then the generated prologue, then the kernel's file without its other kernels,
with every include expanded.  A generated prologue that has includes of its own is the whole text (`program_code.py`).
In the name of an included file, CODEC and T_CODEC are replaced by the names of the structs that the prologue defines
them as.  The key in `semiring.kernel_store` is a digest of exactly this text, the architecture and the options, so an
edited include changes the key.  Compilation needs no GPU.

Options.  Subnormal floats are kept (no ``-ftz``), division and square root are rounded correctly, and products
are contracted into fused multiply-adds, which is NVRTC's default: a sum of products may therefore differ from
NumPy's in the last bit, never in a single operation.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import re
import threading
from importlib.resources import files
from typing import Any

from ... import kernel_store
from ...exceptions import NotSupported, SemiringError
from ...worker_thread import apart
from ..shared import compilations
from . import kernel_lists
from .compile_ahead import compile_together

__all__ = ["compile_text", "compiled", "current_architecture", "key_of", "module", "module_text"]

_FOLDER = files(__package__) / "kernels"
_INCLUDE = re.compile(r'^#include "([\w/.]+)"\s*$', re.MULTILINE)
_CODEC = re.compile(r"^typedef struct (\w+) ((?:T_)?CODEC);$", re.MULTILINE)
_NAMES_CODEC = re.compile(r"^((?:T_)?CODEC)(?=[_.])")
# Comments, strings and characters: a brace in them delimits no block.
_IGNORED = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'""", re.DOTALL)
_DEFINITION = re.compile(r"__global__ void\s+(?:ONE_CLUSTER\s+)?(?:__launch_bounds__\([^)]*\)\s+)?(\w+)\(")
_OPTIONS = ("--std=c++17", "-default-device")


@functools.cache
def _source(file: str) -> str:
    return (_FOLDER / file).read_text(encoding="utf-8")


@functools.lru_cache(maxsize=512)
def _with_one_kernel(file: str, entry: str) -> str:
    """Return a file's text without the kernels but one; lines keep their numbers."""
    text = _source(file)
    plain = _IGNORED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    made, at = [], 0
    for found in _DEFINITION.finditer(plain):
        end = _end_of_block(plain, plain.index("{", found.end()))
        if found[1] != entry:
            begin = text.rindex('extern "C"', 0, found.start())
            made += [text[at:begin], "\n" * text.count("\n", begin, end)]
            at = end
    return "".join([*made, text[at:]])


def _end_of_block(text: str, begin: int) -> int:
    """Return the position after the brace that closes the one at `begin`."""
    depth = 0
    for brace in re.compile(r"[{}]").finditer(text, begin):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    raise AssertionError("a kernel's text has a brace that is not closed")


def _expand(file: str, seen: set[str], codecs: dict[str, str], entry: str = "") -> str:
    """Return a file's text with the first occurrence of each include replaced by its text; lines keep their numbers.

    entry: the kernel of the file that is kept, by default all.  codecs: the names of codecs that ``CODEC`` and
    ``T_CODEC`` stand for in the name of a file; files of others are left out, as in a text without a prologue, of which
    only the structs of arguments are read.
    """
    if file in seen:
        return ""
    seen.add(file)
    text = (_with_one_kernel(file, entry) if entry else _source(file)).replace("#pragma once", "")
    made = [f'#line 1 "{file}"\n']
    at = 0
    for found in _INCLUDE.finditer(text):
        line = text.count("\n", 0, found.end()) + 1
        included = _NAMES_CODEC.sub(lambda name: codecs.get(name[1], ""), found[1])
        known = "" if included[0] in "_." else _expand(included, seen, codecs)
        made += [text[at : found.start()], known, f'#line {line} "{file}"']
        at = found.end()
    made += [text[at:], "\n"]
    return "".join(made)


@functools.cache
def _common() -> tuple[str, frozenset[str]]:
    seen: set[str] = set()
    return _expand("semiring.cuh", seen, {}), frozenset(seen)


@functools.lru_cache(maxsize=1024)
def module_text(file: str, prologue: str = "", entry: str = "") -> str:
    """Return the whole text that is passed to the compiler for a prologue and a kernel of a file, by default all."""
    common, seen = _common()
    if _INCLUDE.search(prologue) is not None:
        return common + _with_includes(prologue, set(seen))
    body = _expand(file, set(seen), {role: name for name, role in _CODEC.findall(prologue)}, entry)
    return f'{common}#line 1 "prologue of {file}"\n{prologue}\n{body}'


def _with_includes(text: str, seen: set[str]) -> str:
    """Return a generated text with its includes replaced: once each, but in every namespace again.

    A namespace names its own types and codec, in lines before the include.
    """
    made: list[str] = []
    at = 0
    for found in _INCLUDE.finditer(text):
        before = text[at : found.start()]
        made.append(before)
        known = set(seen) if "namespace " in before else seen
        made.append(_expand(found[1], known, {role: name for name, role in _CODEC.findall(before)}))
        at = found.end()
    return "".join([*made, '\n#line 1 "program"', text[at:]])


def compile_text(file: str, prologue: str, arch: str, entry: str = "") -> bytes:
    """Return the machine code of a kernel of a file, by default of all, for an architecture such as ``"sm_90"``.

    For ``"compute_90"`` it is PTX.  If NVRTC is older than the GPU, it is PTX of the newest architecture that NVRTC
    supports, and the driver translates it.

    Raises
    ------
    SemiringError
        If the text does not compile; the message includes the compiler's messages.
    """
    from cupy_backends.cuda.libs import nvrtc

    known = [int(number) for number in nvrtc.getSupportedArchs()]
    native = arch.startswith("sm_") and int(arch[3:]) in known
    target = f"compute_{max(known)}" if arch.startswith("sm_") and not native else arch
    program = nvrtc.createProgram(module_text(file, prologue, entry), file, (), ())
    try:
        try:
            nvrtc.compileProgram(program, (*_OPTIONS, f"-arch={target}"))
        except nvrtc.NVRTCError:
            log = nvrtc.getProgramLog(program)
            raise SemiringError(f"CUDA kernel {file} for {target} does not compile:\n{log}") from None
        binary = nvrtc.getCUBIN(program) if native else nvrtc.getPTX(program)
    finally:
        nvrtc.destroyProgram(program)
    return bytes(binary)


@functools.cache
def _compiler_version() -> str:
    """Return the version of NVRTC for the cache key; its library (0.2 s) is not loaded if its package has metadata."""
    from importlib import metadata

    for package in ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            return metadata.version(package)
    from cupy_backends.cuda.libs import nvrtc

    return str(nvrtc.getVersion())


def key_of(file: str, prologue: str, arch: str, entry: str = "") -> str:
    """Return the key of a text's machine code in the store."""
    key = hashlib.sha256()
    for part in (module_text(file, prologue, entry), arch, *_OPTIONS):
        key.update(part.encode() + b"\0")
    return key.hexdigest()


def _compiled(file: str, prologue: str, arch: str, entry: str) -> bytes:
    """Compile a text and store its machine code; if another process compiles it now, wait for that."""
    key = key_of(file, prologue, arch, entry)
    with kernel_store.claimed("cuda", key) as waited:
        if waited and (found := kernel_store.load("cuda", key, _compiler_version())) is not None:
            return found
        binary = compile_text(file, prologue, arch, entry)
        compilations.note(file)
        kernel_store.save("cuda", key, binary, _compiler_version())
    return binary


def _stored(file: str, prologue: str, arch: str, entry: str) -> bytes | None:
    """Return the machine code of a text from the store, for this architecture or the first one of its generation."""
    for served in _served(arch):
        found = kernel_store.load("cuda", key_of(file, prologue, served, entry), _compiler_version())
        if found is not None:
            return found
    return None


def compiled(file: str, prologue: str, arch: str, entry: str) -> bool:
    """Compile a kernel unless the store has it; return whether it was compiled."""
    if _stored(file, prologue, arch, entry) is not None:
        return False
    _compiled(file, prologue, arch, entry)
    return True


def _served(arch: str) -> list[str]:
    """Return the architectures whose machine code this one executes: itself, and the first one of its generation."""
    first = f"{arch[:-1]}0"
    return [arch] if arch == first else [arch, first]


def _binary(file: str, prologue: str, arch: str, entry: str, function: str | None) -> bytes:
    """Return the machine code of a text from the store, else compiled together with the others that the call needs."""
    target = file, prologue, arch, entry
    found = _stored(*target)
    if found is not None:
        return found
    following = kernel_lists.following(function, (file, prologue, entry))
    others = [(*text[:2], arch, text[2]) for text in following]
    return compile_together(target, [each for each in others if _stored(*each) is None], _compiled, function or file)


def _loaded(file: str, prologue: str, arch: str, entry: str) -> Any:
    """Return the module of a kernel, loaded on the current device."""
    import cupy

    made, function = cupy.cuda.function.Module(), kernel_lists.running_function()
    # Outside the main thread an interrupt cannot stop the compiler or a file operation half-way.
    try:
        made.load(apart(functools.partial(_binary, file, prologue, arch, entry, function)))
    except cupy.cuda.driver.CUDADriverError:  # code of a pack, by a compiler newer than the driver
        made.load(apart(functools.partial(_compiled, file, prologue, arch, entry)))
    return made


def current_architecture(device: int | None = None) -> str:
    """Return the architecture of a GPU, by default the current one, such as ``"sm_90"``."""
    import cupy

    arch = f"sm_{cupy.cuda.Device(device).compute_capability}"
    if int(arch[3:]) < 70:
        raise NotSupported(f"CUDA devices below compute capability 7.0 are not supported; got {arch}")
    return arch


_lock = threading.RLock()
_modules: dict[tuple[int, str, str, str], Any] = {}


def module(device: int, file: str, prologue: str, entry: str) -> Any:
    """Return the module of a kernel, loaded once per process on each device."""
    found = _modules.get((device, file, prologue, entry))
    if found is None:
        with _lock:
            found = _modules.get((device, file, prologue, entry))
            if found is None:
                arch = current_architecture(device)
                found = _modules[device, file, prologue, entry] = _loaded(file, prologue, arch, entry)
    return found
