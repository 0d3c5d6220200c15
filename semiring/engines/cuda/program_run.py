"""One execution of a program on a GPU: its memory, its state, and the vectors that it reads and returns."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import cupy
import numpy as np
from cupy.cuda import runtime

from ...formats import CSR, Bitmap, Full, IndexList, VectorStore, index_dtype, word_count
from ...formats.vectors import SingleEntry, empty_vector
from ..programs.program import Values, VectorList
from ..programs.traced import Number, Typed
from ..registry import run
from ..requests.operands import Mask, Rows
from ..requests.operations import Convert, Mxv
from . import program_tuning
from .convert import convert
from .degrees import Degrees, degrees
from .launch import Memory, bitmap, counter, full, read_words
from .mxv_mask import NO_MASK
from .mxv_pull import pull
from .mxv_ranked import Ranked, RankedPlan, pull_ranked, used_plan
from .primitives import fill, scatter_entries
from .program_counters import BARRIER_WORDS, OVER, RUNNING
from .program_lists import ListArrays

if TYPE_CHECKING:
    from .program import CompiledProgram
    from .program_pulls import HostProduct

__all__ = ["Layout", "Run", "signed", "word_of", "words_of"]

# The bits of a word of the state.
WORD = (1 << 64) - 1


def word_of(value: Any) -> int:
    """Return the bytes of a scalar of at most 8 bytes as a word."""
    return int.from_bytes(np.asarray(value).tobytes().ljust(8, b"\0"), "little")


def words_of(value: Any) -> list[int]:
    """Return the bytes of a scalar as words, as a struct holds it whose fields are aligned to 8 bytes."""
    data = np.asarray(value).tobytes()
    return list(struct.unpack(f"{-(-len(data) // 8)}Q", data.ljust(-(-len(data) // 8) * 8, b"\0")))


class Layout:
    """Where the buffers of a run are: offsets in the temporary memory and in that of all words, with bytes of values.

    Temporary are the state, the lists of structures, and the buffers of fixed use; results consist of words and values.
    """

    def __init__(self, made: CompiledProgram, blocks: int) -> None:
        code = made.code
        self._end = 0
        self.state = self._part(8 * made.words)
        # The state before the first launch, where addresses are offsets; places of the positions in it.
        self.first = [0] * made.words
        self.first[made.places["exit"]] = RUNNING & WORD
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
        # The first state and the addresses of the buffers of fixed use, where the memory was the last time.
        self._placed: tuple[int, int, list[int], bytes] = 0, 0, [], b""

    def placed(self, temporary: int, words: int) -> tuple[list[int], bytes]:
        """Return the state before the first launch and the addresses of the buffers of fixed use, in this memory."""
        at = self._placed
        if at[0] != temporary or at[1] != words:  # allocations of a pool return the same memory again
            state = self.first.copy()
            for place in self.structures:
                state[place] += words
                state[place + 1] += temporary
                state[place + 2] += temporary
            fixed = struct.pack(f"{len(self.fixed)}Q", *(temporary + offset for offset in self.fixed))
            at = self._placed = temporary, words, state, fixed
        return at[2].copy(), at[3]

    def _part(self, nbytes: int) -> int:
        begin, self._end = self._end, self._end + -(-nbytes // 256) * 256
        return begin


_ITEM = {
    "bool": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "int": 4, "unsigned int": 4,
    "float": 4,
}  # fmt: skip


def _elements(made: CompiledProgram, count: Any, blocks: int) -> int:
    """Return the number of elements of a buffer: one for each block, position or tile."""
    if count == "blocks":
        return blocks
    if count[0] == "tiles":
        return made.matrices[int(count[1])].tiles
    return int(made.code.sizes[count[0]] * count[1])


class Run:
    """The memory and the state of one execution of a program."""

    def __init__(self, made: CompiledProgram, blocks: int) -> None:
        self._made, self._blocks = made, blocks
        self.layout = layout = made.layout(blocks)
        self.stream = cupy.cuda.get_current_stream().ptr
        self.temporary = cupy.cuda.alloc(layout.temporary)
        self.words = cupy.cuda.alloc(max(layout.words, 1))
        if layout.words:
            runtime.memsetAsync(self.words.ptr, 0, layout.words, self.stream)
        self.state, self._fixed = layout.placed(self.temporary.ptr, self.words.ptr)
        state = self.state
        self._result = self.temporary.ptr + layout.state
        self._counters = counter(2 * made.counters + BARRIER_WORDS).data.ptr
        self.values: dict[int, Any] = {}
        for place, nbytes in layout.values:
            memory = cupy.cuda.alloc(nbytes)
            self.values[memory.ptr] = memory
            state[place] = memory.ptr
        for at, elements, start in layout.fills:
            fill(cupy.ndarray(elements, start.dtype, self.temporary + at), start)
        self.lists: list[ListArrays] = []
        # Of products that the host has executed over ranked columns, by number: what the next one needs.
        self._ranked: dict[int, tuple[Ranked, RankedPlan, CSR, Degrees]] = {}

    def launch(self) -> int:
        """Launch the kernel; return how the program ended.  Synchronizes."""
        made = self._made
        last = [*(word for each in self.lists for word in each.arguments()), self._result, self._counters]
        packed = made.given() + self._fixed + struct.pack(f"{len(last)}Q", *last)
        made.kernel(self._blocks, program_tuning.PROGRAM_BLOCK, packed, made.pack(*self.state), cooperative=True)
        self.state = list(read_words(self._result, made.words))  # synchronizes
        return signed(self.state[made.places["exit"]])

    def resume(self) -> None:
        """Prepare another launch, in which arrivals at barriers and the gate are counted from 0."""
        self.state[self._made.places["exit"]] = RUNNING & WORD
        part = 8 * self._made.counters
        for offset, nbytes in ((8 * OVER, 8), (part + 8 * OVER, 8), (2 * part, 8 * BARRIER_WORDS)):
            runtime.memsetAsync(self._counters + offset, 0, nbytes, self.stream)

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
            word = word_of(np.float64(value)) if item.kind == "float" else int(value) & WORD
            state[made.places[made.code.variable(item)]] = word
            return
        words = values = None
        if isinstance(item, Bitmap):
            at = self._place(item.words)
            one = isinstance(value, SingleEntry)
            listed = 3 if one else int(isinstance(value, IndexList))
            state[at + 3 : at + 6] = [value.nvals, value.index if one else 0, listed]  # synchronizes
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
        if self._execute_ranked(number, product):
            return
        u, item = self.output(product.vector), product.made
        q = Mxv(product.nout, product.ninner, a, Rows(None), u, product.semiring, product.flip, mask, "pull")
        if mask is None:
            covered = bool(self.state[made.places["covered"]]) if product.compared else None
            found = pull(q, NO_MASK, likely=True, covered=covered)
        else:
            found = run(q, "cuda")
        if isinstance(found, IndexList):
            found = run(Convert(found, "bitmap"), "cuda")
        if isinstance(item.values, Values) and found.values is not None:
            self._replace(item.values, found.values.data)
        self.load(item, found)
        used = used_plan(q, a.get()) if mask is None and isinstance(product.vector.values, Values) else None
        if used is not None and isinstance(item.values, Values):
            self._ranked[number] = *used, a.get(), degrees(a.get().pattern)

    def _execute_ranked(self, number: int, product: HostProduct) -> bool:
        """Execute a product over ranked columns again; False if it is another one, or the first of its number."""
        known = self._ranked.get(number)
        if known is None or (product.compared and not self.state[self._made.places["covered"]]):
            return False
        ranked, plan, a, rows = known
        item, memory = product.made, cupy.cuda.alloc(product.nout * product.semiring.z.itemsize)
        u = self.values[self.state[self._place(product.vector.values)]]
        pull_ranked(plan, a, Memory(u), ranked, Memory(memory))
        self._replace(item.values, memory)
        if isinstance(item, Bitmap):
            at = self._place(item.words)
            self._copy(self.state[at], rows.words.data.ptr, rows.words.nbytes)
            self.state[at + 3 : at + 6] = [rows.nonempty, 0, 0]
        return True

    def _replace(self, values: Values, memory: Any) -> None:
        """Let the values of a result take the place of a buffer."""
        place = self._place(values)
        del self.values[self.state[place]]
        self.state[place] = memory.ptr
        self.values[memory.ptr] = memory

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
            return bool(word) if item.kind == "bool" else signed(word)
        at, count = 0, item.size
        if isinstance(item, Bitmap):
            at = self._place(item.words)
            count = signed(state[at + 3])
            if count == 0 and item.size:
                return empty_vector(item.size, item.dtype, "cuda")
        values: Any = item.iso
        if isinstance(item.values, Values):
            values = cupy.ndarray(item.size, item.dtype, self.values[state[self._place(item.values)]])
        elif isinstance(values, Typed):
            values = item.dtype.type(self.output(values.number))
        if count == item.size:
            return full(item.size, item.dtype, values)
        words = cupy.ndarray(word_count(item.size), np.uint32, self.words + (state[at] - self.words.ptr))
        return bitmap(item.size, item.dtype, words, values, count)


def _entries(store: VectorStore) -> tuple[Any, Any]:
    """Return indices and values, or the one value that all have."""
    listed = convert(Convert(store, "index"))
    assert isinstance(listed, IndexList)
    return listed.indices, listed.iso if listed.values is None else listed.values


WORD = (1 << 64) - 1


def signed(word: int) -> int:
    """Return a word as a signed integer."""
    return word - (1 << 64) if word >> 63 else word
