"""Masked products in slices: a slice of rows in which the mask, or the matrix, has no entry."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from semiring.dtypes import BOOL, INT64
from semiring.engines import recording, registry
from semiring.engines.reference.dense import densify, sparsify
from semiring.engines.requests.operands import Mask
from semiring.engines.requests.operations import Keep, Mxm
from semiring.engines.sliced.vectors import Listed
from semiring.formats import CSR
from semiring.operators import semiring
from tests.compare import assert_same, device_for, place
from tests.draw import make_matrix
from tests.storage_kinds import as_uncompressed, in_kind, small_slices

N = 130  # with the small slices of the tests: five slices of 32 rows and fewer
SEMIRING = semiring.plus_times[INT64]
FULL = make_matrix(N, N, INT64, 0.2, False, 7)


def only_rows(a: CSR, first: int, last: int) -> CSR:
    """The matrix with no entries outside these rows."""
    values, present = densify(a)
    rows = np.arange(N)[:, None]
    return sparsify(values, present & (rows >= first) & (rows < last), a.dtype)  # type: ignore[return-value]


def mask_of(values: str) -> CSR:
    """A mask with entries in the rows from 32 to 64 only: all true, or one in two false."""
    made = only_rows(make_matrix(N, N, BOOL, 0.3, values == "true", 9), 32, 64)
    return replace(made, iso=np.bool_(True), values=None) if values == "true" else made


def fuses_the_mask(engine: str) -> bool:
    """Whether the engine computes only what the mask of a product of matrices admits."""
    row = registry.find(Mxm.of(place(FULL, device_for(engine)), place(FULL, device_for(engine)), SEMIRING), engine)
    return row is not None and "mask" in row.fuses


NO_ENTRIES = only_rows(FULL, 0, 0)


@pytest.mark.parametrize("complement", [True, False], ids=["complement", "plain"])
@pytest.mark.parametrize("structural", [True, False], ids=["structure", "value"])
@pytest.mark.parametrize("mask", [mask_of("true"), mask_of("mixed"), NO_ENTRIES], ids=["true", "mixed", "empty"])
@pytest.mark.parametrize("a", [FULL, only_rows(FULL, 20, 70)], ids=["rows everywhere", "rows in two slices"])
@pytest.mark.parametrize("streamed", ["a", "mask", "both"])
def test_masked_mxm(engine: str, a: CSR, mask: CSR, structural: bool, complement: bool, streamed: str) -> None:
    """A slice without entries of the mask is skipped, unless the mask is complemented: then all of it is admitted."""
    device = device_for(engine)

    def formed(item: CSR, name: str) -> Any:
        placed = place(item, device)
        return in_kind(placed, None, "host", engine) if streamed in (name, "both") else placed

    asked = Mxm.of(
        formed(a, "a"),
        place(FULL, device),
        SEMIRING,
        mask=Mask(formed(mask, "mask"), structural, complement),
    )
    with small_slices(), recording.listen() as log:
        got = registry.run(asked, engine)
        noted = [call.details for call in log if call.details.get("kernel") == "sliced" and call.operation == "mxm"]
        got = as_uncompressed(got, engine).to("cpu")
    whole = registry.run(Mxm.of(a, FULL, SEMIRING, mask=None), "reference")
    assert_same(got, registry.run(Keep(whole, Mask(mask, structural, complement)), "reference"))
    if fuses_the_mask(engine):
        assert "keep" not in {call.operation for call in log}
    if a is FULL and streamed != "mask":  # 32 rows a slice, each with entries
        needed = 5 if complement else len({row // 32 for row in np.flatnonzero(np.diff(mask.indptr))})
        assert [details["slices"] - details["skipped"] for details in noted] == [needed]


@pytest.mark.parametrize(
    ("unit", "bounds", "selected"), [(1, (3, 41, 64, 65, 129, 130), [0, 2, 4]), (32, (0, 64, 96, 128, 130), [0, 1, 3])]
)
def test_only_rows_from_the_first_necessary_to_the_last_are_read(
    engine: str, unit: int, bounds: tuple[int, ...], selected: list[int]
) -> None:
    """Of each slice, rounded outwards to multiples of the unit; without entries, none of it."""
    present = np.isin(np.arange(N), (3, 40, 64, 129))
    u = place(sparsify(np.arange(N), present, INT64), device_for(engine))
    listed = Listed(u, (0, 64, 96, 128, N), engine)
    assert listed.around([s for s in range(4) if listed.has(s)], unit) == (bounds, selected)
