"""Specs that concern the storage of a matrix: compression, slices, permutation (see `operations`)."""

from __future__ import annotations

from typing import ClassVar

from ...formats import CSR, AnyPattern, Array, Codec
from ...formats.records import record
from .operands import Spec


@record
class Encode(Spec):
    """The same structure as compressed rows (`formats.ccsr`), on the same device.

    pattern: uncompressed, device-resident.
    before: the column of the entry before the first one, if row 0 continues a row (an encoder that receives slices
        splits rows), else -1.
    """

    name: ClassVar[str] = "encode"
    decodable: ClassVar[bool] = False
    pattern: AnyPattern
    codec: Codec
    before: int = -1


@record
class MeasureCompressed(Spec):
    """The exact number of bytes of all arrays that `Encode` would create, padding included.  Synchronizes."""

    name: ClassVar[str] = "measure_compressed"
    decodable: ClassVar[bool] = False
    pattern: AnyPattern
    codec: Codec


@record
class CheckCompressed(Spec):
    """Validation of a whole compressed pattern: None if well formed, else InvalidFormat naming array and position.

    No read is out of bounds, whatever the arrays contain.  Synchronizes.
    """

    name: ClassVar[str] = "check_compressed"
    decodable: ClassVar[bool] = False
    pattern: AnyPattern


@record
class Slices(Spec):
    """An iterator of uncompressed matrices: the rows ``bounds[s]`` to ``bounds[s + 1]`` of a, for each s in `wanted`.

    Slice s is an uncompressed, device-resident CSR of shape (bounds[s + 1] - bounds[s], ncols), for every storage kind
    of a: decoded, copied, or a view.  An engine may prepare the next slice while the current one is in use, and may
    reuse the memory of a slice once the slice after the next is requested: callers must not keep slices.
    """

    name: ClassVar[str] = "slices"
    decodable: ClassVar[bool] = False
    a: CSR
    bounds: tuple[int, ...]
    wanted: tuple[int, ...]


@record
class Permute(Spec):
    """t(i, cols[j]) = a(rows[i], j): permutation of rows and columns.

    rows: for each row of t, the corresponding row of a; cols: for each column of a, its position in t.  Both are
    permutations, int32 or int64.  The result is uncompressed and device-resident.
    """

    name: ClassVar[str] = "permute"
    a: CSR
    rows: Array
    cols: Array
