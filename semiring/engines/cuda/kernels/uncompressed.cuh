// Readers of uncompressed columns, entry by entry.

#pragma once

#include "compressed.cuh"

struct UncompressedColumns {
    const J* indices;

    DEVICE explicit UncompressedColumns(const J* argument) : indices(argument) {}
    DEVICE i64 at(i64, i64 p) const { return i64(indices[p]); }
};

struct UncompressedCursor {
    const J* entry;

    DEVICE UncompressedCursor(const UncompressedColumns& columns, i64, i64 p) : entry(columns.indices + p) {}
    DEVICE i64 column() const { return i64(*entry); }
    DEVICE void next() { ++entry; }
};

struct UncompressedWarp {
    const J* indices;
    i64 begin, last;
    i64 p, column;
    bool inside;

    DEVICE UncompressedWarp(const UncompressedColumns& columns, i64, i64 first, i64 last)
        : indices(columns.indices), begin(first), last(last), p(0), column(0), inside(false) {}
    DEVICE bool next() {
        if (begin >= last) return false;
        p = begin + lane_id();
        inside = p < last;
        if (inside) column = i64(indices[p]);
        begin += 32;
        return true;
    }
};

struct uncompressed {
    static constexpr bool COMPRESSED = false;
    static constexpr bool RESTARTS_AT_ROWS = false;
    static constexpr int ELEMENT_BYTES = int(sizeof(J));
    typedef const J* Argument;
    typedef UncompressedColumns Columns;
    typedef UncompressedCursor Cursor;
    typedef UncompressedWarp Warp;
};
