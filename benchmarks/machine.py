"""The machine of a result: processor, GPU, driver, versions, revision, date."""

from __future__ import annotations

import functools
import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_PACKAGES = ("numpy", "scipy", "numba", "cupy-cuda13x", "cupy-cuda12x", "python-graphblas", "suitesparse-graphblas")


@functools.cache
def facts(device: str) -> dict[str, Any]:
    """The facts that a comparison of figures needs; those of the GPU only on ``"cuda"``."""
    known: dict[str, Any] = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "revision": _revision(),
        "device": device,
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": _memory_gib(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: version for name in _PACKAGES if (version := _version(name))},
    }
    if device == "cuda":
        known |= _gpu()
    return known


def slug(device: str) -> str:
    """The kind of machine in a file name: its GPU without memory and bus, or its processor and cores."""
    known = facts(device)
    name = known["gpu"] if device == "cuda" else f"{known['processor']} {known['cores']} cores"
    name = re.sub(r" (\d+GB|PCIe|SXM\d?).*", "", str(name)) if device == "cuda" else name
    return re.sub(r"[^a-z0-9]+", "-", str(name).lower()).strip("-")


def describe(device: str) -> str:
    """The facts as lines of text."""
    known = facts(device)
    lines = [f"{known['date']}  revision {known['revision']}  Python {known['python']}  {known['system']}"]
    lines.append(f"{known['processor']}, {known['cores']} cores, {known['memory_gib']} GiB")
    if device == "cuda":
        lines.append(
            f"{known['gpu']}, {known['multiprocessors']} SMs, {known['gpu_memory_gib']} GiB, driver {known['driver']}, "
            f"CUDA {known['cuda_runtime']}, NVRTC {known['nvrtc']}"
        )
    lines.append("  ".join(f"{name} {version}" for name, version in known["versions"].items()))
    return "\n".join(lines)


def _gpu() -> dict[str, Any]:
    import cupy

    runtime = cupy.cuda.runtime
    properties = runtime.getDeviceProperties(runtime.getDevice())
    return {
        "gpu": properties["name"].decode(),
        "multiprocessors": properties["multiProcessorCount"],
        "gpu_memory_gib": round(properties["totalGlobalMem"] / 2**30, 1),
        "l2_mib": properties["l2CacheSize"] >> 20,
        "driver": _driver(),
        "cuda_driver": runtime.driverGetVersion(),
        "cuda_runtime": runtime.runtimeGetVersion(),
        "nvrtc": ".".join(map(str, cupy.cuda.nvrtc.getVersion())),
    }


def _driver() -> str:
    return _output("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").partition("\n")[0] or "unknown"


def _revision() -> str:
    revision = _output("git", "rev-parse", "--short=12", "HEAD")
    changed = _output("git", "status", "--porcelain", "--untracked-files=no")
    return (revision or "unknown") + ("+changes" if changed else "")


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def _processor() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or platform.machine()


def _memory_gib() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
