// Row offsets: the row of each entry, offsets shifted by a constant, the first row of each tile.
// The prologue defines P (offsets) and O (results).

#include "entries.cuh"

// out[p] = the row of entry p.
extern "C" __global__ void rows_of_entries(i64 n, const P* indptr, i64 nrows, O* out) {
    for_each_entry(indptr, nrows, 0, n, [=](i64 p, i64 row) { out[p] = O(row); });
}

// out[r] = indptr[r] + shift.
extern "C" __global__ void rows_shift(i64 n, const P* indptr, i64 shift, O* out) {
    for (i64 r = thread_id(); r < n; r += thread_count()) out[r] = O(i64(indptr[r]) + shift);
}

// first_row[t] = the number of rows that end before step t * tile of the merge path (row_tiles.cuh).
extern "C" __global__ void rows_tiles(const P* indptr, i64 nrows, i64 nvals, i64 tile, i64* first_row, i64 tiles) {
    for (i64 t = thread_id(); t <= tiles; t += thread_count()) {
        const i64 at = t * tile < nrows + nvals ? t * tile : nrows + nvals;
        first_row[t] = partition_point(at > nvals ? at - nvals : 0, at < nrows ? at : nrows,
                                       [=](i64 row) { return i64(indptr[row + 1]) <= at - row - 1; });
    }
}
