"""The baseline: varint rows decoded by one lane of a warp, as the papers' listing of a warp-cooperative search does it.

Lane 0 decodes 32 numbers of a row into shared memory, then all lanes use them.  Needs the byte at which each row
begins, which the papers store beside the stream.  The search pushes on every level; components are one pass of hooking
over all rows (by compare-and-swap, without which unions are lost), then a flattening.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import semiring as sr

from .graphs import arrays

_CHUNK = 1 << 26
_BLOCK = 256
_TEXT = """
typedef unsigned char u8;
typedef long long i64;

// Calls use(row, position, column) for every entry of a row, 32 at a time.  The whole warp calls.
template <class Use>
__device__ void for_row(const u8* stream, const i64* row_byte, const i64* indptr, i64 row, Use use) {
    __shared__ int decoded[8][32];
    int* const mine = decoded[threadIdx.x / 32];
    const int lane = threadIdx.x % 32;
    i64 at = row_byte[row];
    int column = 0;
    for (i64 p = indptr[row]; p < indptr[row + 1]; p += 32) {
        const int count = indptr[row + 1] - p < 32 ? int(indptr[row + 1] - p) : 32;
        if (lane == 0) {
            for (int i = 0; i < count; i++) {
                unsigned gap = 0;
                int shift = 0;
                u8 byte;
                do {
                    byte = stream[at++];
                    gap |= unsigned(byte & 127) << shift;
                    shift += 7;
                } while (byte & 128);
                column += int(gap);
                mine[i] = column;
            }
        }
        __syncwarp();
        if (lane < count) use(row, p + lane, mine[lane]);
        __syncwarp();
    }
}

__device__ i64 warp_number() { return (i64(blockIdx.x) * blockDim.x + threadIdx.x) / 32; }
__device__ i64 warps() { return i64(gridDim.x) * blockDim.x / 32; }

extern "C" __global__ void decode(const u8* stream, const i64* row_byte, const i64* indptr, i64 n, int* out) {
    for (i64 row = warp_number(); row < n; row += warps())
        for_row(stream, row_byte, indptr, row, [=](i64, i64 p, int column) { out[p] = column; });
}

extern "C" __global__ void push(const u8* stream, const i64* row_byte, const i64* indptr, const int* frontier,
                                i64 count, int* levels, int level, int* next, unsigned long long* found) {
    for (i64 f = warp_number(); f < count; f += warps())
        for_row(stream, row_byte, indptr, frontier[f], [=](i64, i64, int j) {
            const bool fresh = levels[j] < 0 && atomicCAS(levels + j, -1, level) == -1;
            const unsigned active = __activemask(), mask = __ballot_sync(active, fresh);
            if (!fresh) return;
            const int leader = __ffs(mask) - 1, lane = threadIdx.x % 32;
            unsigned long long place = 0;
            if (lane == leader) place = atomicAdd(found, (unsigned long long)__popc(mask));
            place = __shfl_sync(mask, place, leader);
            next[place + __popc(mask & ((1u << lane) - 1))] = j;
        });
}

__device__ int root_of(int* parent, int v) {
    for (int above; (above = parent[v]) != v;) v = above;
    return v;
}

extern "C" __global__ void hook(const u8* stream, const i64* row_byte, const i64* indptr, i64 n, int* parent) {
    for (i64 row = warp_number(); row < n; row += warps())
        for_row(stream, row_byte, indptr, row, [=](i64 i, i64, int j) {
            int a = root_of(parent, int(i)), b = root_of(parent, j);
            while (a != b) {
                const int high = a > b ? a : b, low = a > b ? b : a;
                if (atomicCAS(parent + high, high, low) == high) break;
                a = root_of(parent, high);
                b = root_of(parent, low);
            }
        });
}

extern "C" __global__ void flatten(int* parent, i64 n) {
    for (i64 v = i64(blockIdx.x) * blockDim.x + threadIdx.x; v < n; v += i64(gridDim.x) * blockDim.x)
        parent[v] = root_of(parent, int(v));
}
"""


def row_bytes(A: sr.Matrix) -> np.ndarray[Any, Any]:
    """The byte at which each row of an uncompressed matrix begins under the varint codec; one more for the end."""
    import cupy

    indptr, columns = arrays(A)
    indptr = indptr.astype(np.int64)
    starts = cupy.zeros(A.nrows + 1, np.int64)
    before = 0
    for first in range(0, A.nvals, _CHUNK):
        last = min(first + _CHUNK, A.nvals)
        gap = columns[first:last].astype(np.int64)
        if first:
            gap -= columns[first - 1 : last - 1]
        else:
            gap[1:] -= columns[: last - 1]
        low, high = (int(x) for x in cupy.searchsorted(indptr, cupy.asarray([first, last])).get())
        opening = indptr[low:high]
        opening = opening[opening < A.nvals]
        gap[opening - first] = columns[opening]
        size = 1 + (gap >= 1 << 7).astype(np.int64) + (gap >= 1 << 14) + (gap >= 1 << 21) + (gap >= 1 << 28)
        ends = cupy.concatenate([cupy.zeros(1, np.int64), cupy.cumsum(size)])
        starts[low:high] = before + ends[indptr[low:high] - first]
        before += int(ends[-1])
    starts[int(cupy.searchsorted(indptr, A.nvals)) :] = before
    return np.asarray(starts.get())


class ZeroCopy:
    """A varint matrix whose stream may be in page-locked memory, and the kernels over it."""

    def __init__(self, A: sr.Matrix, row_byte: np.ndarray[Any, Any]) -> None:
        import cupy

        pattern = A.store.pattern
        assert pattern.format == "ccsr"
        self._cupy, self._n, self._nvals = cupy, A.nrows, A.nvals
        self._rows = (pattern.stream, cupy.asarray(row_byte), pattern.indptr.astype(np.int64))
        module = cupy.RawModule(code=_TEXT, options=("--std=c++17",))
        self._kernels = {name: module.get_function(name) for name in ("decode", "push", "hook", "flatten")}
        self._grid = 32 * cupy.cuda.Device().attributes["MultiProcessorCount"]

    def _run(self, name: str, *arguments: Any) -> None:
        self._kernels[name]((self._grid,), (_BLOCK,), arguments)

    def decode(self) -> Any:
        """All columns."""
        out = self._cupy.empty(self._nvals, np.int32)
        self._run("decode", *self._rows, np.int64(self._n), out)
        return out

    def levels(self, source: int) -> Any:
        """Distances from a source; -1 where there is no path."""
        cupy = self._cupy
        levels = cupy.full(self._n, -1, np.int32)
        levels[source] = 0
        frontier, following = cupy.full(self._n, source, np.int32), cupy.empty(self._n, np.int32)
        count, level = 1, 0
        while count:
            level += 1
            found = cupy.zeros(1, np.uint64)
            self._run("push", *self._rows, frontier, np.int64(count), levels, np.int32(level), following, found)
            count = int(found.get()[0])
            frontier, following = following, frontier
        return levels

    def components(self) -> Any:
        """The least member of each row's component."""
        parent = self._cupy.arange(self._n, dtype=np.int32)
        self._run("hook", *self._rows, np.int64(self._n), parent)
        self._run("flatten", parent, np.int64(self._n))
        return parent


class OneLane(ZeroCopy):
    """The decoder alone."""

    def __init__(self, matrix: sr.Matrix) -> None:
        super().__init__(matrix, row_bytes(matrix.decompress()))

    def check(self, A: sr.Matrix) -> Any:
        """Its columns are those of the uncompressed matrix."""
        _, columns = arrays(A)

        def check(_: Any, found: Any) -> None:
            assert bool((found == columns).all()), "the one-lane decoder's columns differ"

        return check
