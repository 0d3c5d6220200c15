// The columns of compressed rows, however they are stored: one accessor for plain columns and for both codecs
// (semiring/formats/ccsr.py says what the streams hold).
//
// The prologue defines CODEC (how columns are stored), J (their type: signed, 4 or 8 bytes), AT (the type of the
// offsets of tiles), and READS_VARINT or READS_PACKED if a codec is read at all.  A kernel takes a `ColumnsArgument`, opens it once, and then
//
//     columns.at(row_start, p)                the column of entry p, whose row begins at entry row_start; any thread
//     ColumnCursor c(columns, row_start, p)   walks p, p + 1, ... of one row: c.column(), c.next(); any thread
//     WarpColumns w(columns, row_start, first, last)   walks a part of one row, up to 32 entries a step; a warp
//
// Streams may be malformed: readers give some column then, but no load leaves the stream and every loop ends.

#pragma once

#include "compressed.cuh"
#ifdef READS_PACKED
#include "packed.cuh"
#endif
#ifdef READS_VARINT
#include "varint.cuh"
#endif

// --- plain columns: the same names, at no cost ------------------------------------------------------------

struct PlainColumns {
    const J* indices;

    DEVICE explicit PlainColumns(const J* argument) : indices(argument) {}
    DEVICE i64 at(i64, i64 p) const { return i64(indices[p]); }
};

struct PlainCursor {
    const J* entry;

    DEVICE PlainCursor(const PlainColumns& columns, i64, i64 p) : entry(columns.indices + p) {}
    DEVICE i64 column() const { return i64(*entry); }
    DEVICE void next() { ++entry; }
};

struct PlainWarp {
    const J* indices;
    i64 begin, last;
    i64 p, column;
    bool inside;

    DEVICE PlainWarp(const PlainColumns& columns, i64, i64 first, i64 last)
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

// --- what kernels use ---------------------------------------------------------------------------------------

template <>
struct ColumnReaders<PLAIN> {
    typedef const J* Argument;
    typedef PlainColumns Columns;
    typedef PlainCursor Cursor;
    typedef PlainWarp Warp;
};

typedef ColumnReaders<CODEC>::Argument ColumnsArgument;
typedef ColumnReaders<CODEC>::Columns Columns;

// `column()` is the column of the current entry.  `next()` may step past the end of the row, once.
typedef ColumnReaders<CODEC>::Cursor ColumnCursor;

// Every lane of a warp makes it with the same arguments (entries [first, last) of the row that begins at row_start)
// and calls `next()` together, until it gives false.  After each call the lanes with `inside` hold the entry `p` and
// its `column`; consecutive lanes hold consecutive entries, and steps come in ascending order.
//
//     WarpColumns walk(columns, row_start, first, last);
//     while (walk.next())
//         if (walk.inside) visit(walk.p, walk.column);
typedef ColumnReaders<CODEC>::Warp WarpColumns;

DEVICE Columns open_columns(ColumnsArgument argument) { return Columns(argument); }
