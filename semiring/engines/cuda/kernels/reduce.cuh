// Reductions, in the order of storage: `add(x, y)` need only be associative.  A is the type of the values, OUT
// that of the results, P that of row offsets.
//
// Rows may be as skewed as they like: a warp takes a tile of consecutive entries, whatever rows they belong to. A row
// that lies in one tile is finished there; of a row that crosses tiles, the tile where it begins keeps the first
// part in `tail`, the following ones theirs in `head`, and a second pass puts them together.

#include "entries.cuh"

constexpr i64 REDUCE_TILE = 1024;

DEVICE OUT combined(OUT x, OUT y) { return cast<OUT>(add(x, y)); }

// The combination of all lanes of a segment up to this one; a segment is a run of lanes with one row.
// Every lane of the warp calls; valid in every lane.
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
        i64 open_row = -1;  // the row that the chunk before ended in, and its value so far: the same in every lane
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

// A warp for each tile: finishes the row that begins in the tile and goes on past it.
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

// Presence of the rows that have entries.  Where any entry serves (FIRST_ONLY), also the result: the first one.
extern "C" __global__ void reduce_rows_presence(i64 nrows, const P* indptr, const A* values, A iso, OUT* out,
                                                u32* words, i64* count) {
    i64 present = 0;
    for (i64 w = warp_id(); 32 * w < nrows; w += warp_count()) {
        const i64 r = 32 * w + lane_id();
        const bool hit = r < nrows && indptr[r + 1] > indptr[r];
        if constexpr (FIRST_ONLY) {
            if (hit && out != nullptr) out[r] = cast<OUT>(value_at(values, iso, i64(indptr[r])));
        }
        const u32 word = __ballot_sync(FULL_WARP, hit);
        if (lane_id() == 0) {
            words[w] = word;
            present += __popc(word);
        }
    }
    add_count(count, present);
}

// Rows one by one, left to right, for an operator that is not associative.
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

// One partial result a block, over the slots that are present.
extern "C" __global__ void reduce_all(i64 n, const u32* words, const A* values, A iso, OUT* parts, u32* hits) {
    Maybe<OUT> sum{false, OUT()};
    for (i64 p = thread_id(); p < n; p += thread_count()) {
        if (!is_present(words, p)) continue;
        const OUT value = cast<OUT>(value_at(values, iso, p));
        sum.value = sum.hit ? combined(sum.value, value) : value;
        sum.hit = true;
    }
    sum = block_reduce(sum, [](OUT x, OUT y) { return combined(x, y); });
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum.value;
        hits[blockIdx.x] = sum.hit;
    }
}

// One block: result[0] = whether there was an entry at all, result[1] = the bits of the combination.
extern "C" __global__ void reduce_parts(i64 n, const OUT* parts, const u32* hits, u64* result) {
    Maybe<OUT> sum{false, OUT()};
    for (i64 p = threadIdx.x; p < n; p += blockDim.x) {
        if (hits[p] == 0) continue;
        sum.value = sum.hit ? combined(sum.value, parts[p]) : parts[p];
        sum.hit = true;
    }
    sum = block_reduce(sum, [](OUT x, OUT y) { return combined(x, y); });
    if (threadIdx.x == 0) {
        result[0] = sum.hit;
        result[1] = u64(from_bits<unsigned_of<sizeof(OUT)>>(sum.value));
    }
}
