"""Programs of compiled loops: one cooperative launch of a generated kernel runs all iterations."""

from __future__ import annotations

import copy
import struct
import threading
import weakref
from typing import Any

import numpy as np
from cupy.cuda import runtime

from ...formats import CSR
from ..programs.listing import listing
from ..programs.program import Program, ProgramResult, RunProgram
from ..programs.traced import Untraceable
from ..recording import note
from ..registry import implements
from . import program_tuning
from .columns import column_argument
from .degrees import degrees
from .kernel import Kernel
from .launch import multiprocessors
from .mxv_covered import covered_columns
from .packing import packable
from .program_code import Code
from .program_counters import FAILED, HOST_PRODUCT, OUTGROWN, YIELDED
from .program_run import Layout, Run, signed, word_of, words_of
from .row_tiles import row_tiles

# Parameters of a kernel are at most 4 KB in all.
_PARAMETERS = 4000
_FILE = "program.cuh"


class CompiledProgram:
    """The kernel of a program, and what its arguments are made of."""

    def __init__(self, program: Program) -> None:
        self.code = code = Code(program)
        self.counters = code.counters
        state = code.state()
        if sum(_width(kind) for kind, _ in (*state, *code.arguments())) * 8 > _PARAMETERS:
            raise Untraceable("a loop with so many vectors and numbers")
        self.roles = program.roles(code.matrices)
        if not self._counts(code.matrices):
            raise Untraceable("a matrix whose rows and entries one word does not count")
        self.kernel = Kernel(_FILE, "program", code.text())
        self.homes, self.host_products = dict(code.homes), code.host_products
        self.offsets = {str(m): a.pattern.indptr.dtype.itemsize for m, a in enumerate(code.matrices)}
        inputs = {id(item): number for number, item in enumerate(program.inputs)}
        # Lists, and which input has the vectors of each before the program.
        self.lists = [(vectors, inputs.get(id(vectors))) for vectors in code.lists]
        self.places: dict[str, int] = {}
        at = 0
        for kind, name in state:
            self.places[name] = at
            at += _width(kind)
        self.words = at
        self.resident: dict[int, int] = {}
        self.pack = struct.Struct(f"{self.words}Q").pack
        self._sizes_and_constants = [*code.sizes, *(word_of(value) for _, value in code.constants)]
        self._take(code.matrices, program.held)
        code.forget_matrices()

    def _counts(self, matrices: list[CSR]) -> bool:
        """Return whether a word counts rows and entries of matrices that vectors are pushed through."""
        sizes = self.code.sizes
        return all(m is None or packable(sizes[c], matrices[int(m)].nvals) for c, m in self.code.edged.items())

    def _take(self, matrices: list[CSR], held: list[Any]) -> None:
        patterns = set(map(id, held))
        self.matrices = [_MatrixArguments(a, patterns, str(m), self.code) for m, a in enumerate(matrices)]
        self.most = max([*self.code.sizes, *(a.nvals for a in matrices), 1])
        self._given: tuple[int, bytes] | None = None
        self._layouts: dict[int, Layout] = {}

    def with_matrices(self, matrices: list[CSR], held: list[Any]) -> CompiledProgram | None:
        """Return the same program of other matrices; None where a word does not count their rows and entries."""
        if not self._counts(matrices):
            return None
        made = copy.copy(self)
        made._take(matrices, held)
        return made

    def layout(self, blocks: int) -> Layout:
        """Return where the buffers are."""
        found = self._layouts.get(blocks)
        if found is None:
            found = self._layouts[blocks] = Layout(self, blocks)
        return found

    def given(self) -> bytes:
        """Return the arguments that do not change from run to run."""
        device = runtime.getDevice()
        if self._given is None or self._given[0] != device:
            words = [*self._sizes_and_constants, *(word for a in self.matrices for word in a.words())]
            self._given = device, struct.pack(f"{len(words)}Q", *words)
        return self._given[1]

    def blocks(self) -> int:
        """Return the blocks of a launch: all of them are resident; one where all requests are small."""
        if self.most <= program_tuning.ALONE_MOST:
            return 1
        device = runtime.getDevice()
        found = self.resident.get(device)
        if found is None:
            found = multiprocessors() * self.kernel.resident_blocks(program_tuning.PROGRAM_BLOCK)
            self.resident[device] = found
        return found


class _MatrixArguments:
    """The arguments of a matrix; it does not hold a pattern that the caller's matrix holds."""

    def __init__(self, a: CSR, held: set[int], name: str, code: Code) -> None:
        self._dtype, self._iso = a.dtype, a.iso
        self._tiled, self._present, self._covered = (name in of for of in (code.tiled, code.present, code.covered))
        weak = id(a.pattern) in held
        self._pattern: Any = weakref.ref(a.pattern) if weak else lambda pattern=a.pattern: pattern
        # The words, on a device: of arrays that the matrix holds while the program may run.
        self._known: tuple[int, list[int]] | None = None
        self._derived: Any = None
        self._values: Any = None
        if a.values is not None:
            self._values = weakref.ref(a.values) if weak else lambda values=a.values: values

    def matrix(self) -> CSR:
        """Return the matrix."""
        values = None if self._values is None else self._values()
        return CSR(self._pattern(), self._dtype, values, self._iso)

    @property
    def tiles(self) -> int:
        """The number of tiles of a pull of all entries."""
        return int(row_tiles(self._pattern()).size) - 1 if self._tiled else 0

    def words(self) -> list[int]:
        """Return the fields of the argument, as words of 8 bytes."""
        pattern, values = self._pattern(), None if self._values is None else self._values()
        known = self._known
        if known is not None and known[0] == runtime.getDevice():
            return known[1]
        facts = degrees(pattern) if self._present else None
        columns = covered_columns(pattern) if self._covered else None
        words = [
            pattern.indptr.data.ptr, column_argument(pattern).data.ptr, 0 if values is None else values.data.ptr,
            *words_of(np.zeros((), self._dtype)[()] if self._iso is None else self._iso), pattern.nvals,
            int(pattern.nvals).bit_length(), row_tiles(pattern).data.ptr if self._tiled else 0, self.tiles,
            0 if facts is None else facts.words.data.ptr, 0 if facts is None else facts.nonempty,
            0 if columns is None else columns.data.ptr,
        ]  # fmt: skip
        self._known = runtime.getDevice(), words
        # Not the columns, which would keep the entries of a matrix in memory that the caller has dropped.
        self._derived = facts, columns, row_tiles(pattern) if self._tiled else None
        return words


def _width(kind: str) -> int:
    return 6 if kind.startswith("Positions") else 1


_lock = threading.RLock()


def compiled(program: Program) -> CompiledProgram:
    """Return the kernel of a program; compiled once for each text."""
    if program.compiled is None:
        with _lock:
            if program.compiled is None:
                made = CompiledProgram(program)
                program.listing = listing(program, made.code.in_place)
                program.forget_steps()
                program.compiled = made
    return program.compiled  # type: ignore[no-any-return]


@implements(RunProgram, engine="cuda")
def run_program(q: RunProgram) -> ProgramResult | None:
    """Run all iterations in one launch, or in several of a fraction of a second each.  Synchronizes."""
    made, program = compiled(q.program), q.program
    execution = Run(made, made.blocks())
    for item, value in (*zip(program.inputs, q.values, strict=True), *program.constants):
        execution.load(item, value)
    if made.lists:
        execution.load_lists(q.values)
    while True:
        outcome = execution.launch()  # synchronizes
        if outcome <= HOST_PRODUCT:
            execution.execute_product(HOST_PRODUCT - outcome)
        elif outcome == OUTGROWN:
            execution.grow_lists()
        elif outcome != YIELDED:
            break
        execution.resume()
    nbytes, iterations = execution.layout.nbytes, signed(execution.state[made.places["iterations"]])
    note(iterations=iterations, bytes=nbytes)
    if outcome == FAILED:
        return None
    return ProgramResult([execution.output(item) for item in program.outputs], outcome, iterations, nbytes)
