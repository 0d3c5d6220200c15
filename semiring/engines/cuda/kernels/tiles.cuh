// Tiles of compressed columns, one after the other through a warp: fetched with wide loads while the one before is
// being decoded, each byte once, and laid into shared memory.

#pragma once

#include "compressed.cuh"

// Tiles in a row that one warp takes: what is looked up once for them costs little.
constexpr int GROUP_TILES = 8;
constexpr int LINE = 16;

// Where the stream is: the readable positions [low, high) and the 16 bytes behind them, in bytes.
struct StreamRange {
    const u8* stream;
    i64 low, high;
};

// The lines of 16 bytes that hold one tile; its bytes begin `shift` bytes behind the first line.
struct TileLines {
    const uint4* lines;
    int count, shift, bytes;

    // Whatever the offsets are, no line lies outside the range, and no tile is longer than `most`.
    DEVICE TileLines(StreamRange range, i64 begin, i64 end, int most) {
        begin = begin < range.low ? range.low : begin > range.high ? range.high : begin;
        end = end < begin ? begin : end > range.high ? range.high : end;
        bytes = int(end - begin < most ? end - begin : most);
        const u64 address = reinterpret_cast<u64>(range.stream) + u64(begin);
        shift = int(address % LINE);
        lines = reinterpret_cast<const uint4*>(address - u64(shift));
        count = bytes == 0 ? 0 : (shift + bytes + LINE - 1) / LINE;
    }
};

// body(t, tile, anchor) for the tiles [first, last), with the bytes of tile t in `stage` from byte tile.shift on.  MOST
// is a bound on the bytes of a tile, UNIT the bytes of an element of the stream.
// Before each group of consecutive tiles comes enter(t).  Every thread of the grid calls, each warp with its own stage.
template <int MOST, int UNIT, class Enter, class Body>
DEVICE void for_each_tile(StreamRange range, const J* base, const AT* at, i64 first, i64 last, uint4* stage,
                          Enter enter, Body body) {
    for (i64 group = first + GROUP_TILES * warp_id(); group < last; group += GROUP_TILES * warp_count()) {
        const int tiles = int(last - group < GROUP_TILES ? last - group : GROUP_TILES);
        const i64 offset = lane_id() <= tiles ? UNIT * i64(at[group + lane_id()]) : 0;
        const J anchor = lane_id() < tiles ? base[group + lane_id()] : J(0);
        enter(group);
        TileLines next(range, shuffle(offset, 0), shuffle(offset, 1), MOST);
        uint4 line = make_uint4(0, 0, 0, 0);
        if (lane_id() < next.count) line = next.lines[lane_id()];
        for (int k = 0; k < tiles; ++k) {
            const TileLines tile = next;
            __syncwarp();  // the tile before may still be read
            stage[lane_id()] = line;
            for (int l = 32 + lane_id(); l < tile.count; l += 32) stage[l] = tile.lines[l];
            if (k + 1 < tiles) {
                next = TileLines(range, shuffle(offset, k + 1), shuffle(offset, k + 2), MOST);
                if (lane_id() < next.count) line = next.lines[lane_id()];
            }
            __syncwarp();
            body(group + k, tile, UJ(shuffle(anchor, k)));
        }
    }
}

// Four columns a lane, of the entries 4 lane to 4 lane + 3 of tile t, into out[p - first] for first <= p < last.
DEVICE void store_columns(i64 t, const UJ (&columns)[4], i64 first, i64 last, J* out) {
    const i64 begin = TILE_ENTRIES * t;
    const i64 p = begin + 4 * lane_id();
    J* const to = out + (p - first);
    if (begin >= first && begin + TILE_ENTRIES <= last && reinterpret_cast<u64>(to) % 16 == 0) {
        if constexpr (sizeof(J) == 4) {
            *reinterpret_cast<uint4*>(to) = make_uint4(columns[0], columns[1], columns[2], columns[3]);
        } else {
            reinterpret_cast<ulonglong2*>(to)[0] = make_ulonglong2(columns[0], columns[1]);
            reinterpret_cast<ulonglong2*>(to)[1] = make_ulonglong2(columns[2], columns[3]);
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
        if (p + i >= first && p + i < last) to[i] = J(columns[i]);
}
