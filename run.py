"""Set the project up and do one of its jobs, on a machine that has nothing but Python 3.11 or later.

    python3 run.py demo           search and label a real road network and a generated social-like graph
    python3 run.py tests          check format, lint and types, then run the tests
    python3 run.py exhaustive     run the tests' exhaustive tier, which takes hours; `exhaustive 3/24` runs one part
    python3 run.py docs           build the documentation into docs/_build

The first run makes the virtual environment `.venv` beside this file and installs into it what the job needs:
the CUDA engine too where there is a CUDA driver. Later runs find it there and need no network. Further
arguments go to the job: `python3 run.py tests -k mxv`, `python3 run.py demo --help`.

This file needs the standard library only, and reads on any Python 3 far enough to say that it is too old.
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
RECORD = ENVIRONMENT / "semiring-setup.json"  # what was installed; "complete" only once all of it is


class SetupError(Exception):
    """The environment cannot be made; the message says what to do about it."""


def cuda_driver() -> tuple[int, int] | None:
    """Return the newest CUDA version that the machine's driver runs, or None where no device can be used."""
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
    """Return the extra that brings the CUDA engine for this machine, or None."""
    version = cuda_driver()
    if version is None:
        return None
    if version < (12, 0):
        found = f"{version[0]}.{version[1]}"
        say(f"The CUDA driver is for {found} and the GPU engine needs 12.0: using the CPU engine.")
        return None
    return "cuda13" if version >= (13, 0) else "cuda12"


def wanted_extras(job: str) -> set[str]:
    """Return the extras that `job` needs on this machine."""
    cuda = cuda_extra()
    if job == "demo":
        return {"plot"} | ({cuda} if cuda else set())
    if job == "docs":
        return {"docs"}
    if cuda is None and platform.system() == "Linux":
        cuda = "nvrtc"  # no device, but every kernel is still compiled
    return {"dev"} | ({cuda} if cuda else set())


def say(text: str) -> None:
    """Print one line of progress at once, also where the output is a pipe."""
    print(f"[semiring] {text}", flush=True)


def set_up(extras: set[str]) -> None:
    """Make `.venv` hold the project with `extras`; cost: reading two small files if it does already.

    An environment whose set-up was interrupted, that was moved, whose Python has gone, or that holds CuPy for
    another CUDA is made again from nothing. One that this file did not make is left alone.
    """
    known = read_record()
    both = extras.union(known.get("extras", []))
    two_cupys = "cuda12" in both and bool(both & {"cuda13", "nvrtc"})
    here = known.get("complete", False) and known["root"] == str(ROOT)
    usable = here and not two_cupys and python_runs()
    if usable:
        extras = both
    wanted = {"complete": True, "root": str(ROOT), "requirements": requirements(), "extras": sorted(extras)}
    if usable and wanted == known:
        return
    if usable:
        say("Bringing .venv up to date; this needs a package index.")
    else:
        create_environment(ours=bool(known))
    if extras & {"cuda12", "cuda13"}:
        say("A GPU is present: CuPy and the CUDA libraries come too, about 2 GB on the disk.")
    project = f".[{','.join(sorted(extras))}]"
    say(f"Installing {project} (a few minutes, once) ...")
    write_record({**wanted, "complete": False})
    command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", "--editable", project]
    if subprocess.call(command, cwd=ROOT) != 0:
        if usable:
            write_record(known)  # pip refuses before it changes anything: what was there still works
        raise SetupError(
            "pip could not install the packages; its own message stands above. This one time a package index "
            "is needed (PIP_INDEX_URL and HTTPS_PROXY are respected). Then run the same command again."
        )
    write_record(wanted)
    say("Set up.")


def requirements() -> str:
    """Return a digest of what an installation depends on: pyproject.toml without the tools' settings."""
    import tomllib  # not in the Pythons that the check above turns away

    with (ROOT / "pyproject.toml").open("rb") as file:
        contents = tomllib.load(file)
    relevant = json.dumps([contents["build-system"], contents["project"]], sort_keys=True)
    return hashlib.sha256(relevant.encode()).hexdigest()


def create_environment(*, ours: bool) -> None:
    """Make an empty `.venv` with pip, in place of one that is ours and unusable."""
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
    say(f"Making a virtual environment in {ENVIRONMENT} with Python {platform.python_version()} ...")
    ENVIRONMENT.mkdir()
    write_record({"complete": False})
    venv.create(ENVIRONMENT, with_pip=True)


def read_record() -> dict[str, Any]:
    """Return what the last set-up wrote down; empty where there is none that can be read."""
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
    """Tell whether the environment's interpreter still starts (the Python it was made from may be gone)."""
    try:
        return subprocess.call([str(PYTHON), "-I", "-c", ""], stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def tool(*arguments: str) -> int:
    """Run a module of the environment from the project's root; return its exit code."""
    return subprocess.call([str(PYTHON), "-m", *arguments], cwd=ROOT)


def demo(arguments: list[str]) -> int:
    """Run the demonstration."""
    return tool("semiring.cli", "demo", *arguments)


def tests(arguments: list[str]) -> int:
    """Check format, lint and types, then run the tests; all of them run even if one fails, pytest last."""
    checks = {
        "Format": ("ruff", "format", "--check", "."),
        "Lint": ("ruff", "check", "."),
        "Types": ("mypy",),
    }
    failed = []
    for title, check in checks.items():
        say(f"{title}: {' '.join(check)}")
        if tool(*check) != 0:
            failed.append(title.lower())
    code = pytest_in_parallel(*arguments)
    if failed:
        print(f"[semiring] Also failed, above the tests: {', '.join(failed)}", file=sys.stderr)
    return code or (1 if failed else 0)


def pytest_in_parallel(*arguments: str) -> int:
    """Run the tests with as many workers as there are processors; return the exit code."""
    # At most eight: every worker holds a compiler, and a CUDA context where there is a GPU.
    workers = str(min(os.cpu_count() or 1, 8))
    say(f"Tests: pytest with {workers} workers")
    return tool("pytest", "--numprocesses", workers, "--dist", "worksteal", *arguments)


def exhaustive(arguments: list[str]) -> int:
    """Run the exhaustive tier of the tests: all of it, or the part K/N that comes first among the arguments."""
    part = ["--part", arguments.pop(0)] if arguments and "/" in arguments[0] and arguments[0][0].isdigit() else []
    return pytest_in_parallel("--exhaustive", *part, *arguments)


def docs(arguments: list[str]) -> int:
    """Build the documentation; a warning is an error.

    Every page is read anew: a warning of a page that an earlier build has cached would not be repeated.
    """
    return tool("sphinx", "-W", "--keep-going", "-E", "-b", "html", "docs", "docs/_build", *arguments)


def main(arguments: list[str]) -> int:
    """Set up for the job named first and run it; return its exit code."""
    jobs = {"demo": demo, "tests": tests, "exhaustive": exhaustive, "docs": docs}
    if not arguments or arguments[0] not in jobs:
        asked = bool(arguments) and arguments[0] in {"-h", "--help", "help"}
        print(__doc__, file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    try:
        set_up(wanted_extras(arguments[0]))
        return jobs[arguments[0]](arguments[1:])
    except SetupError as error:
        print(f"[semiring] {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\n[semiring] Stopped. Run the same command again to go on.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
