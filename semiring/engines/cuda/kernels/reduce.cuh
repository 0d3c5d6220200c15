// Reductions in storage order: `add(x, y)` must be associative.  Types: A of the values, OUT of the results, P of row
// offsets.
//
// A block reduces a tile (row_tiles.cuh).  The tile in which a row ends writes the row.  The partial result of a row
// that continues after a tile is the carry of the tile; a second kernel combines the carries.

#include "entries.cuh"
#include "reduce_blocks.cuh"
#include "row_tiles.cuh"

DEVICE OUT combined(OUT x, OUT y) { return cast<OUT>(add(x, y)); }

struct Combined {
    DEVICE OUT operator()(OUT x, OUT y) const { return combined(x, y); }
};

// Shared memory of a block: every 8 values are followed by an unused slot, so that threads that read 8 consecutive
// values each use different banks.
struct ReduceStage {
    static DEVICE int padded(int slot) { return slot + slot / TILE_ROUNDS; }
    TileHeads<u16, int(TILE)> heads;
    OUT values[TILE + TILE_THREADS];
    OUT warp_value[TILE_THREADS / 32];  // of the slots after the last head of the warp
    bool warp_head[TILE_THREADS / 32];
};

extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    reduce_rows_tiles(i64 n, const P* indptr, i64 nrows, const A* values, A iso, const i64* first_row, OUT* out,
                      OUT* carry) {
    __shared__ ReduceStage stage;
    const RowTile tile(first_row, i64(blockIdx.x), nrows, n);
    A loaded[TILE_ROUNDS];
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int slot = tile_slot(round);
        loaded[round] = slot < tile.entries ? value_at(values, iso, tile.first + slot) : A();
    }
    stage.heads.clear();
    __syncthreads();
    mark_rows(stage.heads, tile, indptr, nrows);
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++)
        stage.values[ReduceStage::padded(tile_slot(round))] = cast<OUT>(loaded[round]);
    stage.heads.finish();

    // Each thread reduces consecutive slots.  `open` is the value after its last head, or of all its slots.
    const int begin = int(threadIdx.x) * TILE_ROUNDS;
    const u32 heads = stage.heads.bits[begin / 32] >> (begin % 32) & ((1u << TILE_ROUNDS) - 1);
    const int first_head = begin + __ffs(int(heads)) - 1;
    OUT open = OUT(), leading = OUT();  // leading: of the slots before the first head
#pragma unroll
    for (int s = 0; s < TILE_ROUNDS; s++) {
        const int slot = begin + s;
        if (slot >= tile.entries) continue;
        const OUT value = stage.values[ReduceStage::padded(slot)];
        if (heads >> s & 1u) {
            if (slot == first_head) leading = open;
            else out[tile.row0 + i64(stage.heads.at(slot - 1))] = open;
            open = value;
        } else {
            open = s == 0 ? value : combined(open, value);
        }
    }
    // Before the first head of a thread: the values of the threads before, from the last of them with a head.
    const u32 with_head = __ballot_sync(FULL_WARP, heads != 0);
    const u32 up_to_me = with_head & (FULL_WARP >> (31 - lane_id()));
    const int reach = up_to_me != 0 ? lane_id() - (31 - __clz(int(up_to_me))) : lane_id();
    OUT whole = open;
#pragma unroll
    for (int delta = 1; delta < 32; delta *= 2) {
        const OUT below = shuffle_up(whole, delta);
        if (delta <= reach) whole = combined(below, whole);
    }
    if (lane_id() == 31) {
        stage.warp_value[warp_in_block()] = whole;
        stage.warp_head[warp_in_block()] = with_head != 0;
    }
    const OUT below = shuffle_up(whole, 1);
    __syncthreads();
    Maybe<OUT> before{false, OUT()};
    if ((with_head & lanes_below()) == 0) {
        for (int w = 0; w < warp_in_block(); w++) {
            const Maybe<OUT> part{true, stage.warp_value[w]};
            before = stage.warp_head[w] ? part : join(before, part, Combined());
        }
    }
    if (lane_id() != 0) before = join(before, Maybe<OUT>{true, below}, Combined());
    if (heads != 0 && first_head != 0) {
        if (first_head != begin) before = join(before, Maybe<OUT>{true, leading}, Combined());
        out[tile.row0 + i64(stage.heads.at(first_head - 1))] = before.value;
    }
    const int last = tile.entries - 1;
    if (last >= begin && last < begin + TILE_ROUNDS) {
        if (heads == 0) open = join(before, Maybe<OUT>{true, open}, Combined()).value;
        const i64 row = tile.row0 + i64(stage.heads.at(last));
        if (row < tile.row1) out[row] = open;
        else carry[blockIdx.x] = open;
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
    for (u32 longer = __ballot_sync(FULL_WARP, stop - first > FEW); longer != 0; longer &= longer - 1) {
        const int lane = __ffs(int(longer)) - 1;
        const i64 from = shuffle(first, lane), to = shuffle(stop, lane);
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
    }
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
