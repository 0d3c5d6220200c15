"""The CUDA text of a program on a CPU, compiled by the C++ compiler of the machine: its logic is tested without a GPU.

Two blocks of 64 threads run it (`emulated.h`); the host's part is that of `engines.cuda.program`, with NumPy's arrays.
"""

from __future__ import annotations

import ctypes
import dataclasses
import hashlib
import re
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from semiring.dtypes import c_name
from semiring.engines import registry
from semiring.engines.cpu import presence
from semiring.engines.cpu.program_lists import _entries
from semiring.engines.cuda import program_code, tuning
from semiring.engines.cuda.columns import column_mask
from semiring.engines.cuda.compile import module_text
from semiring.engines.cuda.program_counters import (
    BARRIER_WORDS,
    FAILED,
    HOST_PRODUCT,
    OUTGROWN,
    OVER,
    RUNNING,
    YIELDED,
)
from semiring.engines.cuda.program_lists import ListArrays
from semiring.engines.cuda.program_run import words_of
from semiring.engines.programs.program import Program, ProgramResult, RunProgram, Values, VectorList
from semiring.engines.programs.traced import Number, Typed
from semiring.engines.requests.operands import Rows
from semiring.engines.requests.operations import Mxv
from semiring.formats import Bitmap, Count, Full, IndexList, index_dtype, word_count

COMPILER = shutil.which("g++")
_HEADER = Path(__file__).with_name("emulated.h")
BLOCK, _BLOCKS = 64, 2
_MASK = (1 << 64) - 1
_SIZES = {
    "bool": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "int": 4, "unsigned int": 4,
    "float": 4,
}  # fmt: skip


def _translated(text: str) -> str:
    """Return CUDA text as C++: inline assembly replaced by what it does."""
    text = re.sub(r"^#line.*$", "", text, flags=re.MULTILINE)
    text = re.sub(
        r'asm volatile\("red\.release[^;]*;" ::"l"\(arrivals\) : "memory"\);',
        "__atomic_fetch_add(arrivals, 1u, __ATOMIC_SEQ_CST);",
        text,
    )
    text = re.sub(
        r'asm volatile\("ld\.acquire[^;]*;" : "=r"\(seen\) : "l"\(arrivals\) : "memory"\);',
        "seen = __atomic_load_n(arrivals, __ATOMIC_SEQ_CST); std::this_thread::yield();",
        text,
    )
    text = re.sub(
        r'asm volatile\("ld\.[\w.]+ %0, \[%1\];" : "=[lr]"\(bits\) : "[lr]"\((?:address|at)\)\);',
        "bits = emulated_load(reinterpret_cast<const decltype(bits)*>(address));",
        text.replace('"r"(at)', '"r"(address)'),
    )
    text = re.sub(
        r'asm volatile\("st\.[\w.]+ \[%0\], %1;" ::"l"\(address\), "[lr]"\((from_bits<u\d\d>\(value\))\) : "memory"\);',
        r"{ auto bits = \1; __atomic_store_n(reinterpret_cast<decltype(bits)*>(address), bits, __ATOMIC_SEQ_CST); }",
        text,
    )
    text = re.sub(r'asm volatile\("prefetch[^;]*;" ::"l"\([^;]*\)\);', "{}", text)
    text = re.sub(r'asm volatile\("barrier\.cluster[^;]*;" ::: "memory"\);', "__syncthreads();", text)
    assert "asm" not in re.sub(r"//.*", "", text), re.findall(r".*asm.*", text)
    return text


def library(text: str, calls: str, folder: Path) -> ctypes.CDLL:
    """Compile CUDA text, and functions of C++ that call ``launch(blocks, body)``; compiled before, it is loaded."""
    text = f"""#define EMULATED_BLOCK {BLOCK}
#include "{_HEADER}"
{_translated(text)}
{calls}
"""
    digest = hashlib.sha256((text + _HEADER.read_text()).encode()).hexdigest()[:20]
    made = folder / f"{digest}.so"
    if not made.exists():
        source = folder / f"{digest}.cpp"
        source.write_text(text)
        options = ("-std=c++17", "-O1", "-w", "-fpermissive", "-shared", "-fPIC", "-pthread")
        command = [str(COMPILER), *options, "-o", str(made), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:4000]
    return ctypes.CDLL(str(made))


class _Program:
    """A compiled text."""

    def __init__(self, program: Program, folder: Path) -> None:
        self.code = code = program_code.Code(program)
        calls = """extern "C" void run(unsigned blocks, const Arguments* a, const State* first) {
    launch(blocks, [=] { program(*a, *first); });
}"""
        self.run = library(module_text("program.cuh", code.text()), calls, folder).run
        self.arguments, self.state = code.arguments(), code.state()


def _word(value: Any) -> int:
    return int.from_bytes(np.asarray(value).tobytes().ljust(8, b"\0"), "little")


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


def _address(array: np.ndarray[Any, Any]) -> int:
    return int(array.ctypes.data)


def _first_rows(indptr: np.ndarray[Any, Any], nvals: int) -> np.ndarray[Any, Any]:
    """Return the number of rows that end before each tile."""
    n = indptr.size - 1
    tiles = -(-(n + nvals) // tuning.TILE)
    path = indptr[1:].astype(np.int64) + np.arange(n)
    return np.searchsorted(path, np.arange(tiles + 1) * tuning.TILE).astype(np.int64)


class Emulation:
    """Runs programs; `blocks` of each launch."""

    def __init__(self, folder: Path, blocks: int = _BLOCKS) -> None:
        self._folder, self._blocks = folder, blocks
        self._known: dict[int, Any] = {}
        self.ran = self.grown = self.host_products = self.yielded = 0

    def compiled(self, program: Program) -> _Program:
        """Translate and compile; before another engine drops the steps."""
        found = self._known.get(id(program))
        if found is None:
            made = _Program(program, self._folder)
            made.matrices = list(made.code.matrices)
            found = self._known[id(program)] = made, program
        return found[0]

    def __call__(self, q: RunProgram) -> ProgramResult | None:
        """Run a program as `run_program` of the CUDA engine does."""
        program = q.program
        made = self.compiled(program)
        code = made.code
        self.ran += 1
        held: list[Any] = []

        def array(count: int, dtype: Any, fill: Any = None) -> np.ndarray[Any, Any]:
            new = np.frombuffer(bytearray(b"\xab" * (max(count, 1) * np.dtype(dtype).itemsize)), dtype)[:count]
            if fill is not None:
                new[:] = fill
            held.append(new)
            return new

        places, at = {}, 0
        for kind, name in made.state:
            places[name] = at
            at += 6 if kind.startswith("Positions") else 1
        state = [0] * at
        state[places["exit"]] = RUNNING & _MASK
        words, lists, values = {}, {}, {}
        for pool in sorted(code.rows):
            c = int(pool[1:].split("_")[0])
            n = code.sizes[c]
            for row in range(code.rows[pool]):
                name = f"{pool.lower()}_{row}"
                if pool[0] == "S":
                    words[name] = array(word_count(n), np.uint32, 0)
                    lists[name] = array(n, index_dtype(n))
                    before = array(n, np.int64)
                    state[places[name] : places[name] + 6] = [
                        _address(words[name]),
                        _address(lists[name]),
                        _address(before),
                        0,
                        0,
                        1,
                    ]
                else:
                    values[name] = array(n, np.dtype(pool.partition("_")[2]))
                    state[places[name]] = _address(values[name])
        for item, value in (*zip(program.inputs, q.values, strict=True), *program.constants):
            if isinstance(item, Number):
                state[places[code.variable(item)]] = _word(
                    np.float64(value) if item.kind == "float" else np.int64(value)
                )
                continue
            if isinstance(item, VectorList) or (isinstance(item, Full) and item.values is None):
                continue
            if isinstance(item, Bitmap):
                name = code.homes[id(item.words)]
                if isinstance(value, IndexList) and value.nvals == 1:  # the program enters it
                    state[places[name] + 3 : places[name] + 6] = [1, int(value.indices[0]), 3]
                else:
                    words[name][:] = presence.expanded(presence.presence(value), item.size)
                    listed = isinstance(value, IndexList)
                    if listed:
                        lists[name][: value.nvals] = value.indices
                    state[places[name] + 3 : places[name] + 6] = [value.nvals, 0, int(listed)]
            if isinstance(item.values, Values):
                target = values[code.homes[id(item.values)]]
                source = value.iso if value.values is None else value.values
                if isinstance(value, IndexList):
                    target[value.indices] = source
                else:
                    target[:] = source
        matrix_words = []
        tiles = {}
        for m, a in enumerate(made.matrices):
            pattern = a.pattern
            rows = _first_rows(pattern.indptr, pattern.nvals)
            tiles[str(m)] = rows.size - 1
            full = np.diff(pattern.indptr) > 0
            bits = np.zeros(word_count(full.size) * 32, bool)
            bits[: full.size] = full
            present = np.packbits(bits, bitorder="little").view(np.uint32)
            occupied = presence.no_bits(pattern.ncols)
            if pattern.codec is None:
                occupied = presence.from_indices(np.unique(pattern.indices), pattern.ncols)
            held.extend([rows, present, occupied])
            columns = _address(pattern.entries)
            if pattern.codec is not None:
                mask = int(column_mask(pattern.ncols))
                parts = (
                    columns,
                    _address(pattern.base),
                    _address(pattern.at),
                    mask,
                    pattern.nvals,
                    pattern.entries.size,
                )
                held.append(np.array(parts, np.uint64))
                columns = _address(held[-1])
            matrix_words += [
                _address(pattern.indptr), columns, 0 if a.values is None else _address(a.values),
                *words_of(np.zeros((), a.dtype)[()] if a.iso is None else a.iso), pattern.nvals,
                pattern.nvals.bit_length(),
                _address(rows), rows.size - 1, _address(present), int(full.sum()),
                _address(occupied) if pattern.codec is None else 0,
            ]  # fmt: skip
        fixed = []
        for _, dtype, (count, start) in code.buffers:
            elements = (
                self._blocks if count == "blocks" else tiles[count[1]] if count[0] == "tiles" else code.sizes[count[0]]
            )
            if start is not None:
                fixed.append(_address(array(elements, start.dtype, start)))
            else:
                fixed.append(_address(array(elements * _SIZES.get(dtype, 8), np.uint8)))
        result = array(at, np.uint64, 0)
        counters = array(2 * code.counters + BARRIER_WORDS, np.uint64, 0)
        given = [
            *code.sizes,
            *(_word(value) for _, value in code.constants),
            *matrix_words,
            *fixed,
        ]
        inputs = {id(item): values for item, values in zip(program.inputs, q.values, strict=True)}
        list_arrays = []
        for m, vectors in enumerate(code.lists):
            arrays = ListArrays(vectors, [_entries(store) for store in inputs.get(id(vectors), ())], np)
            list_arrays.append(arrays)
            state[places[f"length{m}"] : places[f"length{m}"] + 3] = arrays.numbers()

        def place(part: Any) -> int:
            return places[code.homes[id(part)]]

        def at_address(arrays: dict[str, Any], part: Any) -> np.ndarray[Any, Any]:
            return next(v for v in arrays.values() if _address(v) == state[place(part)])

        def vector(item: Any) -> Any:
            """Return a vector of the program as a store."""
            found = at_address(values, item.values).copy() if isinstance(item.values, Values) else None
            iso = None if found is not None else item.iso
            if isinstance(iso, Typed):
                iso = item.dtype.type(_signed(state[places[code.variable(iso.number)]]))
            if isinstance(item, Full):
                return Full(item.size, item.dtype, found, iso)
            bits, count = at_address(words, item.words).copy(), _signed(state[place(item.words) + 3])
            assert count == int(np.unpackbits(bits.view(np.uint8)).sum()), "the number of entries is that of the bits"
            if count == item.size:
                return Full(item.size, item.dtype, found, iso)
            return Bitmap(item.size, item.dtype, bits, found, iso, Count(count))

        def execute_product(product: Any) -> None:
            mask = product.mask
            if mask is not None:
                mask = dataclasses.replace(mask, store=vector(mask.store))
            a, item = Rows(made.matrices[product.matrix]), product.made
            u = vector(product.vector)
            if product.compared:
                pattern, bits = a.get().pattern, presence.expanded(presence.presence(u), u.size)
                lacks = pattern.codec is not None or not presence.probe(bits, pattern.indices).all()
                assert state[places["covered"]] == (not lacks)
            q = Mxv(product.nout, product.ninner, a, a, u, product.semiring, product.flip, mask, "pull")
            found = registry.run(q, "cpu")
            bits = presence.expanded(presence.presence(found), found.size)
            if isinstance(item, Bitmap):
                at_address(words, item.words)[:] = bits
                state[place(item.words) + 3 : place(item.words) + 6] = [found.nvals, 0, 0]
            if isinstance(item.values, Values):
                target, given = at_address(values, item.values), found.iso if found.values is None else found.values
                if isinstance(found, IndexList):
                    target[found.indices] = given
                else:
                    target[:] = given

        while True:
            words_given = [
                *given,
                *(word for arrays in list_arrays for word in arrays.arguments()),
                _address(result),
                _address(counters),
            ]
            wide = sum(dtype == c_name(np.dtype(complex)) for dtype, _ in made.arguments)  # of two words
            assert len(words_given) == len(made.arguments) + wide
            packed = (ctypes.c_uint64 * len(words_given))(*words_given)
            first = (ctypes.c_uint64 * at)(*state)
            made.run(self._blocks, packed, first)
            state = [int(word) for word in result]
            outcome = _signed(state[places["exit"]])
            if outcome <= HOST_PRODUCT:
                self.host_products += 1
                execute_product(code.host_products[HOST_PRODUCT - outcome])
            elif outcome == OUTGROWN:
                self.grown += 1
                for m, arrays in enumerate(list_arrays):
                    arrays.grow(state[places[f"length{m}"]], state[places[f"end{m}"]])
            elif outcome == YIELDED:
                self.yielded += 1
            else:
                break
            state[places["exit"]] = RUNNING & _MASK
            counters[[OVER, code.counters + OVER]] = 0
            counters[-BARRIER_WORDS:] = 0
        if outcome == FAILED:
            return None
        outputs: list[Any] = []
        for item in program.outputs:
            if isinstance(item, VectorList):
                m = code.list_number(item)
                outputs.append(list_arrays[m].result(state[places[f"length{m}"]], state[places[f"least{m}"]]))
                continue
            if isinstance(item, Number):
                word = state[places[code.variable(item)]]
                outputs.append(
                    struct.unpack("d", struct.pack("Q", word))[0]
                    if item.kind == "float"
                    else bool(word)
                    if item.kind == "bool"
                    else _signed(word)
                )
                continue
            outputs.append(vector(item))
        return ProgramResult(outputs, outcome, _signed(state[places["iterations"]]), 0)
