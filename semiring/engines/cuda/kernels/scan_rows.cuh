// scan: t(i, j) = (+)_l A(i, l) over the entries of row i with l <= j.
//
// The prologue defines: P, the type of row offsets; A, of values; add, the monoid; TILE.  One pass over the tiles of
// row_tiles.cuh.  A tile publishes the sum of its entries after its last row start; a tile that begins within a row adds
// up those of the tiles before it.  The sums of tiles are added from left to right, so the result does not depend on the
// order in which tiles finish.

#include "row_tiles.cuh"

constexpr int ITEMS = int(TILE) / TILE_THREADS;

// The entries since the last row start in a range, or in all of it: their sum, and whether a row starts in the range.
struct Run {
    Maybe<add_z> sum;
    bool starts;
};
DEVICE Run join_runs(Run a, Run b) {
    if (b.starts) return b;
    b.starts = a.starts;
    b.sum = join(a.sum, b.sum, [](add_z x, add_z y) { return add(x, y); });
    return b;
}
DEVICE Run no_run() { return Run{{false, add_z()}, false}; }

// The Run of the lane `delta` below.
DEVICE Run run_below(Run mine, int delta) {
    Run other;
    const int flags = __shfl_up_sync(FULL_WARP, int(mine.sum.hit) | (int(mine.starts) << 1), delta);
    other.sum.hit = flags & 1;
    other.starts = flags & 2;
    other.sum.value = shuffle_up(mine.sum.value, delta);
    return other;
}
// The runs of the lanes up to this one, joined.  Every lane calls.
DEVICE Run warp_runs(Run mine) {
#pragma unroll
    for (int delta = 1; delta < 32; delta *= 2) {
        const Run below = run_below(mine, delta);
        if (lane_id() >= delta) mine = join_runs(below, mine);
    }
    return mine;
}
// The runs of the threads before, joined, and in `total` those of all threads; valid in every thread.  Every thread of
// the block calls.  Synchronises the block twice.
DEVICE Run block_runs_before(Run mine, Run& total) {
    __shared__ Run runs[32];
    const Run inclusive = warp_runs(mine);
    __syncthreads();  // an earlier call may still be reading
    if (lane_id() == 31) runs[warp_in_block()] = inclusive;
    __syncthreads();
    Run before = no_run();
    total = no_run();
    for (int warp = 0; warp < int(blockDim.x >> 5); ++warp) {
        if (warp == warp_in_block()) before = total;
        total = join_runs(total, runs[warp]);
    }
    const Run below = run_below(inclusive, 1);
    return lane_id() == 0 ? before : join_runs(before, below);
}

// The entries of a tile in shared memory, so that threads read neighbouring words and each then has ITEMS entries in a
// row.  One slot in 33 stays empty: two lanes at most use one bank.
struct Tile {
    add_z values[TILE + TILE / 32];
    DEVICE add_z& at(int slot) { return values[slot + slot / 32]; }
};

// Every thread of the block calls; a barrier must follow.
DEVICE void load_tile(Tile& tile, const RowTile& part, const A* values, A iso) {
    A loaded[ITEMS];  // all loads of a thread overlap
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        const int slot = TILE_THREADS * item + int(threadIdx.x);
        if (slot < part.entries) loaded[item] = value_at(values, iso, part.first + slot);
    }
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        const int slot = TILE_THREADS * item + int(threadIdx.x);
        if (slot < part.entries) tile.at(slot) = cast<add_z>(loaded[item]);
    }
}
// Sets the bits of slots at which rows start; they are cleared.  Every thread of the block calls; a barrier must follow.
DEVICE void mark_starts(u32* bits, const RowTile& part, const P* indptr, i64 nrows) {
    for (i64 r = part.row0 + threadIdx.x; r <= part.row1 && r < nrows; r += TILE_THREADS) {
        const i64 slot = i64(indptr[r]) - part.first;
        if (slot >= 0 && slot < part.entries) atomicOr(bits + (slot >> 5), 1u << (slot & 31));
    }
}

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

// One block for each tile.
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
scan_rows(i64 nrows, i64 n, const P* indptr, const A* values, A iso, const i64* first_row, u64* words, add_z* sums,
          add_z* out) {
    __shared__ Tile tile;
    __shared__ u32 starts[TILE_WORDS];
    __shared__ add_z earlier;
    const RowTile part(first_row, blockIdx.x, nrows, n);
    for (int w = int(threadIdx.x); w < TILE_WORDS; w += TILE_THREADS) starts[w] = 0;
    __syncthreads();
    mark_starts(starts, part, indptr, nrows);
    load_tile(tile, part, values, iso);
    __syncthreads();
    const int begin = ITEMS * int(threadIdx.x), end = begin + ITEMS < part.entries ? begin + ITEMS : part.entries;
    const u32 heads = starts[begin >> 5] >> (begin & 31);
    Run mine = no_run();
    for (int slot = begin; slot < end; ++slot) {
        mine = join_runs(mine, Run{{true, tile.at(slot)}, bool((heads >> (slot - begin)) & 1)});
    }
    Run total;
    Run running = block_runs_before(mine, total);
    const bool continues = part.entries > 0 && (starts[0] & 1u) == 0;  // the first entry is not the first of its row
    if (threadIdx.x < 32) {
        const Sums<add_z> all{words, sums};
        const bool whole = total.starts || !continues;
        if (lane_id() == 0) all.publish(blockIdx.x, whole ? Sums<add_z>::WHOLE : Sums<add_z>::PART, total.sum.value);
        if (continues) {
            const add_z before = all.before(blockIdx.x);
            if (lane_id() == 0) {
                if (!whole) all.publish(blockIdx.x, Sums<add_z>::WHOLE, add(before, total.sum.value));
                earlier = before;
            }
        }
    }
    __syncthreads();
    if (continues) running = join_runs(Run{{true, earlier}, false}, running);
    for (int slot = begin; slot < end; ++slot) {
        running = join_runs(running, Run{{true, tile.at(slot)}, bool((heads >> (slot - begin)) & 1)});
        tile.at(slot) = running.sum.value;
    }
    __syncthreads();
    for (int slot = int(threadIdx.x); slot < part.entries; slot += TILE_THREADS) out[part.first + slot] = tile.at(slot);
}
