"""Questions about the form in which a matrix is held: compressed, sliced, in another order (see `spec`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..formats import CSR, AnyPattern, Array, Codec
from .operands import Spec


@dataclass(frozen=True, eq=False)
class Encode(Spec):
    """The same structure as compressed rows, on the same device, as `formats.ccsr` describes.

    pattern: plain, in the device's memory.
    before: the column of the entry before the first one, if row 0 goes on from there (an encoder that is fed in
        slices cuts rows), else -1.
    """

    name: ClassVar[str] = "encode"
    pattern: AnyPattern
    codec: Codec
    before: int = -1


@dataclass(frozen=True, eq=False)
class MeasureCompressed(Spec):
    """The bytes that `Encode` would need for all its arrays, padding included; exact.  Synchronises."""

    name: ClassVar[str] = "measure_compressed"
    pattern: AnyPattern
    codec: Codec


@dataclass(frozen=True, eq=False)
class CheckCompressed(Spec):
    """None if a compressed pattern is well formed throughout; raises InvalidFormat naming array and position.

    Reads nothing outside the arrays, whatever they hold.  Synchronises.
    """

    name: ClassVar[str] = "check_compressed"
    pattern: AnyPattern


@dataclass(frozen=True, eq=False)
class Slices(Spec):
    """The rows ``bounds[s]`` to ``bounds[s + 1]`` of a, for each s in `wanted`, as an iterator of plain matrices.

    Slice s comes as a plain CSR of shape (bounds[s + 1] - bounds[s], ncols) in the device's memory, from whatever form
    and place a has: decoded, copied, or a view.  An engine may prepare the next while the current one is in use, and
    may use the memory of a slice again once the one after the next is asked for: nobody keeps them.
    """

    name: ClassVar[str] = "slices"
    a: CSR
    bounds: tuple[int, ...]
    wanted: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Permute(Spec):
    """t(i, cols[j]) = a(rows[i], j): rows and columns in another order.

    rows: for each row of t the row of a that it is; cols: for each column of a its place in t.  Both are permutations,
    int32 or int64.  The result is plain, in the device's memory.
    """

    name: ClassVar[str] = "permute"
    a: CSR
    rows: Array
    cols: Array
