// Permutation of rows and columns: the entries of the new rows as keys, which one sort orders.
//
// The new rows are processed in slices: row r of a slice is row rows[r] of the matrix and begins at position offsets[r]
// of the result; the slice begins at position `begin`.  Types: P of row offsets, I of columns, X of the two
// permutations, KEY of the keys; V is an unsigned integer of the size of the values, which are only moved.

#include "entries.cuh"

// keys[p - begin] = (row in the slice, new column) for every entry p of the result in [begin, end).
extern "C" __global__ void permute_keys(i64 nrows, const X* rows, const i64* offsets, i64 begin, i64 end,
                                        const P* indptr, const I* indices, const V* values, const X* cols, int bits,
                                        KEY* keys, V* out_values) {
    for_each_entry(offsets, nrows, begin, end, [=](i64 p, i64 row) {
        const i64 from = i64(indptr[i64(rows[row])]) + p - offsets[row];
        keys[p - begin] = KEY(u64(row) << bits | u64(cols[i64(indices[from])]));
        if (values != nullptr) out_values[p - begin] = values[from];
    });
}

// out[p] = the column in the low bits of keys[p].
extern "C" __global__ void permute_columns(i64 n, const KEY* keys, int bits, I* out) {
    const u64 mask = (u64(1) << bits) - 1;
    for (i64 p = thread_id(); p < n; p += thread_count()) out[p] = I(u64(keys[p]) & mask);
}
