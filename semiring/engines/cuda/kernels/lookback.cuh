// The sum over all tiles before a tile, within one launch: decoupled look-back.
// Merrill, Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (NVIDIA NVR-2016-002, 2016).
//
// Every tile publishes its own sum, adds the sums of the tiles before it until it finds one that includes all before,
// and publishes that.  Blocks start in the order of their numbers, so the tiles before are under way or complete, and
// waiting for them ends.  A sum and its kind are one word: relaxed accesses suffice, because no other memory is read
// after them.

#pragma once

#include "atomics.cuh"
#include "warp.cuh"

constexpr u64 TILE_SUM = u64(1) << 62;    // the word holds the sum of its tile
constexpr u64 PREFIX_SUM = u64(2) << 62;  // the word holds the sum of its tile and of all before
constexpr u64 SUM_BITS = TILE_SUM - 1;
// Words that a lane reads at once.  H200, calls of ewise_add of two kron22 graphs and of select tril: 2 words 2.71 and
// 1.15 ms, 8 words 3.06 and 1.31, 16 words 3.82 and 1.80 (benchmarks/results/nvidia-h200-around-first.txt): reads of
// words that tiles under way still write delay these writes.
constexpr int LOOKBACK_WORDS = 2;
constexpr u32 WAIT_NS = 200;  // between two reads of a word that is still 0

// Words that are 0 before the launch: the sum over all tiles, and one for each tile.
struct Lookback {
    u64* words;

    // The sum over the tiles before `tile`, whose own sum is `sum`; `last`: whether it is the last tile.
    // Every lane of one warp calls with the same arguments; valid in every lane.
    DEVICE i64 before(i64 tile, i64 sum, bool last) const {
        u64* const sums = words + 1;
        if (lane_id() == 0) store_relaxed(sums + tile, (tile == 0 ? PREFIX_SUM : TILE_SUM) | u64(sum));
        i64 mine = 0;
        bool complete = tile == 0;
        for (i64 end = tile; !complete; end -= 32 * LOOKBACK_WORDS) {
            u64 found[LOOKBACK_WORDS];
#pragma unroll
            for (int k = 0; k < LOOKBACK_WORDS; k++) {
                const i64 other = end - 1 - 32 * k - lane_id();
                found[k] = other >= 0 ? load_relaxed(sums + other) : PREFIX_SUM;
            }
#pragma unroll
            for (int k = 0; k < LOOKBACK_WORDS; k++) {
                if (complete) continue;
                // A word changes from 0 to a sum and from a sum to a prefix; any of both is correct.
                while (__ballot_sync(FULL_WARP, found[k] == 0) != 0) {
                    __nanosleep(WAIT_NS);
                    if (found[k] == 0) found[k] = load_relaxed(sums + (end - 1 - 32 * k - lane_id()));
                }
                const u32 prefixes = __ballot_sync(FULL_WARP, (found[k] & PREFIX_SUM) != 0);
                if (prefixes == 0 || lane_id() < __ffs(int(prefixes))) mine += i64(found[k] & SUM_BITS);
                complete = prefixes != 0;
            }
        }
        const i64 all = warp_sum(mine);
        if (lane_id() == 0) {
            if (tile != 0) store_relaxed(sums + tile, PREFIX_SUM | u64(all + sum));
            if (last) words[0] = u64(all + sum);
        }
        return all;
    }
    // The same by the threads of a block, of which those of the first warp have the sum; ends with a barrier.
    DEVICE i64 before_block(i64 tile, i64 sum, bool last) const {
        __shared__ i64 earlier;
        if (threadIdx.x < 32) {
            const i64 all = before(tile, sum, last);
            if (threadIdx.x == 0) earlier = all;
        }
        __syncthreads();
        return earlier;
    }
};
