"""Translation of a program (`engines.programs.program`) to the text of one CUDA kernel.

Every thread executes the control flow and the arithmetic of numbers; requests are loops that all threads share
(`kernels/program.cuh`).  The state of the program is one struct, of which each thread has a copy: the positions of
vectors, pointers to their values, numbers.  What a loop carries is moved by exchanging pointers.

The first block runs alone while requests are small.  It continues with the others at a *point* before a request that is
large; so the text has a label there, and the others jump to it.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ...dtypes import c_name
from ...formats import Bitmap, Full
from ..programs.lifetimes import Place, halves
from ..programs.program import Block, Branch, Compute, Leave, Loop, Move, Program, Request, Values, VectorList
from ..programs.traced import Number, Untraceable
from .program_lists import Lists
from .program_text import TYPES
from .program_tuning import program_constants
from .specialize import constants

# Fields of the state that are not of the program: what every thread has, and what the first one of a block writes.
_FIELDS, _SHARED = ("point", "exit", "work", "small"), ("iterations", "covered")


def _temporary(name: str, lines: list[str]) -> bool:
    """Return whether a number, used in these lines alone, is set in the first one and not read behind a point."""
    first = lines[0].lstrip()
    indent = len(lines[0]) - len(first)
    return (
        first.startswith(f"s.{name} = ") and len(re.findall(rf"\bs\.{name}\b", first)) == 1
        and all(line.startswith(" " * indent) for line in lines)
    )  # fmt: skip


def _even(fields: list[tuple[str, str]], name: str) -> list[tuple[str, str]]:
    """Return the fields of a struct whose size is a multiple of 16 bytes; positions of vectors are."""
    odd = sum(not kind.startswith("Positions") for kind, _ in fields) % 2
    return [*fields, ("i64", f"pad_{name}")] if odd else fields


class Code(Lists):
    """The text of a program: control flow, and the moves of what loops carry."""

    _begins = False  # whether the moves are those before the first iteration of a loop

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._find_edged(program.body)
        for item in (*program.inputs, *(item for item, _ in program.constants), *program.outputs):
            for part in halves(item):
                self.home(part)
            if isinstance(item, Number):
                self.variable(item)
            if isinstance(item, VectorList):
                self.list_number(item)
        self._block(program.body)
        self.settle()
        self.put(self.leave("0"))
        self.body, self.temporaries, self.unchanged = self._without_state("\n".join(self.lines))

    def _find_edged(self, block: Block) -> None:
        """Determine the matrices that vectors of each size are pushed through."""
        for step in block.steps:
            if isinstance(step, Request) and step.spec.name == "mxv":
                q = step.spec
                if q.by_column.ready and q.direction != "pull" and not (isinstance(q.vector, Full) and q.by_row.ready):
                    c, m = self.size(q.ninner), self.matrix(q.by_column)
                    self.edged[c] = m if self.edged.get(c, m) == m else None
            for inner in ("head", "body", "then", "otherwise"):
                if isinstance(getattr(step, inner, None), Block):
                    self._find_edged(getattr(step, inner))

    # -- the module ----------------------------------------------------------------------------------------

    def numbers_of_threads(self) -> list[tuple[str, str]]:
        """Return what every thread has, in order: type and name; each is 8 bytes."""
        pulls = [("i64", f"pull{p}") for p, _ in enumerate(self.products)]
        pulls += [("i64", f"bounded{p}") for p in self.bounded]
        numbers = [(TYPES[kind], name) for name, kind in self.kinds.items() if name not in self.temporaries]
        return _even([*(("i64", name) for name in _FIELDS), *pulls, *numbers, *self.list_numbers()], "s")

    def state(self) -> list[tuple[str, str]]:
        """Return the fields of the state, in order: type and name; each is 8 bytes or a struct of 6 times 8."""
        return self.numbers_of_threads() + self.buffers_of_blocks()

    def buffers_of_blocks(self) -> list[tuple[str, str]]:
        """Return what the threads of a block share, as `state`."""
        fields = []
        for pool in sorted(self.rows):  # positions of vectors first, which are aligned
            for row in range(self.rows[pool]):
                name = f"{pool.lower()}_{row}"
                if pool[0] == "S":
                    fields.append((self.set_type(int(pool[1:])), name))
                else:
                    fields.append((f"{c_name(np.dtype(pool.partition('_')[2]))}*", name))
        fields += [("i64", name) for name in _SHARED]
        fields += [("u64", f"c{k}") for k in range(self.counters)]
        fields += [("i64", f"{name}{p}") for p in range(len(self.products)) for name in ("rows", "edges")]
        return _even(fields, "b")

    def arguments(self) -> list[tuple[str, str]]:
        """Return the fields of the argument in order: type and name; each is aligned to 8 bytes."""
        fields = [("i64", f"n{c}") for c, _ in enumerate(self.sizes)]
        fields += [(c_name(value.dtype), name) for name, value in self.constants]
        for m, a in enumerate(self.matrices):
            fields += [
                (f"const {c_name(a.pattern.indptr.dtype)}*", f"P{m}"), ("const void*", f"I{m}"),
                (f"const {c_name(a.dtype)}*", f"A{m}"), (c_name(a.dtype), f"iso{m}"), ("i64", f"nvals{m}"),
                ("i64", f"shift{m}"), ("const i64*", f"first_row{m}"), ("i64", f"tiles{m}"),
                ("const u32*", f"present{m}"), ("i64", f"rows{m}"), ("const u32*", f"columns{m}"),
            ]  # fmt: skip
        fields += [(f"{dtype}*", name) for name, dtype, _ in self.buffers]
        fields += self.list_arguments()
        return [*fields, ("State*", "state"), ("u64*", "counters")]

    def text(self) -> str:
        """Return what follows `semiring.cuh`: with the includes that it names."""
        named = {name.removeprefix("PROGRAM_"): value for name, value in program_constants().items()}
        head = constants(**named, COUNTERS=self.counters)
        numbers = "".join(f"    {dtype} {name};\n" for dtype, name in self.numbers_of_threads())
        shared = "".join(f"    {dtype} {name};\n" for dtype, name in self.buffers_of_blocks())
        given = "".join(f"    alignas(8) {dtype} {name};\n" for dtype, name in self.arguments())
        rooms = "".join(
            f"    if (sizeof(p{p}::Room) > most) most = sizeof(p{p}::Room);\n" for p, _ in enumerate(self.products)
        )
        inputs = {self.home(item.words) for item in self.program.inputs if isinstance(item, Bitmap)}
        entered = "".join(f"        entered |= enter_one(b.{home});\n" for home in sorted(inputs))
        points = "".join(f"        case {k}: goto point_{k};\n" for k in range(1, self.points + 1))
        temporary = "".join(f"    {TYPES[self.kinds[name]]} {name};\n" for name in self.temporaries)
        unchanged = "".join(f"    s.{name} = first.numbers.{name};\n" for name in self.unchanged)
        return (
            head
            + '#include "program.cuh"\n#include "direction.cuh"\n'
            + ('#include "program_lists.cuh"\n' if self.lists else "")
            + "".join(self.products)
            + "".join(self.searches)
            + "".join(self.operators)
            + f"struct Numbers {{\n{numbers}}};\nstruct Buffers {{\n{shared}}};\n"
            + "struct State {\n    Numbers numbers;\n    Buffers buffers;\n};\n"
            + f"struct Arguments {{\n{given}}};\n"
            + f"constexpr u64 room_bytes() {{\n    u64 most = 16;\n{rooms}    return most;\n}}\n"
            + 'extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)\n'
            + "    program(const __grid_constant__ Arguments a, const __grid_constant__ State first) {\n"
            + "    alignas(16) __shared__ char room[room_bytes()];\n    __shared__ Buffers b;\n    (void)room;\n"
            + f"    Group g(a.counters);\n    u32 blocks = 0;\n    Numbers s;\n{temporary}    g.load(&first, s, b);\n"
            + f"    {{\n        bool entered = false;\n{entered}        if (entered) g.barrier();\n    }}\n"
            + f"enter:\n    switch (s.point) {{\n{points}        default: break;\n    }}\n"
            + self.body
            + f"\nend:\n{unchanged}"
            + """    if (active < gridDim.x) {
        g.join(a.state, s, b, gridDim.x);
    } else if (blockIdx.x == 0) {
        __syncthreads();  // behind what the first thread has changed since a barrier: its clock, the iterations
        if (alone) g.store_counters();
        g.save(a.state, s, b);
    }
    return;
wait:
    g.wait();
    g.load(a.state, s, b);
    if (s.exit != RUNNING) return;
    goto enter;
together:
"""
            + unchanged
            + """    s.exit = RUNNING;
    g.join(a.state, s, b, blocks);
    goto enter;
}
"""
        )

    def _without_state(self, body: str) -> tuple[str, list[str], list[str]]:
        """Return the text with numbers that need no register between two points: temporaries, and unchanged ones.

        The state is stored at each point, so that all numbers in it are in registers up to there.
        """
        lines, temporaries, unchanged = body.split("\n"), [], []
        stored = (*self.program.inputs, *(item for item, _ in self.program.constants), *self.program.outputs)
        outer = {self.numbers[id(item)] for item in stored if isinstance(item, Number)}
        for name in self.kinds:
            used = re.compile(rf"\bs\.{name}\b")
            at = [number for number, line in enumerate(lines) if used.search(line)]
            if not any(re.search(rf"\bs\.{name} = ", line) for line in lines):
                unchanged.append(name)
                for number in at:
                    lines[number] = used.sub(f"first.numbers.{name}", lines[number])
            elif name not in outer and _temporary(name, lines[at[0] : at[-1] + 1]):
                temporaries.append(name)
                for number in at:
                    lines[number] = used.sub(name, lines[number])
        return "\n".join(lines), temporaries, unchanged

    # -- steps ---------------------------------------------------------------------------------------------

    def _block(self, block: Block) -> None:
        for step in block.steps:
            place = self.lifetimes.places[id(step)]
            match step:
                case Request() if id(getattr(step.result, "values", None)) in self.deferred:
                    pass
                case Request():
                    method = getattr(self, f"_{step.spec.name}", None)
                    if method is None:
                        raise Untraceable(f"the operation {step.spec.name} on a GPU")
                    method(step.spec, step.result, place)
                case Compute():
                    self._compute(step)
                case Loop():
                    self._loop(step, place)
                case Branch():
                    before = self.pending()
                    self.put(f"if ({self.number(step.test)}) {{")
                    self._side(step.then)
                    self.resume(before)
                    self.put("} else {")
                    self._side(step.otherwise)
                    self.put("}")
                case Leave():
                    self._leave(step, place)
                case _:
                    raise Untraceable(f"{type(step).__name__} on a GPU")

    def _side(self, block: Block) -> None:
        self.indent += 1
        self._block(block)
        self.settle()
        self.indent -= 1

    def _loop(self, loop: Loop, place: Place) -> None:
        outer = loop is self.lifetimes.outer
        self._begins = True
        self._moves(loop.initial, place)
        self._begins = False
        self.settle()
        self.put("while (true) {")
        self.indent += 1
        self.points += 1
        k = self.points
        self.put_at(0, f"point_{k}:")
        self.put("g.watch();")
        self.put(f"if (counted[OVER] != 0) {self.leave('YIELDED', k)}")
        self.put("s.small = s.work < g.least() ? s.small + 1 : 0;")
        self.put("if (s.small > i64(PATIENCE)) {")
        self.put("    s.small = 0;")
        self.put("    blocks = g.fewer(s.work);")
        self.put("    g.barrier();")
        self.put("    if (blockIdx.x >= blocks) goto wait;")
        self.put("    g.part(blocks);")
        self.put("}")
        self.put("s.work = 0;")
        self._block(loop.head)
        if loop.test is not True:
            self.put(f"if (!{self.number(loop.test) if loop.test is not False else 'false'}) {{")
            self.indent += 1
            before = self.pending()
            self.settle()
            self.resume(before)
            self.put("break;")
            self.indent -= 1
            self.put("}")
        if outer:
            self.put("if (threadIdx.x == 0) b.iterations += 1;")
        self._block(loop.body)
        self.settle()
        self.indent -= 1
        self.put("}")
        self.resume()

    def _leave(self, step: Leave, place: Place) -> None:
        if step.kind == "fail":
            self.put(self.leave("FAILED"))
            return
        self._moves(step.moves, place)
        self.settle()
        if step.kind in ("break", "continue"):
            self.put(f"{step.kind};")
        elif step.kind.startswith("return"):
            self.put(self.leave(step.kind.split()[1]))

    # -- moves ---------------------------------------------------------------------------------------------

    def _moves(self, moves: list[Move], place: Place) -> None:
        """Set several targets at once."""
        rows: dict[str, str] = {}
        replaced = {id(part) for move in moves for part in halves(move.target)}
        sources: dict[int, int] = {}
        for move in moves:
            for part in halves(move.source):
                sources[id(part)] = sources.get(id(part), 0) + 1
        for move in moves:
            if isinstance(move.target, Number):
                continue
            target, source = move.target, move.source
            if not isinstance(target, Bitmap) and isinstance(source, Bitmap):
                raise Untraceable("a Vector that is full in one iteration and not in the next")
            if isinstance(target.values, Values):
                self._move_values(target, source, sources, place, replaced, rows)
            if isinstance(target, Bitmap):
                self._move_positions(target, source, sources, place, replaced, rows)
        exchanged = self._exchanged(rows)
        if exchanged and self.unsettled():
            self.later(exchanged)
        elif exchanged:
            self.put(f"g.change([&] {{ {exchanged} }});")
        self.settle()
        numbers = [(self.number(m.target), self.number(m.source)) for m in moves if isinstance(m.target, Number)]
        changed = [(a, b) for a, b in numbers if a != b]
        kinds = {f"s.{name}": TYPES[kind] for name, kind in self.kinds.items()}
        if len(changed) == 1:
            self.put(f"{changed[0][0]} = {changed[0][1]};")
        elif changed:
            held = " ".join(f"const {kinds[a]} m{i} = {b};" for i, (a, b) in enumerate(changed))
            self.put(f"{{ {held} {' '.join(f'{a} = m{i};' for i, (a, _) in enumerate(changed))} }}")

    def _exchanged(self, rows: dict[str, str]) -> str:
        """Return the statement that gives homes the buffers of others, all at once.

        Homes whose buffers were taken get those that are left.
        """
        given: dict[str, str] = {}
        for pool in sorted({home.rpartition("_")[0] for home in rows}):
            of_pool = {home: row for home, row in rows.items() if home.rpartition("_")[0] == pool}
            free = [home for home in of_pool if home not in of_pool.values()]
            left = [row for row in of_pool.values() if row not in of_pool]
            given |= of_pool | dict(zip(left, free, strict=True))
        if not given:
            return ""
        held = " ".join(f"const auto m{number} = {row};" for number, row in enumerate(given.values()))
        return f"{{ {held} {' '.join(f'{home} = m{number};' for number, home in enumerate(given))} }}"

    def _movable(self, part: Any, sources: dict[int, int], place: Place, replaced: set[int]) -> bool:
        """Return whether a move may take the buffer of its source: it is read by one move, and not after it."""
        if sources[id(part)] != 1:
            return False
        return id(part) in replaced or self.lifetimes.movable(part, place, self._begins)

    def _move_values(
        self, target: Any, source: Any, sources: Any, place: Any, replaced: set[int], rows: dict[str, str]
    ) -> None:
        goal, given = self.values_of(target), self.values_of(source)
        assert goal is not None
        if given == goal:
            return
        if given is not None and self._movable(source.values, sources, place, replaced):
            rows[goal] = given
            return
        spare = f"b.{self._row(f'V{self.size(target.size)}_{target.dtype.name}')}"
        if isinstance(source, Full):
            self.touch(local_reads=self.operands(source), local_writes=[spare])
        else:
            self.touch(self.operands(source), [spare])
        self.point(self.items(source))
        self.store_each(source, spare, self.value(source, "i"))
        rows[goal] = spare

    def _move_positions(
        self, target: Any, source: Any, sources: Any, place: Any, replaced: set[int], rows: dict[str, str]
    ) -> None:
        goal, given, n = self.set_of(target), self.set_of(source), self.n(target)
        assert goal is not None
        if given == goal:
            return
        if given is not None and self._movable(source.words, sources, place, replaced):
            rows[goal] = given
            return
        spare = f"b.{self._row(f'S{self.size(target.size)}')}"
        self.touch([given], [spare])
        count = n if given is None else f"{given}.count"
        self.point(f"{n} / 32")
        self.put(f"copy_presence({spare}.words, {f'{given}.words' if given else 'nullptr'}, {n});")
        if given is not None:
            self.put(f"if ({given}.sparse({n})) copy_array({spare}.list, {given}.list, {given}.count);")
            self.later(f"{spare}.listed = {given}.sparse({n}) ? 1 : 0;", spare)
        else:
            self.later(f"{spare}.listed = 0;", spare)
        self.later(f"{spare}.count = {count};", spare)
        rows[goal] = spare
