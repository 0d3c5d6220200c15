"""Every launch passes the arguments that the signature of its kernel has; without a GPU, as their text is read."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("cupy", reason="the engine imports CuPy")

from semiring.engines.cuda import compile
from tests.engines.launches import Module, fits, signatures

ENGINE = Path(compile.__file__).parent


def wrong(text: str) -> tuple[list[str], int]:
    """The launches in the text of a module that do not fit, and the number of all that are resolved."""
    found, count = [], 0
    for launch in Module(text).launches():
        count += 1
        parameters = signatures(compile.module_text(launch.file)).get(launch.entry)
        if parameters is None or not fits(launch.kinds, parameters):
            found.append(f"line {launch.line}: {launch.file}:{launch.entry}{launch.kinds}, declared {parameters}")
    return found, count


def test_launches_fit_the_signatures_of_their_kernels() -> None:
    total = 0
    for path in sorted(ENGINE.rglob("*.py")):
        found, count = wrong(path.read_text(encoding="utf-8"))
        assert not found, f"{path.name}: {found}"
        total += count
    assert total >= 85


@pytest.mark.parametrize(
    ("module", "before", "after"),
    [
        ("degrees.py", "pattern.indptr, pattern.nrows, words, counts)", "pattern.indptr, words, counts)"),
        ("degrees.py", "pattern.indptr, pattern.nrows, words, counts)", "None, None, words, counts)"),
        ("mxm_full_gemm.py", "partial, count, parts, out)", "partial, 3, 3, 3)"),
        ("mxm_full_masked.py", "tuning.FULL_BLOCK, plan.pack(", "tuning.FULL_BLOCK, None, plan.pack("),
        ("mxm_panels.py", '("count", "total", "store")', '("count", "count", "store")'),
        ("mxm.py", "*walk, *values_of(a), *where, *other", "*walk, *where, *other"),
    ],
)
def test_a_wrong_argument_is_found(module: str, before: str, after: str) -> None:
    text = (ENGINE / module).read_text(encoding="utf-8")
    assert text.count(before) == 1
    assert not wrong(text)[0]
    assert wrong(text.replace(before, after))[0]
