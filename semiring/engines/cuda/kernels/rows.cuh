// Row offsets expanded to the row of each entry, or shifted by a constant.

#include "entries.cuh"

// out[p] = the row of entry p.
extern "C" __global__ void rows_of_entries(i64 n, const P* indptr, i64 nrows, O* out) {
    for_each_entry(indptr, nrows, 0, n, [=](i64 p, i64 row) { out[p] = O(row); });
}

// out[r] = indptr[r] + shift.
extern "C" __global__ void rows_shift(i64 n, const P* indptr, i64 shift, O* out) {
    for (i64 r = thread_id(); r < n; r += thread_count()) out[r] = O(i64(indptr[r]) + shift);
}
