// mxm by rows (Gustavson), in panels of columns:  t(i, j) = (+)_k A(i, k) (x) B(k, j).
//
// A block computes a row of the result for PANEL columns, with a presence bit and a slot for each in shared memory: its
// warps process the entries A(i, k), their lanes the entries of row k of B within the panel.  The first kernel counts
// the entries of each row and panel; after a scan of the counts, the second computes them and stores them by ascending
// column.  Slots initially hold the identity of (+); for `any`, the thread that sets the presence bit writes the value.
//
// If (+) has no exact start value (ORDERED), the entries of a row of A are processed one after the other: no two threads
// then have products of one column at a time.
//
// Beside the parameters of mxm_operands.cuh and slots.cuh, the prologue defines the types O (columns of the result), P
// (offsets of its rows), R (numbers of rows); and the constants ORDERED, PANEL and BLOCK.

#include "mxm_operands.cuh"
#include "slots.cuh"
#include "grid.cuh"

constexpr int WORDS = int(PANEL) / 32;

struct Panel {
    u32 present[WORDS];
    u32 admitted[MASKED ? WORDS : 1];
};

// Sets a presence bit; returns whether this call set it.
DEVICE bool claim(u32* present, int c) {
    const u32 bit = 1u << (c & 31);
    if (load_shared(present + (c >> 5)) & bit) return false;
    return (atomicOr(present + (c >> 5), bit) & bit) == 0;
}

// The products of row i in the columns [first, first + PANEL); with VALUES also their sums.  The whole block calls.
template <bool VALUES>
DEVICE void accumulate(const ProductArguments& s, i64 i, i64 first, Panel& panel, Slot* slots) {
    for (int w = int(threadIdx.x); w < WORDS; w += BLOCK) {
        panel.present[w] = 0;
        if constexpr (MASKED) panel.admitted[w] = 0;
    }
    if constexpr (VALUES && !add_is_any && !ORDERED) {
        for (int c = int(threadIdx.x); c < int(PANEL); c += BLOCK) slots[c] = slot_bits(s.start);
    }
    __syncthreads();
    const i64 row_end = i64(s.a_indptr[i + 1]);
    constexpr int TEAM = VALUES && ORDERED ? int(BLOCK) : 32;  // for an entry of A
    const int rank = int(threadIdx.x) % TEAM;
    for (i64 p = i64(s.a_indptr[i]) + int(threadIdx.x) / TEAM; p < row_end; p += BLOCK / TEAM) {
        const i64 k = i64(s.a_indices[p]), end = i64(s.b_indptr[k + 1]);
        i64 begin = i64(s.b_indptr[k]);
        if (first != 0) begin = warp_upper_bound(s.b_indices, begin, end, first - 1);
        A x = A();
        if constexpr (VALUES) x = left_value(s, p);
        for (i64 q = begin + rank; q < end; q += TEAM) {
            const i64 j = i64(s.b_indices[q]);
            if (j >= first + PANEL) break;
            const int c = int(j - first);
            const bool first_product = claim(panel.present, c);
            if constexpr (VALUES) add_to_slot(slots + c, first_product, [&] { return product(s, x, q, i, k, j); });
        }
        if constexpr (TEAM == 32) __syncwarp();
        else __syncthreads();
    }
    if constexpr (MASKED) {
        const i64 mask_end = i64(s.mask_indptr[i + 1]);
        const i64 m0 = lower_bound(s.mask_indices, i64(s.mask_indptr[i]), mask_end, first);
        for (i64 m = m0 + threadIdx.x; m < mask_end; m += BLOCK) {
            const i64 j = i64(s.mask_indices[m]);
            if (j >= first + PANEL) break;
            if constexpr (VALUED) {
                if (value_at(s.mask_values, s.mask_iso, m) == M(0)) continue;
            }
            const int c = int(j - first);
            atomicOr(panel.admitted + (c >> 5), 1u << (c & 31));
        }
        __syncthreads();
        for (int w = int(threadIdx.x); w < WORDS; w += BLOCK) {
            panel.present[w] &= COMPLEMENT ? ~panel.admitted[w] : panel.admitted[w];
        }
    }
    __syncthreads();
}

// The next row and panel for this block: its number, or -1 after the last one.  The whole block calls.
DEVICE i64 take(u64* taken, i64 items) {
    __shared__ u64 next;
    __syncthreads();
    if (threadIdx.x == 0) next = atomicAdd(taken, u64(1));
    __syncthreads();
    return next < u64(items) ? i64(next) : -1;
}

// counts = the entries of each of `count` rows and each panel.  rows: null for all rows.  `taken` is initially 0.
extern "C" __global__ void __launch_bounds__(BLOCK) mxm_panels_count(const ProductArguments s, i64 count, const R* rows,
                                                                     i64 panels, u64* taken, i64* counts) {
    __shared__ Panel panel;
    for (i64 item = take(taken, count * panels); item >= 0; item = take(taken, count * panels)) {
        const i64 i = rows == nullptr ? item / panels : i64(rows[item / panels]);
        i64 entries = 0;
        if (s.a_indptr[i] != s.a_indptr[i + 1]) {
            accumulate<false>(s, i, item % panels * PANEL, panel, nullptr);
            for (int w = int(threadIdx.x); w < WORDS; w += BLOCK) entries += __popc(panel.present[w]);
            entries = block_sum(entries);
        }
        if (threadIdx.x == 0) counts[item] = entries;
    }
}

// The same rows, stored.  offsets: the scan of `counts`.  starts: the offsets of the rows of the result; null: `offsets`
// has them.
extern "C" __global__ void __launch_bounds__(BLOCK) mxm_panels_store(const ProductArguments s, i64 count, const R* rows,
                                                                     i64 panels, u64* taken, const i64* offsets,
                                                                     const P* starts, O* indices, Z* values) {
    __shared__ Panel panel;
    extern __shared__ __align__(16) char room[];
    Slot* const slots = reinterpret_cast<Slot*>(room);
    for (i64 item = take(taken, count * panels); item >= 0; item = take(taken, count * panels)) {
        i64 to = offsets[item];
        if (to == offsets[item + 1]) continue;
        const i64 i = rows == nullptr ? item / panels : i64(rows[item / panels]), first = item % panels * PANEL;
        if (starts != nullptr) to += i64(starts[i]) - offsets[item / panels * panels];
        accumulate<KEEPS>(s, i, first, panel, slots);
        for (int base = 0; base < WORDS; base += BLOCK) {
            const int w = base + int(threadIdx.x);
            u32 bits = w < WORDS ? panel.present[w] : 0;
            int total;
            i64 at = to + block_scan_exclusive(__popc(bits), total);
            to += total;
            for (; bits; bits &= bits - 1, at++) {
                const int c = 32 * w + __ffs(int(bits)) - 1;
                indices[at] = O(first + c);
                if constexpr (KEEPS) values[at] = slot_value(slots[c]);
            }
        }
    }
}

// counts[rows[r]] = the entries of row r, from the scan of the counts of its panels.
extern "C" __global__ void mxm_panels_total(i64 count, const R* rows, i64 panels, const i64* offsets, O* counts) {
    for (i64 r = thread_id(); r < count; r += thread_count()) {
        counts[rows[r]] = O(offsets[(r + 1) * panels] - offsets[r * panels]);
    }
}
