// scan: t(i, j) = (+)_l A(i, l) over the entries of row i with l <= j.
//
// The prologue defines: P, the type of row offsets; A, of values; add, the monoid; TILE.  One pass over the tiles of
// row_tiles.cuh.  A tile publishes the sum of its entries after its last row start; a tile that begins within a row adds
// up those of the tiles before it.  The sums of tiles are added from left to right, so the result does not depend on the
// order in which tiles finish.

#include "quads.cuh"
#include "row_tiles.cuh"

// Slots of a tile are numbered from the multiple of SCAN_ALIGNED positions at or before its first entry.  A warp scans
// consecutive slots, in rounds of QUAD neighboring ones a lane.
constexpr int SCAN_ALIGNED = 32;
constexpr int SCAN_SLOTS = int(TILE) + SCAN_ALIGNED;
constexpr int SCAN_WARPS = TILE_THREADS / 32;
constexpr int SCAN_ROUNDS = SCAN_SLOTS / (TILE_THREADS * QUAD);
constexpr int SCAN_WORDS = SCAN_SLOTS / 32;
constexpr int WARP_WORDS = SCAN_WORDS / SCAN_WARPS;
static_assert(SCAN_SLOTS % (TILE_THREADS * QUAD) == 0 && WARP_WORDS <= 32, "whole rounds, and a lane for each word");

// The sums of tiles.  words[t] is 0 before the launch; its upper half becomes PART or WHOLE.  Its lower half is the sum,
// if that fits; a larger sum is in `sums`.
template <class V>
struct Sums {
    static constexpr u32 PART = 1;   // of all entries of tile t, in which no row starts
    static constexpr u32 WHOLE = 2;  // of the entries before tile t + 1 in the row of the last one
    static constexpr bool FITS = sizeof(V) <= 4;
    u64* words;
    V* sums;  // two for each tile: PART and WHOLE

    // One thread calls.
    DEVICE void publish(i64 t, u32 flag, V sum) const {
        u64 word = u64(flag) << 32;
        if constexpr (FITS) {
            word |= u64(from_bits<unsigned_of<sizeof(V)>>(sum));
        } else {
            sums[2 * t + flag - PART] = sum;
            __threadfence();
        }
        store_relaxed(words + t, word);
    }
    DEVICE V sum(i64 t, u64 word) const {
        if constexpr (FITS) return from_bits<V>(unsigned_of<sizeof(V)>(word));
        else return sums[2 * t + i64(word >> 32) - PART];
    }
    // The sum of the entries before tile t in the row that contains its first entry and begins in a tile before.  Blocks
    // start in the order of their numbers, so the tiles before are under way or complete, and waiting for them ends.
    // Every lane of one warp calls; valid in every lane.
    DEVICE V before(i64 t) const {
        constexpr u32 WAIT_NS = 100;
        const i64 other = t - 1 - lane_id();
        u64 word = 0;
        int last = -1;  // the lane of the nearest whole sum
        while (last < 0) {
            if (other >= 0 && word >> 32 != WHOLE) word = load_relaxed(words + other);  // a part may be outdated: also right
            const u32 whole = __ballot_sync(FULL_WARP, word >> 32 == WHOLE), none = __ballot_sync(FULL_WARP, word == 0);
            const int nearest = __ffs(int(whole)) - 1;
            if (nearest >= 0 && (none & ((1u << nearest) - 1u)) == 0) last = nearest;
            else __nanosleep(WAIT_NS);
        }
        if constexpr (!FITS) __threadfence();
        const V mine = lane_id() <= last ? sum(other, word) : V();
        V total = shuffle(mine, last);
        while (--last >= 0) total = add(total, shuffle(mine, last));
        return total;
    }
};

// The entries since the last row start in a range, or in all of it: whether there are any, and their sum; and whether a row
// starts in the range.
struct Run {
    bool any, starts;
    add_z sum;
};
DEVICE Run join_runs(Run a, Run b) {
    if (!b.any) return a;
    if (!b.starts && a.any) b.sum = add(a.sum, b.sum);
    b.starts = b.starts || a.starts;
    return b;
}

// The slots of a warp: first, of which those in [begin, end) have entries, and the bits of those at which a row starts.
struct WarpSlots {
    int first, begin, end;
    u32 starts;  // lane w has those of slots first + 32 w

    // The slots at which rows start among four of a round, as bits.
    DEVICE u32 of_quad(int round) const { return shuffle(starts, 4 * round + lane_id() / 8) >> 4 * (lane_id() % 8) & 15u; }
    // The first slot at which a row starts, or the end of the slots of the warp.
    DEVICE int first_start() const {
        const u32 some = __ballot_sync(FULL_WARP, starts != 0);
        if (some == 0) return first + 32 * WARP_WORDS;
        const int w = __ffs(int(some)) - 1;
        return first + 32 * w + __ffs(int(shuffle(starts, w))) - 1;
    }
};

// Replaces the entries of a warp by their running totals, each from the last row start of the warp, or from its first slot.
// Returns the run of all.  Every lane calls.
DEVICE Run scan_warp(const WarpSlots& slots, Quad<add_z> (&x)[SCAN_ROUNDS]) {
    Run all{slots.first < slots.end, __any_sync(FULL_WARP, slots.starts != 0) != 0, add_z()};
    bool earlier = false;  // a round before has entries
#pragma unroll
    for (int round = 0; round < SCAN_ROUNDS; ++round) {
        const int base = slots.first + 32 * QUAD * round, slot = base + QUAD * lane_id();
        if (base >= slots.end) break;
        const u32 starts = slots.of_quad(round);
        Quad<add_z>& mine = x[round];
#pragma unroll
        for (int e = 1; e < QUAD; ++e) {
            if (slot + e >= slots.end) mine.at[e] = mine.at[e - 1];
            else if (slot + e > slots.begin && (starts >> e & 1u) == 0) mine.at[e] = add(mine.at[e - 1], mine.at[e]);
        }
        const u32 heads = __ballot_sync(FULL_WARP, starts != 0), before = heads & lanes_below();
        // Lanes below `lowest` have no entries.
        const int lowest = base < slots.begin ? (slots.begin - base) / QUAD : 0;
        const int reach = starts != 0 ? 0 : lane_id() - (before != 0 ? 31 - __clz(int(before)) : lowest);
        add_z sum = mine.at[QUAD - 1];
#pragma unroll
        for (int delta = 1; delta < 32; delta *= 2) {
            const add_z below = shuffle_up(sum, delta);
            if (delta <= reach) sum = add(below, sum);
        }
        // The total before the four entries, since the last row start.
        add_z carry = shuffle_up(sum, 1);
        if (lane_id() == 0) carry = all.sum;
        else if (earlier && before == 0) carry = add(all.sum, carry);
        if (lane_id() > lowest || earlier) {
#pragma unroll
            for (int e = 0; e < QUAD; ++e) {
                if ((starts & ((2u << e) - 1u)) == 0) mine.at[e] = add(carry, mine.at[e]);
            }
        }
        const int left = slots.end - 1 - base;  // lanes behind the last entry have no sums
        all.sum = shuffle(mine.at[QUAD - 1], left < 32 * QUAD - 1 ? left / QUAD : 31);
        earlier = true;
    }
    return all;
}

// One block for each tile.
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
scan_rows(i64 nrows, i64 n, const P* indptr, const A* values, A iso, const i64* first_row, u64* words, add_z* sums,
          add_z* out) {
    __shared__ u32 starts[SCAN_WORDS];
    __shared__ Run runs[SCAN_WARPS];
    __shared__ add_z shared_earlier;
    const RowTile tile(first_row, blockIdx.x, nrows, n);
    const int begin = int(tile.first & (SCAN_ALIGNED - 1)), end = begin + tile.entries;
    const i64 base = tile.first - begin;
    for (int w = int(threadIdx.x); w < SCAN_WORDS; w += TILE_THREADS) starts[w] = 0;
    const int first = 32 * WARP_WORDS * warp_in_block();
    Quad<A> loaded[SCAN_ROUNDS];
#pragma unroll
    for (int round = 0; round < SCAN_ROUNDS; ++round) {
        const int slot = first + QUAD * (32 * round + lane_id());
        const i64 p = base + slot, left = n - p;
        if (values != nullptr && slot < end) loaded[round] = load_quad(values + p, left < QUAD ? int(left) : QUAD);
    }
    __syncthreads();
    for (i64 row = tile.row0 + threadIdx.x; row <= tile.row1 && row < nrows; row += TILE_THREADS) {
        const i64 slot = i64(indptr[row]) - base;
        if (slot >= begin && slot < end) atomicOr(starts + (slot >> 5), 1u << (slot & 31));
    }
    __syncthreads();
    const u32 my_starts = lane_id() < WARP_WORDS ? starts[WARP_WORDS * warp_in_block() + lane_id()] : 0;
    const WarpSlots slots{first, begin, end, my_starts};
    // The first entry is not the first of its row.
    const bool continues = tile.entries > 0 && (starts[begin >> 5] >> (begin & 31) & 1u) == 0;
    Quad<add_z> x[SCAN_ROUNDS];
#pragma unroll
    for (int round = 0; round < SCAN_ROUNDS; ++round) {
#pragma unroll
        for (int e = 0; e < QUAD; ++e) x[round].at[e] = cast<add_z>(values == nullptr ? iso : loaded[round].at[e]);
    }
    const Run mine = scan_warp(slots, x);
    if (lane_id() == 0) runs[warp_in_block()] = mine;
    __syncthreads();
    Run before{false, false, add_z()};
    for (int w = 0; w < warp_in_block(); ++w) before = join_runs(before, runs[w]);
    if (warp_in_block() == 0) {
        Run total = before;
        for (int w = 0; w < SCAN_WARPS; ++w) total = join_runs(total, runs[w]);
        const Sums<add_z> all{words, sums};
        const bool whole = total.starts || !continues;
        if (lane_id() == 0) all.publish(blockIdx.x, whole ? Sums<add_z>::WHOLE : Sums<add_z>::PART, total.sum);
        if (continues) {
            const add_z earlier = all.before(blockIdx.x);
            if (lane_id() == 0) {
                if (!whole) all.publish(blockIdx.x, Sums<add_z>::WHOLE, add(earlier, total.sum));
                shared_earlier = earlier;
            }
        }
    }
    if (continues) {
        __syncthreads();
        if (!before.starts) {
            before.sum = before.any ? add(shared_earlier, before.sum) : shared_earlier;
            before.any = true;
        }
    }
    const int stop = before.any ? slots.first_start() : 0;
#pragma unroll
    for (int round = 0; round < SCAN_ROUNDS; ++round) {
        const int slot = first + QUAD * (32 * round + lane_id());
        if (slot >= end || slot + QUAD <= begin) continue;
#pragma unroll
        for (int e = 0; e < QUAD; ++e) {
            if (slot + e < stop) x[round].at[e] = add(before.sum, x[round].at[e]);
        }
        store_part(out + base + slot, x[round], begin - slot, end - slot);
    }
}
