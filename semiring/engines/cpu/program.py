"""Programs of compiled loops: one generated kernel runs all iterations."""

from __future__ import annotations

import copy
import hashlib
import sys
import threading
import types
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...formats import CSR, Bitmap, Count, Full, IndexList, VectorStore, index_dtype
from ...formats.vectors import SingleEntry
from ...memory.allocation import require
from ..programs.lifetimes import words_of
from ..programs.listing import listing
from ..programs.program import Loop, Program, ProgramResult, Request, RunProgram, Values, VectorList
from ..programs.traced import Number
from ..recording import note
from ..registry import implements
from . import closure_hubs, presence
from .atomics import CONTROL_SIZE
from .closure_push import SPAN
from .operands import Array, kernel_array
from .program_code import Code
from .program_lists import OUTGROWN, ListArrays
from .program_numbers import FAILED, STOPPED, YIELDED
from .threads import assisted, available

# Operations one by one take about 2 / threads of the time of a program, and a call 10 to 25 microseconds; an entry
# takes a nanosecond (two cores of an AMD EPYC: programs of 0.4 to 1.8 million entries an iteration are never slower).
# So an iteration is large from _LARGE entries, times threads / (threads - 2).  A program does not resume: it ends only
# after _MANY times as much work in large iterations.  It does not begin if there are several threads and each
# iteration multiplies _LARGE entries by full vectors: from there on two threads take 0.7 to 1.07 of its time (PageRank
# of Kronecker and uniform graphs, the same machine).
_LARGE, _MANY = 1 << 19, 8
# Work (iterations and entries) after which a program continues on a thread that an interrupt can end: milliseconds.
_SHORT = 1 << 22
_UNBOUNDED = 1 << 58
_LONG = 1 << 24
# A fact of a pattern: a program has pulled with it.
_PULLED = "cpu.pulled"
# Arguments that every program has: state, rows, integers, floats and block.
_OWN = 5
_KINDS: dict[str, Any] = {"int": int, "float": float, "bool": bool}


class _Compiled:
    """The kernel of a program, and its arguments that do not change from call to call."""

    def __init__(self, program: Program) -> None:
        code = Code(program)
        self.text = code.resolved(code.text())
        self.kernel = _kernel(self.text)
        self.nested = code.lifetimes.nested
        self.in_place = code.in_place
        # Matrices of which each iteration multiplies all entries, and those that the first one multiplies by an input.
        loop = next(step for step in program.body.steps if isinstance(step, Loop))
        # Without those whose mask admits nothing.
        products = [
            step.spec for step in loop.body.steps if isinstance(step, Request) and id(step.spec) in code.multiplied
        ]
        self._multiplied = [code.multiplied[id(q)] for q in products if id(q) in code.whole]
        entered = {id(words_of(move.target)): id(words_of(move.source)) for move in loop.initial}
        given = {id(words_of(item)): number for number, item in enumerate(program.inputs)}
        self.first = [
            (code.multiplied[id(q)], given[entered[words]])
            for q in products
            if id(q) not in code.whole and entered.get(words := id(words_of(q.vector))) in given
        ]
        self.roles = program.roles(code.matrices)
        self._take(code.matrices, program.held, sorted(code.hub_matrices))
        # Arguments by position: fixed ones, and those allocated for each call: elements, type, whether zero.
        names = code.parameters()
        at = {name: number for number, name in enumerate(names)}
        # Those of matrices and lists follow.
        self.arguments: list[Any] = [None] * (min(at.get("P0", len(names)), at.get("J0", len(names))) - _OWN)
        self.arrays: list[tuple[int, int, np.dtype[Any], bool]] = []
        for c, size in enumerate(code.sizes):
            count = code.rows.get(f"S{c}", 0)
            self.arguments[at[f"n{c}"] - _OWN] = size
            self.arrays.append((at[f"W{c}"], count * ((size + 31) >> 5), np.dtype(np.uint32), True))
            self.arrays.append((at[f"L{c}"], count * (size + 1), index_dtype(size), False))
        for pool in code.pools():
            if pool[0] == "V":
                self.arrays.append((at[pool], code.rows[pool] * _size(code, pool), _dtype(pool), False))
        for name, value in code.constants:
            self.arguments[at[name] - _OWN] = value
        self.nbytes = sum(elements * dtype.itemsize for _, elements, dtype, _ in self.arrays)
        slots = {name: number for number, name in enumerate(code.slots())}
        self.rows = _rows_without_entries(code, slots)
        kinds = code.saved()
        self.integers, self.floats = np.zeros(len(kinds), np.int64), np.zeros(len(kinds))
        number_of = {name: number for number, (name, _) in enumerate(kinds)}

        # Lists, and which input has the vectors of each before the program.
        inputs = {id(item): number for number, item in enumerate(program.inputs)}
        self.lists = [(vectors, inputs.get(id(vectors))) for vectors in code.lists]

        def place(item: Any) -> _NumberPlace | _ListPlace | _Place:
            if isinstance(item, VectorList):
                return _ListPlace(code.list_number(item))
            if isinstance(item, Number):
                return _NumberPlace(number_of[code.number(item)], item.kind)
            words, values = getattr(item, "words", None), item.values if isinstance(item.values, Values) else None
            c = code.size(item.size) if words is not None or values is not None else 0
            row = 0 if words is None else slots[f"{code.home(words)}w"]
            values_row = 0 if values is None else slots[code.home(values)]
            return _Place(
                item,
                None if words is None else at[f"W{c}"],
                row,
                0 if words is None else int(self.rows[row]),
                0 if words is None else int(self.rows[row + 1]),
                None if values is None else at[f"V{c}_{item.dtype.name}"],
                values_row,
                0 if values is None else int(self.rows[values_row]),
            )

        # Which values of a call belong to numbers, and which to vectors.
        places = [place(item) for item in program.inputs]
        self.numbers = [(n, at.at, at.kind == "float") for n, at in enumerate(places) if isinstance(at, _NumberPlace)]
        self.vectors = [(n, at) for n, at in enumerate(places) if isinstance(at, _Place)]
        self.outputs = [place(item) for item in program.outputs]
        self.constants: list[tuple[_Place, Any]] = []
        for item, value in program.constants:
            found = place(item)
            if isinstance(found, _NumberPlace):
                (self.floats if found.kind == "float" else self.integers)[found.at] = value
            elif isinstance(found, _Place):
                self.constants.append((found, value))

    def _take(self, matrices: list[CSR], held: list[Any], hubs: list[int]) -> None:
        patterns = set(map(id, held))
        self.matrices = [_MatrixArrays(a, patterns) for a in matrices]
        self.hubs = [(m, self.matrices[m]) for m in hubs]
        self.multiplied = [self.matrices[m] for m in self._multiplied]

    def begins_large(self, values: tuple[Any, ...]) -> bool:
        """Return whether the first iteration multiplies so many entries that several threads take less time."""
        work = sum(matrix.arrays()[1].size for matrix in self.multiplied)
        for m, number in self.first:
            u = values[number]
            work += self.matrices[m].arrays()[1].size * u.nvals // max(u.size, 1)
        return bool(work >= _LARGE)

    def with_matrices(self, matrices: list[CSR], held: list[Any]) -> _Compiled:
        """Return the same program of other matrices."""
        made = copy.copy(self)
        made._take(matrices, held, [m for m, _ in self.hubs])
        return made


@dataclass(frozen=True, eq=False)
class _NumberPlace:
    """Where a number is in `integers` or `floats`."""

    at: int
    kind: str


@dataclass(frozen=True, eq=False)
class _ListPlace:
    """Which of the lists a list is."""

    at: int


@dataclass(frozen=True, eq=False)
class _Place:
    """Where a store is: the positions of its words (then of its lists) and values in the arguments, and of its rows.

    words, values: None where it has none.  first_word, first_listed, first_value: where it begins before the program.
    """

    item: Any
    words: int | None
    words_row: int
    first_word: int
    first_listed: int
    values: int | None
    values_row: int
    first_value: int


def _size(code: Code, pool: str) -> int:
    return code.sizes[int(pool[1:].split("_")[0])]


def _rows_without_entries(code: Code, slots: dict[str, int]) -> Array:
    """Return the variables of all homes."""
    made = np.zeros(len(slots), np.int64)
    for pool in code.pools():
        size = _size(code, pool)
        for row in range(code.rows[pool]):
            home = f"{pool.lower()}_{row}"
            if pool[0] == "S":
                first = slots[f"{home}w"]
                made[first : first + 4] = row * ((size + 31) >> 5), row * (size + 1), 0, 2
            else:
                made[slots[home]] = row * size
    return made


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
        columns = self.arrays()[1]
        self._no_hubs: list[Any] = [np.zeros(1, columns.dtype), np.full(1, 0xFFFFFFFF, np.uint32), np.int64(0)]

    def arrays(self) -> list[Any]:
        """Return row offsets, columns, and values or the value of all."""
        pattern = self._pattern()
        values = self._iso if self._values is None else kernel_array(self._values())
        return [kernel_array(pattern.indptr), kernel_array(pattern.indices), values]

    def hubs(self) -> list[Any]:
        """Return hubs, bits of the non-empty rows, and -1; 0 and arrays of one element where no program has pulled."""
        pattern = self._pattern()
        if closure_hubs.cached(pattern) or _PULLED in pattern.facts:
            found = closure_hubs.hubs_of(pattern)
            return [found.hubs, found.occupied, np.int64(-1)]
        return self._no_hubs

    def expect_pulls(self) -> None:
        """Note that a program has pulled: later calls compute the hubs, which cost more than one search gains."""
        self._pattern().facts[_PULLED] = True


def _dtype(pool: str) -> np.dtype[Any]:
    return np.dtype(pool.partition("_")[2])


def compiled(program: Program) -> _Compiled:
    """Return the kernel of a program; compiled once for each text."""
    if program.compiled is None:
        with _lock:  # another thread must not read the steps while they are dropped, or half a file
            if program.compiled is None:
                made = _Compiled(program)
                program.listing = listing(program, made.in_place)
                program.forget_steps()
                program.compiled = made
    return program.compiled  # type: ignore[no-any-return]


_lock = threading.RLock()
_kernels: dict[str, Any] = {}


def _kernel(text: str) -> Any:
    """Return the kernel of a text, as the function of a module: numba refers to a compiled function by its module."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:24]
    found = _kernels.get(digest)
    if found is None:
        name = f"{__package__}.programs.loop_{digest}"
        module = sys.modules[name] = types.ModuleType(name)
        exec(compile(text, f"<loop {digest}>", "exec"), module.__dict__)
        found = _kernels[digest] = module.program
    return found


@implements(RunProgram, engine="cpu")
def run_program(q: RunProgram) -> ProgramResult | None:
    """Run all iterations in one kernel, on one thread; again with larger arrays where a list outgrows its own."""
    made = compiled(q.program)
    if (made.multiplied or made.first) and made.begins_large(q.values) and available() > 1:
        note(iterations=0, bytes=0)
        return ProgramResult([], -1, 0, 0)
    lists = [ListArrays(vectors, () if at is None else q.values[at]) for vectors, at in made.lists]
    while True:
        result = _run(q, made, lists)
        if not isinstance(result, int):
            return result
        for each in lists:
            each.grow()


def _run(q: RunProgram, made: _Compiled, lists: list[ListArrays]) -> ProgramResult | int | None:
    """Run the program once; an integer where a list has outgrown its arrays."""
    require("loop", "cpu", made.nbytes)
    threads = available()
    large = _LARGE * threads // (threads - 2) if threads > 2 else _UNBOUNDED
    state = np.array((0, _SHORT, 0, 0, large, 0, 0, _MANY * large), np.int64)
    rows, integers, floats = made.rows.copy(), made.integers.copy(), made.floats.copy()
    arguments = [state, rows, integers, floats, np.empty(3 * SPAN, np.int64), *made.arguments]
    for at, elements, dtype, zero in made.arrays:
        arguments[at] = np.zeros(elements, dtype) if zero else np.empty(elements, dtype)
    values = q.values
    for number, at, is_float in made.numbers:
        (floats if is_float else integers)[at] = values[number]
    for number, place in made.vectors:
        _load(place, arguments, rows, values[number])
    for place, value in made.constants:
        _load(place, arguments, rows, value)
    for matrix in made.matrices:
        arguments += matrix.arrays()
    for _, matrix in made.hubs:
        arguments += matrix.hubs()
    for each in lists:
        arguments += each.arguments()
    outcome = _call(made, arguments, state)
    _, _, iterations, _, _, _, pulled, _ = state.tolist()
    if pulled:
        for m, matrix in made.hubs:
            if pulled >> min(m, 62) & 1:
                matrix.expect_pulls()
    note(iterations=iterations, bytes=made.nbytes)
    if outcome == OUTGROWN:
        return OUTGROWN
    if outcome == FAILED:
        return None
    outputs: list[Any] = []
    final = rows.tolist()
    for output in made.outputs:
        if isinstance(output, _Place):
            outputs.append(_stored(output, arguments, final))
        elif isinstance(output, _NumberPlace):
            found = (floats if output.kind == "float" else integers)[output.at]
            outputs.append(_KINDS[output.kind](found))
        else:
            outputs.append(lists[output.at].result())
    return ProgramResult(outputs, int(outcome), iterations, made.nbytes)


def _call(made: _Compiled, arguments: list[Any], state: np.ndarray[Any, Any]) -> int:
    """Run the kernel, and continue a long program on a thread that an interrupt ends.

    A program with inner loops is on such a thread from its beginning, since it may never return to the outermost one.
    """
    outcome = YIELDED
    if not made.nested:
        outcome = made.kernel(0, 1, np.zeros(CONTROL_SIZE, np.int64), *arguments)
    if outcome == YIELDED and state[5] > state[7]:
        return -1
    if outcome == YIELDED:
        state[0], state[1] = not made.nested, _UNBOUNDED
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


def _load(place: _Place, arguments: list[Any], rows: Array, value: VectorStore) -> None:
    """Copy an input to its rows; nothing of one that is known: a full vector of one value."""
    n, row = place.item.size, place.words_row
    if isinstance(value, IndexList):
        nvals = value.nvals
        if nvals == 0:
            return
        assert place.words is not None
        words, lists = arguments[place.words], arguments[place.words + 1]
        at, base = place.first_word, place.first_listed
        rows[row + 2] = nvals
        # The source of a search needs no array.
        indices: Any = value.index if isinstance(value, SingleEntry) else value.indices
        if isinstance(value, SingleEntry):
            words[at + (indices >> 5)] = 1 << (indices & 31)
            lists[base] = indices
        else:
            words[at : at + ((n + 31) >> 5)] = presence.from_indices(indices, n)
            lists[base : base + nvals] = indices
        if place.values is not None:
            target = arguments[place.values][place.first_value : place.first_value + n]
            target[indices] = value.iso if value.values is None else value.values
        return
    if place.words is not None:
        at = place.first_word
        arguments[place.words][at : at + ((n + 31) >> 5)] = presence.expanded(presence.presence(value), n)
        rows[row + 2], rows[row + 3] = value.nvals, 0
    if place.values is not None:
        target = arguments[place.values][place.first_value : place.first_value + n]
        target[:] = value.iso if value.values is None else value.values


def _stored(place: _Place, arguments: list[Any], rows: list[int]) -> VectorStore:
    """Return an output as a store of its own arrays."""
    item = place.item
    n, values = item.size, None
    if place.values is not None:
        base = rows[place.values_row]
        values = arguments[place.values][base : base + n]
    if place.words is None:
        return item if values is None else Full(n, item.dtype, values.copy(), item.iso)
    at, base, count, order = rows[place.words_row : place.words_row + 4]
    if order != 0 and count * 64 < n:
        indices = np.sort(arguments[place.words + 1][base : base + count])
        return IndexList(n, item.dtype, indices, None if values is None else values[indices], item.iso)
    copied = None if values is None else values.copy()
    if count == n:
        return Full(n, item.dtype, copied, item.iso)
    words = arguments[place.words][at : at + ((n + 31) >> 5)].copy()
    return Bitmap(n, item.dtype, words, copied, item.iso, Count(count))
