// scale: t(i, j) = combine(A(i, j), u(j)), or combine(u(i), A(i, j)) under BY_ROWS.
//
// The prologue defines: P and I, the types of row offsets and columns; X and Y, of the values of the left and the right
// operand; combine; BY_ROWS; FORM.  The vector is full.

#include "entries.cuh"

extern "C" __global__ void scale_entries(i64 n, const P* indptr, i64 nrows, const I* indices, const X* x_values,
                                         X x_iso, const Y* y_values, Y y_iso, combine_z* out) {
    const auto at = [=](i64 p, i64 i, i64 j) {
        X x = x_iso;
        Y y = y_iso;
        if constexpr (combine_reads_x) x = value_at(x_values, x_iso, BY_ROWS ? i : p);
        if constexpr (combine_reads_y) y = value_at(y_values, y_iso, BY_ROWS ? p : j);
        out[p] = combine(x, y, i, j, i, j);
    };
    constexpr bool COLUMNS = !BY_ROWS || combine_reads_positions;
    if constexpr (BY_ROWS || combine_reads_positions) {
        for_each_entry(indptr, nrows, 0, n, [=](i64 p, i64 row) { at(p, row, COLUMNS ? i64(indices[p]) : 0); });
    } else {
        for (i64 p = thread_id(); p < n; p += thread_count()) at(p, 0, i64(indices[p]));
    }
}
