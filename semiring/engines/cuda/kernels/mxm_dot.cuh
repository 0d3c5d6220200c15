// mxm under a mask, by dot products:  t(i, j) = (+)_k A(i, k) (x) B(k, j)  for the entries (i, j) of the mask alone.
//
// B is given by its columns, the rows of Bt.  A team of threads stores the columns of row i of A in a hash table in
// shared memory; groups of lanes then probe it with the entries of row j of Bt, for each entry (i, j) of the mask.  No
// two groups have an entry in common: sums need no atomics, and their order depends on GROUP alone.  If row j of Bt is
// much longer than row i of A, the entries of the latter are searched in the former instead.
//
// A row with few entries is processed by a warp.  Longer ones are divided into segments of the mask's entries, which
// blocks process; if row i of A exceeds the table, it is searched where it is.
//
// The prologue defines the semiring; the types AP, AI, A (offsets, columns and values of A), BP, BI, B (of Bt), MP, MI,
// M (of the mask); and the constants VALUED (the mask admits entries by value), KEEPS (results have values of their
// own), FORM (2), GROUP (lanes for an entry of the mask), SMALL and LARGE (entries of a row of A in the table of a warp, of a
// block), SEGMENT (entries of the mask of a warp's row, and of a segment), SWAP, SEARCHED (see tuning.py).

#include "entries.cuh"

typedef add_z Z;

constexpr bool READS_X = KEEPS && multiply_reads_x;
constexpr bool READS_Y = KEEPS && multiply_reads_y;
constexpr int BLOCK = 256;

struct DotArguments {
    const AP* a_indptr;
    const AI* a_indices;
    const A* a_values;
    A a_iso;
    const BP* t_indptr;
    const BI* t_indices;
    const B* t_values;
    B b_iso;
    const MP* mask_indptr;
    const MI* mask_indices;
    const M* mask_values;
    M mask_iso;
    i64 nrows;
    u32* marks;   // a bit for each entry of the mask: whether the product has it; initially 0
    Z* values;    // a slot for each entry of the mask
    i64* small;   // rows that warps process
    i64* large;   // segments that blocks process: pairs of a row and the first entry of the mask
    u64* state;   // small rows, segments, and of each the number that is taken; initially 0
};

// --- the rows of A as hash tables -----------------------------------------------------------------------

typedef choose<sizeof(AI) == 8, u64, u32> Key;
constexpr Key EMPTY = ~Key(0);

template <int SLOTS>
struct RowTable {
    Key keys[SLOTS];
    u32 places[READS_X ? SLOTS : 1];  // the position of an entry in its row
};

DEVICE u32 slot_of(Key key, u32 last) { return (u32(key) * 2654435769u >> 7) & last; }

// A power of two: at least four times `entries`, so that most searches end at their first slot, if the table has so
// many slots, else at least twice.
DEVICE u32 slots_for(i64 entries, u32 most) {
    const u32 wanted = 4u << (32 - __clz((int(entries) - 1) | 1));
    return wanted < most ? wanted : most;
}

template <int SLOTS>
DEVICE void insert(RowTable<SLOTS>& table, u32 last, Key key, u32 place) {
    for (u32 slot = slot_of(key, last);; slot = (slot + 1) & last) {
        if (atomicCAS(table.keys + slot, EMPTY, key) != EMPTY) continue;
        if constexpr (READS_X) table.places[slot] = place;
        return;
    }
}

// A row of A: in a table of `last` + 1 slots, or, if `last` is 0, where it is.
template <int SLOTS>
struct RowOfA {
    const DotArguments& s;
    const RowTable<SLOTS>& table;
    i64 begin, end;
    u32 last;

    // The position of column k, or -1.
    DEVICE i64 find(i64 k) const {
        if (last == 0) {
            const i64 p = lower_bound(s.a_indices, begin, end, k);
            return p < end && i64(s.a_indices[p]) == k ? p : -1;
        }
        for (u32 slot = slot_of(Key(k), last);; slot = (slot + 1) & last) {
            const Key key = table.keys[slot];
            if (key == Key(k)) return READS_X ? begin + i64(table.places[slot]) : begin;
            if (key == EMPTY) return -1;
        }
    }
};

// --- products -------------------------------------------------------------------------------------------

DEVICE bool finished(const Maybe<Z>& sum) {
    if constexpr (!KEEPS) return sum.hit;
    else return sum.hit && add_is_terminal(sum.value);
}

struct Add {
    DEVICE Z operator()(Z a, Z b) const { return add(a, b); }
};

// sum (+)= A(i, k) (x) B(k, j), for entry p of A and entry q of Bt.
DEVICE void accumulate(const DotArguments& s, Maybe<Z>& sum, i64 i, i64 k, i64 j, i64 p, i64 q) {
    Z product = Z();
    if constexpr (KEEPS) {
        A x = A();
        B y = B();
        if constexpr (READS_X) x = value_at(s.a_values, s.a_iso, p);
        if constexpr (READS_Y) y = value_at(s.t_values, s.b_iso, q);
        product = cast<Z>(multiply(x, y, i, k, k, j));
    }
    sum = join(sum, Maybe<Z>{true, product}, Add());
}

// An entry of the mask, and row j of Bt.
struct Admitted {
    i64 j, begin, end;

    // Entry m of the mask; none (begin = end) if it is not below `last`, or not admitted.
    DEVICE Admitted(const DotArguments& s, i64 m, i64 last) : j(0), begin(0), end(0) {
        bool open = m < last;
        if constexpr (VALUED) open = open && value_at(s.mask_values, s.mask_iso, m) != M(0);
        if (!open) return;
        j = i64(s.mask_indices[m]);
        begin = i64(s.t_indptr[j]);
        end = i64(s.t_indptr[j + 1]);
    }
};

// The entries [first, last) of row i of the mask, by the groups of a team of TEAM threads.  Whole warps call.  The
// bounds of the next row of Bt are loaded while a row is probed.
template <int TEAM, int SLOTS>
DEVICE void dot_products(const DotArguments& s, const RowOfA<SLOTS>& row, i64 i, i64 first, i64 last) {
    constexpr int GROUPS = TEAM / int(GROUP);
    const int group = int(threadIdx.x) % TEAM / int(GROUP), sub = lane_id() % int(GROUP);
    Admitted next(s, first + group, last);
    for (i64 base = first; base < last; base += GROUPS) {
        const i64 m = base + group;
        const Admitted at = next;
        next = Admitted(s, m + GROUPS, last);
        Maybe<Z> sum = {false, Z()};
        if (at.end - at.begin > SWAP * (row.end - row.begin)) {
            for (i64 p = row.begin + sub; p < row.end && !finished(sum); p += GROUP) {
                const i64 k = i64(s.a_indices[p]);
                const i64 q = lower_bound(s.t_indices, at.begin, at.end, k);
                if (q < at.end && i64(s.t_indices[q]) == k) accumulate(s, sum, i, k, at.j, p, q);
            }
        } else {
#pragma unroll 2
            for (i64 q = at.begin + sub; q < at.end && !finished(sum); q += GROUP) {
                const i64 k = i64(s.t_indices[q]);
                const i64 p = row.find(k);
                if (p >= 0) accumulate(s, sum, i, k, at.j, p, q);
            }
        }
        __syncwarp();
#pragma unroll
        for (int delta = 1; delta < int(GROUP); delta *= 2) {
            Maybe<Z> other;
            other.hit = __shfl_down_sync(FULL_WARP, int(sum.hit), delta) != 0 && sub + delta < int(GROUP);
            other.value = shuffle_down(sum.value, delta);
            sum = join(sum, other, Add());
        }
        if (sub == 0 && sum.hit) {
            atomicOr(s.marks + (m >> 5), 1u << (m & 31));
            if constexpr (KEEPS) s.values[m] = sum.value;
        }
    }
}

// --- kernels --------------------------------------------------------------------------------------------

// sums[0] += the probes, sums[1] += the products of `samples` entries, of the mask and of A, evenly spaced.
// b_indptr: the offsets of B by rows; null: its products are not counted.
extern "C" __global__ void mxm_dot_estimate(const DotArguments s, const BP* b_indptr, i64 a_nvals, i64 mask_nvals,
                                            i64 samples, i64* sums) {
    i64 probes = 0, products = 0;
    for (i64 t = thread_id(); t < samples; t += thread_count()) {
        const i64 m = i64(f64(t) / f64(samples) * f64(mask_nvals));
        const i64 i = upper_bound(s.mask_indptr, 0, s.nrows + 1, m) - 1, j = i64(s.mask_indices[m]);
        const i64 length = i64(s.t_indptr[j + 1]) - i64(s.t_indptr[j]);
        const i64 entries = i64(s.a_indptr[i + 1]) - i64(s.a_indptr[i]), swapped = SWAP * entries;
        probes += (length < swapped ? length : swapped) * (entries > LARGE ? SEARCHED : 1);
        if (b_indptr == nullptr) continue;
        const i64 k = i64(s.a_indices[i64(f64(t) / f64(samples) * f64(a_nvals))]);
        products += i64(b_indptr[k + 1]) - i64(b_indptr[k]);
    }
    add_count(sums, probes);
    add_count(sums + 1, products);
}

// The lists of small rows and of segments.  Rows without an entry of A or of the mask are in none.
extern "C" __global__ void __launch_bounds__(BLOCK) mxm_dot_list(const DotArguments s) {
    for (i64 first = i64(blockIdx.x) * BLOCK; first < s.nrows; first += i64(gridDim.x) * BLOCK) {
        const i64 i = first + threadIdx.x;
        i64 entries = 0, admitted = 0;
        if (i < s.nrows) {
            entries = i64(s.a_indptr[i + 1]) - i64(s.a_indptr[i]);
            admitted = i64(s.mask_indptr[i + 1]) - i64(s.mask_indptr[i]);
        }
        const bool any = entries != 0 && admitted != 0, few = entries <= SMALL && admitted <= SEGMENT;
        const u32 small = any && few;
        const u64 segments = any && !few ? u64((admitted + SEGMENT - 1) / SEGMENT) : 0;
        u64 total;
        const u64 below = block_scan_exclusive(segments << 12 | small, total);  // at most 256 small rows
        __shared__ u64 start[2];
        if (threadIdx.x == 0) {
            start[0] = atomicAdd(s.state, total & 0xfff);
            start[1] = atomicAdd(s.state + 1, total >> 12);
        }
        __syncthreads();
        if (small != 0) s.small[start[0] + (below & 0xfff)] = i;
        for (u64 segment = 0; segment < segments; segment++) {
            const u64 to = start[1] + (below >> 12) + segment;
            s.large[2 * to] = i;
            s.large[2 * to + 1] = i64(s.mask_indptr[i]) + SEGMENT * i64(segment);
        }
        __syncthreads();
    }
}

// The rows that a warp takes from the list at once.
constexpr u64 TAKEN_AT_ONCE = 8;

extern "C" __global__ void __launch_bounds__(BLOCK) mxm_dot_small(const DotArguments s) {
    constexpr int SLOTS = 2 * int(SMALL);
    __shared__ RowTable<SLOTS> tables[BLOCK / 32];
    RowTable<SLOTS>& table = tables[warp_in_block()];
    const u64 count = s.state[0];
    while (true) {
        u64 next = 0;
        if (lane_id() == 0) next = atomicAdd(s.state + 2, TAKEN_AT_ONCE);
        next = shuffle(next, 0);
        if (next >= count) return;
        const u64 until = next + TAKEN_AT_ONCE < count ? next + TAKEN_AT_ONCE : count;
        for (; next < until; next++) {
            const i64 i = s.small[next];
            const i64 begin = i64(s.a_indptr[i]), end = i64(s.a_indptr[i + 1]);
            const u32 slots = slots_for(end - begin, SLOTS);
            for (u32 slot = lane_id(); slot < slots; slot += 32) table.keys[slot] = EMPTY;
            __syncwarp();
            for (i64 p = begin + lane_id(); p < end; p += 32) {
                insert(table, slots - 1, Key(s.a_indices[p]), u32(p - begin));
            }
            __syncwarp();
            const RowOfA<SLOTS> row = {s, table, begin, end, slots - 1};
            dot_products<32>(s, row, i, i64(s.mask_indptr[i]), i64(s.mask_indptr[i + 1]));
            __syncwarp();
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) mxm_dot_large(const DotArguments s) {
    constexpr int SLOTS = 2 * int(LARGE);
    extern __shared__ char room[];
    RowTable<SLOTS>& table = *reinterpret_cast<RowTable<SLOTS>*>(room);
    __shared__ u64 taken;
    const u64 count = s.state[1];
    i64 held = -1;  // the row whose entries are in the table
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0) taken = atomicAdd(s.state + 3, u64(1));
        __syncthreads();
        const u64 next = taken;
        if (next >= count) return;
        const i64 i = s.large[2 * next], first = s.large[2 * next + 1], row_end = i64(s.mask_indptr[i + 1]);
        const i64 begin = i64(s.a_indptr[i]), end = i64(s.a_indptr[i + 1]);
        const u32 slots = end - begin <= LARGE ? slots_for(end - begin, SLOTS) : 0;
        if (slots != 0 && held != i) {
            for (u32 slot = threadIdx.x; slot < slots; slot += BLOCK) table.keys[slot] = EMPTY;
            __syncthreads();
            for (i64 p = begin + threadIdx.x; p < end; p += BLOCK) {
                insert(table, slots - 1, Key(s.a_indices[p]), u32(p - begin));
            }
            held = i;
        }
        __syncthreads();
        const RowOfA<SLOTS> row = {s, table, begin, end, slots == 0 ? 0 : slots - 1};
        dot_products<BLOCK>(s, row, i, first, first + SEGMENT < row_end ? first + SEGMENT : row_end);
    }
}
