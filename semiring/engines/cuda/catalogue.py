"""Every kernel file with representative prologues, so that all kernel text can be compiled without a GPU.

A prologue here consists of the same parts as those that operations generate.  The parameters are chosen to compile
every `if constexpr` branch at least once, with 32-bit and 64-bit indices, small and large values.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from ...dtypes import BOOL, FP32, FP64, INT8, INT32, INT64, UINT8, UINT16, UINT32, UINT64
from ...operators.types import TypedBinary, TypedIndexUnary, TypedMonoid, TypedSemiring
from . import tuning
from .columns import codec_types, transposed_codec
from .specialise import binary, constants, indexunary, monoid, semiring, typedefs

__all__ = ["entries"]

_LAWS = frozenset({"commutative", "associative"})
_PLUS = TypedMonoid(TypedBinary("plus", FP64, FP64, FP64, "x + y", _LAWS), np.float64(0), None)
_MIN = TypedMonoid(TypedBinary("min", INT32, INT32, INT32, "min(x, y)", _LAWS), np.int32(2**31 - 1), np.int32(-(2**31)))
_MIN8 = TypedMonoid(TypedBinary("min", INT8, INT8, INT8, "min(x, y)", _LAWS), np.int8(127), np.int8(-128))
_LOR = TypedMonoid(TypedBinary("lor", BOOL, BOOL, BOOL, "lor(x, y)", _LAWS), np.False_, np.True_)
_ANY = TypedMonoid(TypedBinary("any", INT64, INT64, INT64, "x", _LAWS), None, None, is_any=True)
_TIMES = TypedBinary("times", FP64, FP64, FP64, "x * y")
_SECOND8 = TypedBinary("second", INT8, INT8, INT8, "y")
_PLUS32 = TypedBinary("plus", INT32, INT32, INT32, "x + y")
_LAND = TypedBinary("land", BOOL, BOOL, BOOL, "land(x, y)")
_SECONDI = TypedBinary("secondi", INT64, INT64, INT64, "yi")
_SEMIRINGS = (
    TypedSemiring(_PLUS, _TIMES),
    TypedSemiring(_MIN, _PLUS32),
    TypedSemiring(_MIN8, _SECOND8),
    TypedSemiring(_LOR, _LAND),
    TypedSemiring(_ANY, _SECONDI),
)
_VALUE = TypedIndexUnary("valuegt", FP32, FP32, BOOL, "x > k")
_ROW = TypedIndexUnary("rowindex", INT64, INT64, INT64, "i + k")
_BAND = TypedIndexUnary("band", INT8, INT64, BOOL, "land(x > 0, j - i <= k)")
_FORMS = (0, 1, 2)  # dense, index list, compressed rows
# Columns: uncompressed and compressed, 32 and 64 bits.
_COLUMNS = (
    codec_types("uncompressed", INT32),
    codec_types("varint", INT32, UINT32),
    codec_types("packed", INT32, INT64),
    codec_types("varint", INT64, INT64),
    codec_types("packed", INT64, UINT32),
)

Entry = tuple[str, str]


def entries() -> Iterator[Entry]:
    """Yield (kernel file, prologue) for every file that contains kernels."""
    yield from _moves()
    yield from _elementwise()
    yield from _reductions()
    yield from _indexing()
    yield from _products()
    yield from _closures()
    yield from _codecs()
    yield from _outofcore()


def _moves() -> Iterator[Entry]:
    for value, index in ((UINT8, INT32), (UINT64, INT64)):
        yield "convert.cuh", typedefs(V=value, I=index)
        yield "compact.cuh", typedefs(V=value, I=index, R=index, O=index)
        yield "rows.cuh", typedefs(P=index, O=index) + constants(FORM=2)
    for source, target in ((FP32, INT8), (FP64, UINT64), (INT64, BOOL), (UINT16, FP32)):
        yield "cast.cuh", typedefs(A=source, Z=target)
    for element, sums, popcount in ((UINT32, INT32, True), (INT64, INT64, False), (UINT32, UINT32, False)):
        yield "scan.cuh", typedefs(IN=element, OUT=sums) + constants(POPCOUNT=popcount)


def _elementwise() -> Iterator[Entry]:
    for form in _FORMS:
        entry_types = typedefs(P=INT64, I=INT32) + constants(FORM=form)
        for op in (_VALUE, _ROW, _BAND):
            operand = typedefs(A=FP64, K=op.k)
            yield "apply.cuh", entry_types + indexunary("function", op) + operand + typedefs(Z=op.z)
            yield "select.cuh", entry_types + indexunary("keep", op) + operand
        for valued in (True, False):
            mask = typedefs(MP=INT32, MI=INT32, M=FP32) + constants(VALUED=valued)
            yield "keep.cuh", entry_types + mask
        yield "outside.cuh", entry_types
        for mode in (0, 1, 2):
            types = typedefs(A=INT8, B=FP64, Z=FP64, ALPHA=INT8, BETA=FP64, I=INT32, AP=INT32, BP=INT64, R=INT32)
            rest = typedefs(O=INT64) + ("" if form else typedefs(P=INT32))
            yield "ewise.cuh", types + rest + constants(FORM=form, MODE=mode) + binary("combine", _TIMES)
    for masked, valued in ((False, False), (True, False), (True, True)):
        types = typedefs(C=INT8, T=FP64, M=BOOL) + constants(FORM=0, MASKED=masked, VALUED=valued)
        yield "write.cuh", types + constants(ACCUMULATED=True) + binary("accumulate", _PLUS32)
        yield "write.cuh", types + constants(ACCUMULATED=False) + "DEVICE C accumulate(C c, T t) { return c; }\n"
    for number, (masked, valued) in enumerate(((False, False), (True, False), (True, True))):
        index, other = (INT32, INT64)[:: (1, -1)[number % 2]]
        types = typedefs(C=INT8, T=FP64, M=BOOL, I=index, CP=other, TP=index, MP=other, R=other, O=index)
        types += constants(FORM=2, MASKED=masked, VALUED=valued)
        yield "write_matrix.cuh", types + constants(ACCUMULATED=True) + binary("accumulate", _PLUS32)
        yield "write_matrix.cuh", types + constants(ACCUMULATED=True) + binary("accumulate", _SECONDI)
        yield "write_matrix.cuh", types + constants(ACCUMULATED=False)


def _reductions() -> Iterator[Entry]:
    for add in (_PLUS, _MIN8, _LOR, _ANY):
        types = typedefs(A=FP32, P=INT64, OUT=add.dtype) + constants(FIRST_ONLY=add.is_any, FORM=2)
        yield "reduce.cuh", types + monoid("add", add)
    for number, ring in enumerate(_SEMIRINGS):
        types = typedefs(U=FP32, V=INT8, I=(INT32, INT64)[number % 2], P=INT32) + constants(FORM=0)
        yield "inner.cuh", types + constants(LISTED=number % 2 == 1, SWAPPED=number % 4 == 3) + semiring(ring)
    sequential = typedefs(A=INT8, P=INT32, OUT=INT8) + constants(FIRST_ONLY=False, FORM=2)
    yield "reduce.cuh", sequential + binary("add", _PLUS32)


def _indexing() -> Iterator[Entry]:
    for index, value in ((INT32, UINT8), (INT64, UINT64)):
        yield "extract.cuh", typedefs(X=index, V=value, P=index, I=INT32) + constants(FORM=2)
        yield "check.cuh", typedefs(MAJOR=index, MINOR=index) + constants(FORM=2)
        types = typedefs(P=index, I=INT32, X=index, KEY=UINT32 if index is INT32 else UINT64, V=value)
        yield "permute.cuh", types + constants(FORM=2)
    yield "check.cuh", typedefs(MAJOR=UINT64, MINOR=UINT16) + constants(FORM=2)
    for key, swapped in ((UINT32, False), (UINT64, True)):
        types = typedefs(KEY=key, MAJOR=INT64, MINOR=INT32, R=INT32, O=INT32, V=UINT16)
        yield "build.cuh", types + constants(SWAPPED=swapped, FORM=2)
    for value, winner in ((BOOL, UINT32), (INT8, UINT64), (UINT16, UINT32), (FP32, UINT32), (FP64, UINT64)):
        types = typedefs(U=value, X=INT64, L=INT32, W=winner)
        yield "scatter.cuh", types + constants(FORM=0, COMBINED=True) + binary("dup", _PLUS32)
        none = "DEVICE U dup(U x, U y) { return x; }\n"
        yield "scatter.cuh", types + constants(FORM=0, COMBINED=False) + none


def _thresholds(**given: int) -> str:
    """Return every row of the tuning table as a constant, and the additional constants `given`."""
    return constants(**({name: row.value for name, row in tuning.TABLE.items()} | given))


def _products() -> Iterator[Entry]:
    yield "popcount.cuh", ""
    shapes = ((INT32, False, 0), (INT64, True, 1), (INT32, True, 2), (INT32, False, 3))
    for number, ring in enumerate(_SEMIRINGS):
        wide = typedefs(AP=INT64, AI=INT32, A=FP32, BP=INT32, BI=INT64, B=INT8, MP=INT32, MI=INT32, M=INT8)
        yield "mxm.cuh", wide + constants(VALUED=ring.add.is_any, FORM=2) + semiring(ring)
        flags = constants(MASKED=number > 0, VALUED=number > 1, COMPLEMENT=number > 2, KEEPS=not ring.add.is_any)
        yield "mxm_dense.cuh", wide + flags + semiring(ring)
        for shape in (number, number + 1):
            index, flip, mask = shapes[shape % 4]
            text = semiring(ring) + typedefs(P=index, A=FP32, U=INT8, M=FP32)
            text += constants(FLIP=flip, U_FULL=not flip, MASK=mask, COMPLEMENT=flip, VALUED=mask != 1)
            native = 1 if ring.add is _PLUS else 2 if ring.add is _MIN else 0
            push = _thresholds(BLOCK=tuning.PUSH_BLOCK, U_FORM=shape % 3, NATIVE=native)
            either = _thresholds(
                BLOCK=tuning.PUSH_BLOCK, U_FORM=1, NATIVE=native, RESIDENT=tuning.GRID_RESIDENT,
                **tuning.cost_constants(tuning.DEVICE),
            )  # fmt: skip
            for place, columns in enumerate((_COLUMNS[0], _COLUMNS[1 + (2 * number + shape) % 4])):
                lanes = (1, 8, 32)[shape % 3] if place == 0 else (1, 32)[number % 2]
                yield "mxv_pull.cuh", text + columns + _thresholds(GROUP=lanes)
                yield "mxv_balanced.cuh", text + columns + _thresholds(BLOCK=tuning.TILE_BLOCK)
                yield "mxv_push.cuh", text + columns + push
                if not flip:
                    yield "mxv_either.cuh", text + columns + either


def _codecs() -> Iterator[Entry]:
    for number, (codec, column, offset) in enumerate(product(("varint", "packed"), (INT32, INT64), (UINT32, INT64))):
        text = codec_types(codec, column, offset) + typedefs(P=(INT32, INT64)[(number + number // 2) % 2])
        for file in ("encode.cuh", "decode.cuh", "check_compressed.cuh"):
            yield file, text


def _closures() -> Iterator[Entry]:
    for index, half in ((INT32, 1), (INT64, 2)):
        yield "degrees.cuh", typedefs(P=index)
        yield "edges.cuh", typedefs(P=index, X=INT64) + constants(LISTED=half == 1, FORM=2)
        for label, columns in zip((INT32, INT64) * 3, (_COLUMNS[0], *_COLUMNS), strict=True):
            text = typedefs(P=index, F=label) + columns
            yield "link.cuh", text + _thresholds(BLOCK=tuning.LINK_BLOCK)
        yield "frequent.cuh", typedefs(F=index)
        for columns, lanes in ((_COLUMNS[0], 1), (codec_types("uncompressed", INT64), 32)):
            text = typedefs(P=index, D=INT64) + columns
            yield "hubs.cuh", text + _thresholds(BITS=31 * half, GROUP=lanes, BLOCK=tuning.GRID_BLOCK)
        for number, ring in enumerate(_SEMIRINGS):
            yield from _closures_of(ring, number, index, half)


def _closures_of(ring: TypedSemiring, number: int, index: np.dtype[Any], half: int) -> Iterator[Entry]:
    types = semiring(ring) + typedefs(P=index, A=FP32, U=INT32, Z=ring.z)
    kind = (number + half) % 3
    block, stored = tuning.CLUSTER_BLOCK, ("varint", "packed", "uncompressed")[number % 3]
    for columns, transposed, threads in (
        (codec_types("uncompressed", index), "uncompressed", block // half),
        (_COLUMNS[1 + (number + half) % 4], stored, block // 2),
    ):
        how = transposed_codec(transposed) + constants(MAY_PULL=kind != 1, HUBS=number % 2 == 0)
        text = types + columns + _thresholds(CLUSTER_BLOCK=threads, **tuning.cost_constants(tuning.DEVICE))
        yield "closure_level.cuh", text + how + constants(VALUES=kind)
        if not ring.add.is_any:
            yield "closure_relax.cuh", text


def _outofcore() -> Iterator[Entry]:
    yield "outofcore_blocks.cuh", constants(BLOCK_WORDS=32)
    for number, columns in enumerate((_COLUMNS[0], codec_types("uncompressed", INT64), *_COLUMNS[1:])):
        index = (INT32, INT64)[number % 2]
        ring = _SEMIRINGS[number % len(_SEMIRINGS)]
        types = typedefs(P=index) + columns
        yield "outofcore_link.cuh", types + typedefs(F=(INT64, INT32)[number % 2])
        rest = typedefs(A=INT8, U=FP32, Z=ring.z)
        for kind in {number % 3, 2}:
            costs = tuning.cost_constants(tuning.HOST)
            yield "outofcore_closure.cuh", types + semiring(ring) + rest + _thresholds(VALUES=kind, **costs)
