// Row segments: parts of long rows, which are listed, and which all warps of a grid share.
//
// Long rows are clustered (in one site of a crawl, or if rows are ordered by degree), so without the list all blocks would
// wait for the block with a cluster.

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

// The SIZE lanes of a warp that process one row together; groups of one warp may diverge.
template <int SIZE>
struct LaneGroup {
    static constexpr int COUNT = 32 / SIZE;  // groups of a warp
    int number, lane;
    u32 mask;

    DEVICE LaneGroup() : number(lane_id() / SIZE), lane(lane_id() % SIZE) {
        if constexpr (SIZE == 32) mask = FULL_WARP;
        else mask = ((1u << SIZE) - 1u) << (number * SIZE);
    }
    // All lanes of the group call the rest; valid in every lane.
    DEVICE bool any(bool mine) const { return SIZE == 1 ? mine : __any_sync(mask, mine) != 0; }
    DEVICE bool all(bool mine) const { return SIZE == 1 ? mine : __all_sync(mask, mine) != 0; }
    template <class T>
    DEVICE T from(T value, int source) const {
        typedef choose<sizeof(T) == 8, u64, u32> W;
        if constexpr (SIZE == 1) return value;
        else return T(__shfl_sync(mask, W(value), source, SIZE));
    }
};

// The list of segments.
struct SegmentList {
    u64* segments;
    i64 slots;
    u64* counter;

    // Lists the segments of entries [begin, end) of a row; false if the list is full.  All lanes of the group call.
    template <int SIZE>
    DEVICE bool add(const LaneGroup<SIZE>& group, i64 row, i64 begin, i64 end) const {
        const i64 count = RowSegments(begin, end).count();
        i64 place = 0;
        if (group.lane == 0) place = i64(atomicAdd(counter, u64(count)));
        place = group.from(place, 0);
        const bool fits = place + count <= slots;
        // If not all segments fit, marks the remaining positions as unused, because the counter includes them.
        for (i64 i = group.lane; i < count && place + i < slots; i += SIZE)
            segments[place + i] = fits ? u64(row) << RowSegments::BITS | u64(i) : NO_SEGMENT;
        return fits;
    }
    // The same for a row of each lane with `mine`, by one atomic.  The whole warp calls.
    DEVICE bool add_by_warp(bool mine, i64 row, i64 begin, i64 end) const {
        const i64 count = mine ? RowSegments(begin, end).count() : 0;
        const i64 inclusive = warp_scan_inclusive(count);
        i64 first = 0;
        if (lane_id() == 31 && inclusive > 0) first = i64(atomicAdd(counter, u64(inclusive)));
        const i64 place = shuffle(first, 31) + inclusive - count;
        const bool fits = mine && place + count <= slots;
        for (i64 i = 0; i < count && place + i < slots; i++)
            segments[place + i] = fits ? u64(row) << RowSegments::BITS | u64(i) : NO_SEGMENT;
        return fits;
    }
    // The number of listed segments, after a barrier of the grid.
    DEVICE i64 count() const {
        const i64 listed = i64(load_relaxed(counter));
        return listed < slots ? listed : slots;
    }
    // f(row, number) for the segment at a position.
    template <class F>
    DEVICE void visit(i64 at, F f) const {
        const u64 segment = segments[at];
        if (segment != NO_SEGMENT) f(i64(segment >> RowSegments::BITS), i64(segment & u64(RowSegments::MOST - 1)));
    }
    // The same for each, by a warp; consecutive segments are in different blocks.  Every thread of the group calls.
    template <int BLOCK, class Group, class F>
    DEVICE void each(F f) const {
        const i64 listed = count();
        for (i64 at = warp_in_block() * Group::size() + Group::rank(); at < listed; at += Group::size() * (BLOCK / 32))
            visit(at, f);
    }
};
