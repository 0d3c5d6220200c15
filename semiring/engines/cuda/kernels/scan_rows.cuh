// scan: t(i, j) = (+)_l A(i, l) over the entries of row i with l <= j.
//
// The prologue defines: P, the type of row offsets; A, of values; add, the monoid.  The entries are divided into tiles,
// whatever rows they belong to, and the tiles into groups: one kernel sums up the entries of each tile after its last
// row start, one scans these sums within each group, and one writes the running totals.  Values are read twice; the time
// does not depend on the lengths of the rows.

#include "semiring.cuh"

constexpr int THREADS = 256;
constexpr int ITEMS = 8;
constexpr i64 TILE = THREADS * ITEMS;
constexpr i64 GROUP = 1024;  // tiles

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

// starts: a bit for each entry, cleared before the launch; set for the first entry of each row.
extern "C" __global__ void scan_rows_mark(i64 nrows, const P* indptr, u32* starts) {
    for (i64 i = thread_id(); i < nrows; i += thread_count()) {
        const i64 begin = i64(indptr[i]);
        if (begin < i64(indptr[i + 1])) atomicOr(starts + (begin >> 5), 1u << (begin & 31));
    }
}

// The entries of a tile in shared memory, so that threads read neighbouring words and each then has ITEMS entries in a
// row.  One slot in 33 stays empty: two lanes at most use one bank.
struct Tile {
    add_z values[TILE + TILE / 32];
    DEVICE add_z& at(int slot) { return values[slot + slot / 32]; }
};

// Every thread of the block calls.  Synchronises the block.
DEVICE void load_tile(Tile& tile, i64 n, const A* values, A iso) {
    const i64 first = TILE * i64(blockIdx.x);
    A loaded[ITEMS];  // all loads of a thread overlap
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        const i64 p = first + THREADS * item + threadIdx.x;
        loaded[item] = p < n ? value_at(values, iso, p) : A();
    }
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        tile.at(THREADS * item + int(threadIdx.x)) = cast<add_z>(loaded[item]);
    }
    __syncthreads();
}
// The bits of the ITEMS entries of a thread that start a row.
DEVICE u32 starts_of(i64 n, const u32* starts) {
    const i64 p = TILE * i64(blockIdx.x) + ITEMS * i64(threadIdx.x);
    return p < n ? (starts[p >> 5] >> (p & 31)) & ((1u << ITEMS) - 1) : 0;
}
DEVICE Run thread_run(Tile& tile, i64 n, u32 heads) {
    const int slot = ITEMS * int(threadIdx.x);
    const i64 left = n - TILE * i64(blockIdx.x) - slot;
    Run mine = no_run();
    for (int item = 0; item < ITEMS && item < left; ++item) {
        mine = join_runs(mine, Run{{true, tile.at(slot + item)}, bool((heads >> item) & 1)});
    }
    return mine;
}

// Runs as arrays: the sum; whether there is one (1) and whether a row starts (2).
struct Runs {
    add_z* sums;
    unsigned char* flags;
    DEVICE Run get(i64 t) const { return Run{{bool(flags[t] & 1), sums[t]}, bool(flags[t] & 2)}; }
    DEVICE void put(i64 t, Run run) const {
        sums[t] = run.sum.value;
        flags[t] = (unsigned char)(int(run.sum.hit) | (int(run.starts) << 1));
    }
};

// One block for each tile: the Run of the tile.
extern "C" __global__ void scan_rows_tiles(i64 n, const A* values, A iso, const u32* starts, add_z* sums,
                                           unsigned char* flags) {
    __shared__ Tile tile;
    load_tile(tile, n, values, iso);
    Run total;
    block_runs_before(thread_run(tile, n, starts_of(n, starts)), total);
    if (threadIdx.x == 0) Runs{sums, flags}.put(blockIdx.x, total);
}

// One block of GROUP threads for each group: replaces the Run of each tile by that of the tiles before it in its group,
// and writes the Run of the group behind those of all tiles.
extern "C" __global__ void scan_rows_groups(i64 tiles, add_z* sums, unsigned char* flags) {
    const Runs runs{sums, flags};
    const i64 t = GROUP * i64(blockIdx.x) + threadIdx.x;
    Run total;
    const Run before = block_runs_before(t < tiles ? runs.get(t) : no_run(), total);
    if (t < tiles) runs.put(t, before);
    if (threadIdx.x == 0) runs.put(tiles + blockIdx.x, total);
}

// The Run of all tiles before tile t: those of its group, and if no row starts there, those of the groups before, back
// to one in which a row starts.  Every lane of one warp calls; valid in every lane.
DEVICE Run before_tile(Runs runs, i64 tiles, i64 t) {
    Run before = runs.get(t);
    for (i64 end = t / GROUP; end > 0 && !before.starts; end -= 32) {
        const i64 group = end - 32 + lane_id();
        const Run found = warp_runs(group >= 0 ? runs.get(tiles + group) : no_run());
        Run all;
        all.sum.hit = __shfl_sync(FULL_WARP, int(found.sum.hit), 31) != 0;
        all.starts = __shfl_sync(FULL_WARP, int(found.starts), 31) != 0;
        all.sum.value = shuffle(found.sum.value, 31);
        before = join_runs(all, before);
    }
    return before;
}

// One block for each of the tiles; null sums: there is one tile.
extern "C" __global__ void scan_rows_write(i64 n, const A* values, A iso, const u32* starts, i64 tiles, add_z* sums,
                                           unsigned char* flags, add_z* out) {
    __shared__ Tile tile;
    __shared__ Run earlier;
    if (sums != nullptr && threadIdx.x < 32) {
        const Run before = before_tile(Runs{sums, flags}, tiles, blockIdx.x);
        if (threadIdx.x == 0) earlier = before;
    }
    load_tile(tile, n, values, iso);
    const u32 heads = starts_of(n, starts);
    Run total;
    Run running = block_runs_before(thread_run(tile, n, heads), total);
    if (sums != nullptr) running = join_runs(earlier, running);
    const i64 first = TILE * i64(blockIdx.x);
    const int slot = ITEMS * int(threadIdx.x);
    for (int item = 0; item < ITEMS && first + slot + item < n; ++item) {
        running = join_runs(running, Run{{true, tile.at(slot + item)}, bool((heads >> item) & 1)});
        tile.at(slot + item) = running.sum.value;
    }
    __syncthreads();
    for (int at = int(threadIdx.x); at < TILE && first + at < n; at += THREADS) out[first + at] = tile.at(at);
}
