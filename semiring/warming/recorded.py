"""CUDA kernels from the recorded lists (`engines.cuda.kernel_lists`), by NVRTC on all processors, without a GPU."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from ..worker_thread import processors

__all__ = ["compile_recorded", "recorded_types"]


def recorded_types() -> list[str]:
    """Return the types of values for which calls were recorded."""
    from ..engines.cuda import kernel_lists

    return kernel_lists.types()


def compile_recorded(
    names: Sequence[str], types: Collection[str], architecture: str
) -> Iterator[tuple[str, int, float]]:
    """Compile what is missing in the store; yield each function, the number of its kernels, and seconds.

    A kernel that several functions need counts for the first.  SemiringError if one does not compile.
    """
    from ..engines.cuda import kernel_lists
    from ..engines.cuda.compile import compiled

    def compile_one(text: kernel_lists.Text) -> bool:
        file, prologue, entry = text
        return compiled(file, prologue, architecture, entry)

    seen: set[kernel_lists.Text] = set()
    pool = ThreadPoolExecutor(len(processors()))
    try:
        jobs = {}
        for name in names:
            texts = [text for text in kernel_lists.texts(name, types) if text not in seen]
            seen.update(texts)
            jobs[name] = [pool.submit(compile_one, text) for text in texts]
        for name, parts in jobs.items():
            started = time.perf_counter()
            count = sum(part.result() for part in parts)
            yield name, count, time.perf_counter() - started
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
