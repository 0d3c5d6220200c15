"""Messages with arrays of any size, for every transport: each process computes what the others send it.

`turns` runs in one process of a launch too, with arrays of CuPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.distributed.communicator import Communicator

KINDS = (np.uint8, np.int16, np.float32, np.int64, np.complex128)


def array(rng: np.random.Generator, module: Any, longest: int) -> Any:
    """Return an array at random: often short or empty, transposed or with a step, with up to `longest` bytes."""
    kind = np.dtype(rng.choice(KINDS))  # type: ignore[arg-type]
    count = int(longest ** rng.random()) // kind.itemsize if rng.random() < 0.9 else 0
    made = rng.integers(0, 255, count * kind.itemsize, np.uint8).view(np.uint8)
    values = module.asarray(made.astype(kind)[:count] if kind.itemsize > 1 else made)
    shape = int(rng.integers(4))
    if shape == 1 and count % 2 == 0:
        return values.reshape(2, -1).T
    if shape == 2:
        return module.asarray(np.repeat(made[: min(count, 100)], 3))[::3]
    return values if shape else values[:1].sum()


def message(module: Any, turn: int, source: int, target: int, longest: int) -> Any:
    """Return what a process sends to another one: nothing, no array, or several between other objects."""
    rng = np.random.default_rng((turn, source, target))
    if rng.random() < 0.15:
        return None
    arrays = [array(rng, module, longest) for _ in range(int(rng.choice((0, 1, 1, 2, 5))))]
    return {"turn": turn, "arrays": arrays, "of host": np.arange(turn), "twice": tuple(arrays[:1])}


def same(module: Any, found: Any, expected: Any) -> bool:
    """Whether two messages are equal, with every byte of their arrays."""
    if found is None or expected is None:
        return found is expected
    pairs = [pair for name in ("arrays", "twice") for pair in zip(found[name], expected[name], strict=True)]
    return (
        found["turn"] == expected["turn"]
        and bool(np.array_equal(found["of host"], expected["of host"]))
        and all(a.dtype == b.dtype and a.shape == b.shape for a, b in pairs)
        and all(bool((a == b).all()) for a, b in pairs)
    )


def turns(group: Communicator, module: Any, numbers: range, longest: int) -> list[tuple[Any, Any]]:
    """Make a collective for each number; return every message that was found beside what it is to be.

    In turns each process sends one to each, the same to several, and one to all.
    """
    kept = []
    for turn in numbers:
        others = range(group.size)
        if turn % 3 == 0:
            found = group.alltoall([message(module, turn, group.rank, target, longest) for target in others])
            kept += [(found[k], message(module, turn, k, group.rank, longest)) for k in others]
        elif turn % 3 == 1:
            one = message(module, turn, group.rank, 0, longest)
            found = group.alltoall([one if (group.rank + target) % 3 else None for target in others])
            kept += [(found[k], message(module, turn, k, 0, longest) if (group.rank + k) % 3 else None) for k in others]
        else:
            found = group.allgather(message(module, turn, group.rank, 0, longest))
            kept += [(found[k], message(module, turn, k, 0, longest)) for k in others]
    return kept
