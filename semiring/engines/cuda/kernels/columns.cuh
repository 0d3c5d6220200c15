// One accessor for the columns of any codec (formats/codecs defines the streams).
//
// The prologue defines CODEC, a struct with the name of the codec, whose members are the types and constants below; J
// (the type of columns: signed, 4 or 8 bytes) and AT (the type of tile offsets).  The file of a codec defines its
// struct; compile.py replaces CODEC in the name of an included file by that name.  A kernel accepts a `ColumnsArgument`
// and opens it once:
//
//     columns.at(row_start, p)                the column of entry p, whose row begins at entry row_start; any thread
//     ColumnCursor c(columns, row_start, p)   iterates over p, p + 1, ... of one row: c.column(), c.next(); any thread
//     WarpColumns w(columns, row_start, first, last)   iterates over a part of one row, 32 entries a step; a warp
//
// For malformed streams, readers return arbitrary columns, but no load is out of bounds and every loop ends.

#pragma once

#include "CODEC.cuh"
#include "compressed.cuh"

constexpr bool COMPRESSED = CODEC::COMPRESSED;

typedef CODEC::Argument ColumnsArgument;
typedef CODEC::Columns Columns;

// `column()` returns the column of the current entry.  `next()` may be called once past the end of the row.
typedef CODEC::Cursor ColumnCursor;

// Every lane of a warp constructs it with the same arguments, entries [first, last) of the row that begins at
// row_start, and calls `next()` until it returns false.  After each call the lanes with `inside` have an entry `p` and
// its `column`: consecutive lanes have consecutive entries, and steps are in ascending order.
//
//     WarpColumns walk(columns, row_start, first, last);
//     while (walk.next())
//         if (walk.inside) visit(walk.p, walk.column);
typedef CODEC::Warp WarpColumns;

DEVICE Columns open_columns(ColumnsArgument argument) { return Columns(argument); }
