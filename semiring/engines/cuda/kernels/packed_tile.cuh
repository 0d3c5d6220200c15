// A tile of the packed codec decoded by a warp: four gaps a lane, exceptions added in shared memory, one prefix sum.

#pragma once

#include "packed.cuh"
#include "tiles.cuh"

// The most words that a header can ask for: itself, an anchor, gaps, places and high parts of exceptions.
constexpr int PACKED_MOST = 4 * (1 + int(sizeof(J)) / 4 + 4 * COLUMN_BITS + 32 + (127 * COLUMN_BITS + 31) / 32);

// The shared memory of a warp.
struct PackedStage {
    uint4 lines[PACKED_MOST / LINE + 3];
    UJ gaps[TILE_ENTRIES];
};

// The columns of the entries 4 lane to 4 lane + 3, and their gaps.  Every lane calls.
DEVICE PackedTile packed_columns(PackedStage& stage, const TileLines& lines, int count, UJ anchor, u64 mask,
                                 UJ (&columns)[4]) {
    const u32* const words = reinterpret_cast<const u32*>(stage.lines);
    const PackedTile tile(words, PACKED_MOST / 4 + 8, lines.shift / 4, count, mask);
    const u32 s = 4 * u32(lane_id());
#pragma unroll
    for (int i = 0; i < 4; ++i) columns[i] = s + i < u32(count) && s + i > 0 ? tile.gap(s + i) : UJ(0);
    if (tile.exceptions != 0) {
#pragma unroll
        for (int i = 0; i < 4; ++i) stage.gaps[s + i] = columns[i];
        __syncwarp();
        // By atomics, because a damaged tile may name a place twice.
        for (u32 e = u32(lane_id()); e < tile.exceptions; e += 32) atomicAdd(stage.gaps + tile.place(e), tile.excess(e));
        __syncwarp();
#pragma unroll
        for (int i = 0; i < 4; ++i) columns[i] = stage.gaps[s + i];
    }
    UJ sum = columns[0] + columns[1] + columns[2] + columns[3];
    UJ running = anchor + warp_scan_inclusive(sum) - sum;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        running += columns[i];
        columns[i] = running & UJ(mask);
    }
    return tile;
}
