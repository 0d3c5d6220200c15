"""The rows of the catalog for the kernels of `mxv`."""

from __future__ import annotations

from collections.abc import Iterator

from ...dtypes import FC64, FP32, INT8, INT32, INT64
from . import compile_samples, tuning
from .algebra import ring_facts
from .specialize import constants, semiring, typedefs


def catalog() -> Iterator[compile_samples.Entry]:
    """Yield (kernel file, prologue) for products of a matrix and a vector, and for the choice of their direction."""
    yield "popcount.cuh", ""
    for index, listed in ((INT32, True), (INT64, False)):
        yield "edges.cuh", typedefs(P=index, X=INT64) + constants(LISTED=listed, FORM=2)
    shapes = ((INT32, False, 0), (INT64, True, 1), (INT32, True, 2), (INT32, False, 3))
    for number, ring in enumerate(compile_samples.SEMIRINGS):
        for shape in (number, number + 1):
            index, flip, mask = shapes[shape % 4]
            text = semiring(ring) + typedefs(P=index, A=FP32, U=INT8, M=FP32)
            text += constants(FLIP=flip, U_FULL=not flip, MASK=mask, COMPLEMENT=flip, VALUED=mask != 1)
            native = 1 if ring.add is compile_samples.PLUS else 2 if ring.add is compile_samples.MIN else 0
            push = compile_samples.thresholds(BLOCK=tuning.PUSH_BLOCK, U_FORM=shape % 3, NATIVE=native)
            either = compile_samples.thresholds(
                BLOCK=tuning.PUSH_BLOCK, U_FORM=1, NATIVE=native, RESIDENT=tuning.GRID_RESIDENT,
                **tuning.cost_constants(tuning.DEVICE),
            )  # fmt: skip
            compressed = compile_samples.COMPRESSED[(number + shape) % len(compile_samples.COMPRESSED)]
            for place, columns in enumerate((compile_samples.UNCOMPRESSED, compressed)):
                lanes = (1, 8, 32)[shape % 3] if place == 0 else (1, 32)[number % 2]
                yield "mxv_pull.cuh", text + columns + compile_samples.thresholds(GROUP=lanes)
                yield "mxv_balanced.cuh", text + columns + compile_samples.thresholds(BLOCK=tuning.TILE_BLOCK)
                yield "mxv_push.cuh", text + columns + push
                if flip:  # a bitmap under a mask
                    yield "mxv_adaptive.cuh", text + columns + either
    for values in (FC64, compile_samples.RECORD_SEMIRINGS[0].z):  # that the operator does not read
        text = (
            semiring(compile_samples.SEMIRINGS[-1])
            + typedefs(P=INT32, A=FP32, U=values, M=FP32)
            + compile_samples.UNCOMPRESSED
        )
        text += constants(FLIP=True, U_FULL=False, MASK=1, COMPLEMENT=False, VALUED=True)
        own = {"BLOCK": tuning.PUSH_BLOCK, "U_FORM": 1, "NATIVE": 0}
        yield "mxv_push.cuh", text + compile_samples.thresholds(**own)
        own |= {"RESIDENT": tuning.GRID_RESIDENT, **tuning.cost_constants(tuning.DEVICE)}
        yield "mxv_adaptive.cuh", text + compile_samples.thresholds(**own)
    for number, ring in enumerate(compile_samples.WIDE_SEMIRINGS):
        text = semiring(ring) + typedefs(P=INT32, A=ring.z, U=ring.z, M=FP32) + compile_samples.UNCOMPRESSED
        text += constants(FLIP=number == 1, U_FULL=False, MASK=number % 3, COMPLEMENT=False, VALUED=True)
        yield "mxv_pull.cuh", text + compile_samples.thresholds(GROUP=8)
        yield "mxv_balanced.cuh", text + compile_samples.thresholds(BLOCK=tuning.TILE_BLOCK)
        if ring_facts(ring).start is not None:
            native = ring_facts(ring).native
            yield "mxv_push.cuh", text + compile_samples.thresholds(BLOCK=tuning.PUSH_BLOCK, U_FORM=1, NATIVE=native)
