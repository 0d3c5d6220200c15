"""Closures over matrices that are read in slices, or decoded first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from semiring.dtypes import FP64, INT64
from semiring.engines import recording, registry
from semiring.engines.reference.dense import sparsify
from semiring.engines.requests.graphs import Closure
from semiring.engines.requests.operands import Rows
from semiring.engines.requests.operations import Transpose
from semiring.formats import CSR
from semiring.operators import semiring
from tests.compare import device_for, place
from tests.draw import make_vector
from tests.engines.blocks import BLOCKS, in_slices, on_host
from tests.storage_kinds import in_kind, small_slices


def test_closure_stops_where_no_sum_settles(engine: str) -> None:
    """A cycle that improves without end stops at the limit, and NaN is no improvement on NaN."""
    weights = np.array([[np.nan, -1.0], [-1.0, np.nan]])
    for present, settles in ((np.ones((2, 2), bool), False), (np.eye(2, dtype=bool), True)):
        a = on_host(sparsify(weights, present, FP64), engine)
        x = place(sparsify(np.array([np.nan if settles else 0.0, 0.0]), np.array([True, False]), FP64), a.device)
        rows = Rows(a)
        got = registry.run(Closure(x, rows, rows, semiring.min_plus[FP64], False, 5), engine)
        assert got.converged is settles
        assert got.steps == (1 if settles else 5)


@pytest.mark.costly
def test_a_closure_decodes_first_only_if_the_uncompressed_matrix_fits(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from semiring.engines.sliced import closure

    a = in_kind(place(BLOCKS, device_for(engine)), "varint", "device", engine)
    x = place(make_vector(130, INT64, "index", 0.1, False, 3), a.device)
    rows = Rows(a)
    spec = Closure(x, rows, rows, semiring.min_first[INT64], False, 200)
    for free, kernel in ((1 << 30, "uncompressed first"), (100, "sliced")):
        monkeypatch.setattr(closure, "free_memory", lambda device, free=free: free)
        with small_slices(), recording.listen() as log:
            registry.run(replace(spec), engine)
        kernels = [call.details.get("kernel") for call in log if call.kernel.endswith(".closure")]
        assert kernel in kernels or not in_slices(spec, engine)


@pytest.mark.costly
def test_a_decoded_closure_takes_the_directions_of_an_uncompressed_one(engine: str) -> None:
    """It pulls where the columns are at hand, and does not derive them where they are not."""
    turned = registry.run(Transpose(BLOCKS), "reference")
    plain = [place(a, device_for(engine)) for a in (BLOCKS, turned)]
    x = place(sparsify(np.ones(130, np.int64), np.arange(130) == 0, INT64), device_for(engine))

    def missing() -> CSR:
        pytest.fail("the columns were derived")

    def search(by_row: CSR, by_column: Rows) -> Closure:
        return Closure(x, Rows(by_row), by_column, semiring.any_pair[INT64], True, 200, trace=True)

    def directions(spec: Closure) -> list[str]:
        return [step.direction for step in registry.run(spec, engine).trace]

    packed = [in_kind(a, "packed", "device", engine) for a in plain]
    both = search(packed[0], Rows(packed[1]))
    if in_slices(both, engine) and engine != "reference":  # the specification reads columns in every direction
        assert directions(both) == directions(search(plain[0], Rows(plain[1])))
        assert set(directions(search(packed[0], Rows(None, missing)))) == {"push"}
