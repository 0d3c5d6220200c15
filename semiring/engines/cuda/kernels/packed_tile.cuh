// A warp decodes one packed tile: four gaps a lane, exceptions added in shared memory, then one prefix sum.

#pragma once

#include "packed.cuh"
#include "tiles.cuh"

// The bytes of the longest tile: its header, an anchor, gaps, and the positions and high parts of exceptions.
constexpr int PACKED_MAX_BYTES = 4 * (1 + int(sizeof(J)) / 4 + 4 * COLUMN_BITS + 32 + (127 * COLUMN_BITS + 31) / 32);

struct PackedStage {  // shared memory of a warp
    uint4 lines[PACKED_MAX_BYTES / LINE + 3];
    UJ gaps[TILE_ENTRIES];
};

// The columns of the entries 4 lane to 4 lane + 3; returns the tile.  Every lane calls.
DEVICE PackedTile packed_columns(PackedStage& stage, const TileLines& lines, int count, UJ anchor, u64 mask,
                                 UJ (&columns)[4]) {
    const u32* const words = reinterpret_cast<const u32*>(stage.lines);
    const PackedTile tile(words, PACKED_MAX_BYTES / 4 + 8, lines.shift / 4, count, mask);
    const u32 s = 4 * u32(lane_id());
#pragma unroll
    for (int i = 0; i < 4; ++i) columns[i] = s + i < u32(count) && s + i > 0 ? tile.gap(s + i) : UJ(0);
    if (tile.exceptions != 0) {
#pragma unroll
        for (int i = 0; i < 4; ++i) stage.gaps[s + i] = columns[i];
        __syncwarp();
        // Atomics, because a malformed tile may repeat a position.
        for (u32 e = u32(lane_id()); e < tile.exceptions; e += 32)
            atomicAdd(stage.gaps + tile.position(e), tile.high_part(e));
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
