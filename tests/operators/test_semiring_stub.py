"""The stub `semiring/operators/semiring.pyi`: editors and type checkers see the semirings that the module generates.

``python tests/operators/test_semiring_stub.py`` writes it.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from semiring.operators import semiring

STUB = Path(semiring.__file__).with_suffix(".pyi")


def stub() -> str:
    """Return the text of the stub: a line for each semiring that is listed, and the signatures of the functions."""
    listed = [name for name, value in vars(semiring).items() if isinstance(value, semiring.Semiring)]
    functions = [
        re.sub(r" = [^,)]+", " = ...", f"def {name}{inspect.signature(value)}: ...").replace("'", "")
        for name, value in vars(semiring).items()
        if inspect.isfunction(value) and value.__module__ == semiring.__name__ and not re.match("_[a-z]", name)
    ]
    lines = [
        '"""The semirings that the module generates, for editors and type checkers: see `tests/operators`."""',
        "",
        "from semiring.operators.families import Binary, Monoid, Semiring",
        "from semiring.operators.types import TypedSemiring",
        "",
        *(f"{name}: Semiring" for name in listed),
        "",
        *functions,
    ]
    return "\n".join(lines) + "\n"


def test_the_stub_has_the_semirings_of_the_module() -> None:
    text = STUB.read_text(encoding="utf-8")
    assert re.sub(r"\s+", "", stub()) == re.sub(r"\s+|,(?=\s*\))", "", text)
    assert "min_plus: Semiring" in text
    assert text.count(": Semiring\n") > 200


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
