"""What computes: the engine of the default device, in words."""

from __future__ import annotations

import importlib.metadata
import platform
from pathlib import Path

from semiring.config import default_device, engine_for
from semiring.exceptions import SemiringError


def engine_in_words() -> str:
    """The engine that new objects are computed by, with what it runs on."""
    engine = engine_for(default_device())
    if engine == "cuda":
        return f"CUDA engine on {gpu()}"
    if engine == "cpu":
        from semiring.engines.cpu.threads import available

        threads = available()
        return f"CPU engine on {processor()}, {threads} thread{'s' if threads > 1 else ''}"
    return f"reference engine (slow, for checking) on {processor()}"


def gpu() -> str:
    """The current GPU's name and memory."""
    import cupy

    facts = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    return f"{facts['name'].decode()} ({facts['totalGlobalMem'] / 2**30:.0f} GiB)"


def processor() -> str:
    """The processor's name, as the system has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine() or "an unknown processor")


def library(name: str) -> str | None:
    """The installed version of a distribution, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def why_not(engine: str) -> str | None:
    """None where an engine can be used, else the reason in one line."""
    from semiring.config import cuda_available
    from semiring.engines import registry

    if engine == "cuda" and not cuda_available():
        if all(library(package) is None for package in ("cupy-cuda12x", "cupy-cuda13x", "cupy")):
            return "CuPy is not installed: pip install 'semiring[cuda13]' (or cuda12, as the driver demands)"
        return "no CUDA device, or no driver"
    try:
        registry.load(engine)
    except (ImportError, OSError, SemiringError) as error:
        return str(error).split("\n", 1)[0]
    return None
