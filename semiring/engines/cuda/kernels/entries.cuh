// Iteration over stored entries in storage order, with the row of each entry.
//
// FORM of the prologue is the format of the operand: DENSE, one slot for each index of a vector; LIST, the index
// list of a vector; ROWS, the rows of a matrix.  P is the type of row offsets, I that of indices.  A warp processes
// consecutive entries, CHUNK at a time: it searches the row of the first one, and then reads the ends of 32 rows for each
// chunk, one chunk ahead; each entry finds its row among them by shuffles.

#pragma once

#include "quads.cuh"

constexpr i64 DENSE = 0;
constexpr i64 LIST = 1;
constexpr i64 ROWS = 2;
constexpr i64 CHUNK = 128;

// Finds the rows of positions that one warp processes in ascending order, CHUNK positions or fewer at a time.
template <class T>
struct RowFinder {
    const T* offsets;
    i64 nrows;
    i64 low, high;  // the rows of the first and the last position of the chunk
    i64 read;       // the end of row high + lane_id(), read before it is needed; for rows that do not exist any number
    i32 ends;       // the end of row low + lane_id(), as a distance from the first position, or a larger number
    i32 count;      // rows of the window that end within the chunk; 32: there may be more

    RowFinder() = default;
    // `first` is the smallest position that will be looked up.  Every lane calls.
    DEVICE RowFinder(const T* offsets, i64 nrows, i64 first) : offsets(offsets), nrows(nrows) {
        high = warp_upper_bound(offsets, 0, nrows + 1, first) - 1;
        prefetch();
    }
    DEVICE void prefetch() {
        const i64 next = high + 1 + lane_id();
        read = i64(offsets[next < nrows ? next : nrows]);
    }
    // Every lane calls with the same first and last position of the chunk; last < offsets[nrows].
    DEVICE void enter(i64 first, i64 last) {
        low = high;
        const i64 end = read - first;
        ends = end < CHUNK ? i32(end) : i32(CHUNK);
        count = __popc(__ballot_sync(FULL_WARP, ends <= i32(last - first)));
        high = count < 32 ? low + count : warp_upper_bound(offsets, low + 33, nrows + 1, last) - 1;
        prefetch();
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
    // The rows of positions slot, slot + STEP, ..., as `row`.
    template <int STEP>
    DEVICE Quad<i64> rows(i64 first, int slot) const {
        Quad<i64> found;
        const i64 begin = row(first, slot), end = row(first, slot + STEP * (QUAD - 1));
        const bool same = __all_sync(FULL_WARP, begin == end);
#pragma unroll
        for (int e = 1; e < QUAD - 1; ++e) found.at[e] = same ? begin : row(first, slot + STEP * e);
        found.at[0] = begin;
        found.at[QUAD - 1] = end;
        return found;
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

// Calls body(p, row) for every position p in [begin, end).  Every thread of the grid calls.
template <class T, class F>
DEVICE void for_each_entry(const T* offsets, i64 nrows, i64 begin, i64 end, F body) {
    const WarpRange range(begin, end);
    if (range.first >= range.end) return;
    RowFinder<T> finder(offsets, nrows, range.first);
    for (i64 first = range.first; first < range.end; first += CHUNK) {
        const i64 last = first + CHUNK < range.end ? first + CHUNK - 1 : range.end - 1;
        finder.enter(first, last);
#pragma unroll 1
        for (int slot = lane_id(); slot < CHUNK; slot += 32) {
            const i64 row = finder.row(first, slot);
            if (first + slot <= last) body(first + slot, row);
        }
    }
}

// How many of the positions p, p + STEP, ..., QUAD of them, are below `end`.
template <int STEP>
DEVICE int quad_length(i64 p, i64 end) {
    const i64 length = (end - p + STEP - 1) / STEP;
    return length >= QUAD ? QUAD : length > 0 ? int(length) : 0;
}

// Calls use(p, count, rows, fetch(p, count)) for all positions in [0, n), `count` of p, p + STEP, ... at once, up to QUAD.
// STEP is 1 or 32: a thread has neighboring positions, and p is a multiple of QUAD, or neighboring threads have.
// `fetch` reads what does not depend on rows, before it is needed: it must not read what `use` writes.  Every thread of the
// grid calls.
template <int STEP, class T, class L, class F>
DEVICE void for_each_quad(const T* offsets, i64 nrows, i64 n, L fetch, F use) {
    static_assert(CHUNK == 32 * QUAD, "a warp processes a chunk at once");
    const WarpRange range(0, n);
    if (range.first >= range.end) return;
    const int slot = STEP == 1 ? QUAD * lane_id() : lane_id();
    auto fetched = fetch(range.first + slot, quad_length<STEP>(range.first + slot, range.end));
    RowFinder<T> finder(offsets, nrows, range.first);
    for (i64 first = range.first; first < range.end; first += CHUNK) {
        const i64 last = first + CHUNK < range.end ? first + CHUNK - 1 : range.end - 1, p = first + slot;
        const auto now = fetched;
        fetched = fetch(p + CHUNK, quad_length<STEP>(p + CHUNK, range.end));
        finder.enter(first, last);
        const Quad<i64> rows = finder.template rows<STEP>(first, slot);
        if (p <= last) use(p, quad_length<STEP>(p, range.end), rows, now);
    }
}

// The same without rows.
template <int STEP, class L, class F>
DEVICE void for_each_quad(i64 n, L fetch, F use) {
    const i64 step = QUAD * thread_count();
    i64 p = STEP == 1 ? QUAD * thread_id() : CHUNK * warp_id() + lane_id();
    auto fetched = fetch(p, quad_length<STEP>(p, n));
    for (; p < n; p += step) {
        const auto now = fetched;
        fetched = fetch(p + step, quad_length<STEP>(p + step, n));
        use(p, quad_length<STEP>(p, n), now);
    }
}
