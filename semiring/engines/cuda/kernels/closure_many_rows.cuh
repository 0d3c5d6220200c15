// Rows of source bits: how lanes hold them, and how new bits are entered.
//
// LANES lanes hold a row, a part each (source_bits.cuh).
//
// Included by closure_many.cuh after `Many`.

#pragma once

#include "segments.cuh"
#include "source_bits.cuh"

// Words that other threads change in this pass.
DEVICE Part load_part_relaxed(const u32* from) {
    Part made;
#pragma unroll
    for (int i = 0; i < PART; i++) made.word[i] = load_relaxed(from + i);
    return made;
}

// Lanes that process one row of bits together.
template <int SIZE>
struct RowLanes : LaneGroup<SIZE> {
    DEVICE int part() const { return this->lane % LANES; }          // which part of a row this lane holds
    DEVICE bool holds_first() const { return this->lane < LANES; }  // of the lanes that hold the same part, it is the first

    // The union over the lanes that hold the same part.
    DEVICE Part combined(Part mine) const {
#pragma unroll
        for (int delta = LANES; delta < SIZE; delta *= 2) {
#pragma unroll
            for (int i = 0; i < PART; i++) mine.word[i] |= __shfl_xor_sync(this->mask, mine.word[i], delta);
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
DEVICE void add_tally(const Many& s, const Tally& tally, int part) {
    __syncwarp();
    const u64 added = warp_sum(tally.added);
    const u64 closed = warp_sum(u64(tally.closed));
    if (lane_id() == 0 && added != 0) atomicAdd(s.loop.counter(ADDED), added);
    if (lane_id() == 0 && closed != 0) atomicAdd(s.loop.counter(CLOSED), closed);
    u32* const alive = s.alive(s.loop.turn) + part * PART;
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
DEVICE bool enter_bits(const Many& s, const RowLanes<SIZE>& group, i64 row, const Part& fresh, Part visited,
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
