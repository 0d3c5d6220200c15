// Functions of the pulls of a level-synchronous closure: search a row for a visited neighbor.
//
// The rest of a long row, after its first entries, is divided into row segments, which are listed; after all rows have
// been tried, all warps of the grid share the segments evenly.  Long rows are clustered (in one site of a crawl, or if
// rows are ordered by degree), so without the list all blocks would wait for the block with a cluster.
//
// Included by closure_level.cuh after `Search`.

#pragma once

#include "segments.cuh"

// One pull.  Every visited neighbor of an unvisited row is in the frontier, because a neighbor visited earlier would
// have reached the row.
struct Pull {
    const Search& s;
    const u32* visited;
    u32* visited_next;
    const Append& to;
    Z level;
    u64* listed;  // the number of listed segments

    // Writes the value of row j, which is reached from row k over the entry at position p (used only if it is read).
    DEVICE void write(i64 k, i64 j, i64 p) const {
        if constexpr (VALUES == 1) s.values[j] = level;
        if constexpr (VALUES == 2) {
            Z x = Z();
            if constexpr (multiply_reads_x) x = s.values[k];
            s.values[j] = arrival(s, s.t_values, x, k, j, p);
        }
    }
};

// A visited neighbor and its entry; -1: none.
struct Reached {
    i64 row, entry;
};

// Probes entries [p, stop) of a row, BATCH at once; returns the first visited neighbor.  Any thread may call.
template <int BATCH>
DEVICE Reached probe(const Search& s, const u32* visited, i64 p, i64 stop) {
    if (p >= stop) return {-1, p};
    for (T_CODEC::Cursor entry(s.t_columns, p, p); p < stop; p += BATCH) {
        i64 k[BATCH];
#pragma unroll
        for (int u = 0; u < BATCH; u++) {
            k[u] = p + u < stop ? entry.column() : -1;
            if (p + u + 1 < stop) entry.next();
        }
        u32 hits = 0;
#pragma unroll
        for (int u = 0; u < BATCH; u++) hits |= u32(k[u] >= 0 && bit_test(visited, k[u])) << u;
        if (hits == 0) continue;
#pragma unroll
        for (int u = 0; u < BATCH; u++)
            if (hits & (1u << u)) return {k[u], p + u};
    }
    return {-1, stop};
}

// Searches entries [first, last) of a row for a visited neighbor; valid in every lane.  The whole warp calls.
DEVICE Reached probe_by_warp(const Search& s, const u32* visited, i64 row_start, i64 first, i64 last) {
    T_CODEC::Warp walk(s.t_columns, row_start, first, last);
    while (walk.next()) {  // two steps at once, whose loads overlap
        const i64 p = walk.p, k = walk.inside ? walk.column : -1;
        const bool more = walk.next();
        const i64 p2 = walk.p, k2 = more && walk.inside ? walk.column : -1;
        const bool hit = k >= 0 && bit_test(visited, k);
        const bool hit2 = k2 >= 0 && bit_test(visited, k2);
        const u32 hits = __ballot_sync(FULL_WARP, hit || hit2);
        if (hits == 0) continue;
        const int lane = __ffs(int(hits)) - 1;
        return {shuffle(hit ? k : k2, lane), shuffle(hit ? p : p2, lane)};
    }
    return {-1, 0};
}

// Lists the segments of entries [begin, end) of row j; false if the list is full.  The whole warp calls.
DEVICE bool list_segments(const Pull& pull, i64 j, i64 begin, i64 end) {
    const Search& s = pull.s;
    const i64 count = RowSegments(begin, end).count();
    i64 place = 0;
    if (lane_id() == 0) place = i64(atomicAdd(pull.listed, u64(count)));
    place = shuffle(place, 0);
    const bool fits = place + count <= s.segment_slots;
    // If not all segments fit, marks the remaining positions as unused, because the counter includes them.
    for (i64 i = lane_id(); i < count && place + i < s.segment_slots; i += 32)
        s.segments[place + i] = fits ? u64(j) << RowSegments::BITS | u64(i) : NO_SEGMENT;
    return fits;
}

// Searches one segment, unless its row is already visited.  An outdated test costs a redundant search; the atomic below
// decides.  The whole warp calls.
DEVICE void probe_segment(const Pull& pull, u64 segment) {
    const Search& s = pull.s;
    if (segment == NO_SEGMENT) return;
    const i64 j = i64(segment >> RowSegments::BITS), number = i64(segment & u64(RowSegments::MOST - 1));
    const u32 bit = 1u << (j & 31);
    // Lanes may load different words; a bit that one lane has seen is set for all.
    if (__any_sync(FULL_WARP, bit_relaxed(pull.visited_next, j))) return;
    const i64 row_start = i64(s.t_indptr[j]);
    const RowSegments segments(row_start + PROBES, i64(s.t_indptr[j + 1]));
    const Reached from = probe_by_warp(s, pull.visited, row_start, segments.first(number), segments.last(number));
    if (from.row < 0 || lane_id() != 0) return;
    if (atomicOr(pull.visited_next + (j >> 5), bit) & bit) return;
    pull.write(from.row, j, from.entry);
    const i64 start = i64(s.indptr[j]);
    const u64 mine = s.packing.pack(1, i64(s.indptr[j + 1]) - start);
    put(s.packing, pull.to, pull.to.base + atomicAdd(pull.to.counter, mine), j, start);
}

// Searches all listed segments, after a barrier of the group.  Consecutive segments are in different blocks.
template <int BLOCK, class Group>
DEVICE void probe_segments(const Pull& pull) {
    const i64 listed = i64(load_relaxed(pull.listed)), room = pull.s.segment_slots;
    const i64 count = listed < room ? listed : room;
    for (i64 at = warp_in_block() * Group::size() + Group::rank(); at < count; at += Group::size() * (BLOCK / 32))
        probe_segment(pull, pull.s.segments[at]);
}
