// A warp decodes one packed tile in device or host memory.  Each half of a tile has its own anchor and is read up to its
// last needed entry.

#pragma once

#include "packed.cuh"
#include "tile.cuh"

struct TileReader : TileBytes {
    static constexpr bool BY_HALVES = true;  // whether the parts of a tile that no lane needs are not decoded

    int fetched[2];          // the end of the fetched bytes of each half
    Column columns[CHUNKS];  // of the entries 32 c + lane

    DEVICE TileReader(const Entries& of, TileStage& stage) : TileBytes(of, stage), fetched{}, columns{} {}

    // Decodes the entries of the first half before `first` and those of the second half before `second`; 0 if none is
    // needed.  Every lane of the warp calls.
    DEVICE void decode_until(int first, int second) {
        __syncwarp();  // lanes may still read the stage
        if (!opened) locate();
        constexpr int HALF = TILE_SIZE / 2;
        const int ends[2] = {first, second};
        if (!opened) {
            // The header determines which bytes are needed; nearly whole tiles are fetched at once.
            const bool fetch_all = first == HALF && second > 3 * HALF / 2;
            fetched[0] = 0;
            fetch_to(fetched[0], fetch_all ? length : 4 + (count > HALF ? 4 * int(anchor_words(of.mask)) : 0));
            __syncwarp();
        }
        const PackedTile tile(stage.words, STAGE_WORDS, stage_offset() / 4, count, of.mask);
        const int gaps = 4 * int(tile.gaps), width = int(tile.width);
        if (!opened) {
            const int positions = 4 * int(tile.positions), middle = gaps + HALF / 8 * width;
            if (tile.exceptions != 0) fetch(positions > fetched[0] ? positions : fetched[0], length);
            fetched[1] = middle > fetched[0] ? middle : fetched[0];
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            if (ends[half] != 0) fetch_to(fetched[half], gaps + (ends[half] * width + 7) / 8);
        }
        __syncwarp();
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            if (ends[half] == 0) continue;
            Column before = half == 0 ? Column(of.base[t]) : Column(tile.middle(of.mask));
            u32 exception = half == 0 ? 0 : warp_exceptions_to(tile, HALF - 1);
#pragma unroll
            for (int c = 2 * half; c < 2 * half + 2; ++c) {
                if (32 * c >= ends[half]) continue;
                Column gap = packed_gaps(tile, u32(c), count, exception);
                if (32 * c == HALF && lane_id() == 0) gap = 0;  // the anchor is the column of this entry
                columns[c] = (before + warp_scan_inclusive(gap)) & Column(of.mask);
                before = shuffle(columns[c], 31);
            }
        }
        opened = true;
    }
    // The column of entry 32 c + lane, if it is decoded.
    DEVICE i64 column(int c, int, bool) const { return i64(columns[c]); }
};
