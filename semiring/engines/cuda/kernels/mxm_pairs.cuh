// mxm under a mask with few or scattered entries:  t(i, j) = (+)_k A(i, k) (x) B(k, j)  for the entries (i, j) of the
// mask, each of which is a pair of row i of A and row j of Bt.
//
// The columns of the shorter row of a pair are searched in the longer one, whichever it is.  The pairs are first sorted
// by their longer row (counts, prefix sums, positions).  If the pairs of a longer row have enough columns to search,
// blocks fill tables (dot_table.cuh) with segments of that row, one after the other, and probe each with the columns
// within the segment.  Else groups of lanes search the row where it is, with several searches in flight for each lane.
// No two groups have a pair in common: sums need no atomics.  The order of a sum depends on both rows, and on the method
// of the longer row, which follows from the lengths of the rows and from the mask.
//
// The prologue is that of mxm_dot.cuh, and the constants SAME (A and Bt have one pattern), PAIR_THREADS (of a block, and
// pairs of a part), PAIR_RESIDENT, PAIR_TABLE (bytes of a table), PAIR_BATCH, PAIR_WIDE, PAIR_PART, PAIR_SEARCHED,
// PAIR_ITEM, PAIR_SPARSE (see tuning.py).

#include "dot_table.cuh"

// The arguments beside the operands of the product, of which B is the transpose Bt.
struct PairArguments {
    u32* marks;         // a bit for each entry of the mask: whether the product has it; initially 0
    Z* values;          // a slot for each entry of the mask
    i64 mask_nvals;
    i64 longer_rows;    // the rows of A and, unless SAME, those of Bt behind them
    u32* counts;        // pairs of each longer row; initially 0
    u64* totals;        // columns that are searched in each longer row; initially 0
    const u32* starts;  // the first position of the pairs of each longer row
    u32* ranks;         // the number of an entry of the mask among the pairs of its longer row
    u32* entries;       // the entry of the mask at each position
    i64* others;        // twice the shorter row, and 1 if it is a row of A
    u64* items;         // longer rows and parts of their pairs, for blocks
    u64* state;         // items from the front and from the back, and items that are taken; initially 0
};

struct PairProductArguments : ProductArguments, PairArguments {};
static_assert(sizeof(PairProductArguments) == sizeof(ProductArguments) + sizeof(PairArguments));

constexpr bool PLACES = KEEPS && (multiply_reads_x || multiply_reads_y);
typedef KeyOf<choose<sizeof(AI) == 8, AI, BI>> WidestKey;
constexpr int SLOT_BYTES = int(sizeof(WidestKey)) + (PLACES ? 4 : 0);
// A power of two.
constexpr int slots_within(int bytes) { return 2 * SLOT_BYTES > bytes ? 1 : 2 * slots_within(bytes / 2); }
constexpr int SLOTS = slots_within(int(PAIR_TABLE));
constexpr i64 MOST = SLOTS / PAIR_SPARSE;  // entries of a hash table

// Numbers of entries within a row.
template <class P>
using OffsetOf = choose<sizeof(P) == 8, i64, u32>;

// The rows of one operand.
template <class P, class I>
struct RowsOf {
    const P* indptr;
    const I* indices;
    DEVICE i64 begin(i64 row) const { return i64(indptr[row]); }
    DEVICE i64 end(i64 row) const { return i64(indptr[row + 1]); }
    DEVICE i64 length(i64 row) const { return end(row) - begin(row); }
};
typedef RowsOf<AP, AI> RowsOfA;
typedef RowsOf<BP, BI> RowsOfB;

DEVICE RowsOfA rows_of_a(const ProductArguments& s) { return RowsOfA{s.a_indptr, s.a_indices}; }
DEVICE RowsOfB rows_of_b(const ProductArguments& s) { return RowsOfB{s.b_indptr, s.b_indices}; }

// --- pairs by their longer row --------------------------------------------------------------------------

// Entry m of the mask.
struct MaskEntry {
    i64 longer, other;  // the number of the longer row; `others` of the pair
    i64 columns;        // of the shorter row; 0 also if the mask does not admit the entry

    DEVICE MaskEntry(const PairProductArguments& s, i64 m) : longer(0), other(0), columns(0) {
        if constexpr (VALUED) {
            if (value_at(s.mask_values, s.mask_iso, m) == M(0)) return;
        }
        const i64 i = upper_bound(s.mask_indptr, 0, s.nrows + 1, m) - 1, j = i64(s.mask_indices[m]);
        const i64 of_a = rows_of_a(s).length(i), of_b = rows_of_b(s).length(j);
        const bool turned = of_b > of_a;
        longer = turned ? (SAME ? j : s.nrows + j) : i;
        other = turned ? 2 * i + 1 : 2 * j;
        columns = turned ? of_a : of_b;
    }
};

extern "C" __global__ void mxm_pairs_count(const PairProductArguments s) {
    for (i64 m = thread_id(); m < s.mask_nvals; m += thread_count()) {
        const MaskEntry pair(s, m);
        if (pair.columns == 0) continue;
        s.ranks[m] = atomicAdd(s.counts + pair.longer, 1u);
        atomicAdd(s.totals + pair.longer, u64(pair.columns));
    }
}

extern "C" __global__ void mxm_pairs_place(const PairProductArguments s) {
    for (i64 m = thread_id(); m < s.mask_nvals; m += thread_count()) {
        const MaskEntry pair(s, m);
        if (pair.columns == 0) continue;
        const u32 at = s.starts[pair.longer] + s.ranks[m];
        s.entries[at] = u32(m);
        s.others[at] = pair.other;
    }
}

constexpr int PART_BITS = 20;

// The pairs of a longer row.
struct LongerRow {
    i64 start, count, length;
    i64 parts;  // of its pairs, each for a block; 0: the row is searched where it is

    DEVICE LongerRow(const PairProductArguments& s, i64 row) : length(0), parts(0) {
        start = i64(s.starts[row]);
        count = i64(s.starts[row + 1]) - start;
        if (count == 0) return;
        length = SAME || row < s.nrows ? rows_of_a(s).length(row) : rows_of_b(s).length(row - s.nrows);
        const i64 total = i64(s.totals[row]);
        if (total * (PAIR_SEARCHED - 1) < length + PAIR_ITEM) return;
        const i64 wanted = total / (PAIR_PART < 4 * length ? 4 * length : PAIR_PART) + 1;
        parts = wanted < count ? wanted : count;
        parts = parts < i64(1) << PART_BITS ? parts : i64(1) << PART_BITS;
        if (parts * PAIR_THREADS < count) parts = (count + PAIR_THREADS - 1) / PAIR_THREADS;
    }
    // The first position of a part.
    DEVICE i64 first(i64 part) const { return start + count * part / parts; }
};

// Lists the parts of all longer rows: from the front those of rows with several tables, which take longest.
extern "C" __global__ void mxm_pairs_list(const PairProductArguments s) {
    for (i64 first = 32 * warp_id(); first < s.longer_rows; first += 32 * warp_count()) {
        const i64 row = first + lane_id();
        i64 parts = 0;
        bool several = false;
        if (row < s.longer_rows) {
            const LongerRow longer(s, row);
            parts = longer.parts;
            several = longer.length > MOST;
        }
#pragma unroll
        for (int back = 0; back < 2; back++) {
            const u64 mine = (back == 0) == several ? u64(parts) : 0, upto = warp_scan_inclusive(mine);
            u64 before = 0;
            if (lane_id() == 31 && upto != 0) before = atomicAdd(s.state + back, upto);
            const u64 at = shuffle(before, 31) + upto - mine;
            for (u64 part = 0; part < mine; part++) {
                const u64 to = back == 0 ? at + part : u64(s.mask_nvals) - 1 - at - part;
                s.items[to] = u64(row) << PART_BITS | part;
            }
        }
    }
}

// --- products -------------------------------------------------------------------------------------------

// A row that is searched where it is.
template <class P, class I>
struct InPlace {
    const I* columns;
    i64 begin, end;

    // found[n] = the position of keys[n] or -1, for the first `count`: all searches advance together.
    template <class K, int N>
    DEVICE void find(const K (&keys)[N], int count, i64 (&found)[N]) const {
        typedef OffsetOf<P> Offset;
        const I* const row = columns + begin;
        Offset low[N] = {};
        for (Offset left = Offset(end - begin); left > 1;) {
            const Offset half = left / 2;
#pragma unroll
            for (int n = 0; n < N; n++) {
                if (i64(row[low[n] + half - 1]) < i64(keys[n])) low[n] += half;
            }
            left -= half;
        }
#pragma unroll
        for (int n = 0; n < N; n++) {
            if (n < count) found[n] = i64(row[low[n]]) == i64(keys[n]) ? begin + i64(low[n]) : -1;
        }
    }
};

// A row that has a table.
template <bool BITS, class Row>
struct Probed {
    const Row& row;

    template <class K, int N>
    DEVICE void find(const K (&keys)[N], int count, i64 (&found)[N]) const {
#pragma unroll
        for (int n = 0; n < N; n++) {
            if (n < count) found[n] = row.template find<BITS>(i64(keys[n]));
        }
    }
};

// What one lane has of a pair: its rows, and the entries of the shorter row that are searched.
struct PairOfLane {
    i64 row, other, begin, end;

    DEVICE PairOfLane from(int lane) const {
        return PairOfLane{shuffle(row, lane), shuffle(other, lane), shuffle(begin, lane), shuffle(end, lane)};
    }
};

// The sum of the products of the entries of a pair that lane `sub` of `lanes` has.
template <class Finder, class Q, class J>
DEVICE Maybe<Z> products_of(const ProductArguments& s, const PairOfLane& pair, const Finder& finder,
                            const RowsOf<Q, J>& shorter, int sub, int lanes) {
    constexpr int N = int(PAIR_BATCH);
    typedef OffsetOf<Q> Offset;
    const J* const columns = shorter.indices + pair.begin;
    const Offset length = Offset(pair.end - pair.begin);
    Maybe<Z> sum = {false, Z()};
    for (Offset first = sub; first < length && !finished(sum); first += N * lanes) {
        J keys[N];
        i64 found[N];
        int count = 0;
#pragma unroll
        for (int n = 0; n < N; n++) {
            const bool inside = first + n * lanes < length;
            keys[n] = inside ? columns[first + n * lanes] : keys[0];
            count += inside;
        }
        finder.find(keys, count, found);
#pragma unroll
        for (int n = 0; n < N; n++) {
            if (n >= count || found[n] < 0) continue;
            const i64 at = pair.begin + i64(first + n * lanes), k = i64(keys[n]);
            if ((pair.other & 1) != 0) accumulate(s, sum, pair.other >> 1, k, pair.row, at, found[n]);
            else accumulate(s, sum, pair.row, k, pair.other >> 1, found[n], at);
        }
    }
    return sum;
}

// Adds to the sum of each lane the products of its pair; finder_of(lane) searches in the longer row of a lane's pair.
// Whole warps call.  A pair with PAIR_WIDE columns or more is processed by the warp, shorter ones by eight lanes each.
template <class Q, class J, class F>
DEVICE void add_products(const ProductArguments& s, const PairOfLane& mine, Maybe<Z>& sum, const RowsOf<Q, J>& shorter,
                         F finder_of) {
    constexpr int GROUPS = 4, LANES = 32 / GROUPS;
    const i64 columns = mine.end - mine.begin;
    u32 wide = __ballot_sync(FULL_WARP, columns >= PAIR_WIDE);
    u32 few = __ballot_sync(FULL_WARP, columns > 0 && columns < PAIR_WIDE);
    while ((wide | few) != 0) {
        const bool whole = wide != 0;
        u32 listed = whole ? wide : few;
        const int lanes = whole ? 32 : LANES, rank = __popc(listed & lanes_below());  // of the lane's pair in the list
        const bool taken = (listed >> lane_id() & 1) != 0 && rank < 32 / lanes;
        int source = -1;
        for (int group = 0; group < 32 / lanes; group++) {
            if (lane_id() / lanes == group) source = __ffs(int(listed)) - 1;
            listed &= listed - 1;
        }
        if (whole) wide = listed;
        else few = listed;
        PairOfLane pair = mine.from(source & 31);
        if (source < 0) pair.end = pair.begin;
        Maybe<Z> part = products_of(s, pair, finder_of(source & 31), shorter, lane_id() % lanes, lanes);
        __syncwarp();
        for (int delta = 1; delta < lanes; delta *= 2) {  // valid in the first lane of each group
            Maybe<Z> other;
            other.hit = shuffle_down(part.hit, delta) && lane_id() % lanes + delta < lanes;
            other.value = shuffle_down(part.value, delta);
            part = join(part, other, Add());
        }
        const int first = rank * lanes & 31;
        part.hit = shuffle(part.hit, first);
        part.value = shuffle(part.value, first);
        if (taken) sum = join(sum, part, Add());
    }
}

DEVICE void put_result(const PairArguments& s, i64 position, const Maybe<Z>& sum) {
    if (!sum.hit) return;
    const u32 m = s.entries[position];
    atomicOr(s.marks + (m >> 5), 1u << (m & 31));
    if constexpr (KEEPS) s.values[m] = sum.value;
}

// lower_bound in steps that double, for few elements less than `key`: those between two entries of the longer row.
template <class T>
DEVICE i64 lower_bound_near(const T* sorted, i64 low, i64 high, i64 key) {
    i64 probe = low;
    for (i64 step = 1; probe < high && i64(sorted[probe]) < key; step *= 2) {
        low = probe + 1;
        probe += step;
    }
    return lower_bound(sorted, low, probe < high ? probe : high, key);
}

// The pairs at positions [first, last), by a block: at most one for each thread.  row: in its operand.
template <class P, class I, class Q, class J>
DEVICE void process_part(const PairProductArguments& s, const RowsOf<P, I> longer, const RowsOf<Q, J> shorter, i64 row,
                         i64 first, i64 last, RowTable<I, SLOTS, PLACES>& table) {
    const i64 position = first + warp_in_block() + i64(lane_id()) * (blockDim.x / 32), row_end = longer.end(row);
    PairOfLane mine = {row, 0, 0, 0};
    i64 next = 0, end = 0;  // the entries of the shorter row that are left
    if (position < last) {
        mine.other = s.others[position];
        next = shorter.begin(mine.other >> 1);
        end = shorter.end(mine.other >> 1);
    }
    Maybe<Z> sum = {false, Z()};
    for (i64 begin = longer.begin(row); begin < row_end;) {
        if (!__syncthreads_or(next < end && !finished(sum))) break;  // the previous table is not read any more
        i64 until = begin + MOST < row_end ? begin + MOST : row_end;
        if (!PLACES && until < row_end)
            until = upper_bound(longer.indices, until, row_end, i64(longer.indices[begin]) + 32 * SLOTS - 1);
        TabledRow<I, SLOTS, PLACES> tabled(longer.indices, table, begin, until, MOST);
        tabled.template fill<4>(threadIdx.x, blockDim.x, [] { __syncthreads(); });
        next = lower_bound_near(shorter.indices, next, end, tabled.low);
        mine.begin = next;
        if (next < end && i64(shorter.indices[end - 1]) <= tabled.high) next = end;
        else next = upper_bound(shorter.indices, next, end, tabled.high);
        mine.end = finished(sum) ? mine.begin : next;
        if (!PLACES && tabled.kind == AS_BITS) {
            const Probed<!PLACES, TabledRow<I, SLOTS, PLACES>> probed = {tabled};
            add_products(s, mine, sum, shorter, [&](int) { return probed; });
        } else {
            const Probed<false, TabledRow<I, SLOTS, PLACES>> probed = {tabled};
            add_products(s, mine, sum, shorter, [&](int) { return probed; });
        }
        begin = until;
    }
    if (position < last) put_result(s, position, sum);
}

// --- kernels --------------------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(PAIR_THREADS, PAIR_RESIDENT)
mxm_pairs_table(const PairProductArguments s) {
    __shared__ union {
        RowTable<AI, SLOTS, PLACES> of_a;
        RowTable<BI, SLOTS, PLACES> of_b;
    } table;
    __shared__ u64 taken;
    const u64 front = s.state[0], count = front + s.state[1];
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0) taken = atomicAdd(s.state + 2, u64(1));
        __syncthreads();
        const u64 number = taken;
        if (number >= count) return;
        const u64 item = s.items[number < front ? number : u64(s.mask_nvals) - 1 - (number - front)];
        const i64 row = i64(item >> PART_BITS), part = i64(item & ((u64(1) << PART_BITS) - 1));
        const LongerRow longer(s, row);
        const i64 first = longer.first(part), last = longer.first(part + 1);
        if (SAME || row < s.nrows) {
            process_part(s, rows_of_a(s), rows_of_b(s), row, first, last, table.of_a);
        } else {
            if constexpr (!SAME)
                process_part(s, rows_of_b(s), rows_of_a(s), row - s.nrows, first, last, table.of_b);
        }
    }
}

// The pairs of one operand's rows, by a warp; `mine` of lanes without such a pair have no entries.
template <class P, class I, class Q, class J>
DEVICE void search_pairs(const PairProductArguments& s, const RowsOf<P, I> longer, const RowsOf<Q, J> shorter, bool has,
                         i64 row, i64 position) {
    PairOfLane mine = {row, 0, 0, 0};
    i64 begin = 0, end = 0;
    if (has) {
        mine.other = s.others[position];
        mine.begin = shorter.begin(mine.other >> 1);
        mine.end = shorter.end(mine.other >> 1);
        begin = longer.begin(row);
        end = longer.end(row);
    }
    Maybe<Z> sum = {false, Z()};
    add_products(s, mine, sum, shorter, [&](int lane) {
        return InPlace<P, I>{longer.indices, shuffle(begin, lane), shuffle(end, lane)};
    });
    if (has) put_result(s, position, sum);
}

// Four resident blocks of a multiprocessor, so that registers suffice.
extern "C" __global__ void __launch_bounds__(BLOCK, 4) mxm_pairs_search(const PairProductArguments s) {
    const i64 listed = i64(s.starts[s.longer_rows]);
    for (i64 first = 32 * warp_id(); first < listed; first += 32 * warp_count()) {
        const i64 position = first + lane_id();
        i64 row = 0;
        bool has = position < listed;
        if (has) {
            row = upper_bound(s.starts, 0, s.longer_rows + 1, position) - 1;
            has = LongerRow(s, row).parts == 0;
        }
        if (__ballot_sync(FULL_WARP, has) == 0) continue;
        const bool of_a = SAME || row < s.nrows;
        search_pairs(s, rows_of_a(s), rows_of_b(s), has && of_a, row, position);
        if constexpr (!SAME) search_pairs(s, rows_of_b(s), rows_of_a(s), has && !of_a, row - s.nrows, position);
    }
}
