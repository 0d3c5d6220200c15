// The entries of a matrix that satisfy a condition, as a matrix, in one pass.  The prologue defines TILE, P (the type
// of row offsets), I (of columns) and V an unsigned integer of the size of the values, which are only moved.

#pragma once

#include "lookback.cuh"
#include "row_tiles.cuh"

// The first two words of `words` and one for each tile are 0 before the launch.  stride: 0, or only every stride-th
// tile is processed, and the entries are only counted, in words[1].  capacity: of the output; entries beyond it are
// counted and not written.  `values` and `out_values` are null if the matrix is iso-valued; `present`
// is null, or has a bit for each entry: others do not count.
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

// admit(p, i, j) returns whether entry p at (i, j) is kept; without NEEDS_ROW, i is 0.  A block for each tile calls.
template <bool NEEDS_ROW, class F>
DEVICE void keep_rows(const KeepArguments& k, F admit) {
    const Lookback sums{k.words};
    __shared__ TileHeads<u16, int(TILE)> heads;
    __shared__ TileMarks kept;
    __shared__ i64 shared_before;
    const i64 number = k.stride != 0 ? k.stride * i64(blockIdx.x) : sums.next_tile();
    const RowTile tile(k.first_row, number, k.nrows, k.n);
    // All loads of one kind precede their first use, so that they overlap.
    I columns[TILE_ROUNDS];
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int slot = tile_slot(round);
        columns[round] = slot < tile.entries ? k.indices[tile.first + slot] : I(0);
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
            hit = admit(tile.first + slot, row, i64(columns[round]));
        }
        const u32 word = __ballot_sync(FULL_WARP, hit);
        if (lane_id() == 0) kept.bits[slot >> 5] = word;
        mine |= u32(hit) << round;
    }
    V values[TILE_ROUNDS];
    const bool valued = k.out_values != nullptr;
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        values[round] = V();
        if (valued && (mine >> round & 1u) != 0) values[round] = k.values[tile.first + tile_slot(round)];
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        const int count = kept.count();
        if (k.stride != 0) {
            if (threadIdx.x == 0) atomicAdd(k.words + 1, u64(count));
        } else {
            const i64 before = sums.before(number, count, number == k.tiles - 1);
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
