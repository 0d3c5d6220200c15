// Checks on rows in CSR format that the user provides: the first position at which each condition fails.
// All bits of `first` are set before; each element becomes the smallest offending position.

#include "entries.cuh"

extern "C" __global__ void check_offsets(i64 nrows, const MAJOR* indptr, u64* first) {
    for (i64 r = thread_id(); r < nrows; r += thread_count())
        if (indptr[r + 1] < indptr[r]) atomicMin(first, u64(r));
}

// first[0]: a column out of range; first[1]: a column that is not above its predecessor in the row.
extern "C" __global__ void check_columns(i64 n, const MAJOR* indptr, i64 nrows, const MINOR* indices, i64 ncols,
                                         u64* first) {
    for_each_entry(indptr, nrows, 0, n, [=](i64 p, i64 row) {
        const MINOR column = indices[p];
        if (column < MINOR(0) || u64(column) >= u64(ncols)) atomicMin(first, u64(p));
        if (p > i64(indptr[row]) && !(indices[p - 1] < column)) atomicMin(first + 1, u64(p));
    });
}

// *missing becomes 1 if the matrix has an entry (i, j) but none (j, i).  A thread that reads an outdated 0 does work in
// vain; all threads store the same value.
extern "C" __global__ void check_symmetric(i64 n, const MAJOR* indptr, i64 nrows, const MINOR* indices,
                                           u32* missing) {
    for_each_entry(indptr, nrows, 0, n, [=](i64 p, i64 row) {
        if (load_relaxed(missing) != 0) return;
        const i64 column = i64(indices[p]);
        const i64 end = i64(indptr[column + 1]);
        const i64 q = lower_bound(indices, i64(indptr[column]), end, row);
        if (q == end || i64(indices[q]) != row) store_relaxed(missing, 1u);
    });
}
