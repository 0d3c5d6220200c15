// Marks the entries that satisfy a condition, one bit for each position.  For dense vectors the marks are the
// presence words of the result.

#pragma once

#include "entries.cuh"

// The indices of the entries of an operand, in the format FORM of the prologue.
template <class P, class I>
struct EntryIndices {
    const P* indptr;
    i64 nrows;
    const I* indices;

    DEVICE i64 column(i64 p) const {
        if constexpr (FORM == ROWS) return i64(indices[p]);
        else return 0;
    }
};

// Sets bit p of `out` if entry p is present and admit(p, i, j) returns true, for each of n positions; adds the number
// of marks to *count unless it is null.  Without NEEDS_ROW, `admit` gets i = 0 for matrices.  The whole grid calls.
template <bool NEEDS_ROW, class P, class I, class F>
DEVICE void mark_entries(i64 n, const u32* present, EntryIndices<P, I> entries, u32* out, i64* count, F admit) {
    i64 marked = 0;
    const WarpRange range(0, n);
    RowFinder<P> finder;
    if constexpr (FORM == ROWS && NEEDS_ROW) {
        if (range.first < range.end) finder = RowFinder<P>(entries.indptr, entries.nrows, range.first);
    }
    for (i64 first = range.first; first < range.end; first += CHUNK) {
        const i64 end = first + CHUNK < range.end ? first + CHUNK : range.end;
        if constexpr (FORM == ROWS && NEEDS_ROW) finder.enter(first, end - 1);
        for (i64 base = first; base < end; base += 32) {
            const i64 p = base + lane_id();
            i64 i = 0;
            if constexpr (FORM == DENSE) i = p;
            else if constexpr (FORM == ROWS && NEEDS_ROW) i = finder.row(first, int(p - first));
            bool kept = p < end && is_present(present, p);
            if (kept) {
                if constexpr (FORM == LIST) i = i64(entries.indices[p]);
                kept = admit(p, i, entries.column(p));
            }
            marked += write_word(out, base >> 5, __ballot_sync(FULL_WARP, kept));
        }
    }
    add_count(count, marked);
}
