// The pulls of a closure of many sources: each row that a source may still reach unites its neighbors' bits.
//
// Lanes process the first entries of a row, alone or in groups.  The segments of what remains of long rows are listed,
// and all warps of the grid share them.
//
// Included by closure_many.cuh after `Many`.

#pragma once

#include "closure_many_gather.cuh"
#include "closure_many_lanes.cuh"
#include "segments.cuh"

// A group has eight lanes, or as many as hold four rows; a warp decodes compressed rows together.
constexpr int PULL_LANES = T_CODEC::COMPRESSED ? 32 : 4 * LANES > 8 ? 4 * LANES : 8;
// Entries of a row up to which as few lanes as hold it process it: a warp processes several short rows at a time.
// H200, kernel, 1,024 sources on kron22: 0 12.8 ms, 8 10.6, 16 10.4.
constexpr i64 FEW_ENTRIES = 16;
// The entries of a row before its segments.
constexpr i64 UNLISTED = ROW_A_LANE ? PROBED + LONG_ROW : LONG_ROW;

// Lists the segments of entries [begin, end) of a row; false if the list is full.  All lanes of the group call.
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

// The entries of a row of the transpose that a pull reads: none if no source misses the row.
struct Pulled {
    i64 begin = 0, end = 0;
    Part visited = {}, missing = {};

    template <int SIZE>
    DEVICE Pulled(const ManyPull& pull, const LaneGroup<SIZE>& group, bool open, i64 row) {
        if (!open) return;
        visited = load_part(pull.s.visited + row * WORDS + group.part() * PART);
        missing = pull.alive(group.part()).without(visited);
        if (!group.any(missing.any())) return;
        begin = i64(pull.s.t_indptr[row]);
        end = i64(pull.s.t_indptr[row + 1]);
    }
};

// The bits without the `count` lowest ones.
DEVICE u32 without_lowest(u32 bits, int count) {
    for (; count > 0; count--) bits &= bits - 1;
    return bits;
}

// What a row of a word of the bitmaps has become.
struct Outcome {
    bool reached, complete;
};

// Stores what a row has found; segments of the row add to it if `listed`.  All lanes of the group call.
template <int SIZE>
DEVICE Outcome enter_pulled(const ManyPull& pull, const LaneGroup<SIZE>& group, i64 row, const Part& found,
                            const Pulled& from, bool listed, bool stale, Tally& tally) {
    const Many& s = pull.s;
    const Part fresh = found & from.missing;
    const bool reached = !listed && group.any(fresh.any());
    if ((reached || listed || stale) && group.holds_first())
        store_part(pull.next + row * WORDS + group.part() * PART, fresh);
    if (!reached) return {false, false};
    const bool complete = enter_bits(s, group, row, fresh, from.visited, pull.level, tally);
    if (group.lane == 0) {
        tally.added += s.packing.pack(1, s.degree(row));
        if (complete) tally.closed += from.end - from.begin;
    }
    return {true, complete};
}

// Pulls a row a lane; not the row of a lane without `here`.  The whole warp calls.
DEVICE Outcome pull_lane(const ManyPull& pull, i64 row, bool here, bool stale, Tally& tally) {
    const Many& s = pull.s;
    const LaneGroup<1> group;
    const Pulled from(pull, group, here, row);
    Part found = probe_first(s, pull.frontier, from.begin, from.end, from.missing);
    bool listed = false, tried = false;
    for (i64 at = from.begin + PROBED;; at += LONG_ROW) {
        const bool more = !listed && at < from.end && from.missing.without(found).any();
        if (!__any_sync(FULL_WARP, more)) break;
        const i64 left = more ? from.end - at : 0;
        found |= gather_rows(s, pull.frontier, at, int(left < LONG_ROW ? left : LONG_ROW), from.missing);
        if (!tried && left > LONG_ROW && from.missing.without(found).any())
            listed = list_segments(pull, group, row, at + LONG_ROW, from.end);
        tried = true;
    }
    const Outcome made = enter_pulled(pull, group, row, found, from, listed, stale, tally);
    __syncwarp();
    return made;
}

// SPAN words of the bitmaps: a warp lists their open rows, so that each of its lanes has one.
constexpr int SPAN = 8;
struct SpanStage {
    u8 row[32 * SPAN];
    u32 reached[SPAN], complete[SPAN];
};

// Pulls the rows of SPAN words of the bitmaps from word `first` on.  The whole warp calls.
DEVICE void pull_span(const ManyPull& pull, SpanStage& stage, i64 first, Tally& tally) {
    const Many& s = pull.s;
    const i64 w = first + lane_id();
    const bool mine = lane_id() < SPAN && w < s.row_words();
    const u32 open = mine ? s.open[w] : 0, stale = mine ? pull.next_present[w] : 0;
    if (!__any_sync(FULL_WARP, (open | stale) != 0)) return;
    if (lane_id() < SPAN) stage.reached[lane_id()] = stage.complete[lane_id()] = 0;
    int count = 0;
#pragma unroll
    for (int u = 0; u < SPAN; u++) {
        const u32 rows = shuffle(open, u), cleared = shuffle(stale, u) & ~rows;
        if (rows >> lane_id() & 1u) stage.row[count + __popc(rows & lanes_below())] = u8(32 * u + lane_id());
        count += __popc(rows);
        if (cleared >> lane_id() & 1u) store_part(pull.next + (32 * (first + u) + lane_id()) * WORDS, Part());
    }
    __syncwarp();
    for (int at = 0; at < count; at += 32) {
        const bool here = at + lane_id() < count;
        const int r = here ? int(stage.row[at + lane_id()]) : 0;
        const bool was = shuffle(stale, r / 32) >> r % 32 & 1u;
        const Outcome made = pull_lane(pull, 32 * first + r, here, here && was, tally);
        if (made.reached) atomicOr(&stage.reached[r / 32], 1u << r % 32);
        if (made.complete) atomicOr(&stage.complete[r / 32], 1u << r % 32);
    }
    __syncwarp();
    if (mine) {
        const u32 reached = stage.reached[lane_id()], complete = stage.complete[lane_id()];
        if (reached != stale) pull.next_present[w] = reached;
        if (complete != 0) s.open[w] = open & ~complete;
    }
    __syncwarp();
}

// Pulls the rows `rows` of word w, a row a group of SIZE lanes.  Adds to the rows that were reached and that are
// complete; valid in the lane of the group that entered the row.  The whole warp calls.
template <int SIZE>
DEVICE void pull_groups(const ManyPull& pull, i64 w, u32 rows, u32 open, u32 stale, Tally& tally, u32& reached,
                        u32& complete) {
    const LaneGroup<SIZE> group;
    for (rows = without_lowest(rows, group.number); rows != 0; rows = without_lowest(rows, LaneGroup<SIZE>::COUNT)) {
        const int r = __ffs(int(rows)) - 1;
        const i64 row = 32 * w + r;
        const Pulled from(pull, group, open >> r & 1u, row);
        const i64 near = from.end - from.begin < LONG_ROW ? from.end : from.begin + LONG_ROW;
        Part found = gather(pull, group, from.begin, from.begin, near, from.missing);
        bool listed = false;
        if (near < from.end && group.any(from.missing.without(found).any())) {
            listed = list_segments(pull, group, row, near, from.end);
            if (!listed) found |= gather(pull, group, from.begin, near, from.end, from.missing.without(found));
        }
        const Outcome made = enter_pulled(pull, group, row, found, from, listed, stale >> r & 1u, tally);
        reached |= u32(group.lane == 0 && made.reached) << r;
        complete |= u32(group.lane == 0 && made.complete) << r;
    }
    __syncwarp();
}

// The rows of word w of the transpose that have up to FEW_ENTRIES entries.  The whole warp calls.
DEVICE u32 short_rows(const Many& s, i64 w) {
    const i64 row = 32 * w + lane_id();
    return __ballot_sync(FULL_WARP, row < s.n && i64(s.t_indptr[row + 1]) - i64(s.t_indptr[row]) <= FEW_ENTRIES);
}

// Pulls the 32 rows of word w of the bitmaps.  The whole warp calls.
DEVICE void pull_word(const ManyPull& pull, i64 w, Tally& tally) {
    const Many& s = pull.s;
    const u32 open = s.open[w], stale = pull.next_present[w];
    if ((open | stale) == 0) return;
    u32 reached = 0, complete = 0;
    u32 rows = open | stale;
    if constexpr (!T_CODEC::COMPRESSED) {
        const u32 few = rows & (~open | short_rows(s, w));
        pull_groups<LANES>(pull, w, few, open, stale, tally, reached, complete);
        rows &= ~few;
    }
    pull_groups<PULL_LANES>(pull, w, rows, open, stale, tally, reached, complete);
    reached = warp_or(reached);
    complete = warp_or(complete);
    if (lane_id() != 0) return;
    if (reached != stale) pull.next_present[w] = reached;
    if (complete != 0) s.open[w] = open & ~complete;
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
    const RowSegments segments(begin + UNLISTED, i64(s.t_indptr[row + 1]));
    const Part found = gather(pull, group, begin, segments.first(number), segments.last(number), missing) & missing;
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
    constexpr int CLAIMED_WORDS = ROW_A_LANE ? SPAN : int(CLAIM_WORDS);
    const i64 words = s.row_words();
    for (;;) {  // warps claim words as they finish: their work differs
        i64 w = 0;
        if (lane_id() == 0) w = i64(atomicAdd(s.state + CLAIMED + pull.turn, u64(CLAIMED_WORDS)));
        w = shuffle(w, 0);
        if (w >= words) break;
        if constexpr (ROW_A_LANE) {
            __shared__ SpanStage stages[BLOCK / 32];
            pull_span(pull, stages[warp_in_block()], w, tally);
        } else {
            for (int i = 0; i < CLAIMED_WORDS && w + i < words; i++) pull_word(pull, w + i, tally);
        }
    }
    add_tally(s, tally, pull.turn, LaneGroup<ROW_A_LANE ? 1 : PULL_LANES>().part());
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
