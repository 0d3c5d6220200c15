// Pulls of 32 rows by one warp, for rows of one part and uncompressed columns: a lane holds the bits of one row.
//
// Each lane probes the first entries of its row.  The lanes then share the entries of all rows that are not covered, in
// the order of the rows, so that no lane idles: an entry belongs to the last row that begins at or before it, and the
// bits of consecutive lanes with entries of one row are united by shuffles.
//
// Included by closure_many_pull.cuh.

#pragma once

#include "closure_many_rows.cuh"

// Whether this file processes the rows; a warp decodes compressed columns.
constexpr bool ROW_A_LANE = LANES == 1 && !T_CODEC::COMPRESSED;
// Entries of a row that its lane probes, PROBED_AT_ONCE of them in independent loads.  H200, kernel, 64 sources on
// kron22: 4 2.36 ms, 8 2.38, 16 2.39.
constexpr int PROBED = 8, PROBED_AT_ONCE = 4;
// Windows of 32 entries whose loads overlap.
constexpr int WINDOWS = 4;

// The union of the frontier's rows over the first entries of [begin, end); it may end when `missing` is covered.
DEVICE Part probe_first(const Many& s, const u32* frontier, i64 begin, i64 end, const Part& missing) {
    Part found = {};
    if (end - begin > PROBED) end = begin + PROBED;
    for (; begin < end && missing.without(found).any(); begin += PROBED_AT_ONCE) {
        i64 column[PROBED_AT_ONCE];
        Part row[PROBED_AT_ONCE];
#pragma unroll
        for (int u = 0; u < PROBED_AT_ONCE; u++) {
            const i64 p = begin + u;
            column[u] = p < end ? i64(s.t_columns.at(0, p)) : -1;
        }
#pragma unroll
        for (int u = 0; u < PROBED_AT_ONCE; u++)
            row[u] = column[u] >= 0 ? load_part(frontier + column[u] * WORDS) : Part();
#pragma unroll
        for (int u = 0; u < PROBED_AT_ONCE; u++) found |= row[u];
    }
    return found;
}

// A window of 32 of the entries that the rows of a warp concatenate: lane i has entry `first` + i.
struct Window {
    int owner;  // the lane of the row of this lane's entry
    int after;  // how many lanes from this one on have entries of the row
    bool inside;
};

// `before`: the entries of the rows of lower lanes; `length`: those of this lane's row, which may be 0.
DEVICE Window window_of(int first, int total, int before, int length) {
    const int entry = first + lane_id();
    int low = 0;  // the last lane whose row begins at or before the entry
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        if (shuffle(before, low + step) <= entry) low += step;
    }
    const int end = shuffle(before + length, low);
    return {low, end - entry, entry < total};
}

// The union over the lanes of a window from this one on that have entries of the same row.
DEVICE Part united(Part bits, int after) {
#pragma unroll
    for (int delta = 1; delta < 32; delta *= 2) {
#pragma unroll
        for (int i = 0; i < PART; i++) {
            const u32 other = __shfl_down_sync(FULL_WARP, bits.word[i], delta);
            if (delta < after && lane_id() + delta < 32) bits.word[i] |= other;
        }
    }
    return bits;
}

// The union of the frontier's rows over entries [begin, begin + length) of the row of each lane; it may end when
// `missing` is covered.  The whole warp calls.
DEVICE Part gather_rows(const Many& s, const u32* frontier, i64 begin, int length, const Part& missing) {
    const int inclusive = warp_scan_inclusive(length), before = inclusive - length, total = shuffle(inclusive, 31);
    Part found = {};
    for (int first = 0; first < total;) {
        Window window[WINDOWS];
        i64 column[WINDOWS];
        Part row[WINDOWS];
#pragma unroll
        for (int u = 0; u < WINDOWS; u++) {
            window[u] = window_of(first + 32 * u, total, before, length);
            const i64 p = shuffle(begin - before, window[u].owner) + first + 32 * u + lane_id();
            column[u] = window[u].inside ? i64(s.t_columns.at(0, p)) : -1;
        }
#pragma unroll
        for (int u = 0; u < WINDOWS; u++)
            row[u] = column[u] >= 0 ? load_part(frontier + column[u] * WORDS) : Part();
#pragma unroll
        for (int u = 0; u < WINDOWS; u++) {
            if (!__any_sync(FULL_WARP, row[u].any())) continue;
            const Part bits = united(row[u], window[u].after);
            // The first lane of the window that has an entry of this lane's row.
            const int begins = before - (first + 32 * u), head = begins > 0 ? begins : 0;
            const bool here = length > 0 && head < 32 && begins + length > 0;
#pragma unroll
            for (int i = 0; i < PART; i++) {
                const u32 mine = __shfl_sync(FULL_WARP, bits.word[i], head & 31);
                if (here) found.word[i] |= mine;
            }
        }
        first += 32 * WINDOWS;
        // Skips the rest of a row that is covered.
        const bool skipped = before < first && first < inclusive && !missing.without(found).any();
        const u32 skips = __ballot_sync(FULL_WARP, skipped);
        if (skips != 0) first = shuffle(inclusive, __ffs(int(skips)) - 1);
    }
    return found;
}
