// A pull of many sources over the entries of one row: a group of lanes unites the rows of the neighbors.
//
// Included by closure_many_pull.cuh.

#pragma once

#include "closure_many_rows.cuh"

// What a pull reads and writes.
struct ManyPull {
    const Many& s;
    const u32* frontier;
    const u32* present;
    u32* next;
    u32* next_present;
    i64 level;
    int turn;
    bool sparse;  // most rows are not in the frontier

    // The sources that may reach another row: those with a row in the frontier.
    DEVICE Part alive(int part) const { return load_part(s.alive((turn + 2) % 3) + part * PART); }
};

// The columns of entries [first, last) of a row of the transpose, STEPS for each lane of a group and call; -1 past the
// end.  Together they are consecutive entries, in ascending order of steps and lanes.  A lane has four or more reads; a
// group that holds one row has few entries.
template <int SIZE>
struct GroupColumns {
    static constexpr int MOST = SIZE == LANES ? 8 : 32;
    static constexpr int STEPS = 4 / LANES > MOST / SIZE ? 4 / LANES : MOST / SIZE;
    const LaneGroup<SIZE>& group;
    const T_CODEC::Columns& columns;
    i64 begin, last;
    J column[STEPS], ahead[STEPS];  // the columns of the next call are loaded before these are used

    DEVICE GroupColumns(const LaneGroup<SIZE>& group, const T_CODEC::Columns& columns, i64, i64 first, i64 last)
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

// With so many parts of a row that are not covered, or fewer, each lane of a warp reads these of its own entry.  H200,
// kernel, 1,024 sources on kron22: 2 and 4 10.5 ms.
constexpr int FEW_PARTS = 2;

// The union of the frontier's rows over entries [first, last) of a row; it may end when `missing` is covered.  A lane
// whose part is covered reads no more.  All lanes of the group call; the part of a lane is valid in it.
template <int SIZE>
DEVICE Part gather(const ManyPull& pull, const LaneGroup<SIZE>& group, i64 row_start, i64 first, i64 last,
                   const Part& missing) {
    typedef choose<T_CODEC::COMPRESSED, DecodedColumns<SIZE>, GroupColumns<SIZE>> Walk;
    constexpr int ROWS = SIZE / LANES;  // neighbors whose rows the lanes read together
    constexpr int READS = Walk::STEPS * LANES, BATCH = READS < 4 ? READS : 4;
    Part found = {};
    bool covered = !missing.any();
    Walk walk(group, pull.s.t_columns, row_start, first, last);
    while (walk.next()) {
        // A small row is read as fast as its bit; the row of an absent entry is 0.
        if (PART == 4 && pull.sparse) {
#pragma unroll
            for (int u = 0; u < Walk::STEPS; u++) {
                if (walk.column[u] >= 0 && !bit_test(pull.present, i64(walk.column[u]))) walk.column[u] = -1;
            }
        }
        if constexpr (SIZE == 32 && LANES > 2) {
            static_assert(Walk::STEPS == 1, "a lane has one column");
            u32 parts = __ballot_sync(FULL_WARP, !covered) & ((1u << LANES) - 1u);
            if (__popc(parts) <= FEW_PARTS) {
                for (; parts != 0; parts &= parts - 1) {
                    const int part = __ffs(int(parts)) - 1;
                    const i64 k = i64(walk.column[0]);
                    const Part row = k >= 0 ? load_part(pull.frontier + k * WORDS + part * PART) : Part();
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
                row[u] = k >= 0 && !covered ? load_part(pull.frontier + i64(k) * WORDS + group.part() * PART) : Part();
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
