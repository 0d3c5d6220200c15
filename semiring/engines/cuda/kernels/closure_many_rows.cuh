// Rows of source bits: how lanes hold them, and how new bits are entered.
//
// LANES lanes hold a row, a part each (source_bits.cuh).
//
// Included by closure_many.cuh after `Many`.

#pragma once

#include "source_bits.cuh"

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
    if (lane_id() == 0 && closed != 0) atomicAdd(s.state + CLOSED + turn, closed);
    u32* const alive = s.alive(turn) + part * PART;
#pragma unroll
    for (int i = 0; i < PART; i++) {  // an outdated word costs a redundant atomic
        const u32 bits = tally.alive.word[i];
        if (bits != 0 && (bits & ~load_relaxed(alive + i)) != 0) atomicOr(alive + i, bits);
    }
}

// Adds the part at word `at` of the bits that are reached at `level` to the planes.  Before the first bits of a part,
// its words of the planes are undefined.
DEVICE void enter_level(const Many& s, i64 at, const Part& fresh, bool first, i64 level) {
    for (int b = 0; b < int(s.plane_count); b++) {
        const bool set = (level >> b & 1) != 0;
        if (!set && !first) continue;
        u32* const words = s.plane(b) + at;
        Part kept = first ? Part() : load_part(words);
        if (set) kept |= fresh;
        store_part(words, kept);
    }
}

// Enters the new bits of a row that sources reach at `level`: `visited` are its bits before.  Returns whether all
// sources have reached it.  All lanes of the group call with their parts.
template <int SIZE>
DEVICE bool enter_bits(const Many& s, const LaneGroup<SIZE>& group, i64 row, const Part& fresh, Part visited,
                       i64 level, Tally& tally) {
    const i64 at = row * WORDS + group.part() * PART;
    if (group.holds_first() && fresh.any()) {
        if constexpr (LEVELS) enter_level(s, at, fresh, !visited.any(), level);
        store_part(s.visited + at, visited | fresh);
        tally.alive |= fresh;
    }
    visited |= fresh;
    return group.all(!s.sources_of(group.part()).without(visited).any());
}
