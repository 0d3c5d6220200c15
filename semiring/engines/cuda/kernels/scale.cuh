// scale: t(i, j) = combine(A(i, j), u(j)), or combine(u(i), A(i, j)) under BY_ROWS.
//
// The prologue defines: P and I, the types of row offsets and columns; X and Y, of the values of the left and the right
// operand; combine; BY_ROWS; FORM.  The vector is full.

#include "entries.cuh"

constexpr bool ROWS_READ = BY_ROWS || combine_reads_positions;
constexpr bool COLUMNS_READ = !BY_ROWS || combine_reads_positions;
constexpr bool MATRIX_READ = BY_ROWS ? combine_reads_y : combine_reads_x;
constexpr bool VECTOR_READ = BY_ROWS ? combine_reads_x : combine_reads_y;
using MATRIX = choose<BY_ROWS, Y, X>;
using VECTOR = choose<BY_ROWS, X, Y>;

template <bool C, class A, class B>
DEVICE auto pick(A a, B b) {
    if constexpr (C) return a;
    else return b;
}

struct Entries {
    Quad<I> columns;
    Quad<MATRIX> values;
};

extern "C" __global__ void __launch_bounds__(256, 5)
scale_entries(i64 n, const P* indptr, i64 nrows, const I* indices, const X* x_values, X x_iso, const Y* y_values,
              Y y_iso, combine_z* out) {
    const auto values = pick<BY_ROWS>(y_values, x_values);
    const auto scales = pick<BY_ROWS>(x_values, y_values);
    const MATRIX iso = pick<BY_ROWS>(y_iso, x_iso);
    const VECTOR one = pick<BY_ROWS>(x_iso, y_iso);
    const auto fetch = [=](i64 p, int count) {
        Entries read;
        if constexpr (COLUMNS_READ) read.columns = load_quad(indices + p, count);
        if constexpr (MATRIX_READ) {
            if (values != nullptr) read.values = load_quad(values + p, count);
        }
        return read;
    };
    const auto use = [=](i64 p, int count, const Quad<i64>& rows, const Entries& read) {
        Quad<VECTOR> scale;
#pragma unroll
        for (int e = 0; e < QUAD; ++e) {
            scale.at[e] = one;
            if constexpr (VECTOR_READ) {
                if (e < count) scale.at[e] = value_at(scales, one, BY_ROWS ? rows.at[e] : i64(read.columns.at[e]));
            }
        }
        Quad<combine_z> made;
#pragma unroll
        for (int e = 0; e < QUAD; ++e) {
            const i64 i = ROWS_READ ? rows.at[e] : 0, j = COLUMNS_READ ? i64(read.columns.at[e]) : 0;
            const MATRIX a = values == nullptr ? iso : read.values.at[e];
            made.at[e] = combine(pick<BY_ROWS>(scale.at[e], a), pick<BY_ROWS>(a, scale.at[e]), i, j, i, j);
        }
        store_quad(out + p, made, count);
    };
    if constexpr (ROWS_READ) for_each_quad<1>(indptr, nrows, n, fetch, use);
    else for_each_quad<1>(n, fetch, [=](i64 p, int count, const Entries& read) { use(p, count, Quad<i64>(), read); });
}
