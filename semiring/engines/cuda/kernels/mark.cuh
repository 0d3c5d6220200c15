// Marks the entries that a condition admits: one bit for each position of storage.  For dense vectors the marks
// are the presence words of the result.

#pragma once

#include "entries.cuh"

// What the kernels below know about the entries of their operand, in the prologue's FORM.
template <class P, class I>
struct Places {
    const P* indptr;
    i64 nrows;
    const I* indices;

    DEVICE i64 column(i64 p) const {
        if constexpr (FORM == ROWS) return i64(indices[p]);
        else return 0;
    }
};

// out = one bit for each of n positions where the entry is present and admit(p, i, j) holds; *count += their
// number, if there is a counter.  Every thread of the grid calls.  Row searches are left out unless WHERE.
template <bool WHERE, class P, class I, class F>
DEVICE void mark_entries(i64 n, const u32* present, Places<P, I> places, u32* out, i64* count, F admit) {
    i64 marked = 0;
    RowFinder<P> finder{places.indptr, 0, 0};
    for (i64 first = CHUNK * warp_id(); first < n; first += CHUNK * warp_count()) {
        const i64 end = first + CHUNK < n ? first + CHUNK : n;
        if constexpr (FORM == ROWS && WHERE) finder.enter(places.nrows, first, end - 1);
        for (i64 base = first; base < end; base += 32) {
            const i64 p = base + lane_id();
            bool kept = p < end && is_present(present, p);
            if (kept) {
                i64 i = 0;
                if constexpr (FORM == DENSE) i = p;
                else if constexpr (FORM == LIST) i = i64(places.indices[p]);
                else if constexpr (WHERE) i = finder.row(p);
                kept = admit(p, i, places.column(p));
            }
            const u32 word = __ballot_sync(FULL_WARP, kept);
            if (lane_id() == 0) {
                out[base >> 5] = word;
                marked += __popc(word);
            }
        }
    }
    if (count != nullptr) add_count(count, marked);
}
