// The entries of each row in the order of sort keys: sorted rows, and the first entries in that order.
//
// The prologue defines: P and I, the types of row offsets and columns; A, of values; KEY, u32 or u64; RANDOM and
// DESCENDING; SORT_BLOCK and SORT_BIG, the longest rows that a block and a large block sort in shared memory; FORM.  A warp sorts shorter rows in registers; longer ones are sorted together, as keys
// with the number of their row in the upper bits.  Equal keys keep the order of their entries: pairs (key, place) are
// distinct.

#include "entries.cuh"

constexpr KEY LAST_KEY = KEY(~KEY(0));

// --- keys: as engines/order.py computes them -------------------------------------------------------------

// The finaliser of splitmix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
DEVICE u64 order_mix(u64 x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}
template <class T>
DEVICE KEY value_key(T value) {
    constexpr KEY SIGN = KEY(1) << (8 * sizeof(KEY) - 1);
    KEY key;
    if constexpr (T(0.5) != T(0) && T(0.5) != T(1)) {  // a float
        if (value != value) return LAST_KEY;
        const KEY bits = from_bits<KEY>(value == T(0) ? T(0) : value);
        key = bits & SIGN ? KEY(~bits) : KEY(bits | SIGN);
    } else if constexpr (T(-1) < T(0)) {
        key = KEY(i64(value)) ^ SIGN;
    } else {
        key = KEY(value);
    }
    return DESCENDING ? KEY(~key) : key;
}
struct Keys {
    const I* indices;
    const A* values;
    u64 seed;

    // The key of entry p in a row.
    DEVICE KEY at(i64 p, i64 row) const {
        if constexpr (RANDOM) {
            constexpr u64 STEP = 0x9e3779b97f4a7c15ull;
            const u64 of_row = order_mix(seed + STEP * (u64(row) + 1));
            return KEY(order_mix(of_row + STEP * (u64(indices[p]) + 1)) >> 32);
        } else {
            return value_key(values[p]);
        }
    }
};

// --- short rows ------------------------------------------------------------------------------------------

// Lists the rows by length: lists[0] those of a block, lists[1] those of a large block, lists[2] longer ones; counts
// has their numbers and is cleared before the launch.
extern "C" __global__ void order_bins(i64 nrows, const P* indptr, i64* counts, P* block_rows, P* big_rows,
                                      P* long_rows) {
    for (i64 i = thread_id(); i < nrows; i += thread_count()) {
        const i64 length = i64(indptr[i + 1]) - i64(indptr[i]);
        if (length <= 32) continue;
        const int bin = length <= SORT_BLOCK ? 0 : length <= SORT_BIG ? 1 : 2;
        const u64 at = atomicAdd(reinterpret_cast<u64*>(counts + bin), u64(1));
        (bin == 0 ? block_rows : bin == 1 ? big_rows : long_rows)[at] = P(i);
    }
}

// A warp sorts a row of up to 32 entries, an entry a lane.
extern "C" __global__ void order_warps(i64 nrows, const P* indptr, const I* indices, const A* values, u64 seed,
                                       P* order) {
    const Keys keys{indices, values, seed};
    for (i64 i = warp_id(); i < nrows; i += warp_count()) {
        const i64 begin = i64(indptr[i]), length = i64(indptr[i + 1]) - begin;
        if (length == 0 || length > 32) continue;
        const int lane = lane_id();
        KEY key = lane < length ? keys.at(begin + lane, i) : LAST_KEY;
        int at = lane;
#pragma unroll
        for (int size = 2; size <= 32; size *= 2) {
            if (size / 2 >= length) break;
#pragma unroll
            for (int apart = size / 2; apart > 0; apart /= 2) {
                const KEY other = shuffle_xor(key, apart);
                const int place = shuffle_xor(at, apart);
                const bool less = other < key || (other == key && place < at);
                const bool lower = ((lane & apart) == 0) == ((lane & size) == 0);
                if (less == lower) {
                    key = other;
                    at = place;
                }
            }
        }
        if (lane < length) order[begin + lane] = P(begin + at);
    }
}

// A block sorts a listed row of up to `capacity` entries, a power of two, in shared memory of capacity pairs.
extern "C" __global__ void order_blocks(i64 count, const P* rows, i64 capacity, const P* indptr, const I* indices,
                                        const A* values, u64 seed, P* order) {
    extern __shared__ u64 room[];
    KEY* const key = reinterpret_cast<KEY*>(room);
    u32* const at = reinterpret_cast<u32*>(key + capacity);
    const Keys keys{indices, values, seed};
    const u32 threads = blockDim.x;
    for (i64 r = blockIdx.x; r < count; r += gridDim.x) {
        const i64 i = i64(rows[r]), begin = i64(indptr[i]);
        const u32 length = u32(i64(indptr[i + 1]) - begin);
        u32 size = 64;
        while (size < length) size *= 2;
        for (u32 q = threadIdx.x; q < size; q += threads) {
            key[q] = q < length ? keys.at(begin + q, i) : LAST_KEY;
            at[q] = q;
        }
        __syncthreads();
        for (u32 run = 2; run <= size; run *= 2) {
            for (u32 apart = run / 2; apart > 0; apart /= 2) {
                for (u32 q = threadIdx.x; q < size / 2; q += threads) {
                    const u32 low = 2 * q - (q & (apart - 1)), high = low + apart;
                    const KEY a = key[low], b = key[high];
                    const u32 x = at[low], y = at[high];
                    const bool above = a > b || (a == b && x > y);
                    if (above == ((low & run) == 0)) {
                        key[low] = b;
                        key[high] = a;
                        at[low] = y;
                        at[high] = x;
                    }
                }
                __syncthreads();
            }
        }
        for (u32 q = threadIdx.x; q < length; q += threads) order[begin + q] = P(begin + at[q]);
        __syncthreads();  // the next row writes to the same memory
    }
}

// --- long rows -------------------------------------------------------------------------------------------

// lengths[r] = the length of the r-th listed row.
extern "C" __global__ void order_long_lengths(i64 count, const P* rows, const P* indptr, i64* lengths) {
    for (i64 r = thread_id(); r < count; r += thread_count()) {
        lengths[r] = i64(indptr[rows[r] + 1]) - i64(indptr[rows[r]]);
    }
}

// Keys of the entries of the listed rows, one row after the other; `offsets` has their positions.  Keys of 32 bits get
// the number of their row in the list as upper bits; beside keys of 64 bits it is written to `list_rows`.
extern "C" __global__ void order_long_keys(i64 n, i64 count, const i64* offsets, const P* rows, const P* indptr,
                                           const I* indices, const A* values, u64 seed, u64* out, u32* list_rows) {
    const Keys keys{indices, values, seed};
    for_each_entry(offsets, count, 0, n, [=](i64 q, i64 r) {
        const i64 i = i64(rows[r]);
        const KEY key = keys.at(i64(indptr[i]) + q - offsets[r], i);
        if constexpr (sizeof(KEY) == 4) out[q] = (u64(r) << 32) | u64(key);
        else {
            out[q] = u64(key);
            list_rows[q] = u32(r);
        }
    });
}

// The numbers of the entries from their sorted order in the list.
extern "C" __global__ void order_long_write(i64 n, i64 count, const i64* offsets, const P* rows, const P* indptr,
                                            const i64* sorted, P* order) {
    for_each_entry(offsets, count, 0, n, [=](i64 q, i64 r) {
        const i64 first = i64(indptr[rows[r]]) - offsets[r];
        order[first + q] = P(first + sorted[q]);
    });
}

// --- results ---------------------------------------------------------------------------------------------

// Values, columns and places of sorted rows: the q-th entry of a row, in `order`, moves to column q.  Null order: the
// entries stay in their order.  Null out_values: they all have one value.
extern "C" __global__ void order_sorted(i64 n, i64 nrows, const P* indptr, const I* indices, const A* values,
                                        const P* order, I* columns, A* out_values, i64* places) {
    for_each_entry(indptr, nrows, 0, n, [=](i64 p, i64 row) {
        const i64 from = order == nullptr ? p : i64(order[p]);
        columns[p] = I(p - i64(indptr[row]));
        places[p] = i64(indices[from]);
        if (out_values != nullptr) out_values[p] = values[from];
    });
}

// A bit for each entry among the first k of its row in `order`, which is cleared before the launch; null order: among
// the first k by column, or the last k under `last`, and every word is written.
extern "C" __global__ void order_mark(i64 n, i64 nrows, const P* indptr, const P* order, i64 k, int last, u32* marks) {
    RowFinder<P> finder{indptr, 0, 0};
    for (i64 first = CHUNK * warp_id(); first < n; first += CHUNK * warp_count()) {
        const i64 end = first + CHUNK < n ? first + CHUNK : n;
        finder.enter(nrows, first, end - 1);
        for (i64 base = first; base < end; base += 32) {
            const i64 p = base + lane_id();
            bool kept = false;
            if (p < end) {
                const i64 row = finder.row(p);
                kept = (last ? i64(indptr[row + 1]) - 1 - p : p - i64(indptr[row])) < k;
                if (kept && order != nullptr) {
                    const i64 from = i64(order[p]);
                    atomicOr(marks + (from >> 5), 1u << (from & 31));
                }
            }
            const u32 bits = __ballot_sync(FULL_WARP, kept);
            if (order == nullptr && lane_id() == 0) marks[base >> 5] = bits;
        }
    }
}
