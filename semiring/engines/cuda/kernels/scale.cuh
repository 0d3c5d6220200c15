// scale: t(i, j) = combine(A(i, j), u(j)), or combine(u(i), A(i, j)) under BY_ROWS.
//
// The prologue defines: P and I, the types of row offsets and columns; X and Y, of the values of the left and the right
// operand; combine; BY_ROWS; FORM; TILE.  The vector is full.  If combine depends on rows, a warp processes a tile
// (warp_tiles.cuh) and has the vector's element, or the number, of each row in shared memory.

#include "entries.cuh"
#include "warp_tiles.cuh"

constexpr bool ROWS_READ = BY_ROWS || combine_reads_positions;
constexpr bool COLUMNS_READ = !BY_ROWS || combine_reads_positions;
constexpr bool MATRIX_READ = BY_ROWS ? combine_reads_y : combine_reads_x;
constexpr bool VECTOR_READ = BY_ROWS ? combine_reads_x : combine_reads_y;
using MATRIX = choose<BY_ROWS, Y, X>;
using VECTOR = choose<BY_ROWS, X, Y>;
struct Row {
    i64 number;
};
// What a row has in shared memory: its number if that is an operand or the element is large, else its element of the vector.
constexpr bool NUMBERED = combine_reads_positions || sizeof(VECTOR) > 8;
using OF_ROW = choose<NUMBERED, Row, VECTOR>;

// element(i) is element i of the vector.
template <class R, class E>
DEVICE R operand_of(i64 row, E element) {
    if constexpr (is_same<R, Row>) return Row{row};
    else return element(row);
}
template <class R>
DEVICE i64 number_of(R of_row) {
    if constexpr (is_same<R, Row>) return of_row.number;
    else return 0;
}
template <class R, class E>
DEVICE VECTOR scale_of(R of_row, i64 column, E element) {
    if constexpr (is_same<R, Row>) return element(BY_ROWS ? of_row.number : column);
    else return of_row;
}

template <bool C, class A, class B>
DEVICE auto pick(A a, B b) {
    if constexpr (C) return a;
    else return b;
}

struct Entries {
    Quad<I> columns;
    Quad<MATRIX> values;
};

extern "C" __global__ void __launch_bounds__(TILE_THREADS)
scale_entries(i64 n, const P* indptr, i64 nrows, const I* indices, const X* x_values, X x_iso, const Y* y_values,
              Y y_iso, const i64* first_row, i64 tiles, combine_z* out) {
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
    const auto combined = [=](const Entries& read, int e, VECTOR scale, i64 i) {
        const i64 j = COLUMNS_READ ? i64(read.columns.at[e]) : 0;
        const MATRIX a = values == nullptr ? iso : read.values.at[e];
        return combine(pick<BY_ROWS>(scale, a), pick<BY_ROWS>(a, scale), i, j, i, j);
    };
    const auto element = [=](i64 at) { return VECTOR_READ ? value_at(scales, one, at) : one; };
    if constexpr (ROWS_READ) {
        for_each_row_quad<OF_ROW>(
            indptr, nrows, n, first_row, tiles, fetch,
            [=](i64 row) { return operand_of<OF_ROW>(row, element); },
            [=](i64 p, int low, int high, const Quad<OF_ROW>& of_row, const Entries& read) {
                Quad<combine_z> made;
#pragma unroll
                for (int e = 0; e < QUAD; ++e) {
                    if (NUMBERED && (e < low || e >= high)) continue;  // no index of the vector
                    const VECTOR scale = scale_of(of_row.at[e], COLUMNS_READ ? i64(read.columns.at[e]) : 0, element);
                    made.at[e] = combined(read, e, scale, number_of(of_row.at[e]));
                }
                store_part(out + p, made, low, high);
            });
    } else {
        for_each_quad<1>(n, fetch, [=](i64 p, int count, const Entries& read) {
            Quad<VECTOR> scale;
#pragma unroll
            for (int e = 0; e < QUAD; ++e) scale.at[e] = e < count ? element(i64(read.columns.at[e])) : one;
            Quad<combine_z> made;
#pragma unroll
            for (int e = 0; e < QUAD; ++e) made.at[e] = combined(read, e, scale.at[e], 0);
            store_quad(out + p, made, count);
        });
    }
}
