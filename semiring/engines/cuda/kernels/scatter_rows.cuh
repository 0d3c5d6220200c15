// Scatter of a matrix to ascending ranges of rows and columns: its entries keep their order.
//
// Types: P of row offsets, I of the columns of the matrix, J of those of the result.

#include "semiring.cuh"

// out[r] = the first entry of the rows that are scattered to row r or later, for r = 0 .. size.
extern "C" __global__ void scatter_offsets(i64 size, i64 count, i64 start, i64 step, const P* indptr, P* out) {
    for (i64 r = thread_id(); r <= size; r += thread_count()) {
        const i64 before = r <= start ? 0 : (r - start + step - 1) / step;
        out[r] = indptr[before < count ? before : count];
    }
}

// out[p] = the column to which entry p is scattered.
extern "C" __global__ void scatter_columns(i64 n, i64 start, i64 step, const I* indices, J* out) {
    for (i64 p = thread_id(); p < n; p += thread_count()) out[p] = J(start + step * i64(indices[p]));
}
