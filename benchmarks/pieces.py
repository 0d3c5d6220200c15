"""The forms in which vectors are sent between processes: bytes, and time at both ends, for each entry.

    python -m benchmarks.pieces [--size 4194304]

The vectors are index lists with one value for all entries.  A time is the shortest of nine.  Beside the forms are the
codecs of compressed matrices, for a matrix of one row.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from semiring import Matrix, Vector
from semiring.distributed import vector_messages
from semiring.distributed.threads import run_ranks

from .machine import facts

T = TypeVar("T")


def shortest(function: Callable[[], T]) -> tuple[T, float]:
    """Return what a function returns, and the shortest time of nine calls, in seconds."""
    times = []
    for _ in range(9):
        begin = time.perf_counter()
        made = function()
        times.append(time.perf_counter() - begin)
    return made, min(times)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1 << 22)
    size = parser.parse_args().size
    group, rng, rule = run_ranks(1, lambda group: group)[0], np.random.default_rng(1), vector_messages.chosen
    print(facts("cpu"))
    print(f"a vector of {size} positions; * the form that is chosen between hosts")
    print(f"{'entries':>9}{'form':>10}{'bytes/entry':>13}{'encoded, ns':>13}{'decoded, ns':>13}")
    for distance in (4, 12, 20, 50, 100, 200, 1000):
        v = Vector.from_coo(np.flatnonzero(rng.random(size) < 1 / distance), True, size=size, device="cpu").convert(
            "index"
        )
        best = rule(size, v.nvals, 0, compress=True)
        for form in ("bitmap", "list", "gaps"):
            vector_messages.chosen = fixed(form)
            sent, there = shortest(lambda v=v: vector_messages.encoded(v.store, group))  # type: ignore[misc]
            _, back = shortest(lambda sent=sent, v=v: vector_messages.decoded(sent, size, v.dtype, "cpu"))  # type: ignore[misc]
            assert sent is not None
            show(form + " *" * (form == best), v.nvals, sent.nbytes, there, back)
        row = Matrix.from_csr([0, v.nvals], v.to_coo()[0], True, ncols=size).to("cpu")
        for codec in ("varint", "packed"):
            made, there = shortest(lambda row=row, codec=codec: row.compress(codec))  # type: ignore[misc]
            _, back = shortest(made.decompress)
            show(codec, v.nvals, made.nbytes, there, back)


def show(form: str, entries: int, size: int, there: float, back: float) -> None:
    """Print one line of the table."""
    each = f"{there / entries * 1e9:13.2f}{back / entries * 1e9:13.2f}"
    print(f"{entries:9}{form:>10}{size / entries:13.2f}{each}")


def fixed(form: Any) -> Any:
    """Return a rule that always chooses one form."""
    return lambda *_, **__: form


if __name__ == "__main__":
    main()
