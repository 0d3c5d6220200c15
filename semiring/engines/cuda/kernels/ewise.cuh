// Element-wise operations.  MODE is INTERSECT, UNION (a value without partner is cast) or FILL (a missing value is
// replaced).
//
// Dense vectors are processed word by word.  Sorted entries are merged in one pass: the merge path of the entries of A,
// those of B and the row ends is partitioned into tiles of TILE steps.  An entry of A precedes its partner in B and
// writes the result of both.  An index list is a matrix of one row without offsets, which are 0 and the number of
// entries.
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

// The first word of `words` and one for each tile are 0 before the launch; see keep_rows.cuh.
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

// Row and column of an entry in a tile, in the order of the merge path: one word, or two for columns of 64 bits.
struct WideKey {
    u64 column_bits, row_bits;

    static DEVICE WideKey of(i64 row, i64 column) { return {u64(column), u64(row)}; }
    DEVICE i64 row() const { return i64(row_bits); }
    DEVICE i64 column() const { return i64(column_bits); }
    DEVICE bool operator<=(const WideKey& other) const {
        return row_bits < other.row_bits || (row_bits == other.row_bits && column_bits <= other.column_bits);
    }
    DEVICE bool operator==(const WideKey& other) const {
        return row_bits == other.row_bits && column_bits == other.column_bits;
    }
};
struct NarrowKey {
    u64 word;

    static DEVICE NarrowKey of(i64 row, i64 column) { return {u64(row) << 32 | u64(column)}; }
    DEVICE i64 row() const { return i64(word >> 32); }
    DEVICE i64 column() const { return i64(word & 0xffffffffu); }
    DEVICE bool operator<=(const NarrowKey& other) const { return word <= other.word; }
    DEVICE bool operator==(const NarrowKey& other) const { return word == other.word; }
};
typedef choose<sizeof(I) == 4, NarrowKey, WideKey> Key;

// An output of a tile in one word: its entries of A and B, counted from the first of the tile, and which there are.
constexpr u32 FROM_A = 1u << 30, FROM_B = 1u << 31;
constexpr int SLOT_BITS = 15;

struct MergeOutput {
    int a, b;
    bool in_a, in_b;

    DEVICE explicit MergeOutput(u32 word)
        : a(int(word & ((1u << SLOT_BITS) - 1))),
          b(int(word >> SLOT_BITS & ((1u << SLOT_BITS) - 1))),
          in_a((word & FROM_A) != 0),
          in_b((word & FROM_B) != 0) {}
};

struct MergeStage {
    Key keys[TILE];  // the entries of A, then those of B
    Key before_a, after_b;
    union {
        TileHeads<u16, int(TILE)> heads;
        u32 outputs[TILE];
    };
    u32 present[TILE_THREADS];  // bit s: whether step s of the thread has an output
    int below[TILE_THREADS + 1];
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

// Marks the slots of the tile at which a row of an operand begins; `shift` is the slot of its first entry.
template <class T>
DEVICE void mark_merged(TileHeads<u16, int(TILE)>& heads, const MergeTile& tile, const T* indptr, i64 n, i64 first, int count,
                        int shift, i64 r) {
    const i64 begin = offset_of(indptr, n, r) - first, end = offset_of(indptr, n, r + 1) - first;
    const int low = begin > 0 ? int(begin) : 0, high = end < count ? int(end) : count;
    if (low < high) heads.mark(shift + low, u16(r - tile.row0));
}

extern "C" __global__ void __launch_bounds__(TILE_THREADS) ewise_merge(const EwiseArguments q) {
    __shared__ MergeStage stage;
    const Lookback sums{q.words};
    const int thread = int(threadIdx.x);
    const i64 number = q.stride != 0 ? q.stride * i64(blockIdx.x) : sums.next_tile();
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
    stage.heads.clear();
    __syncthreads();
    for (i64 r = tile.row0 + thread; r <= tile.row1 && r < q.nrows; r += TILE_THREADS) {
        mark_merged(stage.heads, tile, q.a_indptr, q.na, tile.a0, tile.na, 0, r);
        mark_merged(stage.heads, tile, q.b_indptr, q.nb, tile.b0, tile.nb, tile.na, r);
    }
    if (thread == 0) {
        // The partner of the first entry of B may be in the tile before, that of the last entry of A in the tile after.
        constexpr i64 NO_ROW = TILE + 1;
        const bool first = tile.row0 < q.nrows && offset_of(q.a_indptr, q.na, tile.row0) < tile.a0;
        stage.before_a = first ? Key::of(0, i64(q.a_indices[tile.a0 - 1])) : Key::of(NO_ROW, 0);
        const i64 next = tile.b0 + tile.nb;
        const bool last = tile.row1 < q.nrows && next < offset_of(q.b_indptr, q.nb, tile.row1 + 1);
        stage.after_b = last ? Key::of(tile.row1 - tile.row0, i64(q.b_indices[next])) : Key::of(NO_ROW, 0);
    }
    stage.heads.finish();
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int slot = tile_slot(round);
        if (slot < entries) stage.keys[slot] = Key::of(i64(stage.heads.at(slot)), i64(columns[round]));
    }
    __syncthreads();

    // Each thread merges consecutive steps of the path.
    const Key* const a_keys = stage.keys;
    const Key* const b_keys = stage.keys + tile.na;
    const int begin = thread * TILE_ROUNDS < entries ? thread * TILE_ROUNDS : entries;
    int low = begin > tile.nb ? begin - tile.nb : 0, high = begin < tile.na ? begin : tile.na;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (a_keys[middle] <= b_keys[begin - 1 - middle]) low = middle + 1;
        else high = middle;
    }
    int ia = low, ib = begin - low;
    u32 outputs[TILE_ROUNDS];
    u32 present = 0;
#pragma unroll
    for (int step = 0; step < TILE_ROUNDS; step++) {
        outputs[step] = u32(ia) | u32(ib) << SLOT_BITS;
        if (begin + step >= entries) continue;
        bool hit;
        if (ib == tile.nb || (ia < tile.na && a_keys[ia] <= b_keys[ib])) {
            const bool partner = a_keys[ia] == (ib < tile.nb ? b_keys[ib] : stage.after_b);
            outputs[step] |= partner ? FROM_A | FROM_B : FROM_A;
            hit = MODE != INTERSECT || partner;
            ia++;
        } else {
            const bool partner = b_keys[ib] == (ia > 0 ? a_keys[ia - 1] : stage.before_a);
            outputs[step] |= FROM_B;
            hit = MODE != INTERSECT && !partner;
            ib++;
        }
        present |= u32(hit) << step;
    }
    int total;
    const int position = block_scan_exclusive(__popc(present), total);
    stage.present[thread] = present;
    stage.below[thread] = position;
    if (thread == 0) stage.below[TILE_THREADS] = total;
    if (q.stride != 0) {
        if (thread == 0) atomicAdd(q.words + 1, u64(total));
        return;
    }
    // `heads` is not read after the barriers of the scan.
    int to = position;
#pragma unroll
    for (int step = 0; step < TILE_ROUNDS; step++)
        if (present >> step & 1u) stage.outputs[to++] = outputs[step];
    __syncthreads();
    // Loads of values overlap with the look-back.
    A a_values[TILE_ROUNDS];
    B b_values[TILE_ROUNDS];
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int s = round * TILE_THREADS + thread;
        const MergeOutput output(s < total ? stage.outputs[s] : 0);
        a_values[round] = q.a_iso;
        b_values[round] = q.b_iso;
        if (q.out_values == nullptr) continue;
        if (output.in_a) a_values[round] = value_at(q.a_values, q.a_iso, tile.a0 + output.a);
        if (output.in_b) b_values[round] = value_at(q.b_values, q.b_iso, tile.b0 + output.b);
    }
    if (thread < 32) {
        const i64 before = sums.before(number, total, number == q.tiles - 1);
        if (thread == 0) stage.before = before;
    }
    __syncthreads();

    const i64 before = stage.before;
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int s = round * TILE_THREADS + thread;
        if (s >= total || before + s >= q.capacity) continue;
        const MergeOutput output(stage.outputs[s]);
        const Key key = output.in_a ? a_keys[output.a] : b_keys[output.b];
        const i64 index = key.column();
        q.out_indices[before + s] = I(index);
        if (q.out_values == nullptr) continue;
        const i64 i = FORM == LIST ? index : tile.row0 + key.row(), j = FORM == LIST ? 0 : index;
        Z& out = q.out_values[before + s];
        if (output.in_a && output.in_b) out = combine(a_values[round], b_values[round], i, j, i, j);
        else if (output.in_a) out = only_a(a_values[round], q.beta, i, j);
        else out = only_b(b_values[round], q.alpha, i, j);
    }
    if (q.out_indptr == nullptr) return;
    if (number == 0 && thread == 0) q.out_indptr[0] = 0;
    for (i64 r = tile.row0 + thread; r < tile.row1; r += TILE_THREADS) {
        const int steps = int(offset_of(q.a_indptr, q.na, r + 1) - tile.a0 + offset_of(q.b_indptr, q.nb, r + 1) - tile.b0);
        const int owner = steps / TILE_ROUNDS;
        int rank = stage.below[owner];
        if (owner < TILE_THREADS) rank += __popc(stage.present[owner] & ((1u << steps % TILE_ROUNDS) - 1u));
        q.out_indptr[r + 1] = O(before + rank);
    }
}
