// Row segments: parts of long rows, which all warps of a grid share.

#pragma once

#include "compressed.cuh"

// The value of an unused position of a list of segments.
constexpr u64 NO_SEGMENT = ~u64(0);

// The segments of entries [begin, end) of a row.  Their bounds are multiples of two tiles (of four, eight, ... in long
// rows), so that no tile is decoded twice and there are at most MOST segments; the first and the last may be shorter.
struct RowSegments {
    static constexpr int BITS = 12;
    static constexpr i64 MOST = i64(1) << BITS;
    i64 begin, end, length;

    DEVICE RowSegments(i64 begin, i64 end) : begin(begin), end(end), length(2 * TILE_ENTRIES) {
        while ((MOST - 1) * length < end - begin) length *= 2;
    }
    DEVICE i64 count() const { return (end - 1) / length - begin / length + 1; }
    DEVICE i64 first(i64 segment) const {
        const i64 bound = (begin / length + segment) * length;
        return bound < begin ? begin : bound;
    }
    DEVICE i64 last(i64 segment) const {
        const i64 bound = (begin / length + segment + 1) * length;
        return bound < end ? bound : end;
    }
};
