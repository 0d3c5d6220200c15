// The pulls of a closure of many sources: each row that a source may still reach unites its neighbours' bits.
//
// Lanes process short rows in groups; the segments of long rows are listed, and all warps of the grid share them.
//
// Included by closure_many.cuh after closure_many_rows.cuh.

#pragma once

#include "segments.cuh"

// A group has eight lanes, or as many as hold four rows; a warp decodes compressed rows together.
constexpr int PULL_LANES = T_CODEC::COMPRESSED ? 32 : 4 * LANES > 8 ? 4 * LANES : 8;

struct ManyPull {
    const Many& s;
    const u32* frontier;
    const u32* present;
    u32* next;
    u32* next_present;
    i64 level;
    int turn;

    // The sources that may reach another row: those with a row in the frontier.
    DEVICE Part alive(int part) const { return load_part(s.alive((turn + 2) % 3) + part * PART); }
};

// Lists the segments of a long row; false if the list is full.  All lanes of the group call.
template <int SIZE>
DEVICE bool list_segments(const ManyPull& pull, const LaneGroup<SIZE>& group, i64 row, i64 begin, i64 end) {
    const Many& s = pull.s;
    const i64 count = RowSegments(begin, end).count();
    i64 place = 0;
    if (group.lane == 0) place = i64(atomicAdd(s.state + SEGMENT_COUNT + pull.turn, u64(count)));
    place = group.from(place, 0);
    const bool fits = place + count <= s.segment_slots;
    // If not all segments fit, marks the remaining positions as unused, because the counter includes them.
    for (i64 i = group.lane; i < count && place + i < s.segment_slots; i += SIZE)
        s.segments[place + i] = fits ? u64(row) << RowSegments::BITS | u64(i) : NO_SEGMENT;
    return fits;
}

// Pulls the 32 rows of word w of the bitmaps.  The whole warp calls.
DEVICE void pull_word(const ManyPull& pull, i64 w, Tally& tally) {
    const Many& s = pull.s;
    const LaneGroup<PULL_LANES> group;
    const u32 open = s.open[w], stale = pull.next_present[w];
    if ((open | stale) == 0) return;
    const Part alive = pull.alive(group.part());
    u32 found = 0, closed = 0;
    for (int r = group.number; r < 32; r += LaneGroup<PULL_LANES>::COUNT) {
        const u32 bit = 1u << r;
        if (((open | stale) & bit) == 0) continue;
        const i64 row = 32 * w + r;
        const i64 at = row * WORDS + group.part() * PART;
        bool reached = false;
        if (open & bit) {
            const i64 begin = i64(s.t_indptr[row]), end = i64(s.t_indptr[row + 1]);
            const Part visited = load_part(s.visited + at);
            const Part missing = alive.without(visited);
            if (group.any(missing.any()) && !(end - begin > LONG_ROW && list_segments(pull, group, row, begin, end))) {
                const Part fresh =
                    gather(s, group, pull.frontier, pull.present, begin, begin, end, missing) & missing;
                reached = group.any(fresh.any());
                if (reached) {
                    if (group.holds_first()) store_part(pull.next + at, fresh);
                    const bool complete = enter_bits(s, group, row, fresh, visited, pull.level, tally);
                    if (group.lane == 0) {
                        tally.added += s.packing.pack(1, s.degree(row));
                        found |= bit;
                        if (complete) closed |= bit, tally.closed += end - begin;
                    }
                }
            }
        }
        if (!reached && (stale & bit) && group.holds_first()) store_part(pull.next + at, Part());
    }
    found = warp_or(found);
    closed = warp_or(closed);
    if (lane_id() != 0) return;
    if (found != stale) pull.next_present[w] = found;
    if (closed != 0) s.open[w] = open & ~closed;
}

// Unites the bits over one segment of a row into its next row, unless that is complete.  Outdated words of the next row
// cost a redundant search.  The whole warp calls.
DEVICE void pull_segment(const ManyPull& pull, u64 segment) {
    const Many& s = pull.s;
    if (segment == NO_SEGMENT) return;
    const LaneGroup<32> group;
    const i64 row = i64(segment >> RowSegments::BITS), number = i64(segment & u64(RowSegments::MOST - 1));
    const i64 at = row * WORDS + group.part() * PART;
    const Part seen = load_part_relaxed(pull.next + at);
    const Part missing = pull.alive(group.part()).without(load_part(s.visited + at)).without(seen);
    if (!group.any(missing.any())) return;
    const i64 begin = i64(s.t_indptr[row]);
    const RowSegments segments(begin, i64(s.t_indptr[row + 1]));
    const Part found = gather(s, group, pull.frontier, pull.present, begin, segments.first(number),
                              segments.last(number), missing) & missing;
    if (!group.holds_first()) return;
#pragma unroll
    for (int i = 0; i < PART; i++) {
        if (found.word[i] != 0) atomicOr(pull.next + at + i, found.word[i]);
    }
}

// Enters the bits of the rows whose segments have been pulled; segment 0 stands for its row.  Every thread calls.
template <int BLOCK, class Group>
DEVICE void enter_segmented(const ManyPull& pull, i64 count, Tally& tally) {
    const Many& s = pull.s;
    const LaneGroup<LANES> group;
    const i64 stride = Group::size() * BLOCK / LANES;
    for (i64 i = (Group::rank() * BLOCK + threadIdx.x) / LANES; i < count; i += stride) {
        const u64 segment = s.segments[i];
        if (segment == NO_SEGMENT || (segment & u64(RowSegments::MOST - 1)) != 0) continue;
        const i64 row = i64(segment >> RowSegments::BITS);
        const i64 at = row * WORDS + group.part() * PART;
        const Part fresh = load_part(pull.next + at);
        if (!group.any(fresh.any())) continue;
        const bool complete = enter_bits(s, group, row, fresh, load_part(s.visited + at), pull.level, tally);
        if (group.lane != 0) continue;
        tally.added += s.packing.pack(1, s.degree(row));
        atomicOr(pull.next_present + (row >> 5), 1u << (row & 31));
        if (complete) s.close(row, tally.closed);
    }
}

// One level, up to a barrier at its end.  All threads of the group call.
template <int BLOCK, class Group>
DEVICE void pull_level(const ManyPull& pull, Group& group) {
    const Many& s = pull.s;
    Tally tally = {};
    const i64 words = s.row_words();
    for (;;) {  // warps claim words as they finish: their work differs
        i64 w = 0;
        if (lane_id() == 0) w = i64(atomicAdd(s.state + CLAIMED + pull.turn, u64(CLAIM_WORDS)));
        w = shuffle(w, 0);
        if (w >= words) break;
        for (int i = 0; i < CLAIM_WORDS && w + i < words; i++) pull_word(pull, w + i, tally);
    }
    add_tally(s, tally, pull.turn, LaneGroup<PULL_LANES>().part());
    group.barrier();
    const i64 listed = i64(load_relaxed(s.state + SEGMENT_COUNT + pull.turn));
    if (listed == 0) return;  // the same in every thread
    const i64 count = listed < s.segment_slots ? listed : s.segment_slots;
    for (i64 i = warp_in_block() * Group::size() + Group::rank(); i < count; i += Group::size() * (BLOCK / 32))
        pull_segment(pull, s.segments[i]);
    group.barrier();
    tally = Tally();
    enter_segmented<BLOCK, Group>(pull, count, tally);
    __syncwarp();
    add_tally(s, tally, pull.turn, LaneGroup<LANES>().part());
    group.barrier();
}
