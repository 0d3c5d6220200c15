// scale: t(i, j) = combine(A(i, j), u(j)), or combine(u(i), A(i, j)) under BY_ROWS.
//
// The prologue defines: P and I, the types of row offsets and columns; X and Y, of the values of the left and the right
// operand; combine; BY_ROWS; FORM.  The vector is full.

#include "entries.cuh"

constexpr bool COLUMNS = !BY_ROWS || combine_reads_positions;
constexpr int AT_ONCE = 8;  // entries of a thread whose loads overlap

// What the result of one entry is computed from.
struct Operands {
    X x;
    Y y;
    i64 j;
};

extern "C" __global__ void scale_entries(i64 n, const P* indptr, i64 nrows, const I* indices, const X* x_values,
                                         X x_iso, const Y* y_values, Y y_iso, combine_z* out) {
    const auto load = [=](i64 p, i64 i, i64 j) {
        Operands read{x_iso, y_iso, j};
        if constexpr (combine_reads_x) read.x = value_at(x_values, x_iso, BY_ROWS ? i : p);
        if constexpr (combine_reads_y) read.y = value_at(y_values, y_iso, BY_ROWS ? p : j);
        return read;
    };
    if constexpr (BY_ROWS || combine_reads_positions) {
        for_each_entry<AT_ONCE>(
            indptr, nrows, 0, n, [=](i64 p, i64 row) { return load(p, row, COLUMNS ? i64(indices[p]) : 0); },
            [=](i64 p, i64 row, const Operands& read) { out[p] = combine(read.x, read.y, row, read.j, row, read.j); });
    } else {
        for (i64 base = thread_id(); base < n; base += AT_ONCE * thread_count()) {
            I columns[AT_ONCE];
            Operands read[AT_ONCE];
#pragma unroll
            for (int e = 0; e < AT_ONCE; ++e) {
                const i64 p = base + e * thread_count();
                if (p < n) columns[e] = __ldcs(indices + p);
            }
#pragma unroll
            for (int e = 0; e < AT_ONCE; ++e) {
                const i64 p = base + e * thread_count();
                if (p < n) read[e] = load(p, 0, i64(columns[e]));
            }
#pragma unroll
            for (int e = 0; e < AT_ONCE; ++e) {
                const i64 p = base + e * thread_count();
                if (p < n) out[p] = combine(read[e].x, read[e].y);
            }
        }
    }
}
