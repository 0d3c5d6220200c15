"""Descriptions of the engine of the default device and of its hardware."""

from __future__ import annotations

import importlib.metadata
import platform
from pathlib import Path

from semiring.config import default_device, engine_for
from semiring.exceptions import SemiringError
from semiring.optional import installed, missing


def engine_description() -> str:
    """Return the engine of new objects and its hardware."""
    engine = engine_for(default_device())
    if engine == "cuda":
        return f"CUDA engine on {gpu()}"
    if engine == "cpu":
        import numba

        threads = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
        return f"CPU engine on {processor()}, {threads} thread{'s' if threads > 1 else ''}"
    return f"reference engine (slow, for checking) on {processor()}"


def gpu() -> str:
    """Return name and memory of the current GPU."""
    import cupy

    facts = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    return f"{facts['name'].decode()} ({facts['totalGlobalMem'] / 2**30:.0f} GiB)"


def processor() -> str:
    """Return the processor's name, as the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine() or "an unknown processor")


def library(name: str) -> str | None:
    """Return the installed version of a distribution, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def unavailable_reason(engine: str) -> str | None:
    """Return None where an engine is available, else the reason in one line."""
    from semiring.config import cuda_available
    from semiring.engines import registry

    if engine == "cuda" and not cuda_available():
        if not installed("cupy"):
            return str(missing("the CUDA engine", "cupy"))
        return "no CUDA device, or no driver"
    try:
        registry.load(engine)
    except (ImportError, OSError, SemiringError) as error:
        return str(error).split("\n", 1)[0]
    return None
