// A warp decodes or checks one packed tile: four gaps a lane, exceptions added in shared memory, then one prefix sum.

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

struct TileDecoder {
    typedef PackedStage Stage;
    static constexpr int MAX_BYTES = PACKED_MAX_BYTES;

    i64 nvals;
    u64 mask;

    DEVICE TileDecoder(const P*, i64, u64 mask, i64 nvals) : nvals(nvals), mask(mask) {}

    // Tile t is the first of consecutive tiles: no tile depends on its rows.
    DEVICE void enter(i64) {}
    // The columns of the entries 4 lane to 4 lane + 3 of tile t.  Every lane calls.
    DEVICE void decode(i64 t, const TileLines& tile, UJ anchor, Stage& stage, UJ (&columns)[4]) {
        packed_columns(stage, tile, tile_entries(nvals, t), anchor, mask, columns);
    }
};

// Checks the header, the length and the exceptions of a packed tile.  Every lane calls; valid in every lane.
DEVICE bool packed_is_valid(const PackedStage& stage, const TileLines& lines, i64 length, int count, u64 mask) {
    if (length < 1 || 4 * length != lines.bytes) return false;
    const u32* const words = reinterpret_cast<const u32*>(stage.lines) + lines.shift / 4;
    const u32 header = words[0];
    const u32 w = header & 63u, x = header >> 6 & 255u, h = header >> 14;
    if (x >= TILE_ENTRIES || w + h > u32(__popcll(mask))) return false;
    const u32 gaps = 1 + (count > 64 ? anchor_words(mask) : 0);
    const u32 positions = gaps + u32(count + 31) / 32 * w;
    if (length != i64(positions) + (x + 3) / 4 + (x * h + 31) / 32) return false;
    bool valid = w < 32 ? (words[gaps] & (w == 0 ? 0u : (1u << w) - 1u)) == 0 : words[gaps] == 0;
    if (w > 32) valid = valid && (words[gaps + 1] & ((1u << (w - 32)) - 1u)) == 0;
    const auto position = [=](u32 e) { return words[positions + e / 4] >> (8 * (e % 4)) & 255u; };
    for (u32 e = u32(lane_id()); e < x; e += 32)
        valid = valid && position(e) < u32(count) && (e == 0 ? 0u : position(e - 1)) < position(e);
    return __ballot_sync(FULL_WARP, !valid) == 0;
}

struct TileChecker {
    struct Stage : PackedStage {  // shared memory of a warp
        u32 starts[4];            // see RowStarts
    };
    static constexpr int MAX_BYTES = PACKED_MAX_BYTES;

    const CheckInput& of;

    // The columns of the entries 4 lane to 4 lane + 3 of tile t, which has `length` elements; false if the layout is
    // invalid.  Every lane calls; valid in every lane.
    DEVICE bool decode(i64 t, const TileLines& lines, i64 length, int count, UJ anchor, u32, Stage& stage,
                       UJ (&columns)[4]) const {
        if (!packed_is_valid(stage, lines, length, count, of.mask)) return false;
        const PackedTile tile = packed_columns(stage, lines, count, anchor, of.mask, columns);
        if (lane_id() == 0) columns[0] = anchor;
        if (count > 64 && lane_id() == 16 && columns[0] != tile.middle(of.mask)) atomicMin(of.failed.middle, u64(t));
        return true;
    }
    // Whether the first number of a tile, at an element of the stream, agrees with the columns before it and at it.
    DEVICE bool continues(UJ, i64, UJ) const { return true; }
};
