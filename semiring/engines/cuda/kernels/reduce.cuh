// Reductions in storage order: `add(x, y)` must be associative.  Types: A of the values, OUT of the results, P of row
// offsets.  COMMUTES: whether `add` is commutative, so that a tile inside a row is combined in any order.
//
// A warp reduces a tile (row_tiles.cuh), so no thread waits at a barrier of a block.  The tile in which a row ends writes
// the row.  The partial result of a row that continues after a tile is the carry of the tile; a second kernel combines the
// carries.

#include "entries.cuh"
#include "grid.cuh"
#include "row_tiles.cuh"

DEVICE OUT combined(OUT x, OUT y) { return cast<OUT>(add(x, y)); }

struct Combined {
    DEVICE OUT operator()(OUT x, OUT y) const { return combined(x, y); }
};

// Threads of a block, whose stages are in shared memory: with results of 16 bytes half as many.
constexpr int REDUCE_THREADS = sizeof(OUT) <= 8 ? TILE_THREADS : TILE_THREADS / 2;
// Slots of a lane, which are consecutive.
constexpr int LANE_SLOTS = int(TILE) / 32;

// Shared memory of a warp: the values of each lane are followed by an unused slot, so that lanes which read consecutive
// values use different banks.
struct ReduceStage {
    u32 heads[TILE_WORDS];  // the slots at which rows begin
    u16 rows[TILE];         // at these: the number of the row, from row0
    OUT values[TILE + 32];

    static DEVICE int padded(int slot) { return slot + slot / LANE_SLOTS; }
};

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS)
    reduce_rows_tiles(i64 n, const P* indptr, i64 nrows, const A* values, A iso, const i64* first_row, i64 tiles,
                      OUT* out, OUT* carry) {
    __shared__ ReduceStage stages[REDUCE_THREADS / 32];
    ReduceStage& stage = stages[warp_in_block()];
    const int lane = lane_id();
    const i64 number = warp_id();
    if (number >= tiles) return;
    const RowTile tile(first_row, number, nrows, n);
    A loaded[LANE_SLOTS];
#pragma unroll
    for (int round = 0; round < LANE_SLOTS; round++) {
        const int slot = round * 32 + lane;
        loaded[round] = slot < tile.entries ? value_at(values, iso, tile.first + slot) : A();
    }
    if (COMMUTES && tile.row0 == tile.row1) {  // all slots are entries of one row, which ends later
        OUT sum = cast<OUT>(loaded[0]);
#pragma unroll
        for (int round = 1; round < LANE_SLOTS; round++) sum = combined(sum, cast<OUT>(loaded[round]));
#pragma unroll
        for (int delta = 16; delta > 0; delta /= 2) sum = combined(sum, shuffle_down(sum, delta));
        if (lane == 0) carry[number] = sum;
        return;
    }
    if (lane < TILE_WORDS) stage.heads[lane] = 0;
    __syncwarp();
    for (i64 r = tile.row0 + lane; r <= tile.row1 && r < nrows; r += 32) {
        const int start = tile.start(indptr, r);
        if (start >= tile.end(indptr, r)) continue;
        atomicOr(&stage.heads[start >> 5], 1u << (start & 31));
        stage.rows[start] = u16(r - tile.row0);
    }
#pragma unroll
    for (int round = 0; round < LANE_SLOTS; round++)
        stage.values[ReduceStage::padded(round * 32 + lane)] = cast<OUT>(loaded[round]);
    __syncwarp();

    // `open` is the value after the last head of the lane, in `row`, or that of all its slots; `leading` that of the slots
    // before its first head.
    const int begin = lane * LANE_SLOTS;
    const u32 heads = stage.heads[begin / 32] >> (begin % 32) & u32((u64(1) << LANE_SLOTS) - 1);
    const int first_head = begin + __ffs(int(heads)) - 1;
    OUT open = OUT(), leading = OUT();
    int row = 0;
#pragma unroll
    for (int s = 0; s < LANE_SLOTS; s++) {
        const int slot = begin + s;
        if (slot >= tile.entries) continue;
        const OUT value = stage.values[ReduceStage::padded(slot)];
        if (heads >> s & 1u) {
            if (slot == first_head) leading = open;
            else out[tile.row0 + row] = open;
            row = stage.rows[slot];
            open = value;
        } else {
            open = s == 0 ? value : combined(open, value);
        }
    }
    // The values of the lanes before, from the last of them with a head.
    const u32 with_head = __ballot_sync(FULL_WARP, heads != 0);
    const u32 up_to_me = with_head & (FULL_WARP >> (31 - lane));
    const int reach = up_to_me != 0 ? lane - (31 - __clz(int(up_to_me))) : lane;
    OUT whole = open;
#pragma unroll
    for (int delta = 1; delta < 32; delta *= 2) {
        const OUT below = shuffle_up(whole, delta);
        if (delta <= reach) whole = combined(below, whole);
    }
    // The row and the value that end at the first head of the lane.
    const u32 before_me = with_head & lanes_below();
    const int row_before = shuffle(row, before_me != 0 ? 31 - __clz(int(before_me)) : 0);
    OUT before = shuffle_up(whole, 1);
    if (heads != 0 && first_head != 0) {
        if (first_head != begin) before = combined(before, leading);
        out[tile.row0 + row_before] = before;
    }
    const int last = tile.entries - 1;
    if (last >= begin && last < begin + LANE_SLOTS) {
        const int at = heads != 0 ? row : row_before;
        if (tile.row0 + at < tile.row1) out[tile.row0 + at] = whole;
        else carry[number] = whole;
    }
}

// One thread for each tile: completes the row that begins in the tile, or at its end, and ends in a later one.  Its
// warp combines the carries of a row of many tiles.
extern "C" __global__ void reduce_rows_carry(const P* indptr, i64 nrows, const i64* first_row, i64 tiles,
                                             const OUT* carry, OUT* out) {
    constexpr i64 FEW = 4;
    const i64 t = thread_id();
    i64 row = nrows, first = t, stop = t;
    if (t < tiles && first_row[t + 1] < nrows && (t == 0 || first_row[t] != first_row[t + 1])) {
        row = first_row[t + 1];
        if (i64(indptr[row]) >= (t + 1) * TILE - row) first = t + 1;
        stop = (i64(indptr[row + 1]) + row) / TILE;
    }
    Maybe<OUT> sum{false, OUT()};
    if (stop - first <= FEW) {
        for (i64 s = first; s < stop; s++) sum = join(sum, Maybe<OUT>{true, carry[s]}, Combined());
    }
    for_long_rows(stop - first > FEW, first, stop, [&](int lane, i64 from, i64 to) {
        Maybe<OUT> parts{false, OUT()};
        for (i64 base = from; base < to; base += 32) {
            const i64 s = base + lane_id();
            Maybe<OUT> part{s < to, OUT()};
            if (part.hit) part.value = carry[s];
            parts = join(parts, warp_reduce(part, Combined()), Combined());  // valid in lane 0
        }
        parts.hit = true;
        parts.value = shuffle(parts.value, 0);
        if (lane_id() == lane) sum = parts;
    });
    if (!sum.hit) return;
    const bool ends_with_entries = i64(indptr[row + 1]) + row > stop * TILE;
    out[row] = ends_with_entries ? combined(sum.value, out[row]) : sum.value;
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

// out[r] = as many copies of `iso` combined as row r has entries, of n in all; reads no entry.
extern "C" __global__ void reduce_rows_iso(i64 nrows, i64 n, const P* indptr, A iso, OUT* out) {
    __shared__ OUT powers[64];  // 2^k copies combined
    if (threadIdx.x == 0) {
        powers[0] = cast<OUT>(iso);
        for (int k = 1; n >> k != 0; k++) powers[k] = combined(powers[k - 1], powers[k - 1]);
    }
    __syncthreads();
    for (i64 r = thread_id(); r < nrows; r += thread_count()) {
        i64 left = i64(indptr[r + 1]) - i64(indptr[r]);
        if (left == 0) continue;
        OUT sum = powers[__ffsll(left) - 1];
        while ((left &= left - 1) != 0) sum = combined(sum, powers[__ffsll(left) - 1]);
        out[r] = sum;
    }
}
