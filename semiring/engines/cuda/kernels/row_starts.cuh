// The entries of a tile that begin a row, for a warp that processes consecutive tiles.

#pragma once

#include "compressed.cuh"
#include "grid.cuh"

struct RowStarts {
    const P* indptr;
    i64 nrows;
    i64 row;  // the first row that begins in or after the next tile

    DEVICE RowStarts(const P* indptr, i64 nrows) : indptr(indptr), nrows(nrows), row(0) {}

    // Every lane calls; `first` is the first entry of the next tile.
    DEVICE void enter(i64 first) { row = warp_upper_bound(indptr, 0, nrows, first - 1); }

    // Sets bit s of `starts`, 4 words of shared memory, if entry first + s begins a row.  Every lane calls.
    // Empty rows need no test: an empty row marks the same entry as the row after it.
    DEVICE void mark(i64 first, int count, u32* starts) {
        if (lane_id() < 4) starts[lane_id()] = 0;
        __syncwarp();
        for (int round = 0; round < 16; ++round) {
            const i64 r = row + lane_id();
            const u64 s = r <= nrows ? u64(i64(indptr[r]) - first) : ~u64(0);
            const bool inside = s < u64(count);
            if (inside) atomicOr(starts + (s >> 5), 1u << (s & 31));
            const int rows = __popc(__ballot_sync(FULL_WARP, inside));
            row += rows;
            if (rows < 32) {
                __syncwarp();
                return;
            }
        }
        // There are more rows than entries, so each entry searches for a row that begins with it.
        const i64 stop = warp_upper_bound(indptr, row, nrows, first + count - 1);
        for (int s = lane_id(); s < count; s += 32) {
            const i64 r = lower_bound(indptr, row, stop, first + s);
            if (r < stop && i64(indptr[r]) == first + s) atomicOr(starts + (s >> 5), 1u << (s & 31));
        }
        row = stop;
        __syncwarp();
    }
    // After `mark`: whether a row begins at entry p, the first after the tile.
    DEVICE bool at(i64 p) const { return row <= nrows && i64(indptr[row]) == p; }
};

// The bits of `starts` for the entries 4 lane to 4 lane + 3.
DEVICE u32 lane_starts(const u32* starts) { return starts[lane_id() / 8] >> (4 * (lane_id() % 8)) & 15u; }
