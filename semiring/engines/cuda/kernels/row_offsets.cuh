// Offsets of rows from their lengths, in one pass: a block processes TILE rows.

#pragma once

#include "lookback.cuh"
#include "row_tiles.cuh"

// offsets[p] = the sum of the lengths of rows 0 to p - 1, for p = 0 to n; words[0] = that of all.  lengths: those of the
// rows blockIdx.x * TILE + tile_slot(round), 0 from row n on.  words: see lookback.cuh.  Every thread calls.
template <class O>
DEVICE void write_offsets(i64 n, i64 (&lengths)[TILE_ROUNDS], O* offsets, u64* words) {
    __shared__ i64 warp_sums[TILE_THREADS / 32];
    __shared__ i64 shared_before;
    const i64 tile = i64(blockIdx.x), first = tile * TILE;
    i64 sum = 0;  // of the warp
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const i64 inclusive = warp_scan_inclusive(lengths[round]);
        lengths[round] = sum + inclusive - lengths[round];
        sum += shuffle(inclusive, 31);
    }
    if (lane_id() == 0) warp_sums[warp_in_block()] = sum;
    __syncthreads();
    i64 below = 0, all = 0;
    for (int w = 0; w < TILE_THREADS / 32; w++) {
        if (w == warp_in_block()) below = all;
        all += warp_sums[w];
    }
    const bool last = first + TILE >= n;
    if (threadIdx.x < 32) {
        const i64 before = Lookback{words}.before(tile, all, last);
        if (threadIdx.x == 0) shared_before = before;
    }
    __syncthreads();
    const i64 before = shared_before + below;
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const i64 p = first + tile_slot(round);
        if (p < n) offsets[p] = O(before + lengths[round]);
    }
    if (last && threadIdx.x == 0) offsets[n] = O(shared_before + all);
}
