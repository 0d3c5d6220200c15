"""The process that the campaign ``interrupts`` interrupts: it repeats every parallel operation and checks the results.

    python -m tests.faults._interrupted cpu 1 [names of operations]

It writes a line when it is ready.  For each byte of its standard input, which follows interrupts, it checks everything
and writes what it found; it ends when its input does.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import select
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

import semiring as sr
from semiring import Matrix, Vector, indexunary

# The most interrupts of one call: the later ones arrive while the first one leaves it.
_MOST = 3


class Work:
    """The operations, by name, and what they return."""

    def __init__(self, engine: str, seed: int, names: list[str]) -> None:
        rng = np.random.default_rng(seed)
        A: Matrix = sr.random.kronecker(12, seed=seed)
        rows, cols = (array.get() if hasattr(array, "get") else array for array in A.to_coo()[:2])
        n, k = A.nrows, 1 << 17
        # Sums of small whole numbers are exact, in whatever order an engine adds them.
        weights = rng.integers(1, 9, A.nvals).astype(np.float64)
        A = Matrix.from_coo(rows, cols, weights, nrows=n, ncols=n)
        B = A.select("valuegt", 3.0).wait()
        u = Vector.from_dense(rng.integers(0, 9, n).astype(np.float64))
        few = u.select("valuegt", 7.0).wait()
        numbers = rng.integers(0, 9, k).astype(np.float64)
        v = Vector.from_dense(numbers)
        w = v.select("valuegt", 4.0).wait()
        order, part = rng.permutation(n), np.sort(rng.permutation(n)[: n // 2])
        places = rng.integers(0, k, k)
        source = int(rows[0])
        algorithms = sr.algorithms
        self.operations: dict[str, Callable[[], Any]] = {
            "apply": lambda: A.apply("ainv"),
            "apply positions": lambda: A.apply(indexunary.rowindex),
            "apply vector": lambda: v.apply("ainv"),
            "ewise_add": lambda: A.ewise_add(B, "plus"),
            "ewise_mult": lambda: A.ewise_mult(B, "times"),
            "ewise_union": lambda: A.ewise_union(B, "minus", 1.0, 2.0),
            "ewise_add vectors": lambda: v.ewise_add(w, "plus"),
            "ewise_mult vectors": lambda: v.ewise_mult(w, "times"),
            "ewise_union vectors": lambda: v.ewise_union(w, "minus", 1.0, 2.0),
            "select": lambda: A.select("valuegt", 5.0),
            "select vector": lambda: v.select("valuegt", 5.0),
            "reduce": lambda: v.reduce("plus"),
            "reduce rows": lambda: A.reduce_rowwise("plus"),
            "mxv": lambda: A.mxv(u, "plus_times"),
            "vxm": lambda: few.vxm(A, "plus_times"),
            "mxm": lambda: B.mxm(A, "plus_times"),
            "mxm masked": lambda: A.mxm(B, "plus_times", mask=A.S),
            "extract": lambda: A[part, part],
            "extract in any order": lambda: A[order, order],
            "extract vector": lambda: v[places],
            "transpose": lambda: A.select("valuegt", 2.0).T.apply("ainv"),
            "symmetric": lambda: A.select("valuegt", 0.0).is_symmetric_structure,
            "bfs_levels": lambda: algorithms.bfs_levels(A, source),
            "sssp": lambda: algorithms.sssp(A, source),
            "connected_components": lambda: algorithms.connected_components(A),
            "pagerank": lambda: algorithms.pagerank(A, max_iter=1000, tol=1e-9),
            "build": lambda: Matrix.from_coo(cols, rows, weights, nrows=n, ncols=n),
            "build, repeated": lambda: Matrix.from_coo(cols // 2, rows // 2, weights, nrows=n, ncols=n, dup_op="plus"),
            "build vector": lambda: Vector.from_coo(places, numbers, size=k, dup_op="plus"),
            "packed": lambda: A.compress("packed").decompress(),
            "varint": lambda: A.compress("varint").decompress(),
            "permute": lambda: A.permute(order),
        }
        if engine == "cuda":  # read in host memory, or through a ring of buffers
            for place in ("pinned", "host"):
                far = A.to(placement=place)
                self.operations[f"mxv, {place}"] = lambda far=far: far.mxv(u, "plus_times")
                self.operations[f"bfs_levels, {place}"] = lambda far=far: algorithms.bfs_levels(far, source)
                self.operations[f"components, {place}"] = lambda far=far: algorithms.connected_components(far)

        def masked(C: Matrix) -> None:
            C(B.S, accum="plus") << A.mxm(B, "plus_times")

        def assigned(C: Matrix) -> None:
            C[part, part] << B[part, part]

        def updated(x: Vector) -> None:
            x(w.S, accum="plus", replace=True) << v.apply("ainv")

        def scattered(x: Vector) -> None:
            x(accum="plus")[places] << v

        def logged(x: Matrix | Vector) -> None:
            at: Any = source if x.ndim == 1 else (source, 1)
            x(accum="plus")[at] << 4.0
            x.wait()

        # Writes into a target: the target before, and the write.
        self.writes: dict[str, tuple[Any, Callable[[Any], None]]] = {
            "write masked": (A, masked),
            "assign": (A, assigned),
            "update": (v, updated),
            "scatter": (v, scattered),
            "element": (v, logged),
            "element of a matrix": (A, logged),
        }
        if names:
            self.operations = {name: call for name, call in self.operations.items() if name in names}
            self.writes = {name: pair for name, pair in self.writes.items() if name in names}
        self.expected = {name: _computed(call()) for name, call in self.operations.items()}
        for name, (before, write) in self.writes.items():
            self.expected[name] = _written(before, write)
        self.target: tuple[str, Any] | None = None

    def once(self, name: str) -> Any:
        """The result of one operation, or the target of one write."""
        if name in self.operations:
            return _computed(self.operations[name]())
        before, write = self.writes[name]
        target = before.dup()
        self.target = name, target
        write(target)
        return target

    def same(self, name: str) -> bool:
        """Whether an operation returns the same result as before."""
        return _same(name, self.once(name), self.expected[name])

    def wrong(self) -> list[str]:
        """The failures after an interrupt."""
        found = []
        if self.target is not None:
            name, target = self.target
            if not _same(name, target, self.expected[name]) and not _same(name, target, self.writes[name][0]):
                found.append(f"{name}: the target of an interrupted write has changed")
            self.target = None
        for name, expected in self.expected.items():
            try:
                if not _same(name, self.once(name), expected):
                    found.append(f"{name}: another result")
            except Exception as error:
                found.append(f"{name}: {error!r}")
        return found


def _computed(result: Any) -> Any:
    return result.wait() if hasattr(result, "wait") else result


def _written(before: Any, write: Callable[[Any], None]) -> Any:
    target = before.dup()
    write(target)
    return target


def _same(name: str, result: Any, expected: Any) -> bool:
    if name == "pagerank":
        return bool(result.isclose(expected, rel_tol=1e-6))
    return bool(result.isequal(expected)) if hasattr(result, "isequal") else bool(result == expected)


class Handler:
    """Raises KeyboardInterrupt for the next signals, as Python's own handler does, while it is armed."""

    def __init__(self) -> None:
        self.left = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.left > 0:
            self.left -= 1
            raise KeyboardInterrupt


def _repeat(work: Work, handler: Handler, names: list[str], depth: int) -> None:
    """Repeat operations until an interrupt or a byte; each level of the recursion catches one interrupt."""
    try:
        if depth:
            _repeat(work, handler, names, depth - 1)
        else:
            handler.left = _MOST
            while not select.select([0], [], [], 0)[0]:
                work.once(random.choice(names))
        handler.left = 0
    except KeyboardInterrupt:
        pass


def say(**line: Any) -> None:
    os.write(1, json.dumps(line).encode() + b"\n")


def main() -> None:
    engine, seed, *names = sys.argv[1:]
    faulthandler.enable()
    if hasattr(signal, "SIGUSR1"):
        faulthandler.register(signal.SIGUSR1, all_threads=True)
    random.seed(int(seed))
    with sr.use(engine):
        work = Work(engine, int(seed), names)
        every = list(work.expected)
        handler = Handler()
        signal.signal(signal.SIGINT, handler)
        say(ready=True)
        while True:
            _repeat(work, handler, every, _MOST)
            handler.left = 0
            if not os.read(0, 1):
                break
            say(wrong=work.wrong())


if __name__ == "__main__":
    main()
