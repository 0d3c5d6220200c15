// Reductions in storage order: `add(x, y)` must be associative.  Types: A of the values, OUT of the results, P of row
// offsets.
//
// A warp reduces a tile of REDUCE_TILE consecutive entries, independent of row lengths.  A row within one tile is
// complete.  Of a row that crosses tiles, the first tile stores its part in `tail`, the following tiles theirs in
// `head`; a second kernel combines the parts.

#include "entries.cuh"
#include "reduce_blocks.cuh"

constexpr i64 REDUCE_TILE = 1024;

DEVICE OUT combined(OUT x, OUT y) { return cast<OUT>(add(x, y)); }

struct Combined {
    DEVICE OUT operator()(OUT x, OUT y) const { return combined(x, y); }
};

// The inclusive scan within segments, which are runs of lanes with the same row; valid in every lane.
// Every lane of the warp calls.
DEVICE OUT segment_scan(OUT value, i64 row) {
#pragma unroll
    for (int delta = 1; delta < 32; delta *= 2) {
        const OUT below = shuffle_up(value, delta);
        const i64 its_row = shuffle_up(row, delta);
        if (lane_id() >= delta && its_row == row) value = combined(below, value);
    }
    return value;
}

extern "C" __global__ void reduce_rows_tiles(i64 n, const P* indptr, i64 nrows, const A* values, A iso, OUT* out,
                                             OUT* head, OUT* tail) {
    RowFinder<P> finder{indptr, 0, 0};
    for (i64 t = warp_id(); t * REDUCE_TILE < n; t += warp_count()) {
        const i64 first = t * REDUCE_TILE;
        const i64 end = first + REDUCE_TILE < n ? first + REDUCE_TILE : n;
        finder.enter(nrows, first, end - 1);
        i64 open_row = -1;  // the last row of the previous round, and its value so far: the same in every lane
        OUT open_value = OUT();
        for (i64 base = first; base < end; base += 32) {
            const i64 p = base + lane_id();
            const bool active = p < end;
            const i64 row = active ? finder.row(p) : -2;
            OUT value = active ? cast<OUT>(value_at(values, iso, p)) : OUT();
            value = segment_scan(value, row);
            if (row == open_row) value = combined(open_value, value);
            const i64 next_row = shuffle_down(row, 1);
            if (active && (lane_id() == 31 || next_row != row)) {
                const bool complete = p + 1 == i64(indptr[row + 1]);
                const bool begun_before = i64(indptr[row]) < first;
                if (complete || p + 1 == end) {
                    if (begun_before) head[t] = value;
                    else if (complete) out[row] = value;
                    else tail[t] = value;
                }
            }
            open_row = shuffle(row, 31);
            open_value = shuffle(value, 31);
        }
    }
}

// One warp for each tile: completes the row that begins in the tile and continues after it.
extern "C" __global__ void reduce_rows_carry(i64 n, const P* indptr, i64 nrows, OUT* out, const OUT* head,
                                             const OUT* tail) {
    for (i64 t = warp_id(); (t + 1) * REDUCE_TILE < n; t += warp_count()) {
        const i64 end = (t + 1) * REDUCE_TILE;
        const i64 row = upper_bound(indptr, 0, nrows + 1, end - 1) - 1;
        if (i64(indptr[row + 1]) <= end || i64(indptr[row]) < end - REDUCE_TILE) continue;
        const i64 last = (i64(indptr[row + 1]) - 1) / REDUCE_TILE;
        Maybe<OUT> sum{true, tail[t]};
        for (i64 base = t + 1; base <= last; base += 32) {
            const i64 other = base + lane_id();
            Maybe<OUT> part{other <= last, OUT()};
            if (part.hit) part.value = head[other];
            part = warp_reduce(part, [](OUT x, OUT y) { return combined(x, y); });
            if (lane_id() == 0) sum = join(sum, part, [](OUT x, OUT y) { return combined(x, y); });
        }
        if (lane_id() == 0) out[row] = sum.value;
    }
}

// out[r] = the first entry of each nonempty row: for the monoid `any`.
extern "C" __global__ void reduce_rows_first(i64 nrows, const P* indptr, const A* values, A iso, OUT* out) {
    for (i64 r = thread_id(); r < nrows; r += thread_count()) {
        const i64 p = i64(indptr[r]);
        if (p < i64(indptr[r + 1])) out[r] = cast<OUT>(value_at(values, iso, p));
    }
}

// Reduces each row by one thread, left to right, for an operator that is not associative.
extern "C" __global__ void reduce_rows_fold(i64 nrows, const P* indptr, const A* values, A iso, OUT* out) {
    for (i64 r = thread_id(); r < nrows; r += thread_count()) {
        i64 p = i64(indptr[r]);
        const i64 end = i64(indptr[r + 1]);
        if (p == end) continue;
        OUT sum = cast<OUT>(value_at(values, iso, p));
        while (++p < end) sum = combined(sum, cast<OUT>(value_at(values, iso, p)));
        out[r] = sum;
    }
}

// Combines all present slots: result[0] is whether there is one, result[1] the bits of the value.
extern "C" __global__ void reduce_all(i64 n, const u32* words, const A* values, A iso, u64* result, u64* arrived) {
    Maybe<OUT> sum{false, OUT()};
    for (i64 p = thread_id(); p < n; p += thread_count()) {
        if (!is_present(words, p)) continue;
        sum = join(sum, {true, cast<OUT>(value_at(values, iso, p))}, Combined());
    }
    reduce_blocks(sum, Combined(), result, arrived);
}

// out[r] = as many copies of `iso` combined as row r has entries, by doubling; reads no entry.
extern "C" __global__ void reduce_rows_iso(i64 nrows, const P* indptr, A iso, OUT* out) {
    for (i64 r = thread_id(); r < nrows; r += thread_count()) {
        i64 left = i64(indptr[r + 1]) - i64(indptr[r]);
        if (left == 0) continue;
        Maybe<OUT> sum{false, OUT()}, power{true, cast<OUT>(iso)};
        for (; left; left >>= 1) {
            if (left & 1) sum = join(sum, power, Combined());
            if (left > 1) power.value = combined(power.value, power.value);
        }
        out[r] = sum.value;
    }
}
