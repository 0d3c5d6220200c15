"""Operators, semirings and columns for the samples of the kernels that are compiled without a GPU: see `catalog`."""

from __future__ import annotations

from itertools import product
from typing import Any, Final

import numpy as np

from ...dtypes import BOOL, FC32, FC64, FP32, FP64, INT8, INT32, INT64, UINT32, lookup
from ...formats import CODECS
from ...operators import binary, indexunary, monoid
from ...operators.expression import Expression
from ...operators.types import TypedBinary, TypedIndexUnary, TypedMonoid, TypedSemiring
from ...record_types import of_value
from .columns import codec_types

_LAWS = frozenset({"commutative", "associative"})
PLUS: Final = monoid.plus[FP64]
MIN: Final = monoid.min[INT32]
MIN8: Final = monoid.min[INT8]
LOR: Final = monoid.lor[BOOL]
ANY: Final = monoid.any[INT64]
TIMES: Final = binary.times[FP64]
SECOND8: Final = binary.second[INT8]
PLUS32: Final = binary.plus[INT32]
LAND: Final = binary.land[BOOL]
SECONDI: Final = binary.secondi[INT64]
SEMIRINGS: Final = (
    TypedSemiring(PLUS, TIMES),
    TypedSemiring(MIN, PLUS32),
    TypedSemiring(MIN8, SECOND8),
    TypedSemiring(LOR, LAND),
    TypedSemiring(ANY, SECONDI),
)
# Sums added by parts in atomics, of 8 and of 16 bytes, and 16 bytes that no atomic changes.
COMPLEX_SEMIRINGS: Final = (
    TypedSemiring(monoid.plus[FC32], binary.times[FC32]),
    TypedSemiring(monoid.plus[FC64], binary.div[FC64]),
    TypedSemiring(monoid.times[FC64], binary.first[FC64]),
)
# Records of 16 and 7 bytes: no atomics, words of 8 bytes and of 1, and a monoid that keeps either operand.
_PAIR: Final = lookup(np.dtype([("n", np.int32), ("w", np.float64)], align=True))
_PACKED: Final = lookup(np.dtype([("b", np.int8), ("w", np.float32), ("h", np.int16)]))
_NESTED: Final = lookup({"at": {"i": "int32", "j": "int8"}, "v": "float32[2]"})
RECORD_SEMIRINGS: Final = (
    TypedSemiring(
        TypedMonoid(
            TypedBinary("least", _PAIR, _PAIR, _PAIR, Expression("select(x.w <= y.w, x, y)"), _LAWS),
            of_value((0, np.inf), _PAIR),
            None,
        ),
        TypedBinary("extend", _PAIR, _PAIR, _PAIR, Expression("(x.n, x.w + y.w)")),
    ),
    TypedSemiring(
        TypedMonoid(
            TypedBinary("most", _PACKED, _PACKED, _PACKED, Expression("(max(x.b, y.b), x.w + y.w, y.h)"), _LAWS),
            of_value((-128, 0, 0), _PACKED),
            of_value((127, 0, 0), _PACKED),
        ),
        binary.second[_PACKED],
    ),
    TypedSemiring(
        monoid.any[_NESTED],
        TypedBinary("placed", _NESTED, _NESTED, _NESTED, Expression("((x.at.i + yj, y.at.j), (y.v[0], x.v[1]))")),
    ),
)
# Semirings on values that atomics do not change as a whole.
WIDE_SEMIRINGS: Final = COMPLEX_SEMIRINGS + RECORD_SEMIRINGS
VALUE: Final = indexunary.valuegt[FP32]
ROW: Final = indexunary.rowindex[INT64]
BAND: Final = TypedIndexUnary("band", INT8, INT64, BOOL, Expression("land(x > 0, j - i <= k)"))
UNCOMPRESSED: Final = codec_types("uncompressed", INT32)
# Every codec, with columns of 32 and 64 bits.
COMPRESSED: Final = (
    *(codec_types(codec, INT32, (UINT32, INT64)[n % 2]) for n, codec in enumerate(CODECS)),
    *(codec_types(codec, INT64, (INT64, UINT32)[n % 2]) for n, codec in enumerate(CODECS)),
)
# Also 64-bit columns without compression, for kernels that have few other variants.
ALL_COLUMNS: Final = (UNCOMPRESSED, codec_types("uncompressed", INT64), *COMPRESSED)


def codecs() -> list[tuple[str, np.dtype[Any]]]:
    """Return each codec, width of columns and width of tile offsets, with a type of row offsets: both occur."""
    made = []
    for number, (codec, column, offset) in enumerate(product(CODECS, (INT32, INT64), (UINT32, INT64))):
        made.append((codec_types(codec, column, offset), (INT32, INT64)[(number + number // 2) % 2]))
    return made
