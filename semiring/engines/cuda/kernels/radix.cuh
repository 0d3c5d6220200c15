// One pass of a stable radix sort of entries (column, row, value) by one digit of the column: every block counts the
// digits of its chunk of consecutive entries, a scan of the counts (digit by digit, block by block) gives the positions,
// and every block moves its chunk to them, tile by tile, through shared memory.  The first pass reads the entries of a
// matrix, whose rows follow from its offsets; the passes together transpose it.
// Merrill, Grimshaw, "High Performance and Scalable Radix Sorting" (Parallel Processing Letters 21, 2011).
//
// The prologue defines the constants FIRST (whether it is the first pass) and DIGIT (bits of a digit, at most 8), and the
// types P of row offsets, R of rows and V, an unsigned integer of the size of the values, which are only moved.

#include "heads.cuh"

constexpr int RADIX_THREADS = 512;
constexpr int RADIX_WARPS = RADIX_THREADS / 32;
constexpr int RADIX_ROUNDS = 8;
constexpr int RADIX_TILE = RADIX_THREADS * RADIX_ROUNDS;
constexpr int DIGITS = 1 << DIGIT;
// Blocks of a multiprocessor that registers are limited for.
constexpr int RADIX_RESIDENT = 2;

// first_row[t] = the row of the first entry of tile t.
extern "C" __global__ void radix_rows(i64 n, const P* indptr, i64 nrows, i64 tiles, R* first_row) {
    for (i64 t = thread_id(); t < tiles; t += thread_count())
        first_row[t] = R(upper_bound(indptr, 0, nrows + 1, t * RADIX_TILE) - 1);
}

// A block processes `chunk` entries, a multiple of RADIX_TILE.  counts[d * gridDim.x + b]: the entries of block b with
// digit d; after a scan the position of the first of them.  `values` is null if there are none.
struct RadixArguments {
    i64 n;
    i64 chunk;
    int shift;
    const u32* columns;
    const R* rows;
    const V* values;
    const P* indptr;
    i64 nrows;
    const R* first_row;
    u32* counts;
    u32* out_columns;
    R* out_rows;
    V* out_values;
};

DEVICE u32 digit_of(const RadixArguments& q, u32 column) { return column >> q.shift & u32(DIGITS - 1); }

extern "C" __global__ void __launch_bounds__(RADIX_THREADS) radix_count(const RadixArguments q) {
    __shared__ u32 counts[RADIX_WARPS * DIGITS];
    for (int d = int(threadIdx.x); d < RADIX_WARPS * DIGITS; d += RADIX_THREADS) counts[d] = 0;
    __syncthreads();
    const i64 begin = q.chunk * i64(blockIdx.x), end = begin + q.chunk < q.n ? begin + q.chunk : q.n;
    for (i64 first = begin; first < end; first += RADIX_TILE) {
        u32 columns[RADIX_ROUNDS];
#pragma unroll
        for (int round = 0; round < RADIX_ROUNDS; round++) {
            const i64 p = first + round * RADIX_THREADS + threadIdx.x;
            columns[round] = p < end ? q.columns[p] : 0;
        }
#pragma unroll
        for (int round = 0; round < RADIX_ROUNDS; round++) {
            const i64 p = first + round * RADIX_THREADS + threadIdx.x;
            if (p < end) atomicAdd(&counts[warp_in_block() * DIGITS + int(digit_of(q, columns[round]))], 1u);
        }
    }
    __syncthreads();
    for (int d = int(threadIdx.x); d < DIGITS; d += RADIX_THREADS) {
        u32 sum = 0;
        for (int w = 0; w < RADIX_WARPS; w++) sum += counts[w * DIGITS + d];
        q.counts[i64(d) * i64(gridDim.x) + i64(blockIdx.x)] = sum;
    }
}

struct RadixStage {
    u16 ranks[RADIX_WARPS * DIGITS];  // of each digit: the entries of the warp, then the slot of the first of them
    u32 cursor[DIGITS];              // the position of the next entry of the block with a digit
    u32 shift[DIGITS];               // the position less the slot, of the entries of the tile with a digit
    u8 digits[RADIX_TILE];           // of the entry in a slot
    union {
        TileHeads<R, RADIX_TILE> heads;
        u32 columns[RADIX_TILE];
        R rows[RADIX_TILE];
        V values[RADIX_TILE];
    };
};

// The lanes with the same digit among `active`.
DEVICE u32 same_digit(u32 digit, u32 active) {
    u32 peers = active;
#pragma unroll
    for (int bit = 0; bit < DIGIT; bit++) {
        const u32 set = __ballot_sync(FULL_WARP, digit >> bit & 1u);
        peers &= digit >> bit & 1u ? set : ~set;
    }
    return peers;
}

// Moves one field of the entries of a tile through `stage` to their positions.  The block calls; begins with a barrier.
template <class T>
DEVICE void radix_move(T* stage, const T (&mine)[RADIX_ROUNDS], const u32 (&slots)[RADIX_ROUNDS],
                       const u32 (&positions)[RADIX_ROUNDS], int count, int first, T* out) {
    __syncthreads();
#pragma unroll
    for (int round = 0; round < RADIX_ROUNDS; round++)
        if (first + 32 * round < count) stage[slots[round]] = mine[round];
    __syncthreads();
#pragma unroll
    for (int round = 0; round < RADIX_ROUNDS; round++) {
        const int slot = round * RADIX_THREADS + int(threadIdx.x);
        if (slot < count) out[positions[round]] = stage[slot];
    }
}

extern "C" __global__ void __launch_bounds__(RADIX_THREADS, RADIX_RESIDENT) radix_scatter(const RadixArguments q) {
    __shared__ RadixStage stage;
    const int thread = int(threadIdx.x), warp = warp_in_block();
    const int mine = warp * 32 * RADIX_ROUNDS + lane_id();  // the slot of the thread in round 0
    const i64 begin = q.chunk * i64(blockIdx.x), end = begin + q.chunk < q.n ? begin + q.chunk : q.n;
    for (int d = thread; d < DIGITS; d += RADIX_THREADS)
        stage.cursor[d] = q.counts[i64(d) * i64(gridDim.x) + i64(blockIdx.x)];
    for (i64 first = begin; first < end; first += RADIX_TILE) {
        const int count = int(end - first < RADIX_TILE ? end - first : RADIX_TILE);
        u32 columns[RADIX_ROUNDS];
        R rows[RADIX_ROUNDS];
        V values[RADIX_ROUNDS];
#pragma unroll
        for (int round = 0; round < RADIX_ROUNDS; round++) {
            const int slot = mine + 32 * round;
            columns[round] = slot < count ? q.columns[first + slot] : 0;
            rows[round] = R(0);
            values[round] = V(0);
            if (slot >= count) continue;
            if constexpr (!FIRST) rows[round] = q.rows[first + slot];
            if (q.values != nullptr) values[round] = q.values[first + slot];
        }
        __syncthreads();  // the tile before may still be read
        for (int d = thread; d < RADIX_WARPS * DIGITS; d += RADIX_THREADS) stage.ranks[d] = 0;
        if constexpr (FIRST) {
            stage.heads.clear();
            __syncthreads();
            for (i64 r = i64(q.first_row[first / RADIX_TILE]) + thread; r < q.nrows; r += RADIX_THREADS) {
                const i64 start = i64(q.indptr[r]) - first, stop = i64(q.indptr[r + 1]) - first;
                if (start >= count) break;
                if (start < stop && stop > 0) stage.heads.mark(start > 0 ? int(start) : 0, R(r));
            }
            stage.heads.finish();
#pragma unroll
            for (int round = 0; round < RADIX_ROUNDS; round++)
                if (mine + 32 * round < count) rows[round] = stage.heads.at(mine + 32 * round);
        }
        __syncthreads();
        u32 slots[RADIX_ROUNDS];  // the rank among the entries of the warp with the same digit, then the slot
#pragma unroll
        for (int round = 0; round < RADIX_ROUNDS; round++) {
            const bool active = mine + 32 * round < count;
            const u32 digit = digit_of(q, columns[round]);
            const u32 peers = same_digit(digit, __ballot_sync(FULL_WARP, active));
            const u32 before = stage.ranks[warp * DIGITS + int(digit)];
            slots[round] = before + u32(__popc(peers & lanes_below()));
            __syncwarp();
            if (active && (peers & lanes_below()) == 0) stage.ranks[warp * DIGITS + int(digit)] = u16(before + u32(__popc(peers)));
            __syncwarp();
        }
        __syncthreads();
        u32 sum = 0;  // of the digit that is the number of the thread
        if (thread < DIGITS) {
            for (int w = 0; w < RADIX_WARPS; w++) sum += stage.ranks[w * DIGITS + thread];
        }
        u32 total;
        u32 slot_of_digit = block_scan_exclusive(sum, total);
        if (thread < DIGITS) {
            stage.shift[thread] = stage.cursor[thread] - slot_of_digit;
            stage.cursor[thread] += sum;
            for (int w = 0; w < RADIX_WARPS; w++) {
                const u32 own = stage.ranks[w * DIGITS + thread];
                stage.ranks[w * DIGITS + thread] = u16(slot_of_digit);
                slot_of_digit += own;
            }
        }
        __syncthreads();
#pragma unroll
        for (int round = 0; round < RADIX_ROUNDS; round++) {
            if (mine + 32 * round >= count) continue;
            const u32 digit = digit_of(q, columns[round]);
            slots[round] += stage.ranks[warp * DIGITS + int(digit)];
            stage.digits[slots[round]] = u8(digit);
        }
        __syncthreads();
        u32 positions[RADIX_ROUNDS];
#pragma unroll
        for (int round = 0; round < RADIX_ROUNDS; round++) {
            const int slot = round * RADIX_THREADS + thread;
            positions[round] = slot < count ? stage.shift[stage.digits[slot]] + u32(slot) : 0;
        }
        radix_move(stage.columns, columns, slots, positions, count, mine, q.out_columns);
        radix_move(stage.rows, rows, slots, positions, count, mine, q.out_rows);
        if (q.values != nullptr) radix_move(stage.values, values, slots, positions, count, mine, q.out_values);
    }
}
