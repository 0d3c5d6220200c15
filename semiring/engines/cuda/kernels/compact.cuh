// Compacts the marked entries: `marks` has one bit for each of n entries, `ranks` the number of marks before each
// word.  V is an unsigned integer of the size of the values, which are only moved.

#include "entries.cuh"

// out[rank(p)] = entry p for every marked p.  If `indices` is null, the index of an entry is its position.
extern "C" __global__ void compact_entries(i64 n, const u32* marks, const R* ranks, const I* indices,
                                           const V* values, O* out_indices, V* out_values) {
    for (i64 p = thread_id(); p < n; p += thread_count()) {
        if (!bit_test(marks, p)) continue;
        const i64 to = rank_of(marks, ranks, p);
        if (out_indices != nullptr) out_indices[to] = indices == nullptr ? O(p) : O(indices[p]);
        if (out_values != nullptr) out_values[to] = values[p];
    }
}

extern "C" __global__ void compact_indptr(i64 nrows, const u32* marks, const R* ranks, const I* indptr,
                                          O* out_indptr) {
    for (i64 r = thread_id(); r <= nrows; r += thread_count())
        out_indptr[r] = O(rank_of(marks, ranks, i64(indptr[r])));
}
