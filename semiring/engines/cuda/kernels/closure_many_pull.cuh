// The pulls of a closure of many sources: each row that a source may still reach unites its neighbors' bits.
//
// Lanes process the first entries of a row, alone or in groups.  The segments of what remains of long rows are listed,
// and all warps of the grid share them.
//
// Included by closure_many.cuh after `Many`.

#pragma once

#include "closure_many_lanes.cuh"

// The columns of entries [first, last) of a row of the transpose, STEPS for each lane of a group and call; -1 past the
// end.  Together they are consecutive entries, in ascending order of steps and lanes.  A lane has four or more reads; a
// group that holds one row has few entries.
template <int SIZE>
struct GroupColumns {
    static constexpr int MOST = SIZE == LANES ? 8 : 32;
    static constexpr int STEPS = 4 / LANES > MOST / SIZE ? 4 / LANES : MOST / SIZE;
    const RowLanes<SIZE>& group;
    const T_CODEC::Columns& columns;
    i64 begin, last;
    J column[STEPS], ahead[STEPS];  // the columns of the next call are loaded before these are used

    DEVICE GroupColumns(const RowLanes<SIZE>& group, const T_CODEC::Columns& columns, i64, i64 first, i64 last)
        : group(group), columns(columns), begin(first), last(last) {
        load();
    }
    DEVICE void load() {
#pragma unroll
        for (int u = 0; u < STEPS; u++) {
            const i64 p = begin + u * SIZE + group.lane;
            ahead[u] = p < last ? J(columns.at(0, p)) : J(-1);
        }
    }
    DEVICE bool next() {
        if (begin >= last) return false;
#pragma unroll
        for (int u = 0; u < STEPS; u++) column[u] = ahead[u];
        begin += STEPS * SIZE;
        load();
        return true;
    }
};
template <int SIZE>
struct DecodedColumns {
    static constexpr int STEPS = 1;
    T_CODEC::Warp walk;
    J column[STEPS];

    DEVICE DecodedColumns(const RowLanes<SIZE>&, const T_CODEC::Columns& columns, i64 row_start, i64 first,
                          i64 last)
        : walk(columns, row_start, first, last) {
        static_assert(SIZE == 32, "a warp decodes");
    }
    DEVICE bool next() {
        const bool more = walk.next();
        column[0] = more && walk.inside ? J(walk.column) : J(-1);
        return more;
    }
};

// With so many parts of a row that are not covered, or fewer, each lane of a warp reads these of its own entry.  H200,
// kernel, 1,024 sources on kron22: 2 and 4 10.5 ms.
constexpr int FEW_PARTS = 2;

// The union of the frontier's rows over entries [first, last) of a row; it may end when `missing` is covered.  A lane
// whose part is covered reads no more.  All lanes of the group call; the part of a lane is valid in it.
template <int SIZE>
DEVICE Part gather(const ManyLevel& level, const RowLanes<SIZE>& group, i64 row_start, i64 first, i64 last,
                   const Part& missing) {
    typedef choose<T_CODEC::COMPRESSED, DecodedColumns<SIZE>, GroupColumns<SIZE>> Walk;
    constexpr int ROWS = SIZE / LANES;  // neighbors whose rows the lanes read together
    constexpr int READS = Walk::STEPS * LANES, BATCH = READS < 4 ? READS : 4;
    Part found = {};
    bool covered = !missing.any();
    Walk walk(group, level.s.t_columns, row_start, first, last);
    while (walk.next()) {
        // A small row is read as fast as its bit; the row of an absent entry is 0.
        if (PART == 4 && level.sparse) {
#pragma unroll
            for (int u = 0; u < Walk::STEPS; u++) {
                if (walk.column[u] >= 0 && !bit_test(level.present, i64(walk.column[u]))) walk.column[u] = -1;
            }
        }
        if constexpr (SIZE == 32 && LANES > 2) {
            static_assert(Walk::STEPS == 1, "a lane has one column");
            u32 parts = __ballot_sync(FULL_WARP, !covered) & ((1u << LANES) - 1u);
            if (__popc(parts) <= FEW_PARTS) {
                for (; parts != 0; parts &= parts - 1) {
                    const int part = __ffs(int(parts)) - 1;
                    const i64 k = i64(walk.column[0]);
                    const Part row = k >= 0 ? load_part(level.frontier + k * WORDS + part * PART) : Part();
#pragma unroll
                    for (int i = 0; i < PART; i++) {
                        const u32 bits = warp_or(row.word[i]);
                        if (group.part() == part) found.word[i] |= bits;
                    }
                }
                covered = !missing.without(found).any();
                if (group.all(covered)) return found;
                continue;
            }
        }
#pragma unroll
        for (int read = 0; read < READS; read += BATCH) {
            Part row[BATCH];  // whose loads overlap
#pragma unroll
            for (int u = 0; u < BATCH; u++) {
                const J column = walk.column[(read + u) / LANES];
                const J k = LANES == 1 ? column : group.from(column, (read + u) % LANES * ROWS + group.lane / LANES);
                row[u] = k >= 0 && !covered ? load_part(level.frontier + i64(k) * WORDS + group.part() * PART) : Part();
            }
#pragma unroll
            for (int u = 0; u < BATCH; u++) found |= row[u];
            found = group.combined(found);
            covered = !missing.without(found).any();
            if (group.all(covered)) return found;
        }
    }
    return found;
}

// A group has eight lanes, or as many as hold four rows; a warp decodes compressed rows together.
constexpr int PULL_LANES = T_CODEC::COMPRESSED ? 32 : 4 * LANES > 8 ? 4 * LANES : 8;
// Entries of a row up to which as few lanes as hold it process it: a warp processes several short rows at a time.
// H200, kernel, 1,024 sources on kron22: 0 12.8 ms, 8 10.6, 16 10.4.
constexpr i64 FEW_ENTRIES = 16;
// The entries of a row before its segments.
constexpr i64 UNLISTED = ROW_A_LANE ? PROBED + LONG_ROW : LONG_ROW;

// The entries of a row of the transpose that a pull reads: none if no source misses the row.
struct Pulled {
    i64 begin = 0, end = 0;
    Part visited = {}, missing = {};

    template <int SIZE>
    DEVICE Pulled(const ManyLevel& level, const RowLanes<SIZE>& group, bool open, i64 row) {
        if (!open) return;
        visited = load_part(level.s.visited + row * WORDS + group.part() * PART);
        missing = level.alive(group.part()).without(visited);
        if (!group.any(missing.any())) return;
        begin = i64(level.s.t_indptr[row]);
        end = i64(level.s.t_indptr[row + 1]);
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
DEVICE Outcome enter_pulled(const ManyLevel& level, const RowLanes<SIZE>& group, i64 row, const Part& found,
                            const Pulled& from, bool listed, bool stale, Tally& tally) {
    const Many& s = level.s;
    const Part fresh = found & from.missing;
    const bool reached = !listed && group.any(fresh.any());
    if ((reached || listed || stale) && group.holds_first())
        store_part(level.next + row * WORDS + group.part() * PART, fresh);
    if (!reached) return {false, false};
    const bool complete = enter_bits(s, group, row, fresh, from.visited, level.number, tally);
    if (group.lane == 0) {
        tally.added += s.loop.graph.packing.pack(1, s.degree(row));
        if (complete) tally.closed += from.end - from.begin;
    }
    return {true, complete};
}

// Pulls a row a lane; not the row of a lane without `here`.  The whole warp calls.
DEVICE Outcome pull_lane(const ManyLevel& level, i64 row, bool here, bool stale, Tally& tally) {
    const Many& s = level.s;
    const RowLanes<1> group;
    const Pulled from(level, group, here, row);
    Part found = probe_first(s, level.frontier, from.begin, from.end, from.missing);
    bool listed = false, tried = false;
    for (i64 at = from.begin + PROBED;; at += LONG_ROW) {
        const bool more = !listed && at < from.end && from.missing.without(found).any();
        if (!__any_sync(FULL_WARP, more)) break;
        const i64 left = more ? from.end - at : 0;
        found |= gather_rows(s, level.frontier, at, int(left < LONG_ROW ? left : LONG_ROW), from.missing);
        if (!tried && left > LONG_ROW && from.missing.without(found).any())
            listed = level.segments.add(group, row, at + LONG_ROW, from.end);
        tried = true;
    }
    const Outcome made = enter_pulled(level, group, row, found, from, listed, stale, tally);
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
DEVICE void pull_span(const ManyLevel& level, SpanStage& stage, i64 first, Tally& tally) {
    const Many& s = level.s;
    const i64 w = first + lane_id();
    const bool mine = lane_id() < SPAN && w < s.row_words();
    const u32 open = mine ? s.open[w] : 0, stale = mine ? level.next_present[w] : 0;
    if (!__any_sync(FULL_WARP, (open | stale) != 0)) return;
    if (lane_id() < SPAN) stage.reached[lane_id()] = stage.complete[lane_id()] = 0;
    int count = 0;
#pragma unroll
    for (int u = 0; u < SPAN; u++) {
        const u32 rows = shuffle(open, u), cleared = shuffle(stale, u) & ~rows;
        if (rows >> lane_id() & 1u) stage.row[count + __popc(rows & lanes_below())] = u8(32 * u + lane_id());
        count += __popc(rows);
        if (cleared >> lane_id() & 1u) store_part(level.next + (32 * (first + u) + lane_id()) * WORDS, Part());
    }
    __syncwarp();
    for (int at = 0; at < count; at += 32) {
        const bool here = at + lane_id() < count;
        const int r = here ? int(stage.row[at + lane_id()]) : 0;
        const bool was = shuffle(stale, r / 32) >> r % 32 & 1u;
        const Outcome made = pull_lane(level, 32 * first + r, here, here && was, tally);
        if (made.reached) atomicOr(&stage.reached[r / 32], 1u << r % 32);
        if (made.complete) atomicOr(&stage.complete[r / 32], 1u << r % 32);
    }
    __syncwarp();
    if (mine) {
        const u32 reached = stage.reached[lane_id()], complete = stage.complete[lane_id()];
        if (reached != stale) level.next_present[w] = reached;
        if (complete != 0) s.open[w] = open & ~complete;
    }
    __syncwarp();
}

// Pulls the rows `rows` of word w, a row a group of SIZE lanes.  Adds to the rows that were reached and that are
// complete; valid in the lane of the group that entered the row.  The whole warp calls.
template <int SIZE>
DEVICE void pull_groups(const ManyLevel& level, i64 w, u32 rows, u32 open, u32 stale, Tally& tally, u32& reached,
                        u32& complete) {
    const RowLanes<SIZE> group;
    for (rows = without_lowest(rows, group.number); rows != 0; rows = without_lowest(rows, RowLanes<SIZE>::COUNT)) {
        const int r = __ffs(int(rows)) - 1;
        const i64 row = 32 * w + r;
        const Pulled from(level, group, open >> r & 1u, row);
        const i64 near = from.end - from.begin < LONG_ROW ? from.end : from.begin + LONG_ROW;
        Part found = gather(level, group, from.begin, from.begin, near, from.missing);
        bool listed = false;
        if (near < from.end && group.any(from.missing.without(found).any())) {
            listed = level.segments.add(group, row, near, from.end);
            if (!listed) found |= gather(level, group, from.begin, near, from.end, from.missing.without(found));
        }
        const Outcome made = enter_pulled(level, group, row, found, from, listed, stale >> r & 1u, tally);
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
DEVICE void pull_word(const ManyLevel& level, i64 w, Tally& tally) {
    const Many& s = level.s;
    const u32 open = s.open[w], stale = level.next_present[w];
    if ((open | stale) == 0) return;
    u32 reached = 0, complete = 0;
    u32 rows = open | stale;
    if constexpr (!T_CODEC::COMPRESSED) {
        const u32 few = rows & (~open | short_rows(s, w));
        pull_groups<LANES>(level, w, few, open, stale, tally, reached, complete);
        rows &= ~few;
    }
    pull_groups<PULL_LANES>(level, w, rows, open, stale, tally, reached, complete);
    reached = warp_or(reached);
    complete = warp_or(complete);
    if (lane_id() != 0) return;
    if (reached != stale) level.next_present[w] = reached;
    if (complete != 0) s.open[w] = open & ~complete;
}

// Unites the bits over one segment of a row into its next row, unless that is complete.  Outdated words of the next row
// cost a redundant search.  The whole warp calls.
DEVICE void pull_segment(const ManyLevel& level, i64 row, i64 number) {
    const Many& s = level.s;
    const RowLanes<32> group;
    const i64 at = row * WORDS + group.part() * PART;
    const Part seen = load_part_relaxed(level.next + at);
    const Part missing = level.alive(group.part()).without(load_part(s.visited + at)).without(seen);
    if (!group.any(missing.any())) return;
    const i64 begin = i64(s.t_indptr[row]);
    const RowSegments segments(begin + UNLISTED, i64(s.t_indptr[row + 1]));
    const Part found = gather(level, group, begin, segments.first(number), segments.last(number), missing) & missing;
    if (!group.holds_first()) return;
#pragma unroll
    for (int i = 0; i < PART; i++) {
        if (found.word[i] != 0) atomicOr(level.next + at + i, found.word[i]);
    }
}

// Enters the bits of the rows whose segments have been pulled; segment 0 stands for its row.  Every thread calls.
DEVICE void enter_segmented(const ManyLevel& level, Tally& tally) {
    const Many& s = level.s;
    const RowLanes<LANES> group;
    const i64 count = level.segments.count();
    for (i64 i = thread_id() / LANES; i < count; i += thread_count() / LANES) {
        level.segments.visit(i, [&](i64 row, i64 number) {
            const i64 at = row * WORDS + group.part() * PART;
            if (number != 0) return;
            const Part fresh = load_part(level.next + at);
            if (!group.any(fresh.any())) return;
            const bool complete = enter_bits(s, group, row, fresh, load_part(s.visited + at), level.number, tally);
            if (group.lane != 0) return;
            tally.added += s.loop.graph.packing.pack(1, s.degree(row));
            bit_set(level.next_present, row);
            if (complete) s.close(row, tally.closed);
        });
    }
}

// One level, up to a barrier at its end.  All threads of the grid call.
DEVICE void pull_level(const ManyLevel& level, CooperativeGrid& grid) {
    const Many& s = level.s;
    Tally tally = {};
    constexpr int CLAIMED_WORDS = ROW_A_LANE ? SPAN : int(CLAIM_WORDS);
    const i64 words = s.row_words();
    for (;;) {  // warps claim words as they finish: their work differs
        i64 w = 0;
        if (lane_id() == 0) w = i64(atomicAdd(s.loop.counter(CLAIMED), u64(CLAIMED_WORDS)));
        w = shuffle(w, 0);
        if (w >= words) break;
        if constexpr (ROW_A_LANE) {
            __shared__ SpanStage stages[GRID_BLOCK / 32];
            pull_span(level, stages[warp_in_block()], w, tally);
        } else {
            for (int i = 0; i < CLAIMED_WORDS && w + i < words; i++) pull_word(level, w + i, tally);
        }
    }
    add_tally(s, tally, RowLanes<ROW_A_LANE ? 1 : PULL_LANES>().part());
    grid.barrier();
    if (level.segments.count() == 0) return;  // the same in every thread
    level.segments.each<GRID_BLOCK, CooperativeGrid>([&](i64 row, i64 number) { pull_segment(level, row, number); });
    grid.barrier();
    tally = Tally();
    enter_segmented(level, tally);
    add_tally(s, tally, RowLanes<LANES>().part());
    grid.barrier();
}
