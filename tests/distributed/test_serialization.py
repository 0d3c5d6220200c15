"""Messages as bytes arrive unchanged, also with arrays on a GPU, for which a class is substituted."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from semiring.distributed import serialization
from semiring.memory import arrays


class OnGpu:
    """An array of CuPy, as far as copies to the host need it."""

    data = SimpleNamespace(mem=None)

    def __init__(self, host: Any) -> None:
        self.host, self.nbytes = np.array(host), 1 << 20

    def get(self) -> Any:
        return self.host.copy()


def arrived(message: Any) -> Any:
    sent = serialization.pack(message)
    large = [np.array(array) for array in sent.arrays]
    assert serialization.large_sizes(sent.block) == [array.size for array in large]
    return serialization.unpack(bytearray(sent.block), large)


@pytest.mark.parametrize("count", [0, 3, serialization.SMALL])
def test_arrays_on_a_gpu_arrive_on_a_gpu(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(ndarray=OnGpu))
    monkeypatch.setattr(arrays, "_uploaded", lambda: OnGpu)
    records = np.zeros(count, [("a", np.int32), ("b", np.float32)])
    records["a"] = np.arange(count)
    before = arrays.Transfers.copies
    name, (one, two), rest = arrived(("name", [OnGpu(records), OnGpu(np.arange(count))], np.arange(count)))
    assert arrays.Transfers.copies == before + 2
    assert name == "name"
    assert isinstance(one, OnGpu)
    assert isinstance(two, OnGpu)
    assert isinstance(rest, np.ndarray)
    assert one.host.tolist() == records.tolist()
    assert one.host.dtype == records.dtype
    assert two.host.tolist() == rest.tolist() == list(range(count))


@serialization.by_fields
@dataclass(frozen=True)
class Segment:
    """A class that is sent field by field."""

    positions: Any
    dtype: Any
    iso: Any = None


class Pair(NamedTuple):
    """A class without a form of its own."""

    first: Any
    second: Any


class OfModule:
    """An array of a module, which stays where it is."""

    def __init__(self, shape: Any, dtype: Any) -> None:
        self.shape, self.dtype = shape, np.dtype(dtype)


@pytest.mark.parametrize("kind", ["f4", [("a", "i4"), ("b", "f8")]], ids=str)
def test_a_message_without_its_arrays_on_a_gpu_is_packed(kind: Any) -> None:
    module = SimpleNamespace(ndarray=OfModule, empty=OfModule)
    first, second = OfModule((2, 3), kind), OfModule((), "i8")
    message = (Segment(first, np.dtype("f8")), np.arange(3), {"key": [second, np.arange(4)]}, [first])
    serialized, arrays = serialization.serialize(message, module)
    assert arrays == [first, second, first]
    found, number = arrived((serialized, 7))
    assert number == 7
    assert [(each.shape, each.dtype) for each in found.allocate(module)] == [(x.shape, x.dtype) for x in arrays]
    segment, host, pickled, last = serialization.deserialize(found, arrays)
    assert (segment.positions, segment.dtype, pickled["key"][0], last) == (first, np.dtype("f8"), second, [first])
    assert (host.tolist(), pickled["key"][1].tolist()) == ([0, 1, 2], [0, 1, 2, 3])
    assert serialization.serialize(None, module) == (None, [])


NUMBERS = [np.dtype(code).type(value) for code in "bhilBHILefdgFDG" for value in (0, 1, 100)]


@pytest.mark.parametrize(
    "message",
    [
        None,
        (),
        [],
        (None, [None, ()]),
        True,
        -(1 << 100),
        float("inf"),
        2.5 - 1j,
        "\N{GREEK SMALL LETTER ALPHA}",
        b"bytes",
        np.bool_(True),
        *NUMBERS,
        np.dtype("f4"),
        np.dtype(">u2"),
        np.dtype([("a", "i4"), ("b", "f8")]),
        np.datetime64("2001-01-01"),
        {"key": (1, np.arange(3))},
        {1, 2},
        Ellipsis,
        Pair(1, Pair(np.arange(3), "b")),
        Segment(np.arange(9, dtype=np.uint16), np.dtype("f8"), np.float64("nan")),
        [Segment(None, int), (Segment(np.zeros(0), np.int64),), Pair(Segment(np.ones(40_000), None), None)],
    ],
    ids=repr,
)
def test_a_message_arrives_as_it_was(message: Any) -> None:
    def same(a: Any, b: Any) -> None:
        assert type(a) is type(b)
        if isinstance(a, Segment):
            same(a.positions, b.positions)
            same((a.dtype, a.iso), (b.dtype, b.iso))
        elif isinstance(a, (tuple, list)):
            assert len(a) == len(b)
            list(map(same, a, b))
        else:
            np.testing.assert_equal(a, b)
            assert getattr(a, "dtype", None) == getattr(b, "dtype", None)

    same(arrived(message), message)
    same(arrived((1, [message, np.arange(2)])), (1, [message, np.arange(2)]))


@pytest.mark.parametrize(
    "array",
    [
        *(np.arange(6).astype(code).reshape(2, 3) for code in "?bhilqBHILQefdgFDG"),
        np.arange(6, dtype=">i8"),
        np.arange(12).reshape(3, 4).T,
        np.arange(12)[::3],
        np.array(3.5),
        np.zeros((0, 3)),
        np.zeros((3, 0), np.float32).T,
        np.arange(serialization.SMALL, dtype=np.uint8).reshape(2, -1),
        np.arange(serialization.SMALL - 1, dtype=np.uint16),
        np.array(["2001-01-01", "2002-02-02"], "M8[D]"),
        np.array([(1, 2.5)], [("a", "i4"), ("b", "f8")]),
        np.array(["text", None, 3], object),
    ],
    ids=lambda array: f"{array.dtype}-{array.shape}",
)
def test_an_array_arrives_aligned_and_writeable(array: Any) -> None:
    for found in (arrived(array), arrived(("x", array, None, array))[1]):
        np.testing.assert_equal(found, array)
        assert (found.dtype, found.shape) == (array.dtype, array.shape)
        assert found.flags.writeable
        assert found.flags.aligned
        assert found.flags.f_contiguous or not array.flags.f_contiguous
