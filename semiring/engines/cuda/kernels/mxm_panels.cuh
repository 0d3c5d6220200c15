// mxm by rows (Gustavson), in panels of columns:  t(i, j) = (+)_k A(i, k) (x) B(k, j).
//
// A block computes a row of the result for PANEL columns, with a presence bit and a slot for each in shared memory: its
// warps process the entries A(i, k), their lanes the entries of row k of B within the panel.  The first kernel counts
// the entries of each row and panel; after a scan of the counts, the second computes them and stores them by ascending
// column.  Slots initially hold the identity of (+); for `any`, the thread that sets the presence bit writes the value.
//
// The prologue defines the semiring; the types AP, AI, A (offsets, columns and values of A), BP, BI, B, MP, MI, M (of B
// and the mask), O (columns of the result); and the constants MASKED, VALUED (the mask admits entries by value),
// COMPLEMENT, KEEPS (results have values of their own), NATIVE (as in mxv_scatter.cuh), PANEL and BLOCK.

#include "semiring.cuh"
#include "grid.cuh"

typedef add_z Z;
// The unit of atomics in shared memory.
typedef unsigned_of<(sizeof(Z) < 4 ? 4 : sizeof(Z))> Slot;

constexpr int WORDS = int(PANEL) / 32;

struct PanelArguments {
    const AP* a_indptr;
    const AI* a_indices;
    const A* a_values;
    A a_iso;
    const BP* b_indptr;
    const BI* b_indices;
    const B* b_values;
    B b_iso;
    const MP* mask_indptr;
    const MI* mask_indices;
    const M* mask_values;
    M mask_iso;
    Z start;  // the identity
    i64 nrows;
    i64 panels;  // of a row
    i64* counts;         // entries of each row and panel
    const i64* offsets;  // their scan
    u64* taken;          // rows and panels that are taken; initially 0
    O* indices;
    Z* values;
};

struct Panel {
    u32 present[WORDS];
    u32 admitted[MASKED ? WORDS : 1];
};

DEVICE Slot slot_bits(Z z) { return Slot(from_bits<unsigned_of<sizeof(Z)>>(z)); }
DEVICE Z slot_value(Slot slot) { return from_bits<Z>(unsigned_of<sizeof(Z)>(slot)); }

// *slot = *slot (+) z, atomically, in shared memory.
template <class T>
DEVICE void combine(Slot* slot, T z) {
    if constexpr (NATIVE == 1 && is_integer<T>) atomicAdd(slot, slot_bits(z));
    else if constexpr (NATIVE == 1) atomicAdd(reinterpret_cast<T*>(slot), z);
    else if constexpr (NATIVE == 2) atomicMin(reinterpret_cast<T*>(slot), z);
    else if constexpr (NATIVE == 3) atomicMax(reinterpret_cast<T*>(slot), z);
    else {
        Slot seen = load_shared(slot);
        for (;;) {
            const Slot wanted = slot_bits(add(slot_value(seen), z));
            if (wanted == seen) return;
            const Slot found = atomicCAS(slot, seen, wanted);
            if (found == seen) return;
            seen = found;
        }
    }
}

// Sets a presence bit; returns whether this call set it.
DEVICE bool claim(u32* present, int c) {
    const u32 bit = 1u << (c & 31);
    if (load_shared(present + (c >> 5)) & bit) return false;
    return (atomicOr(present + (c >> 5), bit) & bit) == 0;
}

// The products of row i in the columns [first, first + PANEL); with VALUES also their sums.  The whole block calls.
template <bool VALUES>
DEVICE void accumulate(const PanelArguments& s, i64 i, i64 first, Panel& panel, Slot* slots) {
    for (int w = int(threadIdx.x); w < WORDS; w += BLOCK) {
        panel.present[w] = 0;
        if constexpr (MASKED) panel.admitted[w] = 0;
    }
    if constexpr (VALUES && !add_is_any) {
        for (int c = int(threadIdx.x); c < int(PANEL); c += BLOCK) slots[c] = slot_bits(s.start);
    }
    __syncthreads();
    const i64 row_end = i64(s.a_indptr[i + 1]);
    for (i64 p = i64(s.a_indptr[i]) + warp_in_block(); p < row_end; p += BLOCK / 32) {
        const i64 k = i64(s.a_indices[p]), end = i64(s.b_indptr[k + 1]);
        i64 begin = i64(s.b_indptr[k]);
        if (first != 0) begin = warp_upper_bound(s.b_indices, begin, end, first - 1);
        A x = A();
        if constexpr (VALUES && multiply_reads_x) x = value_at(s.a_values, s.a_iso, p);
        for (i64 q = begin + lane_id(); q < end; q += 32) {
            const i64 j = i64(s.b_indices[q]);
            if (j >= first + PANEL) break;
            const int c = int(j - first);
            if constexpr (!VALUES) {
                claim(panel.present, c);
            } else {
                if constexpr (!add_is_any) {
                    if (add_is_terminal(slot_value(load_shared(slots + c)))) continue;
                }
                B y = B();
                if constexpr (multiply_reads_y) y = value_at(s.b_values, s.b_iso, q);
                const Z z = cast<Z>(multiply(x, y, i, k, k, j));
                if constexpr (add_is_any) {
                    if (claim(panel.present, c)) slots[c] = slot_bits(z);
                } else {
                    combine(slots + c, z);
                    claim(panel.present, c);
                }
            }
        }
        __syncwarp();
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
DEVICE i64 take(const PanelArguments& s) {
    __shared__ u64 next;
    __syncthreads();
    if (threadIdx.x == 0) next = atomicAdd(s.taken, u64(1));
    __syncthreads();
    return next < u64(s.nrows * s.panels) ? i64(next) : -1;
}

extern "C" __global__ void __launch_bounds__(BLOCK) mxm_panels_count(const PanelArguments s) {
    __shared__ Panel panel;
    for (i64 item = take(s); item >= 0; item = take(s)) {
        const i64 i = item / s.panels;
        i64 count = 0;
        if (s.a_indptr[i] != s.a_indptr[i + 1]) {
            accumulate<false>(s, i, item % s.panels * PANEL, panel, nullptr);
            for (int w = int(threadIdx.x); w < WORDS; w += BLOCK) count += __popc(panel.present[w]);
            count = block_sum(count);
        }
        if (threadIdx.x == 0) s.counts[item] = count;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) mxm_panels_store(const PanelArguments s) {
    __shared__ Panel panel;
    extern __shared__ __align__(16) char room[];
    Slot* const slots = reinterpret_cast<Slot*>(room);
    for (i64 item = take(s); item >= 0; item = take(s)) {
        i64 to = s.offsets[item];
        if (to == s.offsets[item + 1]) continue;
        const i64 i = item / s.panels, first = item % s.panels * PANEL;
        accumulate<KEEPS>(s, i, first, panel, slots);
        for (int base = 0; base < WORDS; base += BLOCK) {
            const int w = base + int(threadIdx.x);
            u32 bits = w < WORDS ? panel.present[w] : 0;
            int total;
            i64 at = to + block_scan_exclusive(__popc(bits), total);
            to += total;
            for (; bits; bits &= bits - 1, at++) {
                const int c = 32 * w + __ffs(int(bits)) - 1;
                s.indices[at] = O(first + c);
                if constexpr (KEEPS) s.values[at] = slot_value(slots[c]);
            }
        }
    }
}
