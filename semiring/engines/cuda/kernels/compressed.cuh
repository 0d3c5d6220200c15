// What both codecs share: the descriptor of a compressed pattern, and the numbers of its layout.

#pragma once

#include "semiring.cuh"

// The values of CODEC.
constexpr i64 PLAIN = 0;
constexpr i64 VARINT = 1;
constexpr i64 PACKED = 2;

// How a kernel reads columns that are stored so: Argument, Columns, Cursor and Warp, as columns.cuh documents.  Each
// codec specialises it beside its readers.
template <i64 STORED>
struct ColumnReaders;

constexpr i64 TILE_ENTRIES = 128;
// The most bits that a column has.
constexpr int COLUMN_BITS = 8 * int(sizeof(J)) - 1;

// Columns are computed with as unsigned integers of their own size.
typedef unsigned_of<sizeof(J)> UJ;

// One for each pattern, in device memory; made by semiring/engines/cuda/columns.py, field by field 8 bytes.
struct CompressedColumns {
    const void* stream;
    const J* base;
    const AT* at;
    u64 mask;  // 2^b - 1, where b is the number of bits of a column
    i64 nvals;
    i64 size;  // elements of the stream, its padding included
};

DEVICE i64 tile_count(i64 nvals) { return (nvals + TILE_ENTRIES - 1) / TILE_ENTRIES; }
// The entries of tile t.
DEVICE int tile_entries(i64 nvals, i64 t) {
    const i64 left = nvals - TILE_ENTRIES * t;
    return int(left < TILE_ENTRIES ? left : TILE_ENTRIES);
}
// The words of the column of entry 64 in a packed tile.
DEVICE u32 anchor_words(u64 mask) { return mask > 0x7fffffffull ? 2 : 1; }
