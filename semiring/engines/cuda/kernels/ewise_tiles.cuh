// Tiles of two operands with sorted entries: the merge path of the entries of A, those of B and the row ends, in tiles of
// equal numbers of steps.  In a tile, each thread merges STEPS consecutive steps, by keys that combine row and column.
// An entry of A precedes its partner in B.  An index list is a matrix of one row without offsets, which are 0 and the
// number of entries.
// Green, McColl, Bader, "GPU Merge Path: A GPU Merging Algorithm" (ICS 2012).
//
// The prologue defines TILE, MODE, FORM, the types A, B, Z, ALPHA and BETA of values, I of columns, and P, BP and O of the
// row offsets of A, of B and of the result.

#pragma once

#include "entries.cuh"
#include "heads.cuh"

constexpr i64 INTERSECT = 0;
constexpr i64 UNION = 1;
constexpr i64 FILL = 2;

constexpr int STEPS = 16;
constexpr int MERGE_THREADS = int(TILE) / STEPS;
constexpr i64 MERGE_PATH = TILE - 2;  // steps of a tile: two of its TILE slots are not steps

// words: for one pass, see lookback.cuh; for two passes, the number of entries of the result in each tile, then in all
// tiles before it.  steps: for two passes, StepBits of each thread.  out_values is null if the result is iso-valued.
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
    i64 column_bits;
    const i64* bounds;
    i64 tiles;
    u32* steps;
    u64* words;
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

// The entries of both operands in a tile, and the rows [row0, row1) that end in it.
struct MergeTile {
    i64 row0, row1, a0, b0;
    int na, nb;
    bool partner_before, partner_after;  // of the first entry of B and of the last one of A, in the adjacent tiles

    // bounds: see ewise_bounds.
    DEVICE MergeTile(const EwiseArguments& q, i64 tile) {
        const i64 path = q.nrows + q.na + q.nb;
        const i64 at = tile * MERGE_PATH, end = at + MERGE_PATH < path ? at + MERGE_PATH : path;
        const i64 first = q.bounds[2 * tile + 1], stop = q.bounds[2 * tile + 3];
        row0 = q.bounds[2 * tile];
        row1 = q.bounds[2 * tile + 2];
        a0 = first >> 1;
        b0 = at - row0 - a0;
        na = int((stop >> 1) - a0);
        nb = int(end - row1 - a0 - na - b0);
        partner_before = (first & 1) != 0;
        partner_after = (stop & 1) != 0;
    }
    DEVICE int entries() const { return na + nb; }
    // The slots in use: of the entries of A, one that sorts after all entries, of those of B, and of the partner after.
    DEVICE int slots() const { return na + 1 + nb + int(partner_after); }
};

// A key for each slot.  All slots that the tile does not have sort after all entries.
typedef TileHeads<u16, int(TILE)> MergeRows;  // the row of each slot, from row0

// Keys of one word, if rows and columns of the tile fit.
struct WordKeys {
    typedef u32 Key;
    static constexpr int STRIDE = 4;  // the distance of adjacent slots in positions, which here are bytes
    u32* words;

    DEVICE WordKeys(I* columns, MergeRows&) : words(reinterpret_cast<u32*>(columns)) {}
    static DEVICE bool suffice(const MergeTile& tile, i64 column_bits) {
        return column_bits < 32 && tile.row1 - tile.row0 < (i64(1) << (32 - column_bits)) - 1;
    }
    static DEVICE Key key(u16 row, I column, i64 column_bits) { return u32(row) << column_bits | u32(column); }
    static DEVICE Key last() { return ~0u; }
    DEVICE void put(int slot, Key key) const { words[slot] = key; }
    DEVICE Key at(int slot) const { return words[slot]; }
    DEVICE Key at_position(int position) const {
        return *reinterpret_cast<const u32*>(reinterpret_cast<const char*>(words) + position);
    }
};
// Keys of a row and a column.
struct PairKeys {
    struct Key {
        I column;
        u16 row;

        DEVICE bool operator<=(const Key& other) const {
            return row != other.row ? row < other.row : column <= other.column;
        }
        DEVICE bool operator==(const Key& other) const { return row == other.row && column == other.column; }
    };
    static constexpr int STRIDE = 1;
    I* columns;
    MergeRows& rows;

    DEVICE PairKeys(I* columns, MergeRows& rows) : columns(columns), rows(rows) {}
    static DEVICE Key key(u16 row, I column, i64) { return Key{column, row}; }
    static DEVICE Key last() { return Key{highest<I>(), u16(0xffff)}; }
    // The rows at heads, which other threads still read, are not written: they do not change.
    DEVICE void put(int slot, const Key& key) const {
        columns[slot] = key.column;
        if (!bit_test(rows.bits, slot)) rows.values[slot] = key.row;
    }
    DEVICE Key at(int slot) const { return Key{columns[slot], rows.values[slot]}; }
    // Threads that have no more entries read beyond the slots.
    DEVICE Key at_position(int position) const { return at(position < int(TILE) ? position : int(TILE) - 1); }
};

// The slots from `low` to `high` of the entries of row r, of an operand with `count` entries in the tile from `first`.
template <class T>
DEVICE void merged_slots(const T* indptr, i64 n, i64 r, i64 first, int count, int& low, int& high) {
    const i64 begin = offset_of(indptr, n, r) - first, end = offset_of(indptr, n, r + 1) - first;
    low = begin > 0 ? int(begin) : 0;
    high = end < count ? int(end) : count;
}

// Finds the row of each slot or, with BY_STEP, of each step.  Every thread of the block calls; ends with a barrier.
template <bool BY_STEP>
DEVICE void find_merge_rows(const EwiseArguments& q, const MergeTile& tile, MergeRows& rows) {
    rows.clear();
    __syncthreads();
    for (i64 r = tile.row0 + threadIdx.x; r <= tile.row1 && r < q.nrows; r += MERGE_THREADS) {
        int a_low, a_high, b_low, b_high;
        merged_slots(q.a_indptr, q.na, r, tile.a0, tile.na, a_low, a_high);
        merged_slots(q.b_indptr, q.nb, r, tile.b0, tile.nb + int(tile.partner_after), b_low, b_high);
        const u16 row = u16(r - tile.row0);
        if constexpr (BY_STEP) {
            if (a_low < a_high || b_low < b_high) rows.mark(a_low + b_low, row);
        } else {
            if (a_low < a_high) rows.mark(a_low, row);
            if (b_low < b_high) rows.mark(tile.na + 1 + b_low, row);
        }
    }
    rows.finish();
}

// The steps of a thread, one bit each: in the high half whether the entry is of A; in the low half whether an entry of A
// has a partner, or one of B has none.
struct StepBits {
    u32 word;

    DEVICE u32 of_a() const { return word >> 16; }
    DEVICE u32 reads_b() const { return word & 0xffffu; }
    DEVICE u32 present() const { return MODE == INTERSECT ? of_a() & reads_b() : of_a() | reads_b(); }
};

// A warp processes 32 * STEPS consecutive slots or steps, and 32 adjacent ones in a round: this one for the calling lane.
DEVICE int merge_word(int round) { return warp_in_block() * STEPS + round; }
DEVICE int merge_slot(int round) { return 32 * merge_word(round) + lane_id(); }

template <class Keys>
DEVICE StepBits merged(const MergeTile& tile, const I (&columns)[STEPS], const MergeRows& rows, const Keys keys,
                       i64 column_bits) {
    typedef typename Keys::Key Key;
#pragma unroll
    for (int round = 0; round < STEPS; round++) {
        const Key key = Keys::key(rows.at_lane(merge_word(round)), columns[round], column_bits);
        const int slot = merge_slot(round);
        keys.put(slot, slot != tile.na && slot < tile.slots() ? key : Keys::last());
    }
    __syncthreads();
    // The entries of A among the steps before those of this thread.
    const int entries = tile.entries(), from = int(threadIdx.x) * STEPS, begin = from < entries ? from : entries;
    int low = begin > tile.nb ? begin - tile.nb : 0, high = begin < tile.na ? begin : tile.na;
    while (low < high) {
        const int middle = (low + high) >> 1;
        if (keys.at(middle) <= keys.at(tile.na + begin - middle)) low = middle + 1;
        else high = middle;
    }
    Key x = keys.at(low), y = keys.at(tile.na + 1 + begin - low);
    const bool pair_before = low > 0 ? keys.at(low - 1) == y : tile.partner_before && begin == 0;
    // The positions of x and y, less those of the steps taken: only one of them changes in a step.
    int a = Keys::STRIDE * low, b = Keys::STRIDE * (tile.na + 1 + begin - low);
    u32 of_a = 0, pairs = 0;
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        const bool takes_a = x <= y;
        const int moved = takes_a ? Keys::STRIDE : 0;
        of_a += u32(moved) << step;
        if (x == y) pairs |= 1u << step;
        a += moved - Keys::STRIDE;
        b -= moved;
        const Key next = keys.at_position((takes_a ? a : b) + Keys::STRIDE * (step + 1));
        if (takes_a) x = next;
        else y = next;
    }
    of_a /= Keys::STRIDE;
    const int left = entries - begin;
    const u32 valid = left >= STEPS ? (1u << STEPS) - 1u : (1u << left) - 1u;
    const u32 after_pair = pairs << 1 | u32(pair_before);
    return StepBits{(of_a & valid) << 16 | ((of_a & pairs) | (~of_a & ~after_pair)) & valid};
}

// The address itself: the compiler does not compute it from its terms again at each use.
template <class T>
DEVICE T* computed(T* address) {
    u64 global = __cvta_generic_to_global(address);
    asm("" : "+l"(global));
    return static_cast<T*>(__cvta_global_to_generic(global));
}

// Merges a tile.  Every thread of the block calls.
DEVICE StepBits merge_tile(const EwiseArguments& q, const MergeTile& tile, MergeRows& rows) {
    __shared__ I keys[TILE + STEPS];  // threads that have no more entries read the last ones, which are undefined
    // A load of each operand for each round, of which one is carried out: no branch, and no addresses to compute.
    const int first = merge_slot(0), a_left = tile.na - first, left = tile.slots() - first;
    const I* const a_at = computed(q.a_indices + tile.a0 + first);
    const I* const b_at = computed(q.b_indices + tile.b0 - tile.na - 1 + first);
    I columns[STEPS];
#pragma unroll
    for (int round = 0; round < STEPS; round++) {
        const int slot = 32 * round;  // from `first`
        columns[round] = I(0);
        if (a_left > slot) columns[round] = a_at[slot];
        if (a_left < slot && left > slot) columns[round] = b_at[slot];
    }
    find_merge_rows<false>(q, tile, rows);
    if (WordKeys::suffice(tile, q.column_bits)) return merged(tile, columns, rows, WordKeys(keys, rows), q.column_bits);
    return merged(tile, columns, rows, PairKeys(keys, rows), q.column_bits);
}
