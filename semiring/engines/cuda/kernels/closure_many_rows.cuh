// Rows of source bits: how lanes hold them, how neighbours' rows are combined, and how new bits are entered.
//
// A row has WORDS words of 32 sources.  LANES lanes hold it, a part of PART words (up to 16 bytes, one load) each.
//
// Included by closure_many.cuh after `Many`.

#pragma once

constexpr int PART = WORDS < 4 ? int(WORDS) : 4;
constexpr int LANES = int(WORDS) / PART;

struct Part {
    u32 word[PART];

    DEVICE bool any() const {
        u32 bits = 0;
#pragma unroll
        for (int i = 0; i < PART; i++) bits |= word[i];
        return bits != 0;
    }
    DEVICE void operator|=(const Part& other) {
#pragma unroll
        for (int i = 0; i < PART; i++) word[i] |= other.word[i];
    }
    DEVICE Part operator&(const Part& other) const {
        Part made;
#pragma unroll
        for (int i = 0; i < PART; i++) made.word[i] = word[i] & other.word[i];
        return made;
    }
    DEVICE Part without(const Part& other) const {
        Part made;
#pragma unroll
        for (int i = 0; i < PART; i++) made.word[i] = word[i] & ~other.word[i];
        return made;
    }
};

DEVICE Part load_part(const u32* from) {
    Part made;
    if constexpr (PART == 4) {
        const uint4 four = *reinterpret_cast<const uint4*>(from);
        made.word[0] = four.x, made.word[1] = four.y, made.word[2] = four.z, made.word[3] = four.w;
    } else if constexpr (PART == 2) {
        const uint2 two = *reinterpret_cast<const uint2*>(from);
        made.word[0] = two.x, made.word[1] = two.y;
    } else {
        made.word[0] = *from;
    }
    return made;
}
DEVICE void store_part(u32* to, const Part& part) {
    if constexpr (PART == 4)
        *reinterpret_cast<uint4*>(to) = make_uint4(part.word[0], part.word[1], part.word[2], part.word[3]);
    else if constexpr (PART == 2) *reinterpret_cast<uint2*>(to) = make_uint2(part.word[0], part.word[1]);
    else *to = part.word[0];
}
// Words that other threads change in this pass.
DEVICE Part load_part_relaxed(const u32* from) {
    Part made;
#pragma unroll
    for (int i = 0; i < PART; i++) made.word[i] = load_relaxed(from + i);
    return made;
}

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
    DEVICE int part() const { return lane % LANES; }         // which part of a row this lane holds
    DEVICE bool holds_first() const { return lane < LANES; }  // of the lanes that hold the same part, it is the first

    // All lanes of the group call the rest; valid in every lane.
    DEVICE bool any(bool mine) const { return SIZE == 1 ? mine : __any_sync(mask, mine) != 0; }
    DEVICE bool all(bool mine) const { return SIZE == 1 ? mine : __all_sync(mask, mine) != 0; }
    template <class T>
    DEVICE T from(T value, int source) const {
        typedef choose<sizeof(T) == 8, u64, u32> W;
        if constexpr (SIZE == 1) return value;
        else return T(__shfl_sync(mask, W(value), source, SIZE));
    }
    // The union over the lanes that hold the same part.
    DEVICE Part combined(Part mine) const {
#pragma unroll
        for (int delta = LANES; delta < SIZE; delta *= 2) {
#pragma unroll
            for (int i = 0; i < PART; i++) mine.word[i] |= __shfl_xor_sync(mask, mine.word[i], delta);
        }
        return mine;
    }
};

// What a thread adds to the counters of a level at its end.
struct Tally {
    u64 added;   // rows of the next frontier and their edges, packed
    i64 closed;  // entries of the rows, of the transpose, that all sources have reached
    Part alive;  // the sources that have reached a new row; the part that the lane holds
};

// Adds the tallies of a warp.  Every lane calls; `part` is the part of the lane.
DEVICE void add_tally(const Many& s, const Tally& tally, int turn, int part) {
    const u64 added = warp_sum(tally.added);
    const u64 closed = warp_sum(u64(tally.closed));
    if (lane_id() == 0 && added != 0) atomicAdd(s.state + ADDED + turn, added);
    if (lane_id() == 0 && closed != 0) atomicAdd(s.state + CLOSED, closed);
    u32* const alive = s.alive(turn) + part * PART;
#pragma unroll
    for (int i = 0; i < PART; i++) {  // an outdated word costs a redundant atomic
        const u32 bits = tally.alive.word[i];
        if (bits != 0 && (bits & ~load_relaxed(alive + i)) != 0) atomicOr(alive + i, bits);
    }
}

// Enters the new bits of a row that sources reach at `level`: `visited` are its bits before.  Returns whether all
// sources have reached it.  All lanes of the group call with their parts.
template <int SIZE>
DEVICE bool enter_bits(const Many& s, const LaneGroup<SIZE>& group, i64 row, const Part& fresh, Part visited,
                       i64 level, Tally& tally) {
    const i64 at = row * WORDS + group.part() * PART;
    visited |= fresh;
    const bool mine = group.holds_first() && fresh.any();
    if (mine) {
        store_part(s.visited + at, visited);
        tally.alive |= fresh;
        if constexpr (LEVELS) {
            int plane = 0;
            for (i64 bits = level; bits != 0; bits >>= 1, plane++) {
                if (bits & 1) {
                    u32* const words = s.plane(plane) + at;
                    Part kept = load_part(words);
                    kept |= fresh;
                    store_part(words, kept);
                }
            }
        }
    }
    return group.all(!s.sources_of(group.part()).without(visited).any());
}

// The columns of entries [first, last) of a row of the transpose, STEPS for each lane of a group and call; -1 past the
// end.  Together up to 32 of consecutive entries, in ascending order of steps and lanes.
template <int SIZE>
struct GroupColumns {
    static constexpr int STEPS = 32 / SIZE;
    const LaneGroup<SIZE>& group;
    const T_CODEC::Columns& columns;
    i64 begin, last;
    J column[STEPS];

    DEVICE GroupColumns(const LaneGroup<SIZE>& group, const T_CODEC::Columns& columns, i64, i64 first, i64 last)
        : group(group), columns(columns), begin(first), last(last) {}
    DEVICE bool next() {
        if (begin >= last) return false;
#pragma unroll
        for (int u = 0; u < STEPS; u++) {
            const i64 p = begin + u * SIZE + group.lane;
            column[u] = p < last ? J(columns.at(0, p)) : J(-1);
        }
        begin += 32;
        return true;
    }
};
template <int SIZE>
struct DecodedColumns {
    static constexpr int STEPS = 1;
    T_CODEC::Warp walk;
    J column[STEPS];

    DEVICE DecodedColumns(const LaneGroup<SIZE>&, const T_CODEC::Columns& columns, i64 row_start, i64 first,
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

// The union of the frontier's rows over entries [first, last) of a row; it may end when `missing` is covered.
// All lanes of the group call; the part of a lane is valid in it.
template <int SIZE>
DEVICE Part gather(const Many& s, const LaneGroup<SIZE>& group, const u32* frontier, const u32* present,
                   i64 row_start, i64 first, i64 last, const Part& missing) {
    typedef choose<T_CODEC::COMPRESSED, DecodedColumns<SIZE>, GroupColumns<SIZE>> Walk;
    constexpr int ROWS = SIZE / LANES;  // neighbours whose rows the lanes read together
    constexpr int READS = Walk::STEPS * LANES, BATCH = READS < 4 ? READS : 4;
    Part found = {};
    Walk walk(group, s.t_columns, row_start, first, last);
    while (walk.next()) {
        // A small row is read as fast as its bit; the row of an absent entry is 0.
        if constexpr (PART == 4) {
#pragma unroll
            for (int u = 0; u < Walk::STEPS; u++) {
                if (walk.column[u] >= 0 && !bit_test(present, i64(walk.column[u]))) walk.column[u] = -1;
            }
        }
#pragma unroll
        for (int read = 0; read < READS; read += BATCH) {
            Part row[BATCH];  // whose loads overlap
#pragma unroll
            for (int u = 0; u < BATCH; u++) {
                const J column = walk.column[(read + u) / LANES];
                const J k = LANES == 1 ? column : group.from(column, (read + u) % LANES * ROWS + group.lane / LANES);
                row[u] = k >= 0 ? load_part(frontier + i64(k) * WORDS + group.part() * PART) : Part();
            }
#pragma unroll
            for (int u = 0; u < BATCH; u++) found |= row[u];
        }
        found = group.combined(found);
        if (group.all(!missing.without(found).any())) break;
    }
    return found;
}
