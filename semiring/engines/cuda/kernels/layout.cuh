// Matrices side by side (concat), and matrices in another shape (reshape).
//
// The prologue defines: P and I, the types of row offsets and columns of the operand; A, of its values; O, J and Z, those
// of the result.  Entries keep their order, within a row (concat) or altogether (reshape).

#include "entries.cuh"

// out[i] = first + the entries of a tile before row i - skip, for n rows of the result: the tile is the only one in its
// rows, and rows before and behind it are empty.
extern "C" __global__ void concat_offsets(i64 n, i64 skip, i64 nrows, const P* indptr, i64 first, O* out) {
    for (i64 i = thread_id(); i < n; i += thread_count()) {
        const i64 row = i < skip ? 0 : i - skip < nrows ? i - skip : nrows;
        out[i] = O(first + i64(indptr[row]));
    }
}

// lengths[i] += the length of row i of a tile.
extern "C" __global__ void concat_lengths(i64 nrows, const P* indptr, O* lengths) {
    for (i64 i = thread_id(); i < nrows; i += thread_count()) lengths[i] += O(indptr[i + 1] - indptr[i]);
}

// Entries as they are copied.
struct Moved {
    Quad<I> columns;
    Quad<A> values;
};

// Copies the entries of a tile to the first free positions of their rows, free[row].  Null free: the entries of the
// tile are neighbours in the result, from position `first`.  Null out_indices, out_values: not copied.
extern "C" __global__ void __launch_bounds__(256, 4)
concat_entries(i64 n, i64 nrows, const P* indptr, const I* indices, const A* values, A iso, i64 col, const O* free,
               i64 first, J* out_indices, Z* out_values) {
    const auto fetch = [=](i64 p, int count) {
        Moved read;
        if (out_indices != nullptr) read.columns = load_four<32>(indices + p, count);
        if (out_values != nullptr && values != nullptr) read.values = load_four<32>(values + p, count);
        return read;
    };
    const auto put = [=](i64 to, I column, A value) {
        if (out_indices != nullptr) out_indices[to] = J(i64(column) + col);
        if (out_values != nullptr) out_values[to] = cast<Z>(values == nullptr ? iso : value);
    };
    if (free != nullptr) {
        for_each_quad<32>(indptr, nrows, n, fetch, [=](i64 p, int count, const Quad<i64>& rows, const Moved& read) {
            i64 to[QUAD];
#pragma unroll
            for (int e = 0; e < QUAD; ++e) {
                if (e < count) to[e] = i64(free[rows.at[e]]) - i64(indptr[rows.at[e]]) + p + 32 * e;
            }
#pragma unroll
            for (int e = 0; e < QUAD; ++e) {
                if (e < count) put(to[e], read.columns.at[e], read.values.at[e]);
            }
        });
    } else {
        for_each_quad<32>(n, fetch, [=](i64 p, int count, const Moved& read) {
#pragma unroll
            for (int e = 0; e < QUAD; ++e) {
                if (e < count) put(first + p + 32 * e, read.columns.at[e], read.values.at[e]);
            }
        });
    }
}

// out[p] = indices[p] + col: the columns of one tile.
extern "C" __global__ void concat_columns(i64 n, const I* indices, i64 col, J* out) {
    for_each_quad<1>(
        n, [=](i64 p, int count) { return load_quad(indices + p, count); },
        [=](i64 p, int count, const Quad<I>& columns) {
            Quad<J> moved;
#pragma unroll
            for (int e = 0; e < QUAD; ++e) moved.at[e] = J(i64(columns.at[e]) + col);
            store_quad(out + p, moved, count);
        });
}

// out[row] = the number of entries before position row * ncols, by a search in the row of the operand that holds it.
extern "C" __global__ void reshape_offsets(i64 a_nrows, i64 a_ncols, const P* indptr, const I* indices, i64 nrows,
                                           i64 ncols, P* out) {
    for (i64 row = thread_id(); row <= nrows; row += thread_count()) {
        const i64 position = row * ncols, i = a_ncols == 0 ? a_nrows : position / a_ncols;
        i64 before = i64(indptr[a_nrows]);
        if (i < a_nrows) before = lower_bound(indices, i64(indptr[i]), i64(indptr[i + 1]), position - i * a_ncols);
        out[row] = P(before);
    }
}

// out[row] = the column of position (row, 0) of the operand in the result: one division of 64 bits for each row.
extern "C" __global__ void reshape_rows(i64 a_nrows, i64 a_ncols, i64 ncols, J* out) {
    for (i64 row = thread_id(); row < a_nrows; row += thread_count()) out[row] = J(row * a_ncols % ncols);
}

extern "C" __global__ void __launch_bounds__(256, 5)
reshape_columns(i64 n, i64 a_nrows, i64 a_ncols, const P* indptr, const I* indices, const J* columns, i64 ncols, J* out) {
    const auto moved = [=](i64 column) {
        if (a_ncols <= ncols) return column < ncols ? column : column - ncols;  // at most one row further
        return ((column | ncols) >> 32) == 0 ? i64(u32(column) % u32(ncols)) : column % ncols;
    };
    for_each_quad<1>(
        indptr, a_nrows, n, [=](i64 p, int count) { return load_quad(indices + p, count); },
        [=](i64 p, int count, const Quad<i64>& rows, const Quad<I>& read) {
            Quad<J> made;
#pragma unroll
            for (int e = 0; e < QUAD; ++e) {
                made.at[e] = e < count ? J(moved(i64(columns[rows.at[e]]) + i64(read.at[e]))) : J(0);
            }
            store_quad(out + p, made, count);
        });
}
