// scan: t(i, j) = (+)_l A(i, l) over the entries of row i with l <= j.
//
// The prologue defines: P, the type of row offsets; A, of values; add, the monoid.  The entries are divided into tiles,
// whatever rows they belong to: one kernel sums up the entries of each tile after its last row start, one scans these
// sums, and one writes the running totals.  Values are read twice; time does not depend on the lengths of the rows.

#include "semiring.cuh"

constexpr int THREADS = 256;
constexpr int ITEMS = 8;
constexpr i64 TILE = THREADS * ITEMS;

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
// The runs of the threads before, joined, and in `total` those of all threads; valid in every thread.  Every thread of
// the block calls.  Synchronises the block twice.
DEVICE Run block_runs_before(Run mine, Run& total) {
    __shared__ Run runs[32];
    Run inclusive = mine;
#pragma unroll
    for (int delta = 1; delta < 32; delta *= 2) {
        const Run below = run_below(inclusive, delta);
        if (lane_id() >= delta) inclusive = join_runs(below, inclusive);
    }
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
    for (int slot = int(threadIdx.x); slot < TILE && first + slot < n; slot += THREADS) {
        tile.at(slot) = cast<add_z>(value_at(values, iso, first + slot));
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

// One block for each tile: what the tile passes on, as a sum, and in `flags` whether there is one (1) and whether a row
// starts in the tile (2).
extern "C" __global__ void scan_rows_tiles(i64 n, const A* values, A iso, const u32* starts, add_z* sums,
                                           unsigned char* flags) {
    __shared__ Tile tile;
    load_tile(tile, n, values, iso);
    Run total;
    block_runs_before(thread_run(tile, n, starts_of(n, starts)), total);
    if (threadIdx.x != 0) return;
    sums[blockIdx.x] = total.sum.value;
    flags[blockIdx.x] = (unsigned char)(int(total.sum.hit) | (int(total.starts) << 1));
}

// One block: replaces what each tile passes on by what the tiles before it pass on.
extern "C" __global__ void scan_rows_sums(i64 tiles, add_z* sums, unsigned char* flags) {
    Run before = no_run();
    for (i64 base = 0; base < tiles; base += blockDim.x) {
        const i64 t = base + threadIdx.x;
        Run mine = no_run(), total;
        if (t < tiles) mine = Run{{bool(flags[t] & 1), sums[t]}, bool(flags[t] & 2)};
        const Run below = join_runs(before, block_runs_before(mine, total));
        if (t < tiles) {
            sums[t] = below.sum.value;
            flags[t] = (unsigned char)(below.sum.hit);
        }
        before = join_runs(before, total);
    }
}

// One block for each tile; null sums: there is one tile.
extern "C" __global__ void scan_rows_write(i64 n, const A* values, A iso, const u32* starts, const add_z* sums,
                                           const unsigned char* flags, add_z* out) {
    __shared__ Tile tile;
    load_tile(tile, n, values, iso);
    const u32 heads = starts_of(n, starts);
    Run total;
    Run running = block_runs_before(thread_run(tile, n, heads), total);
    if (sums != nullptr) {
        const Run earlier{{bool(flags[blockIdx.x] & 1), sums[blockIdx.x]}, false};
        running = join_runs(earlier, running);
    }
    const i64 first = TILE * i64(blockIdx.x);
    const int slot = ITEMS * int(threadIdx.x);
    for (int item = 0; item < ITEMS && first + slot + item < n; ++item) {
        running = join_runs(running, Run{{true, tile.at(slot + item)}, bool((heads >> item) & 1)});
        tile.at(slot + item) = running.sum.value;
    }
    __syncthreads();
    for (int at = int(threadIdx.x); at < TILE && first + at < n; at += THREADS) out[first + at] = tile.at(at);
}
