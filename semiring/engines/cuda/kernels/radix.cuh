// A stable radix sort, least significant digit first: `radix_histogram` counts the digits of all passes in one reading of
// the keys, and each pass, `radix_pass`, reads and writes every entry once.  A block of a pass moves one tile: it counts
// the digits of its entries, adds the counts of the tiles before it (decoupled look-back, one word for each digit), and
// writes the entries in the order of their digits, so that entries with one digit are written side by side.
// Adinets, Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs" (arXiv:2206.01784, 2022).
//
// A key is an unsigned integer KEY.  The first pass may read it as (major index, minor index), the minor index in the low
// bits, from triples or from rows in CSR format; of these the column is the major index, which transposes.  The last pass
// may write the two indices to arrays of their own.
//
// The prologue defines the constants SOURCE (below), SPLIT (whether the indices are written separately), VALUED (whether
// keys have values), DIGIT (bits of a digit, at least 2), THREADS, ITEMS (keys of a thread, an even number), RESIDENT
// (blocks of a multiprocessor that registers are limited for) and WINDOW (words of the look-back that a thread reads at
// once), and the types KEY, MAJOR of major indices or of row offsets, MINOR of minor indices or of columns, O of minor
// indices that are written, and V, an unsigned integer of the size of the values, which are only moved.

#include "atomics.cuh"
#include "heads.cuh"

constexpr int SOURCE_KEYS = 0;
constexpr int SOURCE_TRIPLES = 1;
constexpr int SOURCE_ROWS = 2;

constexpr int RADIX_THREADS = int(THREADS);
constexpr int RADIX_WARPS = RADIX_THREADS / 32;
constexpr int RADIX_ITEMS = int(ITEMS);
constexpr int RADIX_TILE = RADIX_THREADS * RADIX_ITEMS;
constexpr int RADIX_RESIDENT = int(RESIDENT);
constexpr int DIGITS = 1 << int(DIGIT);

// The numbers of a digit in the look-back: of the entries of a tile, or of this and all tiles before it in the launch.
constexpr u32 RADIX_SUM = u32(1) << 30;
constexpr u32 RADIX_PREFIX = u32(2) << 30;
constexpr u32 RADIX_BITS = RADIX_SUM - 1;

// A launch processes the entries [first, n) or as many as its blocks have.  `low`: the bits of the minor index.
// starts[d] = the position of the first entry of the launch with digit d; next[d], if not null, that of the launch that
// follows.  status: DIGITS words for each tile, 0 before the launch.
struct RadixArguments {
    i64 n;
    i64 first;
    int shift;
    int low;
    const KEY* keys;
    const MAJOR* major;
    const MINOR* minor;
    const V* values;
    i64 nrows;
    const u32* first_row;
    const u32* starts;
    u32* next;
    u32* status;
    KEY* out_keys;
    O* out_minor;
    u32* out_major;
    V* out_values;
};

// Key p; of rows in CSR format without the row.
DEVICE KEY radix_key(const RadixArguments& q, i64 p) {
    if constexpr (SOURCE == SOURCE_KEYS) return q.keys[p];
    else if constexpr (SOURCE == SOURCE_ROWS) return KEY(u64(q.minor[p]) << q.low);
    else return KEY((q.major == nullptr ? 0 : u64(q.major[p]) << q.low) | u64(q.minor[p]));
}
DEVICE u32 radix_digit(KEY key, int shift) { return u32(key >> shift) & u32(DIGITS - 1); }

extern __shared__ u64 radix_memory[];

// counts[pass * DIGITS + d] += the keys with digit d in a pass; q.shift is that of pass 0.  `radix_memory` has
// `copies` words for each of them, a power of two up to 32: lanes add to different copies, so that a frequent digit delays
// few lanes.
extern "C" __global__ void __launch_bounds__(512)
    radix_histogram(const RadixArguments q, int passes, int copies, u32* counts) {
    constexpr int KEYS = 8;
    u32* const memory = reinterpret_cast<u32*>(radix_memory);
    const int words = passes * DIGITS;
    for (int d = int(threadIdx.x); d < words * copies; d += int(blockDim.x)) memory[d] = 0;
    __syncthreads();
    u32* const mine = memory + (lane_id() & (copies - 1));
    const i64 step = thread_count() * KEYS;
    for (i64 base = i64(blockIdx.x) * i64(blockDim.x) * KEYS + threadIdx.x; base < q.n; base += step) {
        KEY keys[KEYS];
#pragma unroll
        for (int k = 0; k < KEYS; k++)
            keys[k] = base + k * i64(blockDim.x) < q.n ? radix_key(q, base + k * i64(blockDim.x)) : KEY(0);
#pragma unroll
        for (int k = 0; k < KEYS; k++) {
            if (base + k * i64(blockDim.x) >= q.n) continue;
            for (int pass = 0; pass < passes; pass++) {
                const int digit = int(radix_digit(keys[k], q.shift + pass * int(DIGIT)));
                atomicAdd(&mine[(pass * DIGITS + digit) * copies], 1u);
            }
        }
    }
    __syncthreads();
    for (int d = int(threadIdx.x); d < words; d += int(blockDim.x)) {
        u32 sum = 0;
        for (int copy = 0; copy < copies; copy++) sum += memory[d * copies + copy];
        if (sum != 0) atomicAdd(&counts[d], sum);
    }
}

// One block for each pass: counts become the positions of the first entries with each digit.
extern "C" __global__ void radix_starts(u32* counts) {
    u32* const own = counts + i64(blockIdx.x) * DIGITS;
    u32 before = 0;
    for (int base = 0; base < DIGITS; base += int(blockDim.x)) {
        const int d = base + int(threadIdx.x);
        u32 total;
        const u32 below = block_scan_exclusive(d < DIGITS ? own[d] : 0u, total);
        if (d < DIGITS) own[d] = before + below;
        before += total;
    }
}

// first_row[t] = the row of the first entry of tile t.
extern "C" __global__ void radix_rows(i64 n, const MAJOR* indptr, i64 nrows, i64 tiles, u32* first_row) {
    for (i64 t = thread_id(); t < tiles; t += thread_count())
        first_row[t] = u32(upper_bound(indptr, 0, nrows + 1, t * RADIX_TILE) - 1);
}

// Of each warp and digit: the entries of the warp, later those of the warps before; the lanes of one item with the digit.
struct RadixRanks {
    u16 counts[RADIX_WARPS * DIGITS];
    u32 lanes[RADIX_WARPS * DIGITS];
};
struct RadixStage {
    union {
        RadixRanks ranks;
        KEY keys[RADIX_TILE];  // in the order of their digits
        TileHeads<u32, RADIX_TILE> rows;
    };
    V values[VALUED ? RADIX_TILE : 2];
    u32 starts[DIGITS + 1];  // of each digit the slot of its first entry; then the position less the slot
};

// Adds the row to each key of a tile of rows in CSR format.  The block calls; ends with a barrier.
DEVICE void add_rows(const RadixArguments& q, RadixStage& stage, i64 first, int count, int mine, KEY (&keys)[RADIX_ITEMS]) {
    stage.rows.clear();
    __syncthreads();
    for (i64 r = i64(q.first_row[first / RADIX_TILE]) + threadIdx.x; r < q.nrows; r += RADIX_THREADS) {
        const i64 start = i64(q.major[r]) - first, stop = i64(q.major[r + 1]) - first;
        if (start >= count) break;
        if (start < stop && stop > 0) stage.rows.mark(start > 0 ? int(start) : 0, u32(r));
    }
    stage.rows.finish();
#pragma unroll
    for (int item = 0; item < RADIX_ITEMS; item++)
        if (mine + 32 * item < count) keys[item] |= KEY(stage.rows.at(mine + 32 * item));
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(RADIX_THREADS, RADIX_RESIDENT) radix_pass(const RadixArguments q) {
    RadixStage& stage = *reinterpret_cast<RadixStage*>(radix_memory);
    const int thread = int(threadIdx.x), warp = warp_in_block();
    const int tile = int(blockIdx.x);
    const i64 first = q.first + i64(tile) * RADIX_TILE;
    const int count = int(q.n - first < RADIX_TILE ? q.n - first : RADIX_TILE);
    const int mine = warp * 32 * RADIX_ITEMS + lane_id();  // the entry of the thread in item 0

    // Slots after the last entry have the largest digit: they come last in order, and are not written.
    KEY keys[RADIX_ITEMS];
#pragma unroll
    for (int item = 0; item < RADIX_ITEMS; item++)
        keys[item] = mine + 32 * item < count ? radix_key(q, first + mine + 32 * item) : KEY(~KEY(0));
    if constexpr (SOURCE == SOURCE_ROWS) add_rows(q, stage, first, count, mine, keys);

    // The rank of each entry among those of its warp with the same digit: two ranks in one word.
    u16* const own = stage.ranks.counts + warp * DIGITS;
    for (int d = lane_id(); d < DIGITS / 4; d += 32) reinterpret_cast<u64*>(own)[d] = 0;
    u32* const lanes = stage.ranks.lanes + warp * DIGITS;
    for (int d = lane_id(); d < DIGITS; d += 32) lanes[d] = 0;
    __syncwarp();
    u32 ranks[RADIX_ITEMS / 2];
#pragma unroll
    for (int item = 0; item < RADIX_ITEMS; item++) {
        const u32 digit = radix_digit(keys[item], q.shift);
        atomicOr(lanes + digit, 1u << lane_id());
        __syncwarp();
        const u32 peers = lanes[digit];
        const u32 before = own[digit];
        const u32 rank = before + u32(__popc(peers & lanes_below()));
        ranks[item / 2] = item % 2 == 0 ? rank : ranks[item / 2] | rank << 16;
        __syncwarp();
        if ((peers & lanes_below()) == 0) {
            own[digit] = u16(before + u32(__popc(peers)));
            lanes[digit] = 0;
        }
        __syncwarp();
    }
    __syncthreads();

    // Sums over warps, four digits in one word, and over digits.
    constexpr int WORDS = (DIGITS + 4 * RADIX_THREADS - 1) / (4 * RADIX_THREADS);
    constexpr int ADJACENT = 4 * WORDS;
    const bool adds = thread * ADJACENT < DIGITS;
    u64 sums[WORDS];
    u32 sum = 0;
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
        sums[k] = 0;
        if (!adds) continue;
        u64* const word = reinterpret_cast<u64*>(stage.ranks.counts) + thread * WORDS + k;
#pragma unroll 4
        for (int w = 0; w < RADIX_WARPS; w++) {
            const u64 found = word[w * (DIGITS / 4)];
            word[w * (DIGITS / 4)] = sums[k];
            sums[k] += found;
        }
        sum += u32(sums[k] & 0xffff) + u32(sums[k] >> 16 & 0xffff) + u32(sums[k] >> 32 & 0xffff) + u32(sums[k] >> 48);
    }
    u32 all;
    u32 slot = block_scan_exclusive(sum, all);
#pragma unroll
    for (int d = 0; d < ADJACENT; d++) {
        if (!adds) continue;
        stage.starts[thread * ADJACENT + d] = slot;
        slot += u32(sums[d / 4] >> (16 * (d % 4)) & 0xffff);
    }
    if (thread == 0) stage.starts[DIGITS] = u32(RADIX_TILE);
    __syncthreads();

    constexpr int OWNED = (DIGITS + RADIX_THREADS - 1) / RADIX_THREADS;
    u32 begins[OWNED], totals[OWNED];
    u32* const status = q.status + i64(tile) * DIGITS;
#pragma unroll
    for (int k = 0; k < OWNED; k++) {
        const int d = thread + k * RADIX_THREADS;
        begins[k] = totals[k] = 0;
        if (d >= DIGITS) continue;
        begins[k] = stage.starts[d];
        totals[k] = stage.starts[d + 1] - begins[k];
        store_relaxed(status + d, (tile == 0 ? RADIX_PREFIX : RADIX_SUM) | totals[k]);
    }
#pragma unroll
    for (int item = 0; item < RADIX_ITEMS; item++) {
        const u32 digit = radix_digit(keys[item], q.shift);
        ranks[item / 2] += (u32(own[digit]) + stage.starts[digit]) << (16 * (item % 2));
    }
    __syncthreads();
#pragma unroll
    for (int item = 0; item < RADIX_ITEMS; item++)
        stage.keys[ranks[item / 2] >> (16 * (item % 2)) & 0xffff] = keys[item];
    if constexpr (VALUED) {
#pragma unroll
        for (int item = 0; item < RADIX_ITEMS; item++)
            if (mine + 32 * item < count)
                stage.values[ranks[item / 2] >> (16 * (item % 2)) & 0xffff] = q.values[first + mine + 32 * item];
    }

    // The look-back: each digit on its own, from tile to tile before this one.
    u32 before[OWNED];
    int at[OWNED];
    u32 pending = 0;
#pragma unroll
    for (int k = 0; k < OWNED; k++) {
        before[k] = 0;
        at[k] = tile - 1;
        if (tile > 0 && thread + k * RADIX_THREADS < DIGITS) pending |= 1u << k;
    }
    while (pending != 0) {
        u32 found[OWNED][int(WINDOW)];
#pragma unroll
        for (int k = 0; k < OWNED; k++)
#pragma unroll
            for (int w = 0; w < int(WINDOW); w++)
                found[k][w] = (pending >> k & 1u) != 0 && at[k] >= w
                    ? load_relaxed(q.status + i64(at[k] - w) * DIGITS + thread + k * RADIX_THREADS)
                    : 0;
#pragma unroll
        for (int k = 0; k < OWNED; k++) {
            bool reads = (pending >> k & 1u) != 0;
#pragma unroll
            for (int w = 0; w < int(WINDOW); w++) {
                reads = reads && found[k][w] != 0;
                if (!reads) continue;
                before[k] += found[k][w] & RADIX_BITS;
                at[k]--;
                if ((found[k][w] & RADIX_PREFIX) == 0) continue;
                pending &= ~(1u << k);
                reads = false;
            }
        }
    }
#pragma unroll
    for (int k = 0; k < OWNED; k++) {
        const int d = thread + k * RADIX_THREADS;
        if (d >= DIGITS) continue;
        if (tile > 0) store_relaxed(status + d, RADIX_PREFIX | (before[k] + totals[k]));
        const u32 start = q.starts[d] + before[k];
        stage.starts[d] = start - begins[k];
        if (q.next != nullptr && tile == int(gridDim.x) - 1) q.next[d] = start + totals[k];
    }
    __syncthreads();
#pragma unroll
    for (int item = 0; item < RADIX_ITEMS; item++) {
        const int from = item * RADIX_THREADS + thread;
        if (from >= count) continue;
        const KEY key = stage.keys[from];
        const u32 to = stage.starts[radix_digit(key, q.shift)] + u32(from);
        if constexpr (SPLIT) {
            q.out_minor[to] = O(u64(key) & ((u64(1) << q.low) - 1));
            q.out_major[to] = u32(u64(key) >> q.low);
        } else {
            q.out_keys[to] = key;
        }
        if constexpr (VALUED) q.out_values[to] = stage.values[from];
    }
}
