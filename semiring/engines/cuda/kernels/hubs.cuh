// The hubs of every row: its two neighbors with the longest rows.  A search for any visited neighbor tests them
// first.
//
// Neighbors are compared by keys: `degree + 1` in the high bits, the complement of the column in the low bits.  Every
// key is above 0, and among equal degrees the lowest column wins.  GROUP lanes process a row.  The entries of very long
// rows are divided among all blocks, which maintain the two highest keys of a row by atomics: the lower of a new key
// and the old highest is compared with the second.
//
// `indptr` and `indices` belong to a slice of rows, `offsets` to the whole (square) matrix.  The prologue defines the
// types P (offsets of a slice) and D (`offsets`), the parameters of columns.cuh (slices are uncompressed), and the
// constants BITS (of a column), GROUP, HUBS_LONG (entries of the longest row that GROUP lanes process) and BLOCK.

#include "expand.cuh"

constexpr u64 COLUMN_MASK = (u64(1) << BITS) - 1;
constexpr u64 MAX_DEGREE = (u64(1) << (64 - BITS)) - 1;

DEVICE u64 hub_key(const D* offsets, i64 j) {
    const u64 degree = u64(offsets[j + 1]) - u64(offsets[j]) + 1;
    return (degree < MAX_DEGREE ? degree : MAX_DEGREE) << BITS | (~u64(j) & COLUMN_MASK);
}
DEVICE J hub_column(u64 key) { return key == 0 ? J(-1) : J(~key & COLUMN_MASK); }

// The two highest keys; keys are distinct.
struct Highest {
    u64 first, second;
    DEVICE Highest& join(const Highest& other) {
        const u64 low = first < other.first ? first : other.first;
        first = first < other.first ? other.first : first;
        second = second < other.second ? other.second : second;
        second = second < low ? low : second;
        return *this;
    }
};

// hubs.py packs it by the names of its fields (arguments.py): a line of this struct is a type and a name.
struct HubArguments : RowArrays {  // the list of long rows; null if there are none
    const P* indptr;
    const J* indices;
    const D* offsets;
    i64 rows;  // of the slice
    J* hubs;   // of its first row; second hubs are n elements after the first
    i64 n;
    u64* count;    // of the listed rows, packed
    int shift;     // of the packing
    u64* highest;  // two keys for each row of the list, 0 at first
};

extern "C" __global__ void __launch_bounds__(BLOCK) hubs_rows(const HubArguments s) {
    const Packing packing = {s.shift};
    const Append to = {s, s.count, 0};
    constexpr i64 ROWS = BLOCK / GROUP;
    const int sub = int(threadIdx.x) % int(GROUP);
    for (i64 base = i64(blockIdx.x) * ROWS; base < s.rows; base += i64(gridDim.x) * ROWS) {
        const i64 i = base + i64(threadIdx.x) / GROUP;
        const i64 begin = i < s.rows ? i64(s.indptr[i]) : 0, end = i < s.rows ? i64(s.indptr[i + 1]) : 0;
        const bool longer = end - begin > HUBS_LONG;
        Highest highest = {0, 0};
        if (!longer) {
#pragma unroll 2
            for (i64 p = begin + sub; p < end; p += GROUP) highest.join({hub_key(s.offsets, i64(s.indices[p])), 0});
        }
        highest = combine_lanes<int(GROUP)>(highest, [](Highest a, const Highest& b) { return a.join(b); });
        if (sub == 0 && i < s.rows && !longer) {
            s.hubs[i] = hub_column(highest.first);
            s.hubs[s.n + i] = hub_column(highest.second);
        }
        const bool mine = longer && sub == 0;
        if (s.row != nullptr && __syncthreads_or(int(mine))) append(packing, to, mine, i, begin, end - begin);
    }
}

struct KeepHighest {
    static constexpr bool APPENDS = false;
    static constexpr bool NEEDS_ROW = false;
    typedef u64* Payload;
    const D* offsets;
    u64* highest;
    DEVICE Payload payload(i64, i64 place) const { return highest + 2 * place; }
    // Keys only grow: a key not above a possibly outdated second highest is not among the two highest.
    DEVICE bool open(Payload keys, i64, i64 j, i64) const { return hub_key(offsets, j) > load_relaxed(keys + 1); }
    DEVICE bool visit(Payload keys, i64, i64 j, i64) const {
        const u64 key = hub_key(offsets, j);
        const u64 before = atomicMax(keys, key);
        atomicMax(keys + 1, before < key ? before : key);
        return false;
    }
};

// Processes the listed rows; their entries are divided among all blocks.
extern "C" __global__ void __launch_bounds__(BLOCK) hubs_listed(const HubArguments s) {
    const Graph graph = {s.indptr, open_columns(s.indices), {s.shift}, true};
    const RowList list = {s, 0, *s.count};
    expand<BLOCK, GridRank>(graph, list, false, Append{}, KeepHighest{s.offsets, s.highest});
}

extern "C" __global__ void hubs_write(const HubArguments s) {
    const Packing packing = {s.shift};
    const i64 listed = packing.rows(*s.count);
    for (i64 place = thread_id(); place < listed; place += thread_count()) {
        const i64 i = i64(s.row[place]);
        s.hubs[i] = hub_column(s.highest[2 * place]);
        s.hubs[s.n + i] = hub_column(s.highest[2 * place + 1]);
    }
}
