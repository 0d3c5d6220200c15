// Definitions shared by the encoders of all codecs: their input, and the result of measuring a tile.

#pragma once

#include "compressed.cuh"

// The uncompressed columns that are encoded.
struct EncoderInput {
    const J* indices;
    const P* indptr;
    i64 nrows;
    u64 mask;  // 2^b - 1, where b is the number of bits of a column
    i64 nvals;
    i64 before;  // the column before the first entry, or -1
};

struct TileSize {
    u32 elements;
    u32 width;  // the bit width, if the codec has one for each tile
};

DEVICE int bit_length(u32 x) { return 32 - __clz(i32(x)); }
DEVICE int bit_length(u64 x) { return 64 - __clzll(i64(x)); }
