"""Programs of loops: traces until no assumption is corrected."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, NamedTuple

from ..engines.programs import traced, tracing
from ..engines.programs.program import Program, VectorList
from ..engines.programs.traced import Number, Untraceable
from ..facade.matrix import Matrix
from ..facade.vector import Vector
from .expressions import Undefined
from .keys import held_names, is_list
from .kinds import Kind
from .lists import TracedList
from .matrices import operand
from .trace import Retrace, Tracer


class Traced(NamedTuple):
    """The program of a loop, its tracer, and the variables of its inputs."""

    program: Program
    tracer: Tracer
    inputs: list[str]


def traced_program(
    straight: Callable[..., Any],
    scope: dict[str, Any],
    later: frozenset[str],
    assumed: dict[tuple[Any, ...], Kind],
    static: set[str],
    varying: set[tuple[str, int]],
    inline: Callable[[Any], Callable[..., Any] | None],
    device: str,
) -> Traced:
    """Trace a loop until no assumption is corrected.

    scope: the values of the variables, of which vectors and numbers become inputs.  static: the names of numbers whose
    value Python needs, which become constants.  varying: names and sizes of vectors whose one value is read by the
    program in place of being a constant.  device: where the vectors are.
    """
    for _ in range(64):
        tracer = Tracer(assumed, inline, device)
        made: dict[int, Any] = {}  # of vectors, lists and matrices
        inputs: list[Any] = []
        names: list[str] = []
        arguments: dict[str, Any] = {}
        with tracer.recorder:
            for name in sorted(scope):
                value = scope[name]
                if isinstance(value, Vector):
                    if id(value) in made:
                        arguments[name] = made[id(value)]
                        continue
                    store = value.store
                    iso = None if (name, store.size) in varying else store.iso
                    symbol: Any = tracing.vector(store.size, store.dtype, full=store.format == "full", iso=iso)
                    tracer.recorder.expect(symbol, many=tracing.is_crowded(store))
                    arguments[name] = made[id(value)] = tracer.shadow(value, symbol)
                elif is_list(value):
                    if id(value) in made:
                        arguments[name] = made[id(value)]
                        continue
                    listed = arguments[name] = made[id(value)] = TracedList(tracer.recorder, value)
                    tracer.lists[name] = listed
                    symbol = listed.symbol
                elif type(value) in (int, float) and name not in static:
                    symbol = arguments[name] = Number(type(value).__name__, origins=frozenset({name}))
                else:
                    if type(value) is Matrix:
                        value = made.setdefault(id(value), operand(value))
                    arguments[name] = value
                    continue
                inputs.append(tracer._named(name, symbol))
                names.append(name)
            for name in held_names(scope):
                tracer.recorder.held[id(arguments[name])] = arguments[name]
        try:
            with tracer.recorder:
                body = tracer.recorder.block
                straight(tracer, **{name: arguments.get(name, Undefined()) for name in _parameters(straight)})
        except Retrace:
            continue
        except traced.NeedsValue as need:
            static |= need.names
            continue
        tracer.check_uncertain()
        outer = tracer.outer
        assert outer is not None
        outputs = list(outer.phis.values()) + [item for _, items in tracer.returns for item in items]
        outputs += [item for item in inputs if isinstance(item, VectorList)]
        for name in outer.names:
            kind = assumed.get((*outer.key, "name", name))
            if kind is not None and kind.what == "object" and name in later:
                raise Untraceable(f"the variable {name} has no single type, and is used after the loop")
            if (*outer.key, "held", name) in assumed and name in later:
                raise Untraceable(f"the vector {name} is held by a list, and used after the loop")
        for name, value in arguments.items():
            # A list that had the Vector before has others after the loop, where the loop appends it again.
            kept = name in held_names(scope) and id(value) not in tracer.recorder.appended
            if id(value) in tracer.recorder.held and name in later and not kept:
                raise Untraceable(f"the vector {name} is held by a list, and used after the loop")
        program = Program(inputs, body, outputs, tracer.recorder.constants, tracer.names)
        return Traced(program, tracer, names)
    raise Untraceable("the types of the variables do not settle")


def _parameters(straight: Any) -> tuple[str, ...]:
    if not isinstance(straight, types.FunctionType):
        return tuple(straight.parameters)
    code = straight.__code__
    return code.co_varnames[1 : code.co_argcount]
