"""The CUDA text of operators on records, and of kernels that move records, compiles for every size of words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("cupy", reason="CuPy brings NVRTC")

from semiring import binary, dtypes, indexunary, monoid
from semiring.dtypes import BOOL, FP32, INT32, INT64, UINT32
from semiring.engines.cuda import catalog, compile, scan, specialize
from semiring.engines.cuda.primitives import moved
from semiring.engines.cuda.row_tiles import TILE_TEXT
from semiring.engines.cuda.specialize import constants, typedefs
from semiring.exceptions import NotSupported

pytestmark = pytest.mark.nvrtc

LAYOUTS = {
    7: np.dtype([("a", np.int8), ("b", np.float32), ("c", np.int16)]),
    8: np.dtype([("a", np.int32), ("b", np.float32)]),
    12: np.dtype([("a", np.uint32), ("b", np.int32), ("c", np.float32)]),
    16: dtypes.lookup({"a": "int32", "b": "float32", "c": {"i": "int8"}, "d": "uint16[2]"}),
}


def texts(record: np.dtype[Any]) -> list[tuple[str, str]]:
    """(kernel file, prologue) of operations on records of one type, and of moves of their bytes."""
    record = dtypes.lookup(record)
    least = binary.register_anonymous("x if x.b <= y.b else y")
    add = monoid.register_anonymous(least, 0)[record]
    function = indexunary.register_anonymous("{'p': -(-x.a) + i, 'q': (x.b > k)}").typed(record, FP32)
    keep = indexunary.register_anonymous("x.b > k").typed(record, FP32)
    stores = typedefs(P=INT64, I=INT32) + constants(FORM=2)
    both = typedefs(C=record, T=record, M=BOOL) + constants(MASKED=True, VALUED=True, ACCUMULATED=True)
    combine = specialize.binary("accumulate", add.op)
    sides = typedefs(A=record, B=record, Z=record, ALPHA=record, BETA=record, I=INT32, P=INT32, BP=INT64, O=INT64)
    value = moved(record)
    rows = typedefs(I=INT32, CP=INT64, TP=INT32, MP=INT32, R=INT32, O=INT32) + constants(FORM=2)
    keys = typedefs(KEY=UINT32, MAJOR=INT64, MINOR=INT32, R=INT32, O=INT32, V=value) + constants(SWAPPED=False, FORM=2)
    kept = typedefs(A=record, K=FP32, V=value) + specialize.indexunary("keep", keep)
    made = [
        ("apply.cuh", stores + specialize.indexunary("function", function) + typedefs(A=record, K=FP32, Z=function.z)),
        ("ewise.cuh", sides + constants(FORM=2, MODE=2) + TILE_TEXT + specialize.binary("combine", add.op)),
        ("select.cuh", stores + TILE_TEXT + kept),
        ("write.cuh", both + constants(FORM=0) + combine),
        ("write_matrix.cuh", both + rows + combine),
        ("scan_rows.cuh", scan._prologue(add, INT32, record)),
        ("build.cuh", keys),
        ("compact.cuh", typedefs(V=value, I=INT32, R=INT32, O=INT32)),
    ]
    if record.itemsize == 8:
        combined = typedefs(U=record, X=INT64, L=INT32, W=UINT32) + constants(FORM=0, COMBINED=True, NATIVE=0)
        made.append(("scatter.cuh", combined + specialize.binary("dup", add.op)))
    return made


@pytest.mark.parametrize("size", [*(pytest.param(size, marks=pytest.mark.exhaustive) for size in (7, 8, 12)), 16])
def test_texts_on_records_compile(size: int) -> None:
    record = LAYOUTS[size]
    assert record.itemsize == size
    for number, (file, prologue) in enumerate(texts(record)):
        assert compile.compile_text(file, prologue, ("compute_80", "compute_90", "compute_100")[number % 3]), file


def test_the_catalog_has_products_of_records() -> None:
    files = {file for file, prologue in catalog.entries() if "Record<" in prologue}
    assert {"mxm_hash.cuh", "mxm_full_gemm.cuh", "mxv_pull.cuh", "reduce.cuh", "inner.cuh"} <= files


def test_a_record_is_passed_by_value_as_its_bytes() -> None:
    import struct

    from semiring.engines.cuda.kernel import code_of

    for size, alignment in ((7, 1), (8, 8), (12, 4), (24, 8), (6, 2)):
        code = code_of(np.dtype((np.void, size)))
        assert struct.calcsize(f"@B{code}") == alignment + size


def test_records_too_large_for_kernels_are_refused() -> None:
    pair = indexunary.register_anonymous("{'p': x + i, 'q': x, 'r': k}").typed(np.dtype(np.float64), INT64)
    assert pair.z.itemsize > 16
    with pytest.raises(NotSupported, match="at most 16 bytes, got 24"):
        specialize.indexunary("function", pair)
