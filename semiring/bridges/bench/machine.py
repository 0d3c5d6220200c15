"""The machine of a result: processor, GPU, driver, versions, date."""

from __future__ import annotations

import functools
import os
import platform
import re
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import semiring as sr
from semiring.bridges.cli.machine import library, processor

_PACKAGES = (
    "numpy", "scipy", "numba", "cupy-cuda13x", "cupy-cuda12x", "python-graphblas", "suitesparse-graphblas", "networkx",
    "igraph", "networkit",
)  # fmt: skip


@functools.cache
def facts(device: str) -> dict[str, Any]:
    """Return the facts that a comparison of figures needs; those of the GPU only on ``"cuda"``."""
    known: dict[str, Any] = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "semiring": sr.__version__,
        "device": device,
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: version for name in _PACKAGES if (version := library(name))},
    }
    return known | (_gpu() if device == "cuda" else {})


def slug(device: str) -> str:
    """Return the kind of machine in a file name: its GPU without memory and bus, or its processor and cores."""
    known = facts(device)
    name = known["gpu"] if device == "cuda" else f"{known['processor']} {known['cores']} cores"
    name = re.sub(r" (\d+GB|PCIe|SXM\d?).*", "", str(name)) if device == "cuda" else name
    return re.sub(r"[^a-z0-9]+", "-", str(name).lower()).strip("-")


def describe(known: Mapping[str, Any]) -> str:
    """Return the facts as lines of text."""
    source = f"revision {known['revision']}" if "revision" in known else f"semiring {known['semiring']}"
    lines = [f"{known['date']}  {source}  Python {known['python']}  {known['system']}"]
    lines.append(f"{known['processor']}, {known['cores']} cores, {known['memory_gib']} GiB")
    if "gpu" in known:
        lines.append(
            f"{known['gpu']}, {known['multiprocessors']} SMs, {known['gpu_memory_gib']} GiB, driver {known['driver']}, "
            f"CUDA {known['cuda_runtime']}, NVRTC {known['nvrtc']}"
        )
    lines.append("  ".join(f"{name} {version}" for name, version in known["versions"].items()))
    return "\n".join(lines)


def output(*command: str, cwd: Any = None) -> str:
    """Return the standard output of a command; empty if it fails."""
    try:
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def _gpu() -> dict[str, Any]:
    import cupy

    runtime = cupy.cuda.runtime
    properties = runtime.getDeviceProperties(runtime.getDevice())
    driver = output("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").partition("\n")[0]
    return {
        "gpu": properties["name"].decode(),
        "multiprocessors": properties["multiProcessorCount"],
        "gpu_memory_gib": round(properties["totalGlobalMem"] / 2**30, 1),
        "l2_mib": properties["l2CacheSize"] >> 20,
        "driver": driver or "unknown",
        "cuda_driver": runtime.driverGetVersion(),
        "cuda_runtime": runtime.runtimeGetVersion(),
        "nvrtc": ".".join(map(str, cupy.cuda.nvrtc.getVersion())),
    }
