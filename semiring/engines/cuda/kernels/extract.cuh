// extract: t(p) = u(index[p]).  X is the type of an index array.

#include "entries.cuh"

// V is an unsigned integer of the size of the values, which are only moved.
extern "C" __global__ void extract_vector(i64 n, const X* index, i64 start, i64 step, const u32* words,
                                          const V* values, u32* out_words, V* out_values, i64* count) {
    add_count(count, write_bits(n, out_words, [=](i64 p) {
        const i64 i = index_at(index, start, step, p);
        const bool hit = is_present(words, i);
        if (hit && out_values != nullptr) out_values[p] = values[i];
        return hit;
    }));
}

// Columns by a sorted list of (column, its position in the result): copies[e] = the number of copies of entry e.
extern "C" __global__ void extract_copies(i64 n, const I* indices, const X* wanted, i64 wanted_count,
                                          i64* copies) {
    for (i64 e = thread_id(); e < n; e += thread_count()) {
        const i64 j = i64(indices[e]);
        const i64 low = lower_bound(wanted, 0, wanted_count, j);
        copies[e] = upper_bound(wanted, low, wanted_count, j) - low;
    }
}

// keys[to] = (row of the entry, its new column) in one word, unsorted within a row; offsets scans the copies.
extern "C" __global__ void extract_columns(i64 n, i64 nrows, const P* indptr, const I* indices, const V* values,
                                           const X* wanted, i64 wanted_count, const X* goes_to,
                                           const i64* offsets, i64 total, i64 column_bits, u64* keys,
                                           V* out_values) {
    for_each_entry(offsets, n, 0, total, [=](i64 to, i64 e) {
        const i64 q = lower_bound(wanted, 0, wanted_count, i64(indices[e])) + to - offsets[e];
        const i64 row = upper_bound(indptr, 0, nrows + 1, e) - 1;
        keys[to] = u64(row) << column_bits | u64(goes_to[q]);
        if (values != nullptr) out_values[to] = values[e];
    });
}
