// Iteration over stored entries in storage order, with the row of each entry.
//
// FORM of the prologue is the format of the operand: DENSE, one slot for each index of a vector; LIST, the index
// list of a vector; ROWS, the rows of a matrix.  P is the type of row offsets, I that of indices.  A warp processes
// CHUNK entries at a time: two searches find the rows of the chunk, then each entry searches only among these.

#pragma once

#include "semiring.cuh"

constexpr i64 DENSE = 0;
constexpr i64 LIST = 1;
constexpr i64 ROWS = 2;
constexpr i64 CHUNK = 256;

// Finds the row of position p by a search in row offsets; p < offsets[nrows].
template <class T>
struct RowFinder {
    const T* offsets;
    i64 low, high;

    // Every lane calls with the same arguments: the first and the last position of the chunk.
    DEVICE void enter(i64 nrows, i64 first, i64 last) {
        low = upper_bound(offsets, 0, nrows + 1, first) - 1;
        high = upper_bound(offsets, low, nrows + 1, last) - 1;
    }
    // Any thread calls, with first <= p <= last.
    DEVICE i64 row(i64 p) const { return upper_bound(offsets, low + 1, high + 1, p) - 1; }
};

// Calls body(p, row) for every position p in [begin, end).  Every thread of the grid calls.
template <class T, class F>
DEVICE void for_each_entry(const T* offsets, i64 nrows, i64 begin, i64 end, F body) {
    RowFinder<T> finder{offsets, 0, 0};
    for (i64 first = begin + CHUNK * warp_id(); first < end; first += CHUNK * warp_count()) {
        const i64 last = first + CHUNK < end ? first + CHUNK - 1 : end - 1;
        finder.enter(nrows, first, last);
        for (i64 p = first + lane_id(); p <= last; p += 32) body(p, finder.row(p));
    }
}

// *count += the sum of `mine` over the block.  Every thread of the block calls.
DEVICE void add_count(i64* count, i64 mine) {
    mine = block_sum(mine);
    if (threadIdx.x == 0 && mine != 0) atomicAdd(reinterpret_cast<u64*>(count), u64(mine));
}
