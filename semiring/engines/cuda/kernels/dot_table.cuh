// The operands of dot products, and rows as tables in shared memory, which other rows probe.
//
// A table has a bit for each column from the first to the last of the row, if they fit and no position in the row is
// needed; else it is a hash table.  The prologue is that of mxm_dot.cuh.

#pragma once

#include "mxm_operands.cuh"

typedef reduce_z OUT;

constexpr bool READS_X = KEEPS && multiply_reads_x;
constexpr int BLOCK = 256;
constexpr i64 STORED = 0;
constexpr i64 REDUCED = 1;
constexpr i64 SUMMED = 2;
// Resident blocks of a multiprocessor: fewer registers, but more loads in flight.
constexpr int RESIDENT = DOT_RESIDENT;

// The arguments beside the operands of the product, of which B is the transpose Bt.
struct DotArguments {
    u32* marks;   // a bit for each entry of the mask: whether the product has it; initially 0
    Z* values;    // a slot for each entry of the mask
    i64* small;   // rows that warps process
    i64* large;   // segments that blocks process: pairs of a row and the first entry of the mask
    u64* state;   // small rows, segments, and of each the number that is taken; initially 0
    OUT* totals;  // of a reduction: the part of each segment, and a bit each whether there is one, initially 0
    u32* parts;
};

// What kernels receive: one struct after the other.
struct DotProductArguments : ProductArguments, DotArguments {};
static_assert(sizeof(DotProductArguments) == sizeof(ProductArguments) + sizeof(DotArguments));

// --- sums of products -----------------------------------------------------------------------------------

DEVICE bool finished(const Maybe<Z>& sum) {
    if constexpr (!KEEPS) return sum.hit;
    else return sum.hit && add_is_terminal(sum.value);
}

struct Add {
    DEVICE Z operator()(Z a, Z b) const { return add(a, b); }
};

// sum (+)= A(i, k) (x) B(k, j), for entry p of A and entry q of Bt.
DEVICE void accumulate(const ProductArguments& s, Maybe<Z>& sum, i64 i, i64 k, i64 j, i64 p, i64 q) {
    Z z = Z();
    if constexpr (KEEPS) z = product(s, left_value(s, p), q, i, k, j);
    sum = join(sum, Maybe<Z>{true, z}, Add());
}

// --- rows as tables -------------------------------------------------------------------------------------

template <class I>
using KeyOf = choose<sizeof(I) == 8, u64, u32>;

// PLACES: whether the position of an entry is needed.
template <class I, int SLOTS, bool PLACES>
struct RowTable {
    KeyOf<I> keys[SLOTS];            // a hash table of columns, or a bit for each column from the first to the last
    u32 places[PLACES ? SLOTS : 1];  // the position of an entry in its row
};

template <class Key>
DEVICE u32 slot_of(Key key, u32 last) {
    return (u32(key) * 2654435769u >> 7) & last;
}

// A power of two: at least four times `entries`, so that most searches end at their first slot, if the table has so
// many slots, else at least twice.
DEVICE u32 slots_for(i64 entries, u32 most) {
    const u32 wanted = 4u << (32 - __clz((int(entries) - 1) | 1));
    return wanted < most ? wanted : most;
}

// How a row is stored: where it is; as a hash table; as bits.
constexpr int IN_PLACE = 0;
constexpr int HASHED = 1;
constexpr int AS_BITS = 2;

// Whether a bit for each column from `low` to `high` fits into `words`.
DEVICE bool fits_as_bits(i64 low, i64 high, u32 words) { return (high - low) / 32 < i64(words); }

// The entries [begin, end) of a row, their first and last column, and their table.
template <class I, int SLOTS, bool PLACES>
struct TabledRow {
    typedef KeyOf<I> Key;
    static constexpr Key EMPTY = ~Key(0);
    const I* columns;
    RowTable<I, SLOTS, PLACES>& table;
    i64 begin, end, low, high;
    int kind;
    u32 slots;  // of the hash table, or words of the bits

    // most: entries of a hash table.
    DEVICE TabledRow(const I* columns, RowTable<I, SLOTS, PLACES>& table, i64 begin, i64 end, i64 most)
        : columns(columns), table(table), begin(begin), end(end) {
        low = i64(columns[begin]);
        high = i64(columns[end - 1]);
        kind = end - begin <= most ? HASHED : IN_PLACE;
        slots = kind == HASHED ? slots_for(end - begin, SLOTS) : 0;
        if (!PLACES && fits_as_bits(low, high, SLOTS)) {
            kind = AS_BITS;
            slots = u32((high - low) / 32 + 1);
        }
    }
    // Fills the table by `count` threads, each of which loads LOADS entries at once; they call `wait` before and after.
    template <int LOADS, class F>
    DEVICE void fill(int thread, int count, F wait) {
        const Key empty = kind == AS_BITS ? Key(0) : EMPTY;
        for (u32 slot = thread; slot < slots; slot += count) table.keys[slot] = empty;
        wait();
        if (kind == IN_PLACE) return;
        if constexpr (LOADS == 1) {
            for (i64 p = begin + thread; p < end; p += count) enter(i64(columns[p]), p);
        } else {
            for (i64 first = begin + thread; first < end; first += LOADS * count) {
                I loaded[LOADS];
#pragma unroll
                for (int n = 0; n < LOADS; n++) {
                    if (first + n * count < end) loaded[n] = columns[first + n * count];
                }
#pragma unroll
                for (int n = 0; n < LOADS; n++) {
                    if (first + n * count < end) enter(i64(loaded[n]), first + n * count);
                }
            }
        }
        wait();
    }
    // Enters column k, which is at position p.
    DEVICE void enter(i64 k, i64 p) {
        if (kind == AS_BITS) atomicOr(table.keys + ((k - low) >> 5), Key(1) << ((k - low) & 31));
        else insert(Key(k), u32(p - begin));
    }
    DEVICE void insert(Key key, u32 place) {
        for (u32 slot = slot_of(key, slots - 1);; slot = (slot + 1) & (slots - 1)) {
            if (atomicCAS(table.keys + slot, EMPTY, key) != EMPTY) continue;
            if constexpr (PLACES) table.places[slot] = place;
            return;
        }
    }
    // The position of column k, low <= k <= high, or -1.
    template <bool BITS>
    DEVICE i64 find(i64 k) const {
        if constexpr (BITS) {
            const u32 bit = u32(k - low);
            return table.keys[bit >> 5] >> (bit & 31) & 1 ? begin : -1;
        }
        if (kind == IN_PLACE) {
            const i64 p = lower_bound(columns, begin, end, k);
            return p < end && i64(columns[p]) == k ? p : -1;
        }
        for (u32 slot = slot_of(Key(k), slots - 1);; slot = (slot + 1) & (slots - 1)) {
            const Key key = table.keys[slot];
            if (key == Key(k)) return PLACES ? begin + i64(table.places[slot]) : begin;
            if (key == EMPTY) return -1;
        }
    }
};

// --- the entries that probe them --------------------------------------------------------------------------

// An entry of the mask, and the entries of row j of Bt from the first to the last column of row i of A.
struct Admitted {
    i64 j, begin, end;

    // Entry m of the mask; none (begin = end) if it is not below `last`, or not admitted.
    DEVICE Admitted(const DotProductArguments& s, i64 m, i64 last, i64 low, i64 high) : j(0), begin(0), end(0) {
        bool open = m < last;
        if constexpr (VALUED) open = open && value_at(s.mask_values, s.mask_iso, m) != M(0);
        if (!open) return;
        j = i64(s.mask_indices[m]);
        begin = i64(s.b_indptr[j]);
        end = i64(s.b_indptr[j + 1]);
        if (begin == end) return;
        if (i64(s.b_indices[begin]) < low) begin = lower_bound(s.b_indices, begin + 1, end, low);
        if (begin < end && i64(s.b_indices[end - 1]) > high) end = upper_bound(s.b_indices, begin, end - 1, high);
    }
};
