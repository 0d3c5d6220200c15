"""The process that the campaign ``compiling`` interrupts while kernels are compiled.

    python -m tests.faults._compiling cpu 1

For each line that it writes it is interrupted while it calls an operation of a new operator, and is then sent a byte;
it makes the same call again, checks the result, and writes what it found.
"""

from __future__ import annotations

import faulthandler
import os
import select
import signal
import sys
from typing import Any

import numpy as np

from semiring.engines import registry
from tests.faults._interrupted import Handler, say


def _call(engine: str, k: int, offset: int) -> str:
    """Use an operator that no cache contains; return what is wrong with the result."""
    import semiring as sr

    with sr.use(engine):
        numbers = np.arange(1000, dtype=np.float64)
        v: Any = sr.Vector.from_dense(numbers)
        if k % 3 < 2:
            made, expected = v.apply(f"3 * x + {offset}"), 3 * numbers + offset
        else:
            made, expected = v.ewise_mult(v, f"x * y + {offset}"), numbers * numbers + offset
        found = made.to_numpy()
        return "" if np.array_equal(found, expected) else f"call {k}: another result"


def _interrupted(handler: Handler, engine: str, k: int, offset: int, depth: int) -> str:
    """Make a call that interrupts may end; each level of the recursion catches one."""
    wrong = ""
    try:
        if depth:
            wrong = _interrupted(handler, engine, k, offset, depth - 1)
        else:
            handler.left = 3
            wrong = _call(engine, k, offset)
            while not select.select([0], [], [], 0.01)[0]:
                pass
        handler.left = 0
    except KeyboardInterrupt:
        pass
    except Exception as error:
        wrong = f"call {k}, interrupted: {error!r}"
    return wrong


def main() -> None:
    engine, seed = sys.argv[1:]
    faulthandler.enable()
    handler = Handler()
    signal.signal(signal.SIGINT, handler)
    if int(seed) % 2:  # otherwise the first interrupts arrive during the import
        registry.load(engine)
    k = 0
    say(wrong=[])
    while True:
        faulthandler.dump_traceback_later(100)  # before the campaign gives up on a process that hangs
        offset = int(seed) * 1000 + k
        wrong = [_interrupted(handler, engine, k, offset, 3)]
        handler.left = 0
        if not os.read(0, 1):
            break
        try:
            wrong.append(_call(engine, k, offset))
        except Exception as error:
            wrong.append(f"call {k}: {error!r}")
        say(wrong=[each for each in wrong if each])
        k += 1


if __name__ == "__main__":
    main()
