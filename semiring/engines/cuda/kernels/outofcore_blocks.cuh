// The number of marked tiles in each block of a stream; a block is BLOCK_WORDS words of the tile bitmap.

#include "warp.cuh"

extern "C" __global__ void outofcore_blocks(const u32* tiles, i64 words, i64 blocks, u32* listed) {
    for (i64 block = thread_id(); block < blocks; block += thread_count()) {
        const i64 end = (block + 1) * BLOCK_WORDS < words ? (block + 1) * BLOCK_WORDS : words;
        u32 found = 0;
        for (i64 w = block * BLOCK_WORDS; w < end; ++w) found += u32(__popc(tiles[w]));
        listed[block] = found;
    }
}
