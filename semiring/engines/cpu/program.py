"""Programs of compiled loops: one generated kernel runs all iterations."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from ...formats import CSR, Bitmap, Count, Full, IndexList, VectorStore, index_dtype
from ...memory.allocation import require
from ..program import Program, ProgramResult, RunProgram, Values
from ..program_listing import listing
from ..recording import note
from ..registry import implements
from ..spec_lists import VectorList
from ..traced import Number
from . import compile as compiler
from . import presence
from .atomics import CONTROL_SIZE
from .operands import kernel_array
from .program_code import Code
from .program_lists import OUTGROWN, ListArrays
from .program_numbers import FAILED, STOPPED, YIELDED
from .threads import assisted, available

# Work of an iteration, times the number of threads, from which operations one by one take less time: a call costs 10 to
# 25 microseconds, and an entry about a nanosecond on one thread (measured on two cores of an AMD EPYC).
_LARGE = 1 << 21
# Work (iterations and entries) after which a program continues on a thread that an interrupt can end: milliseconds.
_SHORT = 1 << 22
_UNBOUNDED = 1 << 62
_LONG = 1 << 24


class _Compiled:
    """The kernel of a program, and its arguments that do not change from call to call."""

    def __init__(self, program: Program) -> None:
        self.code = code = Code(program)
        text = code.text()
        text = code.resolved(text)
        self.kernel = _kernel(text)
        self.text = text
        self.pools = code.pools()
        self.numbers = code.saved()
        held = {id(pattern) for pattern in program.held}
        self.matrices = [_MatrixArrays(a, held) for a in code.matrices]
        self.types = [(a.dtype, a.iso is not None) for a in code.matrices]
        self.constants = [value for _, value in code.constants]
        self.first: dict[str, int] = {}
        number = 0
        for pool in self.pools:
            for row in range(code.rows[pool]):
                self.first[f"{pool.lower()}_{row}"] = number
                number += 1
        code.forget_matrices()
        self.row_of = [row for pool in self.pools for row in range(code.rows[pool])]

    def nbytes(self) -> int:
        """Return the bytes of all rows."""
        total = 0
        for pool in self.pools:
            size = self.code.sizes[int(pool[1:].split("_")[0])]
            each = size * index_dtype(size).itemsize + size // 8 if pool[0] == "S" else size * _dtype(pool).itemsize
            total += each * self.code.rows[pool]
        return total


class _MatrixArrays:
    """The arrays of a matrix as kernel arguments, without holding a matrix that the caller holds.

    The caller's matrix holds its pattern and, once derived, its transpose.
    """

    def __init__(self, a: CSR, held: set[int]) -> None:
        self._iso = a.iso
        weak = id(a.pattern) in held and (a.values is None or a.values.base is None)
        self._pattern: Any = weakref.ref(a.pattern) if weak else lambda pattern=a.pattern: pattern
        self._values: Any = None
        if a.values is not None:
            self._values = weakref.ref(a.values) if weak else lambda values=a.values: values

    def arrays(self) -> list[Any]:
        """Return row offsets, columns, and values or the value of all."""
        pattern = self._pattern()
        values = self._iso if self._values is None else kernel_array(self._values())
        return [kernel_array(pattern.indptr), kernel_array(pattern.indices), values]


def _dtype(pool: str) -> np.dtype[Any]:
    return np.dtype(pool.partition("_")[2])


def compiled(program: Program) -> _Compiled:
    """Return the kernel of a program; compiled once for each text."""
    if program.compiled is None:
        with _lock:  # another thread must not read the steps while they are dropped, or half a file
            if program.compiled is None:
                made = _Compiled(program)
                program.listing = listing(program, made.code.in_place)
                program.forget_steps()
                program.compiled = made
    return program.compiled  # type: ignore[no-any-return]


_lock = threading.RLock()
_kernels: dict[str, Any] = {}


def _kernel(text: str) -> Any:
    """Return the kernel of a text, from a module that is kept beside the compiled kernels."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:24]
    found = _kernels.get(digest)
    if found is not None:
        return found
    name = f"{__package__}.programs.loop_{digest}"
    scope: dict[str, Any]
    if compiler._folder is None:
        scope = {"__name__": name}
        exec(compile(text, f"<loop {digest}>", "exec"), scope)
        found = scope["program"]
    else:
        path = Path(compiler._folder) / "programs" / f"loop_{digest}.py"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(f".{os.getpid()}")
            partial.write_text(text)
            partial.replace(path)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        found = module.program
    _kernels[digest] = found
    return found


@implements(RunProgram, engine="cpu")
def run_program(q: RunProgram) -> ProgramResult | None:
    """Run all iterations in one kernel, on one thread; again with larger arrays where a list outgrows its own."""
    made = compiled(q.program)
    given = {id(item): value for item, value in zip(q.program.inputs, q.values, strict=True)}
    lists = [ListArrays(item, given.get(id(item), ())) for item in made.code.lists]
    while True:
        result = _run(q, made, lists)
        if not isinstance(result, int):
            return result
        for each in lists:
            each.grow()


def _run(q: RunProgram, made: _Compiled, lists: list[ListArrays]) -> ProgramResult | int | None:
    """Run the program once; an integer where a list has outgrown its arrays."""
    code, program = made.code, q.program
    require("loop", "cpu", made.nbytes())
    arrays: dict[str, Any] = {}
    for c, size in enumerate(code.sizes):
        count = code.rows.get(f"S{c}", 0)
        arrays[f"n{c}"] = size
        arrays[f"W{c}"] = np.zeros(count * ((size + 31) >> 5), np.uint32)
        arrays[f"L{c}"] = np.empty(count * size, index_dtype(size))
        arrays[f"N{c}"] = np.zeros(count, np.int64)
        arrays[f"T{c}"] = np.full(count, 2, np.int64)
    for pool in made.pools:
        if pool[0] == "V":
            arrays[pool] = np.empty(code.rows[pool] * code.sizes[int(pool[1:].split("_")[0])], _dtype(pool))
    rows = np.array(made.row_of, np.int64)
    integers, floats = np.zeros(len(made.numbers), np.int64), np.zeros(len(made.numbers))
    places = {name: number for number, (name, _) in enumerate(made.numbers)}
    for item, value in (*zip(program.inputs, q.values, strict=True), *program.constants):
        if isinstance(item, Number):
            (floats if item.kind == "float" else integers)[places[code.number(item)]] = value
        elif not isinstance(item, VectorList):
            _load(code, made, arrays, rows, item, value)
    state = np.zeros(8, np.int64)
    state[1] = _SHORT
    state[4] = _LARGE // available() if available() > 1 else _UNBOUNDED
    arguments = [state, rows, integers, floats]
    for c, _ in enumerate(code.sizes):
        arguments += [arrays[f"{name}{c}"] for name in "nWLNT"]
    arguments += [arrays[pool] for pool in made.pools if pool[0] == "V"]
    arguments += [*made.constants, *(array for matrix in made.matrices for array in matrix.arrays())]
    arguments += [array for each in lists for array in each.arguments()]
    outcome = _call(made, arguments, state)
    note(iterations=int(state[2]), bytes=made.nbytes())
    if outcome == OUTGROWN:
        return OUTGROWN
    if outcome == FAILED:
        return None
    outputs: list[Any] = []
    for item in program.outputs:
        if isinstance(item, VectorList):
            outputs.append(lists[code.list_number(item)].result())
        elif isinstance(item, Number):
            name = code.number(item)
            value = (floats if item.kind == "float" else integers)[places[name]]
            outputs.append({"int": int, "float": float, "bool": bool}[item.kind](value))
        else:
            outputs.append(_stored(code, made, arrays, rows, item))
    return ProgramResult(outputs, int(outcome), int(state[2]), made.nbytes())


def _call(made: _Compiled, arguments: list[Any], state: np.ndarray[Any, Any]) -> int:
    """Run the kernel, and continue a long program on a thread that an interrupt ends.

    A program with inner loops is on such a thread from its beginning, since it may never return to the outermost one.
    """
    outcome = YIELDED
    if not made.code.lifetimes.nested:
        outcome = made.kernel(0, 1, np.zeros(CONTROL_SIZE, np.int64), *arguments)
    if outcome == YIELDED and state[5] > state[4]:
        return -1
    if outcome == YIELDED:
        state[0], state[1] = not made.code.lifetimes.nested, _UNBOUNDED
        assisted(_Returning(made.kernel, state), 1, *arguments, work=_LONG)
        outcome = state[3]
        if outcome == YIELDED:
            return -1
    assert outcome != STOPPED
    return int(outcome)


class _Returning:
    """A kernel whose result is stored in the state of the program."""

    def __init__(self, kernel: Any, state: np.ndarray[Any, Any]) -> None:
        self._kernel, self._state = kernel, state

    def __call__(self, *arguments: Any) -> None:
        self._state[3] = self._kernel(*arguments)


def _load(code: Code, made: _Compiled, arrays: dict[str, Any], rows: Any, item: Any, value: VectorStore) -> None:
    """Copy an input to its rows; nothing of one that is known: a full vector of one value."""
    if isinstance(item, Full) and item.values is None:
        return
    c, n = code.size(item.size), item.size
    listed = isinstance(value, IndexList)
    if isinstance(item, Bitmap):
        row = rows[made.first[code.home(item.words)]]
        nwords = (n + 31) >> 5
        arrays[f"W{c}"][row * nwords : (row + 1) * nwords] = presence.expanded(presence.presence(value), n)
        arrays[f"N{c}"][row] = value.nvals
        arrays[f"T{c}"][row] = 2 if listed else 0
        if isinstance(value, IndexList):
            arrays[f"L{c}"][row * n : row * n + value.nvals] = value.indices
    if isinstance(item.values, Values):
        pool = f"V{c}_{item.dtype.name}"
        row = rows[made.first[code.home(item.values)]]
        target = arrays[pool][row * n : (row + 1) * n]
        source = value.iso if value.values is None else value.values
        if isinstance(value, IndexList):
            target[value.indices] = source
        else:
            target[:] = source


def _stored(code: Code, made: _Compiled, arrays: dict[str, Any], rows: Any, item: Any) -> VectorStore:
    """Return an output as a store of its own arrays."""
    if isinstance(item, Full) and item.values is None:
        return item
    c, n = code.size(item.size), item.size
    values = None
    if isinstance(item.values, Values):
        pool = f"V{c}_{item.dtype.name}"
        row = rows[made.first[code.home(item.values)]]
        values = arrays[pool][row * n : (row + 1) * n]
    if isinstance(item, Full):
        return Full(n, item.dtype, None if values is None else values.copy(), item.iso)
    row = rows[made.first[code.home(item.words)]]
    count = int(arrays[f"N{c}"][row])
    if arrays[f"T{c}"][row] and count * 64 < n:
        indices = np.sort(arrays[f"L{c}"][row * n : row * n + count])
        return IndexList(n, item.dtype, indices, None if values is None else values[indices], item.iso)
    nwords = (n + 31) >> 5
    words = arrays[f"W{c}"][row * nwords : (row + 1) * nwords].copy()
    if count == n:
        return Full(n, item.dtype, None if values is None else values.copy(), item.iso)
    return Bitmap(n, item.dtype, words, None if values is None else values.copy(), item.iso, Count(count))
