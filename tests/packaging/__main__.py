"""Build the wheel and the sdist, check both, and try the wheel in a new environment of every Python.

python -m tests.packaging                    on every Python found: on the path, and of pyenv
python -m tests.packaging --python 3.12      on one of them; `this` is the Python that runs
python -m tests.packaging --out dist         keep the two files

A Python that is missing is reported and is no failure; a run without any Python is one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.packaging.contents import ROOT, faults_of_a_wheel, faults_of_an_sdist, files_of_a_wheel, project

SMOKE = Path(__file__).with_name("smoke.py")


def report(text: str) -> None:
    """Print a line at once, also if the output is a pipe."""
    print(f"[package] {text}", flush=True)


def build(folder: Path) -> tuple[Path, Path]:
    """Build the sdist, and the wheel from it; return wheel and sdist."""
    _run(sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT))
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def faults(wheel: Path, sdist: Path, folder: Path) -> list[str]:
    """Return what is wrong with the two files, and where the wheel of the tree differs from that of the sdist."""
    found = [*faults_of_a_wheel(wheel), *faults_of_an_sdist(sdist)]
    _run(sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT))
    (direct,) = folder.glob("*.whl")
    if files_of_a_wheel(direct) != files_of_a_wheel(wheel):
        found.append("the wheel built from the tree differs from the wheel built from the sdist")
    checked = subprocess.run([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)], check=False)
    return [*found, *(["twine reports the description"] if checked.returncode else [])]


def pythons() -> dict[str, str | None]:
    """Return the interpreter, or None, of each version that the classifiers name, and of the next one."""
    prefix = "Programming Language :: Python :: 3."
    minors = sorted(int(row.removeprefix(prefix)) for row in project()["classifiers"] if row.startswith(prefix))
    return {f"3.{minor}": _python(f"3.{minor}") for minor in [*minors, minors[-1] + 1]}


def _python(version: str) -> str | None:
    """Return an interpreter of a version that starts: those of the path may be pyenv's shims of none."""
    own = Path(sys.base_prefix) / "bin" / f"python{version}"
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [str(own), shutil.which(f"python{version}"), *map(str, versions.glob(f"{version}.*/bin/python"))]
    for candidate in filter(None, candidates):
        try:
            code = "import sys; print('%d.%d' % sys.version_info[:2])"
            found = subprocess.run([candidate, "-c", code], capture_output=True, text=True, timeout=60, check=True)
        except (OSError, subprocess.SubprocessError):
            continue
        if found.stdout.strip() == version:
            return candidate
    return None


def tried(wheel: Path, python: str, folder: Path) -> bool:
    """Install the wheel in a new environment of a Python, and run the smoke test outside the tree."""
    environment = folder / "environment"
    inside = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    try:
        _run(python, "-m", "venv", str(environment))
        _run(str(inside), "-m", "pip", "--quiet", "--disable-pip-version-check", "install", str(wheel))
        settings = {**os.environ, "SEMIRING_CACHE_DIR": str(folder / "cache"), "SEMIRING_QUIET": "1"}
        subprocess.run([str(inside), "-I", str(SMOKE)], cwd=folder, env=settings, check=True, timeout=1200)
    except subprocess.SubprocessError as error:
        report(f"failed: {error}")
        return False
    return True


def _run(*command: str) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main() -> int:
    """Build, check and try; return 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python3 run.py package", description=__doc__.partition("\n")[0])
    parser.add_argument("--python", metavar="3.N", action="append", help="try this version only; may be repeated")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="copy the wheel and the sdist there")
    args = parser.parse_args()
    this = "{}.{}".format(*sys.version_info)
    chosen = [this if version == "this" else version for version in args.python or pythons()]
    with tempfile.TemporaryDirectory(prefix="semiring-") as name:
        folder = Path(name)
        report("Building the sdist, and the wheel from it ...")
        wheel, sdist = build(folder / "built")
        wrong = faults(wheel, sdist, folder / "direct")
        for line in wrong:
            report(f"wrong: {line}")
        report(f"{wheel.name}: {len(files_of_a_wheel(wheel))} files, {wheel.stat().st_size / 1e6:.1f} MB")
        failed, passed = bool(wrong), 0
        for version in chosen:
            python = _python(version)
            if python is None:
                report(f"Python {version}: not found, not tried")
                continue
            report(f"Python {version}: installing the wheel and its dependencies ...")
            (own := folder / version).mkdir()
            good = tried(wheel, python, own)
            report(f"Python {version}: {'works' if good else 'FAILS'}")
            failed, passed = failed or not good, passed + good
        if args.out:
            args.out.mkdir(parents=True, exist_ok=True)
            for path in (wheel, sdist):
                shutil.copy(path, args.out)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
