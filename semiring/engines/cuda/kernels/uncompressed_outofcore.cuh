// A warp reads the columns of a tile of uncompressed entries: each lane those that it needs.

#pragma once

#include "tile.cuh"

struct TileReader : TileBytes {
    static constexpr bool BY_HALVES = false;

    DEVICE TileReader(const Entries& of, TileStage& stage) : TileBytes(of, stage) {}

    // There is nothing to decode.
    DEVICE void decode_until(int, int) {}
    // The column of entry 32 c + lane if `wanted`, otherwise undefined.  Every lane of the warp calls.
    DEVICE i64 column(int c, int, bool wanted) {
        const u64 address = u64(of.entries) + sizeof(J) * u64(TILE_SIZE * t + 32 * c + lane_id());
        const u32 lanes = __ballot_sync(FULL_WARP, wanted);
        traffic += 32 * i64(sectors(lanes));
        return wanted ? i64(__ldcs(reinterpret_cast<const J*>(address))) : 0;
    }
    // The number of 32-byte sectors with a column that a lane needs.
    static DEVICE int sectors(u32 lanes) {
        constexpr int EACH = 32 / int(sizeof(J));
        int found = 0;
#pragma unroll
        for (int first = 0; first < 32; first += EACH) found += (lanes >> first & ((1u << EACH) - 1u)) != 0;
        return found;
    }
};
