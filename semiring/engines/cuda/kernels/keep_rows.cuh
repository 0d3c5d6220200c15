// The entries of a matrix that satisfy a condition, as a matrix: in one pass if few are possible, else in two.  The first
// of two marks and counts them, the second writes them (keep_write.cuh).  The prologue defines TILE, P (the type of row
// offsets), I (of columns) and V, an unsigned integer of the size of the values, which are only moved.

#pragma once

#include "row_tiles.cuh"

// marks: for two passes, a bit for each slot of each tile.  words: for one pass, see lookback.cuh; for two passes, the
// number of kept entries of each tile, then of all tiles before it.  `values` and `out_values` are null if the matrix is
// iso-valued.  `present` is null, or has a bit for each entry: entries without it are not kept, and their values are not
// read.
struct KeepArguments {
    i64 nrows;
    i64 n;
    const P* indptr;
    const I* indices;
    const V* values;
    const u32* present;
    const i64* first_row;
    i64 tiles;
    u32* marks;
    u64* words;
    P* out_indptr;
    I* out_indices;
    V* out_values;
};

// Blocks of a multiprocessor that registers of the kernels are limited for.  H200, select_count of kron22 in float32:
// 6 blocks 0.300 ms for tril and 0.155 for valuegt, 8 blocks 0.263 and 0.163
// (benchmarks/results/nvidia-h200-around-tiles.txt).
constexpr int KEEP_RESIDENT = sizeof(I) + sizeof(V) <= 8 ? 8 : 5;

// Returns in lane r the word of marks of the warp's round r.  admit(x, i, j) returns whether the entry at (i, j) with the
// bits x of its value is kept; without NEEDS_VALUE, x is 0, and without NEEDS_ROW, i is 0.  Every thread calls.
template <bool NEEDS_VALUE, bool NEEDS_ROW, class F>
DEVICE u32 mark_kept(const KeepArguments& k, const RowTile& tile, F admit) {
    // All loads of one kind, of global and of shared memory, precede their first use, so that they overlap.
    I columns[TILE_ROUNDS];
    V values[TILE_ROUNDS];
    int rows[TILE_ROUNDS];
    const bool valued = k.values != nullptr;
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int slot = tile_slot(round);
        columns[round] = slot < tile.entries ? k.indices[tile.first + slot] : I(0);
        values[round] = V();
        if (NEEDS_VALUE && valued && slot < tile.entries && is_present(k.present, tile.first + slot))
            values[round] = k.values[tile.first + slot];
        rows[round] = 0;
    }
    if constexpr (NEEDS_ROW) {
        __shared__ TileHeads<u16, int(TILE)> heads;
        heads.clear();
        __syncthreads();
        mark_rows(heads, tile, k.indptr, k.nrows);
        heads.finish();
#pragma unroll
        for (int round = 0; round < TILE_ROUNDS; round++) rows[round] = int(heads.at_lane(tile_word(round)));
    }
    u32 mine = 0;
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int slot = tile_slot(round);
        bool hit = slot < tile.entries && is_present(k.present, tile.first + slot);
        if (hit) hit = admit(values[round], NEEDS_ROW ? tile.row0 + rows[round] : i64(0), i64(columns[round]));
        const u32 word = __ballot_sync(FULL_WARP, hit);
        if (lane_id() == round) mine = word;
    }
    return mine;
}

// Writes the entries with marks from position `before` on.  Every thread calls after `count` and a barrier.
DEVICE void write_kept(const KeepArguments& k, const RowTile& tile, const TileMarks& kept, i64 number, i64 before) {
    I columns[TILE_ROUNDS];
    V values[TILE_ROUNDS];
    const bool valued = k.values != nullptr;
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int slot = tile_slot(round);
        const bool hit = bit_test(kept.bits, slot);
        columns[round] = hit ? k.indices[tile.first + slot] : I(0);
        values[round] = hit && valued ? k.values[tile.first + slot] : V();
    }
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int slot = tile_slot(round);
        if (!bit_test(kept.bits, slot)) continue;
        const i64 to = before + kept.rank(slot);
        k.out_indices[to] = columns[round];
        if (valued) k.out_values[to] = values[round];
    }
    if (number == 0 && threadIdx.x == 0) k.out_indptr[0] = 0;
    for (i64 r = tile.row0 + threadIdx.x; r < tile.row1; r += TILE_THREADS)
        k.out_indptr[r + 1] = P(before + kept.rank(int(i64(k.indptr[r + 1]) - tile.first)));
}

// One pass.  A block for each tile calls.
template <bool NEEDS_VALUE, bool NEEDS_ROW, class F>
DEVICE void keep_rows(const KeepArguments& k, F admit) {
    __shared__ TileMarks kept;
    const i64 number = i64(blockIdx.x);
    const RowTile tile(k.first_row, number, k.nrows, k.n);
    const u32 mine = mark_kept<NEEDS_VALUE, NEEDS_ROW>(k, tile, admit);
    if (lane_id() < TILE_ROUNDS) kept.bits[tile_word(lane_id())] = mine;
    __syncthreads();
    const int count = threadIdx.x < 32 ? kept.count() : 0;
    write_kept(k, tile, kept, number, Lookback{k.words}.before_block(number, count, number == k.tiles - 1));
}

// The first of two passes.  A block for each tile calls.
template <bool NEEDS_VALUE, bool NEEDS_ROW, class F>
DEVICE void count_kept(const KeepArguments& k, F admit) {
    const i64 number = i64(blockIdx.x);
    const RowTile tile(k.first_row, number, k.nrows, k.n);
    const u32 mine = mark_kept<NEEDS_VALUE, NEEDS_ROW>(k, tile, admit);
    if (lane_id() < TILE_ROUNDS) k.marks[number * TILE_WORDS + tile_word(lane_id())] = mine;
    const int count = block_sum(__popc(mine));
    if (threadIdx.x == 0) k.words[number] = u64(count);
}
