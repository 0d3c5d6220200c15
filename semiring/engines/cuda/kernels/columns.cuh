// One accessor for uncompressed, varint and packed columns (formats/ccsr.py defines the streams).
//
// The prologue defines CODEC, J (the type of columns: signed, 4 or 8 bytes), AT (the type of tile offsets), and
// READS_VARINT or READS_PACKED if the kernel reads that codec.  A kernel accepts a `ColumnsArgument` and opens it once:
//
//     columns.at(row_start, p)                the column of entry p, whose row begins at entry row_start; any thread
//     ColumnCursor c(columns, row_start, p)   iterates over p, p + 1, ... of one row: c.column(), c.next(); any thread
//     WarpColumns w(columns, row_start, first, last)   iterates over a part of one row, 32 entries a step; a warp
//
// For malformed streams, readers return arbitrary columns, but no load is out of bounds and every loop ends.

#pragma once

#include "compressed.cuh"
#ifdef READS_PACKED
#include "packed.cuh"
#endif
#ifdef READS_VARINT
#include "varint.cuh"
#endif

// --- uncompressed columns ---------------------------------------------------------------------------------

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

// --- the names that kernels use ---------------------------------------------------------------------------

template <>
struct ColumnReaders<UNCOMPRESSED> {
    typedef const J* Argument;
    typedef UncompressedColumns Columns;
    typedef UncompressedCursor Cursor;
    typedef UncompressedWarp Warp;
};

typedef ColumnReaders<CODEC>::Argument ColumnsArgument;
typedef ColumnReaders<CODEC>::Columns Columns;

// `column()` returns the column of the current entry.  `next()` may be called once past the end of the row.
typedef ColumnReaders<CODEC>::Cursor ColumnCursor;

// Every lane of a warp constructs it with the same arguments, entries [first, last) of the row that begins at
// row_start, and calls `next()` until it returns false.  After each call the lanes with `inside` have an entry `p` and
// its `column`: consecutive lanes have consecutive entries, and steps are in ascending order.
//
//     WarpColumns walk(columns, row_start, first, last);
//     while (walk.next())
//         if (walk.inside) visit(walk.p, walk.column);
typedef ColumnReaders<CODEC>::Warp WarpColumns;

DEVICE Columns open_columns(ColumnsArgument argument) { return Columns(argument); }
