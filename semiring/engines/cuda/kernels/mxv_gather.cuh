// Device functions of pulls.  A warp owns 32 rows and writes their presence word without atomics.
// See product.cuh for the prologue; here also PROBES.

#pragma once

#include "product.cuh"

// The entries that a lane loads at once of a row that its warp reads.
constexpr int ENTRIES_AHEAD = 4;

// Pulls rows that end at a sum for which ended(sum): each lane reads the first PROBES entries of its row; the warp then
// reads the rest of each unfinished row, until the sum of a lane ends it.  Returns the rows that this thread counts.
template <class Admits, class Ended>
DEVICE i64 pull_until(const P* indptr, const Columns& columns, const Matrix& a, const Vector& u, const Admits& mask,
                      u32* out_words, Z* out_values, i64 nout, Ended ended) {
    i64 counted = 0;
    for (i64 w = warp_id(); 32 * w < nout; w += warp_count()) {
        const i64 o = 32 * w + lane_id();
        Maybe<Z> sum = {false, Z()};
        i64 p = 0, end = 0;
        if (o < nout && mask.admits(o)) {
            p = i64(indptr[o]);
            end = i64(indptr[o + 1]);
        }
        const i64 stop = p + PROBES < end ? p + PROBES : end;
        if (p < stop) {
            for (ColumnCursor entry(columns, p, p); p < stop && !ended(sum); p++, entry.next()) {
                const i64 k = entry.column();
                if (u.has(k)) sum = join(sum, Maybe<Z>{true, product(a, u, o, k, p)}, Add());
            }
        }
        for_long_rows(p < end && !ended(sum), p, end, [&](int lane, i64 first, i64 row_end) {
            const i64 row = 32 * w + lane;
            Maybe<Z> part = {false, Z()};
            if constexpr (COMPRESSED) {
                WarpColumns walk(columns, i64(indptr[row]), first, row_end);
                while (walk.next()) {
                    if (walk.inside && u.has(walk.column)) {
                        part = join(part, Maybe<Z>{true, product(a, u, row, walk.column, walk.p)}, Add());
                    }
                    if (__any_sync(FULL_WARP, ended(part))) break;
                }
            } else {
                for (i64 q = first + lane_id(); q - lane_id() < row_end; q += 32 * ENTRIES_AHEAD) {
                    i64 column[ENTRIES_AHEAD];
                    bool here[ENTRIES_AHEAD];
#pragma unroll
                    for (int r = 0; r < ENTRIES_AHEAD; r++) {
                        column[r] = q + 32 * r < row_end ? i64(columns.at(first, q + 32 * r)) : i64(-1);
                    }
#pragma unroll
                    for (int r = 0; r < ENTRIES_AHEAD; r++) here[r] = column[r] >= 0 && u.has(column[r]);
#pragma unroll
                    for (int r = 0; r < ENTRIES_AHEAD; r++) {
                        if (!here[r]) continue;
                        part = join(part, Maybe<Z>{true, product(a, u, row, column[r], q + 32 * r)}, Add());
                    }
                    if (__any_sync(FULL_WARP, ended(part))) break;
                }
            }
            join_parts(sum, lane, part, Add());
        });
        if constexpr (VALUED) {
            if (sum.hit) out_values[o] = sum.value;
        }
        if constexpr (!UNMASKED_FULL) counted += write_word(out_words, w, __ballot_sync(FULL_WARP, sum.hit));
    }
    return counted;
}
// For monoids with a terminal value.
template <class Admits>
DEVICE i64 pull_early(const P* indptr, const Columns& columns, const Matrix& a, const Vector& u, const Admits& mask,
                      u32* out_words, Z* out_values, i64 nout) {
    return pull_until(indptr, columns, a, u, mask, out_words, out_values, nout,
                      [](const Maybe<Z>& sum) { return finished(sum); });
}
