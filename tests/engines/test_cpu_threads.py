"""Several Python threads in the CPU engine at once: answers stay right, and nobody waits for ever."""

from __future__ import annotations

import threading

import semiring as sr
from semiring import Matrix


def test_searches_at_once() -> None:
    with sr.use("cpu"):
        A: Matrix = sr.random.kronecker(12, seed=1, weights="uniform")
        source = int(A.to_coo()[0][0])
        distances, levels = sr.algorithms.sssp(A, source).wait(), sr.algorithms.bfs_levels(A, source).wait()
        wrong: list[str] = []

        def search() -> None:
            for _ in range(10):
                if not sr.algorithms.sssp(A, source).isequal(distances):
                    wrong.append("distances")
                if not sr.algorithms.bfs_levels(A, source).isequal(levels):
                    wrong.append("levels")

        threads = [threading.Thread(target=search) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=120)
        assert not any(thread.is_alive() for thread in threads)
        assert wrong == []
