"""Translation of a program (`engines.programs.program`) to the text of one kernel.

Every placeholder has a *home*: a row of the arrays of its size and type.  Variables hold where it begins; of positions
(`Text._structure`) also how many entries it has and the order of its list.  A result takes the home of an operand that
nothing reads later, so that a write is an update in place; what a loop carries is moved by exchanging variables.  A
vector that may lack entries is processed along a list of its entries, so that an iteration costs what it touches.

The text depends on types, operators and formats, not on sizes or values: those are arguments.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ...formats import Bitmap
from ..programs.lifetimes import Place, halves
from ..programs.program import Block, Branch, Compute, Leave, Loop, Move, Request, Values, VectorList
from ..programs.traced import Number, Untraceable
from .program_lists import Lists
from .program_numbers import FAILED, STOPPED, YIELDED

# Work after which a program tests whether it is stopped: a few hundred iterations, or microseconds of larger ones.
_PAUSE = 1 << 14


class Code(Lists):
    """The text of a program: control flow, and the moves of what loops carry."""

    _begins = False  # whether the moves are those before the first iteration of a loop

    def text(self) -> str:
        """Return the module."""
        self._program()
        helpers = "".join(
            f"{name} = expression_numba.function({name.rpartition('_')[0]!r}, np.dtype({name.rpartition('_')[2]!r}))\n"
            if name != "random"
            else "random = expression_numba.function('random', np.dtype('int64'))\n"
            for name in sorted(self.helpers)
        )
        head = (
            '"""The program of a compiled loop; generated, see semiring.engines.cpu.program_code."""\n'
            "import math\n\nimport numpy as np\n\n"
            "from semiring.engines.cpu import expression_numba\n"
            "from semiring.engines.cpu.atomics import prefetch, rolled, stopped, trailing_zeros\n"
            "from semiring.engines.cpu.compile import inlined, kernel\n"
            "from semiring.engines.cpu.program_support import *\n"
            "from semiring.engines.cpu.types import value_at\n\n"
        )
        return head + helpers + "\n\n".join(["", *self.functions, "\n".join(self.lines)]) + "\n"

    def parameters(self) -> list[str]:
        """Return the names of the arguments, in order."""
        names = ["state", "rows", "integers", "floats", "block"]
        for c, _ in enumerate(self.sizes):
            names += [f"n{c}", f"W{c}", f"L{c}"]
        names += [pool for pool in self.pools() if pool[0] == "V"]
        names += [name for name, _ in self.constants]
        for m, _ in enumerate(self.matrices):
            names += [f"P{m}", f"I{m}", f"A{m}"]
        for m in sorted(self.hub_matrices):
            names += [f"H{m}", f"O{m}", f"h{m}"]
        return names + self.list_parameters()

    def pools(self) -> list[str]:
        """Return the pools of rows, in order of their names."""
        return sorted(self.rows)

    def slots(self) -> list[str]:
        """Return the variables of all homes, in the order of `rows`."""
        homes = [f"{pool.lower()}_{row}" for pool in self.pools() for row in range(self.rows[pool])]
        return [name for home in homes for name in _variables(home)]

    def _program(self) -> None:
        for item in (*self.program.inputs, *(item for item, _ in self.program.constants), *self.program.outputs):
            for part in halves(item):
                self.home(part)
            if isinstance(item, VectorList):
                self.list_number(item)
            if isinstance(item, Number):
                self.number(item)
        body, self.lines = self.lines, []
        self._block(self.program.body)
        self._exit("0")
        body, self.lines = self.lines, []
        self.put_at(0, "@kernel")
        self.put_at(0, f"def program(t, threads, control, {', '.join(self.parameters())}):")
        for c, _ in enumerate(self.sizes):
            self.put(f"w{c} = (n{c} + 31) >> 5")
        for number, slot in enumerate(self.slots()):
            self.put(f"{slot} = rows[{number}]")
        for number, name in enumerate(self.saved()):
            array = {"int": "integers", "float": "floats", "bool": "integers"}[name[1]]
            loaded = f"{array}[{number}]"
            self.put(f"{name[0]} = {loaded} != 0" if name[1] == "bool" else f"{name[0]} = {loaded}")
        self.put("budget = mark = state[1]")
        self.put("large_ = state[4]")
        self.put(f"pause_ = min(large_, np.int64({_PAUSE}))")
        self.put("due_ = max(budget - pause_, np.int64(0))")
        self.put("steps = state[2]")
        self.lines += body

    def saved(self) -> list[tuple[str, str]]:
        """Return variable and kind of the numbers that `integers` and `floats` hold outside of the kernel, in order."""
        found: dict[str, str] = {}
        items = [item for item in (*self.program.inputs, *self.program.outputs) if isinstance(item, Number)]
        items += [step.result for step in self.program.body.steps if isinstance(step, Compute)]
        if self.lifetimes.outer is not None:
            items += [item for item in self.lifetimes.phis[id(self.lifetimes.outer)] if isinstance(item, Number)]
        for item in items:
            found.setdefault(self.number(item), item.kind)
        return list(found.items())

    def _save(self) -> None:
        for number, slot in enumerate(self.slots()):
            self.put(f"rows[{number}] = {slot}")
        self.put("state[2] = steps")
        for number, (name, kind) in enumerate(self.saved()):
            array = "floats" if kind == "float" else "integers"
            self.put(f"{array}[{number}] = {name}")

    def _exit(self, code: str) -> None:
        """End the program; the rows are saved by a function at the end, because all homes are known then only."""
        self.put(f"#exit {code}")

    def resolved(self, text: str) -> str:
        """Replace each exit by the statements that save the state."""
        made = []
        for line in text.split("\n"):
            stripped = line.lstrip()
            if not stripped.startswith("#exit"):
                made.append(line)
                continue
            code = stripped.split()[1]
            self.lines, self.indent = [], (len(line) - len(stripped)) // 4
            if code not in (str(FAILED), str(STOPPED)):
                self._save()
            self.put(f"return {code}")
            made += self.lines
        return "\n".join(made)

    # -- steps ---------------------------------------------------------------------------------------------

    def _block(self, block: Block) -> None:
        empty = True
        for step in block.steps:
            empty = False
            place = self.lifetimes.places[id(step)]
            match step:
                case Request() if id(getattr(step.result, "values", None)) in self.deferred:
                    pass
                case Request():
                    getattr(self, f"_{step.spec.name}")(step.spec, step.result, place)
                case Compute():
                    self._compute(step)
                case Loop():
                    self._loop(step, place)
                case Branch():
                    self.put(f"if {self.number(step.test)}:")
                    self._side(step.then)
                    self.put("else:")
                    self._side(step.otherwise)
                case Leave():
                    self._leave(step, place)
        if empty:
            self.put("pass")

    def _side(self, block: Block) -> None:
        self.indent += 1
        self._block(block)
        self.indent -= 1

    def _loop(self, loop: Loop, place: Place) -> None:
        outer = loop is self.lifetimes.outer
        self._begins = True
        if outer:
            self.put("if state[0] == 0:")
            self.indent += 1
            self.put("pass")
            self._moves(loop.initial, place)
            self.indent -= 1
        else:
            self._moves(loop.initial, place)
        self._begins = False
        self.put("while True:")
        self.indent += 1
        if outer:
            # `due_` is no further away than `large_`: each large iteration is counted.
            self.put("budget -= 64")
            self.put("if budget < due_:")
            self.indent += 1
        self.put("if stopped(control):")
        self.put_at(self.indent + 1, f"return {STOPPED}")
        if outer:
            self.put("state[5] += mark - budget if mark - budget > large_ else 0")
            self.put("if budget < 0 or state[5] > state[7]:")
            self.put_at(self.indent + 1, f"#exit {YIELDED}")
            self.put("due_ = max(budget - pause_, np.int64(0))")
            self.indent -= 1
            self.put("mark = budget")
        self._block(loop.head) if loop.head.steps else None
        if loop.test is not True:
            self.put(f"if not ({self.number(loop.test) if loop.test is not False else 'False'}):")
            self.put_at(self.indent + 1, "break")
        if outer:
            self.put("steps += 1")
        self._block(loop.body)
        self.indent -= 1

    def _leave(self, step: Leave, place: Place) -> None:
        if step.kind == "fail":
            self.put(f"return {FAILED}")
            return
        self._moves(step.moves, place)
        if step.kind in ("break", "continue"):
            self.put(step.kind)
        elif step.kind.startswith("return"):
            self._exit(step.kind.split()[1])
        elif not step.moves:
            self.put("pass")

    def _moves(self, moves: list[Move], place: Place) -> None:
        """Set several targets at once."""
        numbers = [(self.number(m.target), self.number(m.source)) for m in moves if isinstance(m.target, Number)]
        later: dict[str, str] = {}
        replaced = {id(part) for move in moves for part in halves(move.target)}
        sources = [part for move in moves for part in halves(move.source)]
        count = Counter(map(id, sources))
        once = [part for part in sources if count[id(part)] == 1]
        movable = {
            id(part) for part in once if id(part) in replaced or self.lifetimes.movable(part, place, self._begins)
        }
        for move in moves:
            if isinstance(move.target, Number):
                continue
            target, source = move.target, move.source
            s_target = target.words if isinstance(target, Bitmap) else None
            s_source = source.words if isinstance(source, Bitmap) else None
            v_target = target.values if isinstance(target.values, Values) else None
            v_source = source.values if isinstance(source.values, Values) else None
            if s_target is None and s_source is not None:
                raise Untraceable("a Vector that is full in one iteration and not in the next")
            if v_target is not None:
                self._move_values(target, source, s_source, v_target, v_source, movable, later)
            if s_target is not None:
                self._move_structure(s_target, s_source, movable, later)
        self._exchange(later)
        if numbers:
            changed = [(a, b) for a, b in numbers if a != b]
            if changed:
                self.put(f"{', '.join(a for a, _ in changed)} = {', '.join(b for _, b in changed)}")

    def _exchange(self, moves: dict[str, str]) -> None:
        """Set the variables of several homes at once; each row of a target that is no source goes to a source."""
        for pool in dict.fromkeys(home.rpartition("_")[0] for home in moves):
            goals = [home for home in moves if home.rpartition("_")[0] == pool]
            sources = [moves[home] for home in goals]
            goals += [home for home in sources if home not in moves]
            sources += [home for home in goals[: len(sources)] if home not in sources]
            left, right = ([name for home in homes for name in _variables(home)] for homes in (goals, sources))
            self.put(f"{', '.join(left)} = {', '.join(right)}")

    def _move_values(
        self, target: Any, source: Any, structure: Any, v_target: Any, v_source: Any, movable: set[int],
        later: dict[str, str],
    ) -> None:  # fmt: skip
        goal = self.home(v_target)
        if v_source is not None and self.home(v_source) == goal:
            return
        c = self.size(target.size)
        pool = f"V{c}_{target.dtype.name}"
        if id(v_source) in movable:
            later[goal] = self.home(v_source)
            return
        spare = self._row(pool)
        value = self._value(source, "i_")
        self._each(source, "i_", structure)
        self.put(f"{pool}[np.uintp({spare} + i_)] = {value}")
        self.indent -= 1
        later[goal] = spare

    def _move_structure(self, target: Any, source: Any, movable: set[int], later: dict[str, str]) -> None:
        goal, c = self.home(target), self.size(target.size)
        if source is None:
            spare = self._row(f"S{c}")
            self._clear(c, spare)
            self.put(f"for i_ in range(n{c}):")
            self.indent += 1
            self._insert(c, spare, "i_")
            self.indent -= 1
            self._counted(c, spare, "2")
            later[goal] = spare
            return
        if self.home(source) == goal:
            return
        if id(source) in movable:
            later[goal] = self.home(source)
            return
        spare = self._row(f"S{c}")
        self._copied(c, self.home(source), spare)
        later[goal] = spare


def _variables(home: str) -> list[str]:
    """Return the variables of a home.

    Of positions: where the words and the list begin, the entries, and the order of the list (`program_support`).
    """
    return [f"{home}{part}" for part in "wlnt"] if home[0] == "s" else [home]
