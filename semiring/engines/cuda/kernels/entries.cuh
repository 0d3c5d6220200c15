// Iteration over stored entries in storage order, with the row of each entry.
//
// FORM of the prologue is the format of the operand: DENSE, one slot for each index of a vector; LIST, the index
// list of a vector; ROWS, the rows of a matrix.  P is the type of row offsets, I that of indices.  A warp processes
// consecutive entries, CHUNK at a time: it searches the row of the first one, and then reads the ends of 32 rows for each
// chunk, among which each entry finds its row by shuffles.

#pragma once

#include "semiring.cuh"

constexpr i64 DENSE = 0;
constexpr i64 LIST = 1;
constexpr i64 ROWS = 2;
constexpr i64 CHUNK = 256;

// Finds the rows of positions that one warp processes in ascending order, CHUNK positions or fewer at a time.
template <class T>
struct RowFinder {
    const T* offsets;
    i64 nrows;
    i64 low, high;  // the rows of the first and the last position of the chunk
    i32 ends;       // the end of row low + lane_id(), as a distance from the first position, or a larger number
    i32 count;      // rows of the window that end within the chunk; 32: there may be more

    RowFinder() = default;
    // `first` is the smallest position that will be looked up.  Every lane calls.
    DEVICE RowFinder(const T* offsets, i64 nrows, i64 first) : offsets(offsets), nrows(nrows) {
        high = warp_upper_bound(offsets, 0, nrows + 1, first) - 1;
    }
    // Every lane calls with the same first and last position of the chunk; last < offsets[nrows].
    DEVICE void enter(i64 first, i64 last) {
        low = high;
        const i64 next = low + 1 + lane_id();
        const i64 end = next <= nrows ? i64(offsets[next]) - first : CHUNK;
        ends = end < CHUNK ? i32(end) : i32(CHUNK);
        count = __popc(__ballot_sync(FULL_WARP, ends <= i32(last - first)));
        high = count < 32 ? low + count : warp_upper_bound(offsets, low + 33, nrows + 1, last) - 1;
    }
    // The row of the position that is `slot` behind the first one of the chunk.  Every lane calls; valid for positions
    // up to the last one.
    DEVICE i64 row(i64 first, int slot) const {
        if (count == 32) return upper_bound(offsets, low + 1, high + 1, first + slot) - 1;
        int before = 0;
#pragma unroll
        for (int step = 16; step > 0; step /= 2) {
            if (step > count) continue;
            if (shuffle(ends, before + step - 1) <= slot) before += step;
        }
        return low + before;
    }
};

// The positions in [begin, end) that a warp processes: consecutive ones, and a multiple of CHUNK.
struct WarpRange {
    i64 first, end;

    DEVICE WarpRange(i64 begin, i64 all) {
        const i64 chunks = (all - begin + CHUNK - 1) / CHUNK;
        const i64 each = CHUNK * ((chunks + warp_count() - 1) / warp_count());
        first = begin + each * warp_id();
        end = first + each < all ? first + each : all;
    }
};

// Calls store(p, row, load(p, row)) for every position p in [begin, end).  The loads of K positions of a thread overlap.
// Every thread of the grid calls.
template <int K, class T, class L, class S>
DEVICE void for_each_entry(const T* offsets, i64 nrows, i64 begin, i64 end, L load, S store) {
    static_assert(CHUNK % (32 * K) == 0, "a chunk has whole groups");
    const WarpRange range(begin, end);
    if (range.first >= range.end) return;
    RowFinder<T> finder(offsets, nrows, range.first);
    for (i64 first = range.first; first < range.end; first += CHUNK) {
        const i64 last = first + CHUNK < range.end ? first + CHUNK - 1 : range.end - 1;
        finder.enter(first, last);
#pragma unroll 1
        for (int group = lane_id(); group < CHUNK; group += 32 * K) {
            i64 rows[K];
            decltype(load(i64(), i64())) found[K];
#pragma unroll
            for (int k = 0; k < K; ++k) rows[k] = finder.row(first, group + 32 * k);
#pragma unroll
            for (int k = 0; k < K; ++k) {
                const i64 p = first + group + 32 * k;
                if (p <= last) found[k] = load(p, rows[k]);
            }
#pragma unroll
            for (int k = 0; k < K; ++k) {
                const i64 p = first + group + 32 * k;
                if (p <= last) store(p, rows[k], found[k]);
            }
        }
    }
}

// Calls body(p, row) for every position p in [begin, end).  Every thread of the grid calls.
template <class T, class F>
DEVICE void for_each_entry(const T* offsets, i64 nrows, i64 begin, i64 end, F body) {
    const auto nothing = [](i64, i64) { return false; };
    for_each_entry<1>(offsets, nrows, begin, end, nothing, [=](i64 p, i64 row, bool) { body(p, row); });
}

// *count += the sum of `mine` over the block.  Every thread of the block calls.
DEVICE void add_count(i64* count, i64 mine) {
    mine = block_sum(mine);
    if (threadIdx.x == 0 && mine != 0) atomicAdd(reinterpret_cast<u64*>(count), u64(mine));
}
