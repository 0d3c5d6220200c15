"""Programs of compiled loops: one cooperative launch of a generated kernel runs all iterations."""

from __future__ import annotations

import struct
import threading
import weakref
from typing import Any

import cupy
import numpy as np
from cupy.cuda import runtime

from ...formats import CSR, Bitmap, Full, IndexList, VectorStore, index_dtype, word_count
from ...formats.vectors import SingleEntry, empty_vector
from ..operands import Mask, Rows
from ..program import Program, ProgramResult, RunProgram, Values
from ..program_listing import listing
from ..recording import note
from ..registry import implements, run
from ..spec import Convert, Mxv
from ..spec_lists import VectorList
from ..traced import Number, Typed, Untraceable
from . import program_tuning
from .columns import column_argument
from .convert import convert
from .degrees import degrees
from .kernel import Kernel
from .launch import bitmap, counter, full, multiprocessors, read_words
from .packing import packable
from .primitives import fill, scatter_entries
from .program_code import Code
from .program_counters import BARRIER_WORDS, FAILED, HOST_PRODUCT, OUTGROWN, OVER, RUNNING, YIELDED
from .program_lists import ListArrays
from .row_tiles import row_tiles

# Parameters of a kernel are at most 4 KB in all.
_PARAMETERS = 4000
_FILE = "program.cuh"


class _Compiled:
    """The kernel of a program, and what its arguments are made of."""

    def __init__(self, program: Program) -> None:
        self.code = code = Code(program)
        self.state, self.arguments = code.state(), code.arguments()
        if sum(_width(kind) for kind, _ in (*self.state, *self.arguments)) * 8 > _PARAMETERS:
            raise Untraceable("a loop with so many vectors and numbers")
        for c, m in code.edged.items():
            if m is not None and not packable(code.sizes[c], code.matrices[int(m)].nvals):
                raise Untraceable("a matrix whose rows and entries one word does not count")
        self.kernel = Kernel(_FILE, "program", code.text())
        held = {id(pattern) for pattern in program.held}
        self.matrices = [_MatrixArguments(a, held, str(m), code) for m, a in enumerate(code.matrices)]
        self.homes, self.host_products = dict(code.homes), code.host_products
        self.offsets = {str(m): a.pattern.indptr.dtype.itemsize for m, a in enumerate(code.matrices)}
        inputs = {id(item): number for number, item in enumerate(program.inputs)}
        # Lists, and which input has the vectors of each before the program.
        self.lists = [(vectors, inputs.get(id(vectors))) for vectors in code.lists]
        self.places: dict[str, int] = {}
        at = 0
        for kind, name in self.state:
            self.places[name] = at
            at += _width(kind)
        self.words = at
        self.most = max([*code.sizes, *(a.nvals for a in code.matrices), 1])
        self.resident: dict[int, int] = {}
        self.pack = struct.Struct(f"{self.words}Q").pack
        self._given: tuple[int, list[int]] | None = None
        self._layouts: dict[int, _Layout] = {}
        self._sizes_and_constants = [*code.sizes, *(_word(value) for _, value in code.constants)]
        code.forget_matrices()

    def layout(self, blocks: int) -> _Layout:
        """Return where the buffers are."""
        found = self._layouts.get(blocks)
        if found is None:
            found = self._layouts[blocks] = _Layout(self, blocks)
        return found

    def given(self) -> list[int]:
        """Return the arguments that do not change from run to run, as words of 8 bytes."""
        device = runtime.getDevice()
        if self._given is None or self._given[0] != device:
            words = [word for a in self.matrices for word in a.words()]
            self._given = device, [*self._sizes_and_constants, *words]
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
        self._tiled, self._present = name in code.tiled, name in code.present
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
        words = [
            pattern.indptr.data.ptr, column_argument(pattern).data.ptr, 0 if values is None else values.data.ptr,
            _word(np.zeros((), self._dtype)[()] if self._iso is None else self._iso), pattern.nvals,
            int(pattern.nvals).bit_length(), row_tiles(pattern).data.ptr if self._tiled else 0, self.tiles,
            0 if facts is None else facts.words.data.ptr, 0 if facts is None else facts.nonempty,
        ]  # fmt: skip
        self._known = runtime.getDevice(), words
        # Not the columns, which would keep the entries of a matrix in memory that the caller has dropped.
        self._derived = facts, row_tiles(pattern) if self._tiled else None
        return words


def _word(value: Any) -> int:
    """Return the bytes of a scalar as a word."""
    return int.from_bytes(np.asarray(value).tobytes().ljust(8, b"\0"), "little")


def _width(kind: str) -> int:
    return 6 if kind.startswith("Positions") else 1


_lock = threading.RLock()


def compiled(program: Program) -> _Compiled:
    """Return the kernel of a program; compiled once for each text."""
    if program.compiled is None:
        with _lock:
            if program.compiled is None:
                made = _Compiled(program)
                program.listing = listing(program, made.code.in_place)
                program.forget_steps()
                program.compiled = made
    return program.compiled  # type: ignore[no-any-return]


class _Layout:
    """Where the buffers of a run are: offsets in the temporary memory and in that of all words, with bytes of values.

    Temporary are the state, the lists of structures, and the buffers of fixed use; results consist of words and values.
    """

    def __init__(self, made: _Compiled, blocks: int) -> None:
        code = made.code
        self._end = 0
        self.state = self._part(8 * made.words)
        # The state before the first launch, where addresses are offsets; places of the positions in it.
        self.first = [0] * made.words
        self.first[made.places["exit"]] = RUNNING & _MASK
        self.structures: list[int] = []
        self.words = 0
        for c, size in enumerate(code.sizes):
            for row in range(code.rows.get(f"S{c}", 0)):
                listed = self._part(size * index_dtype(size).itemsize)
                edged = code.edged.get(c)
                before = self._part(0 if edged is None else size * made.offsets[edged])
                self.structures.append(place := made.places[f"s{c}_{row}"])
                self.first[place : place + 6] = [self.words, listed, before, 0, 0, 1]
                self.words += -(-size // (32 * 64)) * 256  # aligned, as words are read by four
        self.fixed: list[int] = []
        self.fills: list[tuple[int, int, Any]] = []
        for _, dtype, (count, start) in code.buffers:
            elements = _elements(made, count, blocks)
            self.fixed.append(self._part(elements * _ITEM.get(dtype, 8)))
            if start is not None and elements:
                self.fills.append((self.fixed[-1], elements, start))
        self.values: list[tuple[int, int]] = []  # place in the state, bytes
        for pool in sorted(code.rows):
            if pool[0] == "V":
                nbytes = code.sizes[int(pool[1:].split("_")[0])] * np.dtype(pool.partition("_")[2]).itemsize
                self.values += [(made.places[f"{pool.lower()}_{row}"], nbytes) for row in range(code.rows[pool])]
        self.temporary = self._end
        self.nbytes = self.temporary + self.words + sum(nbytes for _, nbytes in self.values)

    def _part(self, nbytes: int) -> int:
        begin, self._end = self._end, self._end + -(-nbytes // 256) * 256
        return begin


_ITEM = {
    "bool": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "int": 4, "unsigned int": 4,
    "float": 4,
}  # fmt: skip


def _elements(made: _Compiled, count: Any, blocks: int) -> int:
    """Return the number of elements of a buffer: one for each block, position or tile."""
    if count == "blocks":
        return blocks
    if count[0] == "tiles":
        return made.matrices[int(count[1])].tiles
    return int(made.code.sizes[count[0]] * count[1])


class _Run:
    """The memory and the state of one execution of a program."""

    def __init__(self, made: _Compiled, blocks: int) -> None:
        self._made = made
        self.layout = layout = made.layout(blocks)
        self.stream = cupy.cuda.get_current_stream().ptr
        self.temporary = cupy.cuda.alloc(layout.temporary)
        self.words = cupy.cuda.alloc(max(layout.words, 1))
        self.state = state = layout.first.copy()
        base, words = self.temporary.ptr, self.words.ptr
        if layout.words:
            runtime.memsetAsync(words, 0, layout.words, self.stream)
        for place in layout.structures:
            state[place] += words
            state[place + 1] += base
            state[place + 2] += base
        self.values: dict[int, Any] = {}
        for place, nbytes in layout.values:
            memory = cupy.cuda.alloc(nbytes)
            self.values[memory.ptr] = memory
            state[place] = memory.ptr
        for at, elements, start in layout.fills:
            fill(cupy.ndarray(elements, start.dtype, self.temporary + at), start)
        self.lists: list[ListArrays] = []

    def load_lists(self, values: tuple[Any, ...]) -> None:
        """Copy the vectors of all lists."""
        for m, (vectors, at) in enumerate(self._made.lists):
            made = ListArrays(vectors, [] if at is None else [_entries(store) for store in values[at]], cupy)
            self.lists.append(made)
            place = self._made.places[f"length{m}"]
            self.state[place : place + 3] = made.numbers()

    def grow_lists(self) -> None:
        """Allocate larger arrays for lists that are nearly full."""
        for m, each in enumerate(self.lists):
            place = self._made.places[f"length{m}"]
            each.grow(self.state[place], self.state[place + 1])

    def load(self, item: Any, value: Any) -> None:
        """Store an input: a number, or a vector in its buffers; nothing of a full one whose value is known."""
        made, state = self._made, self.state
        if isinstance(item, VectorList):
            return
        if isinstance(item, Number):
            word = _word(np.float64(value)) if item.kind == "float" else int(value) & _MASK
            state[made.places[made.code.variable(item)]] = word
            return
        words = values = None
        if isinstance(item, Bitmap):
            at = self._place(item.words)
            one = isinstance(value, SingleEntry)
            listed = 3 if one else int(isinstance(value, IndexList))
            state[at + 3 : at + 6] = [value.nvals, value.index if one else 0, listed]  # synchronises
            words = state[at], state[at + 1]
        if isinstance(item.values, Values):
            values = state[self._place(item.values)]
        if words is None and values is None:
            return
        if isinstance(value, IndexList):
            self._load_list(value, words, values)
            return
        if words is not None:
            self._load_words(item.size, value, words[0])
        if values is None:
            return
        if value.values is None:
            fill(self._array(values, item.size, item.dtype), value.iso)
        elif value.values.data.ptr != values:
            self._copy(values, value.values.data.ptr, item.size * item.dtype.itemsize)

    def _load_words(self, size: int, value: Bitmap | Full, words: int) -> None:
        nwords = word_count(size)
        if isinstance(value, Bitmap):
            self._copy(words, value.words.data.ptr, 4 * nwords)
            return
        fill(self._array(words, nwords, np.dtype(np.uint32)), np.uint32(0xFFFFFFFF))
        if size % 32:
            last = self._array(words + 4 * nwords - 4, 1, np.dtype(np.uint32))
            fill(last, np.uint32((1 << size % 32) - 1))

    def execute_product(self, number: int) -> None:
        """Execute a product that the program leaves to the host, with the engine's kernels, and store its result."""
        product, made = self._made.host_products[number], self._made
        mask = product.mask
        if mask is not None:
            mask = Mask(self.output(mask.store), structural=mask.structural, complement=mask.complement)
        a = Rows(made.matrices[product.matrix].matrix())
        u = self.output(product.vector)
        q = Mxv(product.nout, product.ninner, a, Rows(None), u, product.semiring, product.flip, mask, "pull")
        found, item = run(q, "cuda"), product.made
        if isinstance(found, IndexList):
            found = run(Convert(found, "bitmap"), "cuda")
        if isinstance(item.values, Values) and found.values is not None:
            # The values of the result take the place of a buffer.
            place, memory = self._place(item.values), found.values.data
            del self.values[self.state[place]]
            self.state[place] = memory.ptr
            self.values[memory.ptr] = memory
        self.load(item, found)

    def _place(self, part: Any) -> int:
        """Return where the state has a placeholder."""
        return self._made.places[self._made.homes[id(part)]]

    def _load_list(self, value: IndexList, words: Any, values: int | None) -> None:
        """Store an index list in cleared words, a list, and slots for values."""
        assert words is not None
        if value.nvals == 0:
            return
        slots = None if values is None else self._array(values, value.size, value.dtype)
        if slots is not None and value.values is None:
            assert value.iso is not None
            fill(slots[value.index : value.index + 1] if isinstance(value, SingleEntry) else slots, value.iso)
            slots = None
        if isinstance(value, SingleEntry):  # the kernel enters it
            return
        self._copy(words[1], value.indices.data.ptr, value.nvals * index_dtype(value.size).itemsize)
        scatter_entries(value, self._array(words[0], word_count(value.size), np.dtype(np.uint32)), slots)

    def _copy(self, to: int, source: int, nbytes: int) -> None:
        runtime.memcpyAsync(to, source, nbytes, runtime.memcpyDeviceToDevice, self.stream)

    def _array(self, address: int, count: int, dtype: np.dtype[Any]) -> Any:
        """Return a view of memory of the run."""
        for memory, nbytes in ((self.words, self.layout.words), (self.temporary, self.layout.temporary)):
            if memory.ptr <= address < memory.ptr + nbytes:
                return cupy.ndarray(count, dtype, memory + (address - memory.ptr))
        return cupy.ndarray(count, dtype, self.values[address])

    def output(self, item: Any) -> Any:
        """Return a number, or an output as a store of its own arrays."""
        made, state = self._made, self.state
        if isinstance(item, VectorList):
            m = made.code.list_number(item)
            return self.lists[m].result(state[made.places[f"length{m}"]], state[made.places[f"least{m}"]])
        if isinstance(item, Number):
            word = state[made.places[made.code.variable(item)]]
            if item.kind == "float":
                return struct.unpack("d", struct.pack("Q", word))[0]
            return bool(word) if item.kind == "bool" else _signed(word)
        at, count = 0, item.size
        if isinstance(item, Bitmap):
            at = self._place(item.words)
            count = _signed(state[at + 3])
            if count == 0 and item.size:
                return empty_vector(item.size, item.dtype, "cuda")
        values: Any = item.iso
        if isinstance(item.values, Values):
            values = self._array(state[self._place(item.values)], item.size, item.dtype)
        elif isinstance(values, Typed):
            values = item.dtype.type(self.output(values.number))
        if count == item.size:
            return full(item.size, item.dtype, values)
        words = self._array(state[at], word_count(item.size), np.dtype(np.uint32))
        return bitmap(item.size, item.dtype, words, values, count)


@implements(RunProgram, engine="cuda")
def run_program(q: RunProgram) -> ProgramResult | None:
    """Run all iterations in one launch, or in several of a fraction of a second each.  Synchronises."""
    made = compiled(q.program)
    program, places, blocks = q.program, made.places, made.blocks()
    execution = _Run(made, blocks)
    for item, value in (*zip(program.inputs, q.values, strict=True), *program.constants):
        execution.load(item, value)
    counters = counter(2 * made.code.counters + BARRIER_WORDS)
    second = counters.data.ptr + 8 * made.code.counters
    barrier = second + 8 * made.code.counters
    execution.load_lists(q.values)
    given = [*made.given(), *(execution.temporary.ptr + at for at in execution.layout.fixed)]
    result = execution.temporary.ptr + execution.layout.state
    pack, block = made.pack, program_tuning.PROGRAM_BLOCK
    while True:
        words = [*given, *(word for each in execution.lists for word in each.arguments())]
        packed = struct.pack(f"{len(words) + 2}Q", *words, result, counters.data.ptr)
        made.kernel(blocks, block, packed, pack(*execution.state), cooperative=True)
        execution.state = list(read_words(result, made.words))  # synchronises
        outcome = _signed(execution.state[places["exit"]])
        if outcome <= HOST_PRODUCT:
            execution.execute_product(HOST_PRODUCT - outcome)
        elif outcome == OUTGROWN:
            execution.grow_lists()
        elif outcome != YIELDED:
            break
        execution.state[places["exit"]] = RUNNING & _MASK
        # The arrivals at barriers, and the gate, are counted from 0 in each launch.
        for address, nbytes in (
            (counters.data.ptr + 8 * OVER, 8),
            (second + 8 * OVER, 8),
            (barrier, 8 * BARRIER_WORDS),
        ):
            runtime.memsetAsync(address, 0, nbytes, execution.stream)
    iterations = _signed(execution.state[places["iterations"]])
    note(iterations=iterations, bytes=execution.layout.nbytes)
    if outcome == FAILED:
        return None
    outputs = [execution.output(item) for item in program.outputs]
    return ProgramResult(outputs, outcome, iterations, execution.layout.nbytes)


def _entries(store: VectorStore) -> tuple[Any, Any]:
    """Return indices and values, or the one value that all have."""
    listed = convert(Convert(store, "index"))
    assert isinstance(listed, IndexList)
    return listed.indices, listed.iso if listed.values is None else listed.values


_MASK = (1 << 64) - 1


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word
