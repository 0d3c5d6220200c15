// A warp encodes one varint tile.  Lane i encodes the numbers of the entries 32 c + i, c = 0 .. 3.

#pragma once

#include "packed_encode.cuh"
#include "row_starts.cuh"

constexpr int LONGEST_CODE = sizeof(J) == 4 ? 5 : 9;

// Calls body(t) for every tile; `starts` marks the entries of the tile that begin a row.  The whole grid calls.
template <class F>
DEVICE void for_each_row_marked(const P* indptr, i64 nrows, i64 nvals, u32* starts, F body) {
    constexpr int GROUP = 8;  // consecutive tiles of a warp, with one search for their rows
    const i64 tiles = tile_count(nvals);
    RowStarts rows(indptr, nrows);
    for (i64 group = GROUP * warp_id(); group < tiles; group += GROUP * warp_count()) {
        rows.enter(TILE_ENTRIES * group);
        for (i64 t = group; t < tiles && t < group + GROUP; ++t) {
            rows.mark(TILE_ENTRIES * t, tile_entries(nvals, t), starts);
            body(t);
            __syncwarp();
        }
    }
}

struct VarintCode {
    UJ value;
    u32 bytes;  // 0 if there is no entry
};

// The number of entry 128 t + 32 c + lane.
DEVICE VarintCode varint_number(const J* indices, const P* indptr, i64 nvals, i64 before, const u32* starts, i64 t,
                                int c) {
    const i64 p = TILE_ENTRIES * t + 32 * c + lane_id();
    if (p >= nvals) return {0, 0};
    UJ value = UJ(indices[p]);
    if (!(starts[c] >> lane_id() & 1u)) value -= UJ(indices[p - 1]);
    else if (p == 0 && before >= 0 && indptr[1] > 0) value -= UJ(before);
    const int bits = bit_length(value);
    return {value, bits == 0 ? 1u : u32(bits + 6) / 7};
}

// The bytes of a tile that is being encoded; they begin at their global address modulo 4.
struct VarintLine {
    u32 words[(int(TILE_ENTRIES) * LONGEST_CODE + 3) / 4 + 1];
};

DEVICE void varint_write(const J* indices, const P* indptr, i64 nvals, i64 before, const u32* starts, i64 t, u8* to,
                         VarintLine& line) {
    const u32 begin = u32(reinterpret_cast<u64>(to) % 4);
    u8* const bytes = reinterpret_cast<u8*>(line.words);
    u32 end = begin;
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
        const VarintCode code = varint_number(indices, indptr, nvals, before, starts, t, c);
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
