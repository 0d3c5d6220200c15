"""Set the project up and run one of its jobs, on a machine with only Python 3.11 or later.

    python3 run.py demo           search and label a real road network and a generated social-like graph
    python3 run.py tests          check format, lint and types, then run the tests
    python3 run.py exhaustive     run the tests' exhaustive tier, which takes hours; `exhaustive 3/120` runs one part
    python3 run.py docs           build the documentation into docs/_build
    python3 run.py package        build and check the wheel and the sdist, and try the wheel on every Python found
    python3 run.py kernels DIR    compile the kernels of all functions, for hours, and build a wheel of them in DIR

The first run creates the virtual environment `.venv` beside this file and installs the packages of the job,
with the CUDA engine if there is a CUDA driver. Later runs reuse it and need no network. Further
arguments are passed to the job: `python3 run.py tests -k mxv`, `python3 run.py demo --help`.

This file needs the standard library only, and on an older Python 3 it runs far enough to report the version.
"""

import contextlib
import ctypes
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

OLDEST = (3, 11)

if sys.version_info < OLDEST:
    newer = [name for minor in range(11, 30) for name in [f"python3.{minor}"] if shutil.which(name)]
    sys.exit(
        f"semiring needs Python {OLDEST[0]}.{OLDEST[1]} or later, and this is {platform.python_version()}. "
        + (f"Run:  {newer[0]} {' '.join(sys.argv)}" if newer else "Get a newer one from https://www.python.org.")
    )

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
PYTHON = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
RECORD = ENVIRONMENT / "semiring-setup.json"  # what was installed; "complete" once all packages are


class SetupError(Exception):
    """The environment cannot be created; the message contains the remedy."""


def cuda_driver() -> tuple[int, int] | None:
    """Return the newest CUDA version that the driver supports, or None without a usable device."""
    try:
        driver = ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
        version, devices = ctypes.c_int(), ctypes.c_int()
        calls = [
            driver.cuInit(0),
            driver.cuDriverGetVersion(ctypes.byref(version)),
            driver.cuDeviceGetCount(ctypes.byref(devices)),
        ]
    except (OSError, AttributeError):
        return None
    if any(calls) or devices.value == 0:
        return None
    return version.value // 1000, version.value % 1000 // 10


def cuda_extra() -> str | None:
    """Return the extra that installs the CUDA engine for this machine, or None."""
    version = cuda_driver()
    if version is None:
        return None
    if version < (12, 0):
        found = f"{version[0]}.{version[1]}"
        progress(f"The CUDA driver is for {found} and the GPU engine needs 12.0: using the CPU engine.")
        return None
    return "cuda13" if version >= (13, 0) else "cuda12"


def extras_of(job: str) -> set[str]:
    """Return the extras that `job` needs on this machine."""
    cuda = cuda_extra()
    if job == "demo":
        return {"plot"} | ({cuda} if cuda else set())
    if job in ("docs", "package"):
        return {job}
    if cuda is None and platform.system() == "Linux":
        cuda = "nvrtc"  # no device, but every kernel is still compiled
    if job == "kernels":
        return {"package"} | ({cuda} if cuda else set())
    return {"dev"} | ({cuda} if cuda else set())


def progress(text: str) -> None:
    """Print one line of progress at once, also if the output is a pipe."""
    print(f"[semiring] {text}", flush=True)


def set_up(extras: set[str]) -> None:
    """Install the project with `extras` in `.venv`; cost: reading two small files if it is installed already.

    An environment whose set-up was interrupted, that was moved, whose Python was removed, or that contains CuPy for
    another CUDA version is created anew. An environment that this file did not create is not changed.
    """
    known = read_record()
    both = extras.union(known.get("extras", []))
    two_cupys = "cuda12" in both and bool(both & {"cuda13", "nvrtc"})
    here = known.get("complete", False) and known["root"] == str(ROOT)
    usable = here and not two_cupys and python_runs()
    if usable:
        extras = both
    target = {"complete": True, "root": str(ROOT), "requirements": requirements(), "extras": sorted(extras)}
    if usable and target == known:
        return
    if usable:
        progress("Bringing .venv up to date; this needs a package index.")
    else:
        create_environment(ours=bool(known))
    if extras & {"cuda12", "cuda13"}:
        progress("A GPU is present: CuPy and the CUDA libraries come too, about 2 GB on the disk.")
    project = f".[{','.join(sorted(extras))}]"
    progress(f"Installing {project} (a few minutes, once) ...")
    write_record({**target, "complete": False})
    command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", "--editable", project]
    if subprocess.call(command, cwd=ROOT) != 0:
        if usable:
            write_record(known)  # pip fails before it changes anything: the old environment still works
        raise SetupError(
            "pip could not install the packages; its own message is above. The first run needs a package "
            "index (PIP_INDEX_URL and HTTPS_PROXY are respected). Then run the same command again."
        )
    write_record(target)
    progress("Set up.")


def requirements() -> str:
    """Return a digest of what an installation depends on: pyproject.toml without the tools' settings."""
    import tomllib  # missing from the versions that the check above rejects

    with (ROOT / "pyproject.toml").open("rb") as file:
        contents = tomllib.load(file)
    relevant = json.dumps([contents["build-system"], contents["project"]], sort_keys=True)
    return hashlib.sha256(relevant.encode()).hexdigest()


def create_environment(*, ours: bool) -> None:
    """Create an empty `.venv` with pip, replacing one that is ours and unusable."""
    if importlib.util.find_spec("ensurepip") is None:
        name = f"python{sys.version_info.major}.{sys.version_info.minor}"
        raise SetupError(
            f"This Python ({sys.executable}) cannot make virtual environments: Debian and Ubuntu ship "
            f"that part apart. Run:  sudo apt install {name}-venv"
        )
    if ENVIRONMENT.exists():
        if not ours and any(ENVIRONMENT.iterdir()):
            raise SetupError(f"{ENVIRONMENT} was not made by run.py. Move it away, then run the command again.")
        shutil.rmtree(ENVIRONMENT)
    progress(f"Making a virtual environment in {ENVIRONMENT} with Python {platform.python_version()} ...")
    ENVIRONMENT.mkdir()
    write_record({"complete": False})
    venv.create(ENVIRONMENT, with_pip=True)


def read_record() -> dict[str, Any]:
    """Return the record of the last set-up; empty if there is no readable one."""
    with contextlib.suppress(OSError, ValueError):
        record = json.loads(RECORD.read_text(encoding="utf-8"))
        if isinstance(record, dict):
            return record
    return {}


def write_record(record: dict[str, Any]) -> None:
    """Replace the record in one step, so that an interrupt leaves the old one or the new one."""
    partial = RECORD.with_suffix(".partial")
    partial.write_text(json.dumps(record, indent=1), encoding="utf-8")
    partial.replace(RECORD)


def python_runs() -> bool:
    """Return whether the environment's interpreter still starts (its base Python may have been removed)."""
    try:
        return subprocess.call([str(PYTHON), "-I", "-c", ""], stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def tool(*arguments: str) -> int:
    """Run a module of the environment from the project's root; return its exit code."""
    # Without bytecode on disk, each run of pytest rewrites every test file (28 of 44 seconds of a collection),
    # and each process that a test starts compiles the package.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.call([str(PYTHON), "-m", *arguments], cwd=ROOT, env=environment)


def demo(arguments: list[str]) -> int:
    """Run the demonstration."""
    return tool("semiring.cli", "demo", *arguments)


def tests(arguments: list[str]) -> int:
    """Check format, lint and types, then run the tests; all of them run even if one fails, pytest last."""
    checks = {
        "Format": ("ruff", "format", "--check", "."),
        "Lint": ("ruff", "check", "."),
        "Types": ("mypy",),
        "Types in editors": ("basedpyright", "--pythonpath", str(PYTHON)),
    }
    failed = []
    for title, check in checks.items():
        progress(f"{title}: {' '.join(check)}")
        if tool(*check) != 0:
            failed.append(title.lower())
    code = pytest_in_parallel(*arguments)
    if failed:
        print(f"[semiring] Also failed, above the tests: {', '.join(failed)}", file=sys.stderr)
    return code or (1 if failed else 0)


def pytest_in_parallel(*arguments: str) -> int:
    """Run the tests with as many workers as there are processors; return the exit code."""
    # At most eight: every worker has a compiler, and a CUDA context if there is a GPU.
    workers = str(min(os.cpu_count() or 1, 8))
    progress(f"Tests: pytest with {workers} workers")
    return tool("pytest", "--numprocesses", workers, "--dist", "worksteal", *arguments)


def exhaustive(arguments: list[str]) -> int:
    """Run the exhaustive tier of the tests: all of it, or the part K/N if that is the first argument."""
    part = ["--part", arguments.pop(0)] if arguments and "/" in arguments[0] and arguments[0][0].isdigit() else []
    return pytest_in_parallel("--exhaustive", *part, *arguments)


def docs(arguments: list[str]) -> int:
    """Build the documentation, check its links and what its search finds first; a warning is an error.

    Every page is read again: the build would not repeat a warning of a cached page.
    """
    code = tool("sphinx", "-W", "--keep-going", "-E", "-b", "html", "docs", "docs/_build", *arguments)
    for check in ("docs/check_links.py", "docs/check_search.py"):
        code = code or subprocess.call([str(PYTHON), check], cwd=ROOT)
    return code


def package(arguments: list[str]) -> int:
    """Build the wheel and the sdist, check them, and try the wheel in new environments."""
    return tool("tests.packaging", *arguments)


def kernels(arguments: list[str]) -> int:
    """Compile kernels for a release, and build the wheel `semiring-kernels`."""
    return tool("semiring.warming.wheel", *arguments)


def main(arguments: list[str]) -> int:
    """Set up for the job named first and run it; return its exit code."""
    jobs = {
        "demo": demo, "tests": tests, "exhaustive": exhaustive, "docs": docs, "package": package, "kernels": kernels,
    }  # fmt: skip
    if not arguments or arguments[0] not in jobs:
        help_requested = bool(arguments) and arguments[0] in {"-h", "--help", "help"}
        print(__doc__, file=sys.stdout if help_requested else sys.stderr)
        return 0 if help_requested else 2
    try:
        set_up(extras_of(arguments[0]))
        return jobs[arguments[0]](arguments[1:])
    except SetupError as error:
        print(f"[semiring] {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\n[semiring] Stopped. Run the same command again to go on.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
