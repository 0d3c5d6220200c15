// The sum over all tiles before a tile, within one launch: decoupled look-back.
// Merrill, Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (NVIDIA NVR-2016-002, 2016).
//
// Every tile publishes its own sum, adds the sums of the tiles before it until it finds one that includes all before,
// and publishes that.  Blocks take tiles in the order in which they start, so the tiles before are under way or
// complete, and waiting for them ends.  A sum and its kind are one word: relaxed accesses suffice, because no other
// memory is read after them.

#pragma once

#include "atomics.cuh"
#include "warp.cuh"

constexpr u64 TILE_SUM = u64(1) << 62;     // the word holds the sum of its tile
constexpr u64 PREFIX_SUM = u64(2) << 62;   // the word holds the sum of its tile and of all before
constexpr u64 SUM_BITS = TILE_SUM - 1;

// Words that are 0 before the launch: the number of tiles taken, the sum over all tiles, and one for each tile.
struct Lookback {
    u64* words;

    // The next tile.  Every thread of the block calls; ends with a barrier.
    DEVICE i64 next_tile() const {
        __shared__ i64 tile;
        if (threadIdx.x == 0) tile = i64(atomicAdd(words, u64(1)));
        __syncthreads();
        return tile;
    }
    // The sum over the tiles before `tile`, whose own sum is `sum`; `last`: whether it is the last tile.
    // Every lane of one warp calls with the same arguments; valid in every lane.
    DEVICE i64 before(i64 tile, i64 sum, bool last) const {
        u64* const sums = words + 2;
        if (lane_id() == 0) store_relaxed(sums + tile, (tile == 0 ? PREFIX_SUM : TILE_SUM) | u64(sum));
        i64 found = 0;
        for (i64 end = tile; end > 0; end -= 32) {
            const i64 other = end - 1 - lane_id();
            u64 word = PREFIX_SUM;
            // A word changes from 0 to a sum and from a sum to a prefix; any of both is correct.
            if (other >= 0) {
                while ((word = load_relaxed(sums + other)) == 0) {}
            }
            const u32 prefixes = __ballot_sync(FULL_WARP, (word & PREFIX_SUM) != 0);
            const bool counts = prefixes == 0 || lane_id() < __ffs(int(prefixes));
            found += warp_sum(counts ? i64(word & SUM_BITS) : i64(0));
            if (prefixes != 0) break;
        }
        if (lane_id() == 0) {
            if (tile != 0) store_relaxed(sums + tile, PREFIX_SUM | u64(found + sum));
            if (last) words[1] = u64(found + sum);
        }
        return found;
    }
};
