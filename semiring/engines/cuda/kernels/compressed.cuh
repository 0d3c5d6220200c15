// Definitions shared by all codecs: the descriptor of a compressed pattern, and the constants of its layout.

#pragma once

#include "semiring.cuh"

constexpr i64 TILE_ENTRIES = 128;
// A warp processes a tile in chunks of 32 entries.
constexpr int CHUNKS = int(TILE_ENTRIES) / 32;
// The maximum number of bits of a column.
constexpr int COLUMN_BITS = 8 * int(sizeof(J)) - 1;

// Arithmetic on columns uses unsigned integers of their size.
typedef unsigned_of<sizeof(J)> UJ;

// One for each pattern, in device memory; columns.py builds it, 8 bytes a field.
struct CompressedColumns {
    const void* stream;
    const J* base;
    const AT* at;
    u64 mask;  // 2^b - 1, where b is the number of bits of a column
    i64 nvals;
    i64 size;  // elements of the stream, including its padding
};

DEVICE i64 tile_count(i64 nvals) { return (nvals + TILE_ENTRIES - 1) / TILE_ENTRIES; }
// The number of entries of tile t.
DEVICE int tile_entries(i64 nvals, i64 t) {
    const i64 left = nvals - TILE_ENTRIES * t;
    return int(left < TILE_ENTRIES ? left : TILE_ENTRIES);
}
