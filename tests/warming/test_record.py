"""The recorder notes the kernels that a call launches or loads; no GPU is needed."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("cupy", reason="the modules of the CUDA engine import CuPy")

from semiring.engines.cuda.kernel import Kernel
from semiring.warming import record, wheel


def test_kernels_are_noted_in_the_order_of_their_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    launched: list[Any] = []
    monkeypatch.setattr(Kernel, "__call__", lambda self, grid, *args, **options: launched.append((grid, args, options)))
    monkeypatch.setattr(Kernel, "function", lambda self: "loaded")
    before = Kernel.__call__, Kernel.function
    first, second, third = (Kernel("file.cuh", "entry", prologue) for prologue in ("1", "2", "3"))
    with record._watched() as used:
        second(4, 128, 7, shared=64)
        first(0, 128)  # launches nothing
        assert third.function() == "loaded"
        second(4, 128)
        first(1, 128)
    third(1, 128)
    assert list(used) == [("file.cuh", number, "entry") for number in "231"]
    assert launched == [
        (4, (128, 7), {"shared": 64}),
        (0, (128,), {}),
        (4, (128,), {}),
        (1, (128,), {}),
        (1, (128,), {}),
    ]
    assert (Kernel.__call__, Kernel.function) == before


@pytest.mark.parametrize("arguments", [["DIR", "no_function"], ["DIR", "mxm", "--only", "gpu"]])
def test_a_wheel_of_unknown_functions_or_engines_is_refused(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        wheel.main(arguments)
    assert "error: " in capsys.readouterr().err
