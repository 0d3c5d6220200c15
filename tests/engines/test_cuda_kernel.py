"""Launches: arguments are packed as C++ reads them, and no two launches share the memory that they are packed in."""

from __future__ import annotations

import ctypes
import struct
import threading
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cupy", reason="launches go through CuPy's driver module")

from semiring.engines.cuda import kernel


class Pointed:
    """As much of a CuPy array as is read."""

    class data:
        ptr = 0x7F00_1234_5678


def launched(monkeypatch: pytest.MonkeyPatch, *arguments: Any, cooperative: bool = False) -> tuple[list[bytes], Any]:
    """The bytes behind each address that the driver is given, and what else it is given."""
    codes = [kernel._code(argument) for argument in arguments]
    seen: list[Any] = []

    def driver(*given: Any) -> None:
        seen.append(given)
        addresses = (ctypes.c_void_p * len(codes)).from_address(given[9])
        for address, code in zip(addresses, codes, strict=True):
            seen.append(ctypes.string_at(address, struct.calcsize("@" + code.removeprefix("0P"))))

    monkeypatch.setattr(kernel.driver, "launchKernel", driver)
    monkeypatch.setattr(kernel.driver, "launchCooperativeKernel", driver)
    launch = kernel._launcher(99, codes)
    launch(3, 128, 64, 5, cooperative, *arguments)
    first, *parts = seen
    return parts, first


@pytest.mark.parametrize("cooperative", [False, True])
def test_arguments_are_packed_by_their_types(monkeypatch: pytest.MonkeyPatch, cooperative: bool) -> None:
    arguments = (np.int8(-3), Pointed, None, 2**40, np.float32(np.nan), True, b"\1\2\3", np.uint64(2**64 - 1), -1)
    parts, given = launched(monkeypatch, *arguments, cooperative=cooperative)
    assert given[:9] == (99, 3, 1, 1, 128, 1, 1, 64, 5)
    assert given[10:] == (() if cooperative else (0,))
    assert [int.from_bytes(part, "little", signed=True) for part in parts[:4]] == [-3, Pointed.data.ptr, 0, 2**40]
    assert parts[4:] == [np.float32(np.nan).tobytes(), b"\1", b"\1\2\3", b"\xff" * 8, b"\xff" * 8]


def test_a_struct_is_aligned_as_one_that_holds_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    launch = kernel._launcher(1, [kernel._code(np.int8(1)), kernel._code(b"0123456789")])
    found: list[int] = []

    def driver(*given: Any) -> None:
        found.extend((ctypes.c_void_p * 2).from_address(given[9]))

    launch.__globals__["launch_kernel"] = driver
    launch(1, 1, 0, 0, False, np.int8(1), b"0123456789")
    assert found[1] % 8 == 0
    assert found[1] - found[0] == 8


@pytest.mark.parametrize("wrong", [np.zeros(2), 1.5, "text", [1]])
def test_what_is_no_argument_raises(wrong: Any) -> None:
    with pytest.raises(TypeError, match="a kernel's argument is an array, None, an integer"):
        kernel._code(wrong)


def test_launches_at_once_share_no_memory() -> None:
    """A launch that has packed its arguments keeps them until the driver has read them."""
    launch = kernel._launcher(1, ["q"])
    inside, go_on = threading.Barrier(2), threading.Event()
    found: dict[int, int] = {}

    def driver(*given: Any) -> None:
        inside.wait(10)
        go_on.wait(10)
        (address,) = (ctypes.c_void_p * 1).from_address(given[9])
        found[given[1]] = ctypes.c_int64.from_address(address).value

    launch.__globals__["launch_kernel"] = driver
    threads = [threading.Thread(target=launch, args=(grid, 1, 0, 0, False, 100 + grid)) for grid in (1, 2)]
    for thread in threads:
        thread.start()
    threading.Timer(0.1, go_on.set).start()
    for thread in threads:
        thread.join()
    assert found == {1: 101, 2: 102}


def test_a_thread_without_a_context_gets_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first launch of a thread fails, the runtime makes the context current, and the launch is repeated once."""

    class Refused(RuntimeError):
        status = 201

    calls: list[str] = []

    def launch(*_: Any) -> None:
        calls.append("launch")
        if calls.count("launch") == 1 or Refused.status != 201:
            raise Refused

    class Null:
        ptr = 0

    monkeypatch.setattr(kernel.driver, "CUDADriverError", Refused)
    monkeypatch.setattr(kernel.runtime, "getDevice", lambda: 0)
    monkeypatch.setattr(kernel.runtime, "free", lambda address: calls.append("context"))
    monkeypatch.setattr(kernel, "get_current_stream", Null)
    handle = kernel.Kernel("file", "entry", "")
    handle._launchers[0] = launch
    handle(1, 32)
    assert calls == ["launch", "context", "launch"]
    handle(0, 32)
    assert len(calls) == 3, "a grid of 0 blocks launches nothing"
    Refused.status = 700
    with pytest.raises(Refused):
        handle(1, 32)
    assert calls[3:] == ["launch"], "another error is not retried"
