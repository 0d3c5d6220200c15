// Element-wise operations.  MODE is INTERSECT, UNION (a value without partner is cast) or FILL (a missing value is
// replaced).
//
// Dense vectors are processed word by word.  Sorted entries are merged in tiles (ewise_tiles.cuh): in one pass if the
// result is small, else in two, of which the first finds the entries of the result and the second writes them.

#include "ewise_tiles.cuh"
#include "lookback.cuh"

DEVICE Z only_a(A a, BETA beta, i64 i, i64 j) {
    if constexpr (MODE == FILL) return combine(a, beta, i, j, i, j);
    else return cast<Z>(a);
}
DEVICE Z only_b(B b, ALPHA alpha, i64 i, i64 j) {
    if constexpr (MODE == FILL) return combine(alpha, b, i, j, i, j);
    else return cast<Z>(b);
}

extern "C" __global__ void ewise_dense(i64 size, const u32* a_words, const A* a_values, A a_iso,
                                       const u32* b_words, const B* b_values, B b_iso, ALPHA alpha, BETA beta,
                                       u32* out_words, Z* out_values, i64* count) {
    add_count(count, write_bits(size, out_words, [=](i64 p) {
        const bool in_a = is_present(a_words, p), in_b = is_present(b_words, p);
        const bool hit = MODE == INTERSECT ? in_a && in_b : in_a || in_b;
        if (hit && out_values != nullptr) {
            A a = a_iso;
            B b = b_iso;
            if (in_a) a = value_at(a_values, a_iso, p);
            if (in_b) b = value_at(b_values, b_iso, p);
            if (in_a && in_b) out_values[p] = combine(a, b, p, 0, p, 0);
            else out_values[p] = in_a ? only_a(a, beta, p, 0) : only_b(b, alpha, p, 0);
        }
        return hit;
    }));
}

// bounds[2 t] = the row ends before step t * MERGE_PATH; bounds[2 t + 1] = twice the entries of A before it, plus 1 if the
// last of them has its partner in the next step.
extern "C" __global__ void ewise_bounds(i64 nrows, i64 na, const P* a_indptr, const I* a_indices, i64 nb,
                                        const BP* b_indptr, const I* b_indices, i64 tiles, i64* bounds) {
    for (i64 t = thread_id(); t <= tiles; t += thread_count()) {
        const i64 path = nrows + na + nb, at = t * MERGE_PATH < path ? t * MERGE_PATH : path;
        const i64 row = partition_point(i64(0), at < nrows ? at : nrows, [=](i64 r) {
            return offset_of(a_indptr, na, r + 1) + offset_of(b_indptr, nb, r + 1) + r < at;
        });
        bounds[2 * t] = row;
        if (row == nrows) {
            bounds[2 * t + 1] = 2 * na;
            continue;
        }
        const i64 a0 = offset_of(a_indptr, na, row), a1 = offset_of(a_indptr, na, row + 1);
        const i64 b0 = offset_of(b_indptr, nb, row), b1 = offset_of(b_indptr, nb, row + 1);
        const i64 steps = at - (a0 + b0 + row);  // in the row
        const i64 of_a = partition_point(
            steps > b1 - b0 ? steps - (b1 - b0) : 0, steps < a1 - a0 ? steps : a1 - a0,
            [=](i64 a) { return a_indices[a0 + a] <= b_indices[b0 + steps - 1 - a]; });
        const i64 next = b0 + steps - of_a;
        const bool split = of_a > 0 && next < b1 && a_indices[a0 + of_a - 1] == b_indices[next];
        bounds[2 * t + 1] = 2 * (a0 + of_a) + i64(split);
    }
}

// Blocks of a multiprocessor that registers are limited for.  H200, kernels of two kron22 graphs: counting with 8, 10 and 12
// blocks 0.81, 0.78 and 0.76 ms; writing a union of float32 with 8, 10 and 12 blocks 1.41, 1.40 and 1.42 ms, of iso-valued
// ones 0.99, 0.99 and 0.92, with 10 blocks and 8 rounds (WRITE_ROUNDS) instead of 4 1.36 and 0.90
// (benchmarks/results/nvidia-h200-around-tiles.txt).
constexpr int MERGE_RESIDENT = 8;
constexpr int COUNT_RESIDENT = sizeof(I) == 4 ? 12 : 8;
constexpr int WRITE_RESIDENT = sizeof(A) + sizeof(B) + sizeof(I) <= 12 ? 10 : 6;

// Where an output comes from: the numbers of entries of A (low half) and of B (high half) before its step, and StepBits of
// the step in the highest bits of the halves, `reads_b` in the low one.
struct Source {
    u32 word;

    static DEVICE Source first(int a, int b) { return Source{u32(a) | u32(b) << 16}; }
    DEVICE Source at(StepBits steps, int step) const { return Source{word | (steps.word << (15 - step) & 0x80008000u)}; }
    DEVICE void advance(bool takes_a) { word += takes_a ? 1u : 1u << 16; }
    DEVICE int a() const { return int(word & 0x7fffu); }
    DEVICE int b() const { return int(word >> 16 & 0x7fffu); }
    DEVICE bool of_a() const { return word >> 31 != 0; }
    DEVICE bool reads_b() const { return (word & 0x8000u) != 0; }
};
static_assert(TILE <= 1 << 15, "a source has 15 bits for each operand");

struct MergeStage {
    u32 steps[MERGE_THREADS + 1];  // StepBits of each thread
    u32 below[MERGE_THREADS + 1];  // those before: the number of entries of A in the high half, of outputs in the low one
    u32 warp_sums[MERGE_THREADS / 32];
    u32 sources[TILE + TILE / STEPS];  // of each output

    // The slot of an output among `sources`: threads that write or read consecutive ones use different banks.
    static DEVICE int padded(int output) { return output + output / STEPS; }

    // The number of outputs before a step; any thread calls after `count` and a barrier.
    DEVICE int rank(int step) const {
        const int of = step / STEPS;
        const u32 mask = (1u << step % STEPS) - 1u;
        return int(below[of] & 0xffffu) + __popc(StepBits{steps[of]}.present() & mask);
    }
    // Stores the steps and the sources of each thread, and returns the number of outputs.  Every thread of the block calls,
    // and a barrier must follow; valid in every thread.
    DEVICE int count(StepBits mine) {
        const u32 sum = u32(__popc(mine.of_a())) << 16 | u32(__popc(mine.present()));
        const u32 inclusive = warp_scan_inclusive(sum);
        if (lane_id() == 31) warp_sums[warp_in_block()] = inclusive;
        __syncthreads();
        u32 before_me = inclusive - sum, all = 0;
#pragma unroll
        for (int w = 0; w < MERGE_THREADS / 32; w++) {
            if (w < warp_in_block()) before_me += warp_sums[w];
            all += warp_sums[w];
        }
        steps[threadIdx.x] = mine.word;
        below[threadIdx.x] = before_me;
        if (threadIdx.x == 0) {
            steps[MERGE_THREADS] = 0;
            below[MERGE_THREADS] = all;
        }
        const int of_a = int(before_me >> 16);
        Source source = Source::first(of_a, int(threadIdx.x) * STEPS - of_a);
        int output = int(before_me & 0xffffu);
        const u32 present = mine.present();
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            const Source at = source.at(mine, step);
            const int slot = padded(output);
            const bool hit = (present >> step & 1u) != 0;
            if (hit) sources[slot] = at.word;
            output += int(hit);
            source.advance((mine.word >> (16 + step) & 1u) != 0);
        }
        return int(all & 0xffffu);
    }
};

// Operators that read positions need the row of each step.
constexpr bool STEP_ROWS = FORM == ROWS && combine_reads_positions;
constexpr int WRITE_ROUNDS = 8;  // whose loads precede their stores, so that they overlap

// Writes the outputs of a tile from position `before` on.  Every thread of the block calls after `count` and a barrier;
// `rows` is not used unless STEP_ROWS.
template <class Rows>
DEVICE void write_tile(const EwiseArguments& q, const MergeTile& tile, const MergeStage& stage, Rows& rows, i64 number,
                       int total, i64 before) {
    if constexpr (STEP_ROWS) find_merge_rows<true>(q, tile, rows);
    const I* const a_indices = computed(q.a_indices + tile.a0);
    const I* const b_indices = computed(q.b_indices + tile.b0);
    const A* const a_values = computed(q.a_values + tile.a0);
    const B* const b_values = computed(q.b_values + tile.b0);
    const bool valued = q.out_values != nullptr;
    const bool a_valued = valued && q.a_values != nullptr, b_valued = valued && q.b_values != nullptr;
    for (int base = int(threadIdx.x); base < total; base += WRITE_ROUNDS * MERGE_THREADS) {
        I* const out_indices = computed(q.out_indices + before + base);
        Z* const out_values = computed(q.out_values + before + base);
        Source sources[WRITE_ROUNDS];
        I columns[WRITE_ROUNDS];
        A a[WRITE_ROUNDS];
        B b[WRITE_ROUNDS];
#pragma unroll
        for (int round = 0; round < WRITE_ROUNDS; round++) {
            const int output = base + round * MERGE_THREADS;
            sources[round] = Source{output < total ? stage.sources[MergeStage::padded(output)] : 0u};
        }
#pragma unroll
        for (int round = 0; round < WRITE_ROUNDS; round++) {
            const Source from = sources[round];
            columns[round] = I(0);
            if (from.of_a()) columns[round] = a_indices[from.a()];
            if (!from.of_a() && from.reads_b()) columns[round] = b_indices[from.b()];
            a[round] = q.a_iso;
            b[round] = q.b_iso;
            if (a_valued && from.of_a()) a[round] = a_values[from.a()];
            if (b_valued && from.reads_b()) b[round] = b_values[from.b()];
        }
#pragma unroll
        for (int round = 0; round < WRITE_ROUNDS; round++) {
            const Source from = sources[round];
            if (base + round * MERGE_THREADS >= total) continue;
            out_indices[round * MERGE_THREADS] = columns[round];
            if (!valued) continue;
            i64 i = 0, j = i64(columns[round]);
            if constexpr (FORM == LIST) i = j, j = 0;
            else if constexpr (STEP_ROWS) i = tile.row0 + i64(rows.at(from.a() + from.b()));
            Z& out = out_values[round * MERGE_THREADS];
            if (from.of_a() && from.reads_b()) out = combine(a[round], b[round], i, j, i, j);
            else if (from.of_a()) out = only_a(a[round], q.beta, i, j);
            else out = only_b(b[round], q.alpha, i, j);
        }
    }
    if (q.out_indptr == nullptr) return;
    if (number == 0 && threadIdx.x == 0) q.out_indptr[0] = 0;
    for (i64 r = tile.row0 + threadIdx.x; r < tile.row1; r += MERGE_THREADS) {
        const i64 a_end = offset_of(q.a_indptr, q.na, r + 1), b_end = offset_of(q.b_indptr, q.nb, r + 1);
        q.out_indptr[r + 1] = O(before + stage.rank(int(a_end - tile.a0 + b_end - tile.b0)));
    }
}

// One pass.
extern "C" __global__ void __launch_bounds__(MERGE_THREADS, MERGE_RESIDENT) ewise_merge(const EwiseArguments q) {
    __shared__ MergeRows rows;
    __shared__ MergeStage stage;
    const i64 number = i64(blockIdx.x);
    const MergeTile tile(q, number);
    const int total = stage.count(merge_tile(q, tile, rows));
    const i64 before = Lookback{q.words}.before_block(number, total, number == q.tiles - 1);
    write_tile(q, tile, stage, rows, number, total, before);
}

// The first of two passes: finds the steps of each thread, and counts the outputs of each tile.
extern "C" __global__ void __launch_bounds__(MERGE_THREADS, COUNT_RESIDENT) ewise_count(const EwiseArguments q) {
    __shared__ MergeRows rows;
    const i64 number = i64(blockIdx.x);
    const StepBits mine = merge_tile(q, MergeTile(q, number), rows);
    q.steps[number * MERGE_THREADS + threadIdx.x] = mine.word;
    const int count = block_sum(__popc(mine.present()));
    if (threadIdx.x == 0) q.words[number] = u64(count);
}

// The second.
extern "C" __global__ void __launch_bounds__(MERGE_THREADS, WRITE_RESIDENT) ewise_write(const EwiseArguments q) {
    __shared__ choose<STEP_ROWS, MergeRows, TileHeads<u16, 32>> rows;
    __shared__ MergeStage stage;
    const i64 number = i64(blockIdx.x);
    const StepBits mine{q.steps[number * MERGE_THREADS + threadIdx.x]};
    const MergeTile tile(q, number);
    const i64 before = i64(q.words[number]);
    const int total = stage.count(mine);
    __syncthreads();
    write_tile(q, tile, stage, rows, number, total, before);
}
