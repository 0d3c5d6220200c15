// The entries of a matrix that satisfy a condition, as a matrix, in one pass.  The prologue defines TILE, P (the type
// of row offsets), I (of columns) and V, an unsigned integer of the size of the values, which are only moved.

#pragma once

#include "lookback.cuh"
#include "row_tiles.cuh"

// `words`: see lookback.cuh.  stride: 0, or only every stride-th tile is processed, and the entries are only counted,
// in words[0].  capacity: of the output; entries beyond it are counted and not written.  `values` and `out_values` are
// null if the matrix is iso-valued.  `present` is null, or has a bit for each entry: entries without it are not kept, and
// their values are not read.
struct KeepArguments {
    i64 nrows;
    i64 n;
    const P* indptr;
    const I* indices;
    const V* values;
    const u32* present;
    const i64* first_row;
    i64 tiles;
    i64 stride;
    u64* words;
    i64 capacity;
    P* out_indptr;
    I* out_indices;
    V* out_values;
};

// admit(x, i, j) returns whether the entry at (i, j) with the bits x of its value is kept; without NEEDS_VALUE, x is 0, and
// without NEEDS_ROW, i is 0.  A block for each tile calls.
template <bool NEEDS_VALUE, bool NEEDS_ROW, class F>
DEVICE void keep_rows(const KeepArguments& k, F admit) {
    __shared__ TileHeads<u16, int(TILE)> heads;
    __shared__ TileMarks kept;
    __shared__ i64 shared_before;
    const i64 number = k.stride != 0 ? k.stride * i64(blockIdx.x) : i64(blockIdx.x);
    const RowTile tile(k.first_row, number, k.nrows, k.n);
    // All loads of one kind precede their first use, so that they overlap.
    I columns[TILE_ROUNDS];
    V values[TILE_ROUNDS];
    const bool valued = k.values != nullptr;
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int slot = tile_slot(round);
        columns[round] = slot < tile.entries ? k.indices[tile.first + slot] : I(0);
        values[round] = V();
        if (NEEDS_VALUE && valued && slot < tile.entries && is_present(k.present, tile.first + slot))
            values[round] = k.values[tile.first + slot];
    }
    if constexpr (NEEDS_ROW) {
        heads.clear();
        __syncthreads();
        mark_rows(heads, tile, k.indptr, k.nrows);
        heads.finish();
    }
    u32 mine = 0;  // bit r: the entry of round r
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int slot = tile_slot(round);
        bool hit = slot < tile.entries && is_present(k.present, tile.first + slot);
        if (hit) {
            i64 row = 0;
            if constexpr (NEEDS_ROW) row = tile.row0 + i64(heads.at(slot));
            hit = admit(values[round], row, i64(columns[round]));
        }
        mine |= u32(hit) << round;
    }
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const u32 word = __ballot_sync(FULL_WARP, mine >> round & 1u);
        if (lane_id() == 0) kept.bits[tile_slot(round) >> 5] = word;
    }
    if constexpr (!NEEDS_VALUE) {  // only the values that are kept
#pragma unroll
        for (int round = 0; round < TILE_ROUNDS; round++)
            if (valued && (mine >> round & 1u) != 0) values[round] = k.values[tile.first + tile_slot(round)];
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        const int count = kept.count();
        if (k.stride != 0) {
            if (threadIdx.x == 0) atomicAdd(k.words, u64(count));
        } else {
            const i64 before = Lookback{k.words}.before(number, count, number == k.tiles - 1);
            if (threadIdx.x == 0) shared_before = before;
        }
    }
    if (k.stride != 0) return;
    __syncthreads();
    const i64 before = shared_before;
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const i64 to = before + kept.rank(tile_slot(round));
        if ((mine >> round & 1u) == 0 || to >= k.capacity) continue;
        k.out_indices[to] = columns[round];
        if (valued) k.out_values[to] = values[round];
    }
    if (number == 0 && threadIdx.x == 0) k.out_indptr[0] = 0;
    for (i64 r = tile.row0 + threadIdx.x; r < tile.row1; r += TILE_THREADS)
        k.out_indptr[r + 1] = P(before + kept.rank(int(i64(k.indptr[r + 1]) - tile.first)));
}
