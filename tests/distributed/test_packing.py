"""Messages as bytes arrive unchanged, also with arrays on a GPU, for which a class is substituted."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from semiring.distributed import packing
from semiring.memory import arrays


class OnGpu:
    """An array of CuPy, as far as copies to the host need it."""

    data = SimpleNamespace(mem=None)

    def __init__(self, host: Any) -> None:
        self.host, self.nbytes = np.array(host), 1 << 20

    def get(self) -> Any:
        return self.host.copy()


def arrived(message: Any) -> Any:
    sent = packing.packed(message)
    large = [np.array(array) for array in sent.arrays]
    assert packing.sizes_of_large(sent.block) == [array.size for array in large]
    return packing.unpacked(sent.block.copy(), large)


@pytest.mark.parametrize("count", [0, 3, packing.SMALL])
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
