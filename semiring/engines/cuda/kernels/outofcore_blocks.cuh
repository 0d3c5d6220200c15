// Which blocks of a stream hold marked tiles: one bit for each block of BLOCK_WORDS words of the tile bitmap.

#include "warp.cuh"

extern "C" __global__ void outofcore_blocks(const u32* tiles, i64 words, i64 blocks, u32* listed) {
    for (i64 base = 32 * warp_id(); base < blocks; base += 32 * warp_count()) {
        const i64 block = base + lane_id();
        const i64 end = (block + 1) * BLOCK_WORDS < words ? (block + 1) * BLOCK_WORDS : words;
        u32 any = 0;
        for (i64 w = block * BLOCK_WORDS; w < end; ++w) any |= tiles[w];
        const u32 bits = __ballot_sync(FULL_WARP, any != 0);
        if (lane_id() == 0) listed[base >> 5] = bits;
    }
}
