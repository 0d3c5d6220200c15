// Element-wise operations.  MODE is INTERSECT, UNION (a value without partner is cast) or FILL (a missing value is
// replaced).
//
// Dense vectors are processed word by word.  Sorted entries are merged in one pass: the merge path of the entries of A,
// those of B and the row ends is partitioned into tiles of TILE steps.  In a tile, each entry of A searches its position
// among the entries of B in its row.  An entry of A precedes its partner in B and writes the result of both.  An index
// list is a matrix of one row without offsets, which are 0 and the number of entries.
// Green, McColl, Bader, "GPU Merge Path: A GPU Merging Algorithm" (ICS 2012).

#include "lookback.cuh"
#include "mark.cuh"
#include "row_tiles.cuh"

constexpr i64 INTERSECT = 0;
constexpr i64 UNION = 1;
constexpr i64 FILL = 2;

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
    i64 written = 0;
    for (i64 w = warp_id(); 32 * w < size; w += warp_count()) {
        const i64 p = 32 * w + lane_id();
        const bool in_a = p < size && is_present(a_words, p);
        const bool in_b = p < size && is_present(b_words, p);
        const bool hit = MODE == INTERSECT ? in_a && in_b : in_a || in_b;
        if (hit && out_values != nullptr) {
            A a = a_iso;
            B b = b_iso;
            if (in_a) a = value_at(a_values, a_iso, p);
            if (in_b) b = value_at(b_values, b_iso, p);
            if (in_a && in_b) out_values[p] = combine(a, b, p, 0, p, 0);
            else out_values[p] = in_a ? only_a(a, beta, p, 0) : only_b(b, alpha, p, 0);
        }
        if (out_words != nullptr) {
            const u32 word = __ballot_sync(FULL_WARP, hit);
            if (lane_id() == 0) {
                out_words[w] = word;
                written += __popc(word);
            }
        }
    }
    if (count != nullptr) add_count(count, written);
}

// `words`, `stride` and `capacity`: see keep_rows.cuh.
struct EwiseArguments {
    i64 nrows;
    i64 na;
    const P* a_indptr;
    const I* a_indices;
    const A* a_values;
    A a_iso;
    i64 nb;
    const BP* b_indptr;
    const I* b_indices;
    const B* b_values;
    B b_iso;
    ALPHA alpha;
    BETA beta;
    const i64* bounds;
    i64 tiles;
    i64 stride;
    u64* words;
    i64 capacity;
    O* out_indptr;
    I* out_indices;
    Z* out_values;
};

// The offset of row r of an operand with n entries.
template <class T>
DEVICE i64 offset_of(const T* indptr, i64 n, i64 r) {
    if constexpr (FORM == LIST) return r == 0 ? 0 : n;
    else return i64(indptr[r]);
}

// bounds[2 t] and bounds[2 t + 1] = the row ends and the entries of A before step t * TILE.
extern "C" __global__ void ewise_bounds(i64 nrows, i64 na, const P* a_indptr, const I* a_indices, i64 nb,
                                        const BP* b_indptr, const I* b_indices, i64 tiles, i64* bounds) {
    for (i64 t = thread_id(); t <= tiles; t += thread_count()) {
        const i64 path = nrows + na + nb, at = t * TILE < path ? t * TILE : path;
        i64 low = 0, high = at < nrows ? at : nrows;
        while (low < high) {
            const i64 middle = (low + high) / 2;
            const i64 end = offset_of(a_indptr, na, middle + 1) + offset_of(b_indptr, nb, middle + 1) + middle;
            if (end < at) low = middle + 1;
            else high = middle;
        }
        const i64 row = low;
        bounds[2 * t] = row;
        if (row == nrows) {
            bounds[2 * t + 1] = na;
            continue;
        }
        const i64 a0 = offset_of(a_indptr, na, row), a1 = offset_of(a_indptr, na, row + 1);
        const i64 b0 = offset_of(b_indptr, nb, row), b1 = offset_of(b_indptr, nb, row + 1);
        const i64 steps = at - (a0 + b0 + row);  // in the row
        low = steps > b1 - b0 ? steps - (b1 - b0) : 0;
        high = steps < a1 - a0 ? steps : a1 - a0;
        while (low < high) {
            const i64 middle = (low + high) / 2;
            if (a_indices[a0 + middle] <= b_indices[b0 + steps - 1 - middle]) low = middle + 1;
            else high = middle;
        }
        bounds[2 * t + 1] = a0 + low;
    }
}

// Blocks of a multiprocessor that registers are limited for: they hold two values and a column for each round.  H200,
// calls of ewise_add of two kron22 graphs in float32: 4 blocks 3.40 ms, 5 2.98, 6 3.06, 8 3.10; of iso-valued ones 2.85,
// 2.46, 2.30, 2.38; of ewise_mult 2.72, 2.14, 1.92, 1.86 (benchmarks/results/2026-11-22-nvidia-h200-around.txt).
constexpr int MERGE_RESIDENT = sizeof(A) + sizeof(B) + sizeof(I) <= 12 ? 6 : 4;
// Steps of the merge path of a tile, without row ends.
constexpr u8 STEP_OF_A = 1, STEP_OF_BOTH = 3;

// The slots of a row in a tile: its first of A, and those of B from `low` to `high`.
struct MergeRow {
    u16 low, high, last;
};

struct MergeStage {
    I columns[TILE];                      // of the entries of A, then of B
    u8 steps[TILE];                       // STEP_OF_A, with STEP_OF_BOTH if it has a partner in B; 0 for an entry of B
    TileHeads<MergeRow, int(TILE)> rows;  // of the slots of A
    TileMarks of_a, present;              // of the steps: entries of A, and outputs
    i64 before;
};

// The entries of both operands in a tile, and the rows [row0, row1) that end in it.
struct MergeTile {
    i64 row0, row1, a0, b0;
    int na, nb;

    DEVICE MergeTile(const EwiseArguments& q, i64 tile) {
        const i64 path = q.nrows + q.na + q.nb;
        const i64 at = tile * TILE, end = at + TILE < path ? at + TILE : path;
        row0 = q.bounds[2 * tile];
        a0 = q.bounds[2 * tile + 1];
        b0 = at - row0 - a0;
        row1 = q.bounds[2 * tile + 2];
        na = int(q.bounds[2 * tile + 3] - a0);
        nb = int(end - row1 - a0 - na - b0);
    }
};

// The slots from `low` to `high` of the entries of row r, of an operand with `count` entries in the tile from `first`.
template <class T>
DEVICE void merged_slots(const T* indptr, i64 n, i64 r, i64 first, int count, int& low, int& high) {
    const i64 begin = offset_of(indptr, n, r) - first, end = offset_of(indptr, n, r + 1) - first;
    low = begin > 0 ? int(begin) : 0;
    high = end < count ? int(end) : count;
}

// The number of a row in a tile, for every step; with few slots if no operator needs it.
constexpr bool STEP_ROWS = FORM == ROWS && combine_reads_positions;
typedef TileHeads<u16, STEP_ROWS ? int(TILE) : 32> StepRows;

// Marks the rows of the tile at the slots of A, and at the steps, at which they begin.
DEVICE void mark_merged(const EwiseArguments& q, const MergeTile& tile, MergeStage& stage, StepRows& by_step) {
    for (i64 r = tile.row0 + threadIdx.x; r <= tile.row1 && r < q.nrows; r += TILE_THREADS) {
        int a_low, a_high, b_low, b_high;
        merged_slots(q.a_indptr, q.na, r, tile.a0, tile.na, a_low, a_high);
        merged_slots(q.b_indptr, q.nb, r, tile.b0, tile.nb, b_low, b_high);
        const bool last = r == tile.row1;  // the row may continue in the next tile
        if (a_low < a_high) stage.rows.mark(a_low, MergeRow{u16(b_low), u16(b_high < b_low ? b_low : b_high), last});
        if (STEP_ROWS && (a_low < a_high || b_low < b_high)) by_step.mark(a_low + b_low, u16(r - tile.row0));
    }
}

// The column of the entry of B after the tile, if it belongs to row1; else -1.
DEVICE i64 column_after(const EwiseArguments& q, const MergeTile& tile) {
    const i64 next = tile.b0 + tile.nb;
    if (tile.row1 >= q.nrows || next >= offset_of(q.b_indptr, q.nb, tile.row1 + 1)) return -1;
    return i64(q.b_indices[next]);
}
// Whether the first entry of B in the tile has its partner in the tile before.
DEVICE bool partner_before(const EwiseArguments& q, const MergeTile& tile) {
    if (tile.nb == 0 || tile.row0 >= q.nrows || offset_of(q.a_indptr, q.na, tile.row0) >= tile.a0) return false;
    if (offset_of(q.b_indptr, q.nb, tile.row0 + 1) <= tile.b0) return false;
    return q.a_indices[tile.a0 - 1] == q.b_indices[tile.b0];
}

extern "C" __global__ void __launch_bounds__(TILE_THREADS, MERGE_RESIDENT)
    ewise_merge(const EwiseArguments q) {
    __shared__ MergeStage stage;
    __shared__ StepRows by_step;
    __shared__ bool skips_first;
    const int thread = int(threadIdx.x);
    const i64 number = q.stride != 0 ? q.stride * i64(blockIdx.x) : i64(blockIdx.x);
    const MergeTile tile(q, number);
    const int entries = tile.na + tile.nb;
    I columns[TILE_ROUNDS];
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int slot = tile_slot(round);
        columns[round] = I(0);
        if (slot < tile.na) columns[round] = q.a_indices[tile.a0 + slot];
        else if (slot < entries) columns[round] = q.b_indices[tile.b0 + slot - tile.na];
    }
    const i64 after = column_after(q, tile);
    stage.rows.clear();
    if constexpr (STEP_ROWS) by_step.clear();
    __syncthreads();
    mark_merged(q, tile, stage, by_step);
    if (thread == 0) skips_first = partner_before(q, tile);
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int slot = tile_slot(round);
        stage.columns[slot] = columns[round];
        stage.steps[slot] = 0;
    }
    if constexpr (STEP_ROWS) by_step.finish();
    stage.rows.finish();

    const I* const b_columns = stage.columns + tile.na;
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int slot = tile_slot(round);
        if (slot >= tile.na) continue;
        const MergeRow row = stage.rows.at(slot);
        int low = row.low, high = row.high;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (b_columns[middle] < columns[round]) low = middle + 1;
            else high = middle;
        }
        bool partner = low < row.high && b_columns[low] == columns[round];
        if (low == tile.nb && row.last != 0) partner = i64(columns[round]) == after;
        stage.steps[slot + low] = partner ? STEP_OF_BOTH : STEP_OF_A;
    }
    __syncthreads();
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int step = tile_slot(round);
        const u8 kind = stage.steps[step];
        const bool of_a = (kind & STEP_OF_A) != 0;
        bool hit = step < entries;
        if (MODE == INTERSECT) hit = kind == STEP_OF_BOTH;
        else if (hit && !of_a) hit = step == 0 ? !skips_first : stage.steps[step - 1] != STEP_OF_BOTH;
        const u32 a_word = __ballot_sync(FULL_WARP, of_a), word = __ballot_sync(FULL_WARP, hit);
        if (lane_id() == 0) {
            stage.of_a.bits[step >> 5] = a_word;
            stage.present.bits[step >> 5] = word;
        }
    }
    __syncthreads();
    if (thread >= TILE_THREADS - 32) stage.of_a.count();
    if (thread < 32) {
        const int total = stage.present.count();
        if (q.stride != 0) {
            if (thread == 0) atomicAdd(q.words, u64(total));
        } else {
            const i64 before = Lookback{q.words}.before(number, total, number == q.tiles - 1);
            if (thread == 0) stage.before = before;
        }
    }
    if (q.stride != 0) return;
    __syncthreads();

    const i64 before = stage.before;
    A a[TILE_ROUNDS];
    B b[TILE_ROUNDS];
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int step = tile_slot(round);
        a[round] = q.a_iso;
        b[round] = q.b_iso;
        if (q.out_values == nullptr || !bit_test(stage.present.bits, step)) continue;
        const int ia = stage.of_a.rank(step), kind = stage.steps[step];
        if (kind != 0) a[round] = value_at(q.a_values, q.a_iso, tile.a0 + ia);
        if (kind != STEP_OF_A) b[round] = value_at(q.b_values, q.b_iso, tile.b0 + step - ia);
    }
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int step = tile_slot(round);
        if (!bit_test(stage.present.bits, step)) continue;
        const i64 to = before + stage.present.rank(step);
        if (to >= q.capacity) continue;
        const int ia = stage.of_a.rank(step), kind = stage.steps[step];
        const I column = kind != 0 ? stage.columns[ia] : b_columns[step - ia];
        q.out_indices[to] = column;
        if (q.out_values == nullptr) continue;
        i64 i = 0, j = i64(column);
        if constexpr (FORM == LIST) i = j, j = 0;
        else if constexpr (STEP_ROWS) i = tile.row0 + i64(by_step.at(step));
        if (kind == STEP_OF_BOTH) q.out_values[to] = combine(a[round], b[round], i, j, i, j);
        else if (kind == STEP_OF_A) q.out_values[to] = only_a(a[round], q.beta, i, j);
        else q.out_values[to] = only_b(b[round], q.alpha, i, j);
    }
    if (q.out_indptr == nullptr) return;
    if (number == 0 && thread == 0) q.out_indptr[0] = 0;
    for (i64 r = tile.row0 + thread; r < tile.row1; r += TILE_THREADS) {
        const i64 a_end = offset_of(q.a_indptr, q.na, r + 1), b_end = offset_of(q.b_indptr, q.nb, r + 1);
        q.out_indptr[r + 1] = O(before + stage.present.rank(int(a_end - tile.a0 + b_end - tile.b0)));
    }
}
