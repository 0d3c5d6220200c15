// A warp loads consecutive tiles of compressed columns into shared memory, each byte once, by 16-byte loads that
// overlap with the decoding of the tile before.

#pragma once

#include "compressed.cuh"
#include "grid.cuh"

// Consecutive tiles that one warp processes, with one look-up of their offsets and anchors.
constexpr int GROUP_TILES = 8;
constexpr int LINE = 16;

// The readable part of a stream, in bytes: positions [low, high) and the 16 bytes after them.
struct StreamRange {
    const u8* stream;
    i64 low, high;
};

// The 16-byte lines that contain one tile; the tile begins `shift` bytes after the first line.
struct TileLines {
    const uint4* lines;
    int count, shift, bytes;

    // Clamps the tile to the range and to `max_bytes` bytes: offsets may be malformed.
    DEVICE TileLines(StreamRange range, i64 begin, i64 end, int max_bytes) {
        begin = begin < range.low ? range.low : begin > range.high ? range.high : begin;
        end = end < begin ? begin : end > range.high ? range.high : end;
        bytes = int(end - begin < max_bytes ? end - begin : max_bytes);
        const u64 address = reinterpret_cast<u64>(range.stream) + u64(begin);
        shift = int(address % LINE);
        lines = reinterpret_cast<const uint4*>(address - u64(shift));
        count = bytes == 0 ? 0 : (shift + bytes + LINE - 1) / LINE;
    }
};

// Calls body(t, tile, anchor) for the tiles [first, last), with the bytes of tile t in `stage` from byte tile.shift on,
// and enter(t) before each group of consecutive tiles.  MAX_BYTES bounds the bytes of a tile; UNIT is the size of an
// element of the stream.  Every thread of the grid calls, each warp with its own stage.
template <int MAX_BYTES, int UNIT, class Enter, class Body>
DEVICE void for_each_tile(StreamRange range, const J* base, const AT* at, i64 first, i64 last, uint4* stage,
                          Enter enter, Body body) {
    for (i64 group = first + GROUP_TILES * warp_id(); group < last; group += GROUP_TILES * warp_count()) {
        const int tiles = int(last - group < GROUP_TILES ? last - group : GROUP_TILES);
        const i64 offset = lane_id() <= tiles ? UNIT * i64(at[group + lane_id()]) : 0;
        const J anchor = lane_id() < tiles ? base[group + lane_id()] : J(0);
        enter(group);
        TileLines next(range, shuffle(offset, 0), shuffle(offset, 1), MAX_BYTES);
        uint4 line = make_uint4(0, 0, 0, 0);
        if (lane_id() < next.count) line = next.lines[lane_id()];
        for (int k = 0; k < tiles; ++k) {
            const TileLines tile = next;
            __syncwarp();  // lanes may still read the tile before
            stage[lane_id()] = line;
            for (int l = 32 + lane_id(); l < tile.count; l += 32) stage[l] = tile.lines[l];
            if (k + 1 < tiles) {
                next = TileLines(range, shuffle(offset, k + 1), shuffle(offset, k + 2), MAX_BYTES);
                if (lane_id() < next.count) line = next.lines[lane_id()];
            }
            __syncwarp();
            body(group + k, tile, UJ(shuffle(anchor, k)));
        }
    }
}

// Stores the columns of the entries 4 lane to 4 lane + 3 of tile t in out[p - first], for first <= p < last.
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

// The first position of each kind of failure that a check finds.
struct Failures {
    u64* tile;    // the layout of the tile violates its codec
    u64* base;    // the anchor differs from the stream
    u64* middle;  // the anchor of entry 64 differs from its decoded column
    u64* entry;   // the column is not above its predecessor in the row, or not below ncols
};

// The compressed columns that are checked.
struct CheckInput {
    const u8* stream;
    i64 size;  // its elements, including its padding
    u64 mask;
    i64 ncols;
    Failures failed;
};

// The entries of a tile that begin a row, for a warp that processes consecutive tiles.
struct RowStarts {
    const P* indptr;
    i64 nrows;
    i64 row;  // the first row that begins in or after the next tile

    DEVICE RowStarts(const P* indptr, i64 nrows) : indptr(indptr), nrows(nrows), row(0) {}

    // Every lane calls; `first` is the first entry of the next tile.
    DEVICE void enter(i64 first) { row = warp_upper_bound(indptr, 0, nrows, first - 1); }

    // Sets bit s of `starts`, 4 words of shared memory, if entry first + s begins a row.  Every lane calls.
    // Empty rows need no test: an empty row marks the same entry as the row after it.
    DEVICE void mark(i64 first, int count, u32* starts) {
        if (lane_id() < 4) starts[lane_id()] = 0;
        __syncwarp();
        for (int round = 0; round < 16; ++round) {
            const i64 r = row + lane_id();
            const u64 s = r <= nrows ? u64(i64(indptr[r]) - first) : ~u64(0);
            const bool inside = s < u64(count);
            if (inside) atomicOr(starts + (s >> 5), 1u << (s & 31));
            const int rows = __popc(__ballot_sync(FULL_WARP, inside));
            row += rows;
            if (rows < 32) {
                __syncwarp();
                return;
            }
        }
        // There are more rows than entries, so each entry searches for a row that begins with it.
        const i64 stop = warp_upper_bound(indptr, row, nrows, first + count - 1);
        for (int s = lane_id(); s < count; s += 32) {
            const i64 r = lower_bound(indptr, row, stop, first + s);
            if (r < stop && i64(indptr[r]) == first + s) atomicOr(starts + (s >> 5), 1u << (s & 31));
        }
        row = stop;
        __syncwarp();
    }
    // After `mark`: whether a row begins at entry p, the first after the tile.
    DEVICE bool at(i64 p) const { return row <= nrows && i64(indptr[row]) == p; }
};

// The bits of `starts` for the entries 4 lane to 4 lane + 3.
DEVICE u32 lane_starts(const u32* starts) { return starts[lane_id() / 8] >> (4 * (lane_id() % 8)) & 15u; }
