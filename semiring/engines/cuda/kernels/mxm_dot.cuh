// mxm under a mask, by dot products:  t(i, j) = (+)_k A(i, k) (x) B(k, j)  for the entries (i, j) of the mask alone;
// also the reduction of t to one value or of its rows, without t.
//
// B is given by its columns, the rows of Bt.  A team of threads stores the columns of row i of A in a table in shared
// memory; groups of lanes then probe it with the entries of row j of Bt, for each entry (i, j) of the mask.  Only those
// from the first to the last column of row i of A are probed: under L in L L', half of them.  The table has a bit for
// each of these columns, if they fit and the values of A are not read; else it is a hash table.  No two groups have an
// entry in common: sums need no atomics, and their order depends on GROUP alone.  If row j of Bt is much longer than
// row i of A, the entries of the latter are searched in the former instead.
//
// A row with few entries is processed by a warp.  Longer ones are divided into segments of the mask's entries, which
// blocks process; if row i of A exceeds the table, it is searched where it is.  A reduction stores one part for each
// such row or segment; the parts are combined in the order of the rows.
//
// The prologue defines the semiring, and the monoid `reduce`; the types AP, AI, A (offsets, columns and values of A),
// BP, BI, B (of Bt), MP, MI, M (of the mask); and the constants VALUED (the mask admits entries by value), KEEPS
// (results have values of their own), RESULT (STORED, REDUCED: the results are reduced, SUMMED: `reduce` is the
// addition of the semiring, so products are combined in any grouping), MASKED (true), COMPLEMENT (false), GROUP (lanes
// for an entry of the mask), SMALL and LARGE (entries of a row of A in the table of a warp, of a block), SEGMENT (entries
// of the mask of a warp's row, and of a segment), BATCH, DOT_RESIDENT, SWAP, SEARCHED (see tuning.py).

#include "dot_table.cuh"

// --- products -------------------------------------------------------------------------------------------

struct Reduce {
    DEVICE OUT operator()(OUT a, OUT b) const { return cast<OUT>(reduce(a, b)); }
};

// The table of a row of A.
template <int SLOTS>
using TableOfA = RowTable<AI, SLOTS, READS_X>;
template <int SLOTS>
using RowOfA = TabledRow<AI, SLOTS, READS_X>;

// sum (+)= the dot product of row i of A and the entries [begin, end) of row j of Bt, by lanes `stride` apart.
template <bool BITS, int SLOTS>
DEVICE void add_product(const DotProductArguments& s, const RowOfA<SLOTS>& row, Maybe<Z>& sum, i64 i, i64 j, i64 begin,
                        i64 end, int sub, int stride) {
    if (end - begin > SWAP * (row.end - row.begin)) {
        for (i64 p = row.begin + sub; p < row.end && !finished(sum); p += stride) {
            const i64 k = i64(s.a_indices[p]);
            const i64 q = lower_bound(s.b_indices, begin, end, k);
            if (q < end && i64(s.b_indices[q]) == k) accumulate(s, sum, i, k, j, p, q);
        }
    } else {
#pragma unroll 2
        for (i64 q = begin + sub; q < end && !finished(sum); q += stride) {
            const i64 k = i64(s.b_indices[q]);
            const i64 p = row.template find<BITS>(k);
            if (p >= 0) accumulate(s, sum, i, k, j, p, q);
        }
    }
}

// The entries [first, last) of row i of the mask, by a team of TEAM threads.  Whole warps call.  A warp reads 32
// entries of the mask at once, then groups of lanes process them.  Returns the reduction of what the lane computed.
template <int TEAM, bool BITS, int SLOTS>
DEVICE Maybe<OUT> dot_products(const DotProductArguments& s, const RowOfA<SLOTS>& row, i64 i, i64 first, i64 last) {
    constexpr int GROUPS = 32 / int(GROUP);
    const int group = lane_id() / int(GROUP), sub = lane_id() % int(GROUP);
    Maybe<OUT> total = {false, OUT()};
    for (i64 base = first + int(threadIdx.x) % TEAM / 32 * 32; base < last; base += TEAM) {
        const Admitted mine(s, base + lane_id(), last, row.low, row.high);
        for (int round = 0; round < 32 && base + round < last; round += GROUPS) {
            const int source = round + group;
            const i64 m = base + source, j = shuffle(mine.j, source);
            Maybe<Z> sum = {false, Z()};
            add_product<BITS>(s, row, sum, i, j, shuffle(mine.begin, source), shuffle(mine.end, source), sub, GROUP);
            __syncwarp();
            sum = group_reduce<int(GROUP)>(sum, Add());
            if (sub != 0 || !sum.hit) continue;
            if constexpr (RESULT == REDUCED) {
                total = join(total, Maybe<OUT>{true, cast<OUT>(sum.value)}, Reduce());
            } else {
                atomicOr(s.marks + (m >> 5), 1u << (m & 31));
                if constexpr (KEEPS) s.values[m] = sum.value;
            }
        }
    }
    __syncwarp();
    return total;
}

// The probes of 32 entries of the mask, for a warp whose lanes divide them evenly.
struct Spread {
    u32 ends[32];    // the probes up to each entry, itself included
    i64 shifts[32];  // from the number of a probe to its position in Bt
    i64 columns[multiply_reads_yj ? 32 : 1];
};

// Probes for one entry of the mask from which on a warp processes it alone, so that sums of 32 fit into 32 bits.
constexpr i64 ALONE = i64(1) << 26;

// The sum of all products of the entries [first, last) of row i of the mask, by a team of TEAM threads.  Whole warps
// call.  The lanes of a warp divide the probes of 32 entries evenly, and load BATCH columns of Bt at once.
template <int TEAM, bool BITS, int SLOTS>
DEVICE Maybe<OUT> all_products(const DotProductArguments& s, const RowOfA<SLOTS>& row, Spread& spread, i64 i, i64 first,
                               i64 last) {
    Maybe<Z> sum = {false, Z()};
    for (i64 base = first + int(threadIdx.x) % TEAM / 32 * 32; base < last; base += TEAM) {
        const Admitted mine(s, base + lane_id(), last, row.low, row.high);
        const i64 length = mine.end - mine.begin;
        const bool alone = length >= ALONE || length > SWAP * (row.end - row.begin);
        for_long_rows(alone, mine.begin, mine.end, [&](int source, i64 begin, i64 end) {
            add_product<BITS>(s, row, sum, i, shuffle(mine.j, source), begin, end, lane_id(), 32);
            __syncwarp();
        });
        const u32 probes = alone ? 0 : u32(length), end = warp_scan_inclusive(probes);
        __syncwarp();  // the previous entries may still be read
        spread.ends[lane_id()] = end;
        spread.shifts[lane_id()] = mine.begin - i64(end - probes);
        if constexpr (multiply_reads_yj) spread.columns[lane_id()] = mine.j;
        __syncwarp();
        const u32 total = spread.ends[31];
        int entry = 0;
        u32 until = spread.ends[0];
        i64 shift = spread.shifts[0];
        for (u32 t = lane_id(); t < total && !finished(sum); t += 32 * BATCH) {
            BI columns[BATCH];
            i64 places[BATCH];
            i64 j[BATCH];
#pragma unroll
            for (int b = 0; b < int(BATCH); b++) {
                if (t + 32 * b >= total) break;
                while (t + 32 * b >= until) {
                    until = spread.ends[++entry];
                    shift = spread.shifts[entry];
                }
                places[b] = shift + t + 32 * b;
                columns[b] = s.b_indices[places[b]];
                j[b] = multiply_reads_yj ? spread.columns[multiply_reads_yj ? entry : 0] : 0;
            }
#pragma unroll
            for (int b = 0; b < int(BATCH); b++) {
                if (t + 32 * b >= total) break;
                const i64 k = i64(columns[b]), p = row.template find<BITS>(k);
                if (p >= 0) accumulate(s, sum, i, k, j[b], p, places[b]);
            }
        }
    }
    __syncwarp();
    return Maybe<OUT>{sum.hit, cast<OUT>(sum.value)};
}

template <int TEAM, bool BITS, int SLOTS>
DEVICE Maybe<OUT> products_of(const DotProductArguments& s, const RowOfA<SLOTS>& row, Spread& spread, i64 i, i64 first,
                              i64 last) {
    if constexpr (RESULT == SUMMED) return all_products<TEAM, BITS>(s, row, spread, i, first, last);
    else return dot_products<TEAM, BITS>(s, row, i, first, last);
}

// One part of a reduction, or the stored results: the entries [first, last) of row i of the mask.
template <int TEAM, int SLOTS>
DEVICE Maybe<OUT> processed(const DotProductArguments& s, const RowOfA<SLOTS>& row, Spread* spreads, i64 i, i64 first,
                            i64 last) {
    Spread& spread = spreads[warp_in_block()];
    if (!READS_X && row.kind == AS_BITS) return products_of<TEAM, true>(s, row, spread, i, first, last);
    return products_of<TEAM, false>(s, row, spread, i, first, last);
}

// The slot of a reduction for the segment of row i that begins at entry `first` of the mask: ascending, with gaps.
DEVICE i64 slot_of_segment(const DotProductArguments& s, i64 i, i64 first) {
    const i64 begin = i64(s.mask_indptr[i]);
    return begin / SEGMENT + i + (first - begin) / SEGMENT;
}

DEVICE void put_part(const DotProductArguments& s, i64 slot, Maybe<OUT> part) {
    if (!part.hit) return;
    s.totals[slot] = part.value;
    atomicOr(s.parts + (slot >> 5), 1u << (slot & 31));
}

// --- kernels --------------------------------------------------------------------------------------------

// The lists of small rows and of segments.  Rows without an entry of A or of the mask are in none.
extern "C" __global__ void __launch_bounds__(BLOCK) mxm_dot_list(const DotProductArguments s) {
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

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT) mxm_dot_small(const DotProductArguments s) {
    constexpr int SLOTS = 2 * int(SMALL);
    __shared__ TableOfA<SLOTS> tables[BLOCK / 32];
    __shared__ Spread spreads[BLOCK / 32];
    TableOfA<SLOTS>& table = tables[warp_in_block()];
    const u64 count = s.state[0];
    while (true) {
        u64 next = 0;
        if (lane_id() == 0) next = atomicAdd(s.state + 2, TAKEN_AT_ONCE);
        next = shuffle(next, 0);
        if (next >= count) return;
        const u64 until = next + TAKEN_AT_ONCE < count ? next + TAKEN_AT_ONCE : count;
        for (; next < until; next++) {
            const i64 i = s.small[next];
            RowOfA<SLOTS> row(s.a_indices, table, i64(s.a_indptr[i]), i64(s.a_indptr[i + 1]), SMALL);
            row.template fill<1>(lane_id(), 32, [] { __syncwarp(); });
            const i64 first = i64(s.mask_indptr[i]);
            Maybe<OUT> part = processed<32>(s, row, spreads, i, first, i64(s.mask_indptr[i + 1]));
            if constexpr (RESULT != STORED) {
                part = warp_reduce(part, Reduce());
                if (lane_id() == 0) put_part(s, slot_of_segment(s, i, first), part);
            }
            __syncwarp();
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT) mxm_dot_large(const DotProductArguments s) {
    constexpr int SLOTS = 2 * int(LARGE);
    extern __shared__ char room[];
    TableOfA<SLOTS>& table = *reinterpret_cast<TableOfA<SLOTS>*>(room);
    __shared__ Spread spreads[BLOCK / 32];
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
        RowOfA<SLOTS> row(s.a_indices, table, i64(s.a_indptr[i]), i64(s.a_indptr[i + 1]), LARGE);
        if (held != i) row.template fill<1>(threadIdx.x, BLOCK, [] { __syncthreads(); });
        held = i;
        const i64 last = first + SEGMENT < row_end ? first + SEGMENT : row_end;
        Maybe<OUT> part = processed<BLOCK>(s, row, spreads, i, first, last);
        if constexpr (RESULT != STORED) {
            part = block_reduce(part, Reduce());
            if (threadIdx.x == 0) put_part(s, slot_of_segment(s, i, first), part);
        }
    }
}

// After a reduction, row by row: out[i] = the parts of row i combined, for the rows that have any, with their bits and
// their number.
extern "C" __global__ void __launch_bounds__(BLOCK) mxm_dot_rows(const DotProductArguments s, u32* words, OUT* out,
                                                                 i64* count) {
    add_count(count, write_bits(s.nrows, words, [&](i64 i) {
        if (s.mask_indptr[i] == s.mask_indptr[i + 1]) return false;
        Maybe<OUT> sum = {false, OUT()};
        const i64 last = slot_of_segment(s, i, i64(s.mask_indptr[i + 1]) - 1);
        for (i64 slot = slot_of_segment(s, i, i64(s.mask_indptr[i])); slot <= last; slot++) {
            if (bit_test(s.parts, slot)) sum = join(sum, Maybe<OUT>{true, s.totals[slot]}, Reduce());
        }
        if (sum.hit) out[i] = sum.value;
        return sum.hit;
    }));
}
