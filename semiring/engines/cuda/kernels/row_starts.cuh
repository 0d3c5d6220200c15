// Which entries of a tile are the first of their row, for a warp that goes through consecutive tiles.

#pragma once

#include "compressed.cuh"
#include "grid.cuh"

struct RowStarts {
    const P* indptr;
    i64 nrows;
    i64 row;  // the first row that begins at the next tile or behind it

    DEVICE RowStarts(const P* indptr, i64 nrows) : indptr(indptr), nrows(nrows), row(0) {}

    // Every lane calls: the next tile begins at entry `first`.
    DEVICE void enter(i64 first) { row = warp_upper_bound(indptr, 0, nrows, first - 1); }

    // Every lane calls, with 4 words of shared memory: bit s of them says that entry first + s is the first of a row.
    // An empty row marks the beginning of the row behind it, so nothing has to be known about it.
    DEVICE void mark(i64 first, int count, u32* starts) {
        if (lane_id() < 4) starts[lane_id()] = 0;
        __syncwarp();
        for (int round = 0; round < 16; ++round) {
            const i64 r = row + lane_id();
            const u64 place = r <= nrows ? u64(i64(indptr[r]) - first) : ~u64(0);
            const bool inside = place < u64(count);
            if (inside) atomicOr(starts + (place >> 5), 1u << (place & 31));
            const int rows = __popc(__ballot_sync(FULL_WARP, inside));
            row += rows;
            if (rows < 32) {
                __syncwarp();
                return;
            }
        }
        // More rows than entries: from here on each entry looks for a row that begins with it.
        const i64 stop = warp_upper_bound(indptr, row, nrows, first + count - 1);
        for (int s = lane_id(); s < count; s += 32) {
            const i64 r = lower_bound(indptr, row, stop, first + s);
            if (r < stop && i64(indptr[r]) == first + s) atomicOr(starts + (s >> 5), 1u << (s & 31));
        }
        row = stop;
        __syncwarp();
    }
    // After `mark`: whether a row begins right behind the tile, at entry p.
    DEVICE bool at(i64 p) const { return row <= nrows && i64(indptr[row]) == p; }
};
