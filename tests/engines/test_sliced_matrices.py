"""The matrix of the results of slices: the memory that it needs is requested before it is built."""

from __future__ import annotations

import pytest

from semiring.dtypes import INT64
from semiring.engines import registry
from semiring.engines.requests.operands import Index
from semiring.engines.requests.operations import ExtractMatrix
from semiring.exceptions import OutOfMemory
from semiring.memory import allocation
from tests.compare import device_for, place
from tests.draw import make_matrix
from tests.storage_kinds import in_kind, small_slices


@pytest.mark.parametrize(("iso", "entry_bytes"), [(True, 4), (False, 4 + 8)])
def test_a_result_that_does_not_fit_is_refused(
    engine: str, monkeypatch: pytest.MonkeyPatch, iso: bool, entry_bytes: int
) -> None:
    """Columns, values unless there is one for all, and an offset a row."""
    if iso and engine == "reference":
        pytest.skip("the specification stores every value")
    a = place(make_matrix(130, 130, INT64, 0.2, iso, 7), device_for(engine))
    spec = ExtractMatrix(in_kind(a, None, "host", engine), Index(130, 130), Index(130, 130))
    size = a.nvals * entry_bytes + 131 * 4
    monkeypatch.setattr(allocation, "_UNASKED", size - 1)
    monkeypatch.setattr(allocation, "free_memory", lambda device: 0)
    with small_slices(), pytest.raises(OutOfMemory, match=rf"^{spec.name}: ") as caught:
        registry.run(spec, engine)
    assert caught.value.asked_bytes == size
