// A count of rows and a count of edges in one 64-bit word (packing.py proves that the word never wraps).

#pragma once

struct Packing {
    int shift;
    DEVICE i64 rows(u64 packed) const { return i64(packed >> shift); }
    DEVICE i64 edges(u64 packed) const { return i64(packed & ((u64(1) << shift) - 1)); }
    DEVICE u64 pack(i64 count, i64 degree) const { return u64(count) << shift | u64(degree); }
};
