// A warp decodes one varint tile in device or host memory, to prefix sums of its numbers, regardless of rows.

#pragma once

#include "tile.cuh"
#include "varint.cuh"

struct TileReader : TileBytes {
    static constexpr bool BY_HALVES = false;

    DEVICE TileReader(const Entries& of, TileStage& stage) : TileBytes(of, stage) {}

    // Reads and decodes the whole tile, once.  Every lane of the warp calls.
    DEVICE void decode_until(int, int) {
        __syncwarp();  // lanes may still read the stage
        if (!opened) {
            locate();
            fetch(0, length);
            __syncwarp();
            sum_numbers(stage_offset(), Column(of.base[t]));
        }
        opened = true;
    }
    // Each lane reads the numbers that end in its 8 bytes.
    DEVICE void sum_numbers(int stage_offset, Column anchor) {
        const VarintBytes stream(stage.words, 4 * STAGE_WORDS);
        const int end = stage_offset + length;
        int decoded = 0;      // numbers of earlier rounds
        int last_end = stage_offset; // the end of the last of them
        for (int round = stage_offset; round < end && decoded < count; round += 256) {
            const int mine = round + 8 * lane_id();
            u64 ends = mine < end ? ~stream.eight_bytes(mine) & TERMINATORS : 0;
            if (end - mine < 8 && mine < end) ends &= (u64(1) << (8 * (end - mine))) - 1;
            const int found = __popcll(ends);
            const int up_to = warp_scan_inclusive(found);
            // The first number that ends in these bytes begins after the last end in any lower lane.
            int last = found != 0 ? mine + (63 - __clzll(i64(ends))) / 8 + 1 : last_end;
#pragma unroll
            for (int delta = 1; delta < 32; delta *= 2) {
                const int below = __shfl_up_sync(FULL_WARP, last, delta);
                if (lane_id() >= delta && below > last) last = below;
            }
            const int lower = __shfl_up_sync(FULL_WARP, last, 1);
            int begin = lane_id() == 0 ? last_end : lower;
            for (int s = decoded + up_to - found; ends != 0 && s < count; ends &= ends - 1, ++s) {
                stage.numbers[s] = stream.number(begin).value;
                begin = mine + (__ffsll(i64(ends)) - 1) / 8 + 1;
            }
            decoded += shuffle(up_to, 31);
            last_end = shuffle(last, 31);
        }
        __syncwarp();
        Column before = 0;
#pragma unroll
        for (int c = 0; c < CHUNKS; ++c) {
            const int s = 32 * c + lane_id();
            const Column number = s == 0 ? anchor : s < count ? stage.numbers[s] : Column(0);
            const Column sum = before + warp_scan_inclusive(number);
            before = shuffle(sum, 31);
            stage.numbers[s] = sum;
        }
        __syncwarp();
    }
    // The column of entry 32 c + lane, whose row begins at entry `row_begin` of the tile, or before the tile (0).
    DEVICE i64 column(int c, int row_begin, bool) const {
        const Column before = row_begin > 0 ? stage.numbers[row_begin - 1] : Column(0);
        return i64(J(stage.numbers[32 * c + lane_id()] - before));
    }
};
