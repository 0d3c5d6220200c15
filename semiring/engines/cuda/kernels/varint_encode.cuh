// A warp encodes one varint tile.  Lane i encodes the numbers of the entries 32 c + i, c = 0 .. 3.

#pragma once

#include "encoding.cuh"
#include "tiles.cuh"

constexpr int LONGEST_CODE = sizeof(J) == 4 ? 5 : 9;

struct VarintCode {
    UJ value;
    u32 bytes;  // 0 if there is no entry
};

// The number of entry 128 t + 32 c + lane; `starts` marks the entries of the tile that begin a row.
DEVICE VarintCode varint_number(const EncoderInput& of, const u32* starts, i64 t, int c) {
    const i64 p = TILE_ENTRIES * t + 32 * c + lane_id();
    if (p >= of.nvals) return {0, 0};
    UJ value = UJ(of.indices[p]);
    if (!(starts[c] >> lane_id() & 1u)) value -= UJ(of.indices[p - 1]);
    else if (p == 0 && of.before >= 0 && of.indptr[1] > 0) value -= UJ(of.before);
    const int bits = bit_length(value);
    return {value, bits == 0 ? 1u : u32(bits + 6) / 7};
}

// The bytes of a tile that is being encoded; they begin at their global address modulo 4.
struct VarintLine {
    u32 words[(int(TILE_ENTRIES) * LONGEST_CODE + 3) / 4 + 1];
};

DEVICE void varint_write(const EncoderInput& of, const u32* starts, i64 t, u8* to, VarintLine& line) {
    const u32 begin = u32(reinterpret_cast<u64>(to) % 4);
    u8* const bytes = reinterpret_cast<u8*>(line.words);
    u32 end = begin;
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
        const VarintCode code = varint_number(of, starts, t, c);
        const u32 up_to = warp_scan_inclusive(code.bytes);
        UJ value = code.value;
        for (u32 k = 0; k < code.bytes; ++k) {
            bytes[end + up_to - code.bytes + k] = u8((value & 0x7f) | (k + 1 < code.bytes ? 0x80 : 0));
            value >>= 7;
        }
        end += shuffle(up_to, 31);
    }
    __syncwarp();
    // Writes whole words, but the first and the last one byte by byte, because other warps write the other bytes.
    u32* const words = reinterpret_cast<u32*>(to - begin);
    for (u32 k = lane_id(); 4 * k < end; k += 32) {
        if (4 * k >= begin && 4 * k + 4 <= end) {
            words[k] = line.words[k];
        } else {
            for (u32 b = 4 * k < begin ? begin : 4 * k; b < 4 * k + 4 && b < end; ++b) to[b - begin] = bytes[b];
        }
    }
    __syncwarp();
}

struct TileEncoder {
    struct SizeStage {  // shared memory of a warp
        u32 starts[4];  // see RowStarts
    };
    struct WriteStage {
        u32 starts[4];
        VarintLine line;
    };
    static constexpr bool HAS_WIDTHS = false;

    const EncoderInput& of;

    // Calls body(t) for every tile; then stage.starts marks the entries of the tile that begin a row.  The whole grid
    // calls.
    template <class Stage, class F>
    DEVICE void for_each_tile(Stage& stage, F body) const {
        constexpr int GROUP = 8;  // consecutive tiles of a warp, with one search for their rows
        const i64 tiles = tile_count(of.nvals);
        RowStarts rows(of.indptr, of.nrows);
        for (i64 group = GROUP * warp_id(); group < tiles; group += GROUP * warp_count()) {
            rows.enter(TILE_ENTRIES * group);
            for (i64 t = group; t < tiles && t < group + GROUP; ++t) {
                rows.mark(TILE_ENTRIES * t, tile_entries(of.nvals, t), stage.starts);
                body(t);
                __syncwarp();
            }
        }
    }
    // Every lane calls, inside `for_each_tile`.
    DEVICE TileSize size(i64 t, const SizeStage& stage) const {
        u32 bytes = 0;
#pragma unroll
        for (int c = 0; c < CHUNKS; ++c) bytes += varint_number(of, stage.starts, t, c).bytes;
        return {warp_sum(bytes), 0};
    }
    // Every lane calls, inside `for_each_tile`.
    DEVICE void write(i64 t, const AT* at, const u8*, u8* stream, WriteStage& stage) const {
        varint_write(of, stage.starts, t, stream + i64(at[t]), stage.line);
    }
};
