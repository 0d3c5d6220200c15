// kronecker: C(i r + k, j c + l) = combine(A(i, j), B(k, l)), where B has r rows and c columns.
//
// The prologue defines: AP, AI, A and BP, BI, B, the types of row offsets, columns and values of both operands; P and J,
// the types of row offsets and columns of the result; combine; FORM.  Row i r + k of the result holds, for each entry
// of row i of A, all entries of row k of B, so its columns ascend and every position follows from the row offsets.

#include "entries.cuh"

// a / b for a >= 0 and b > 0, by a 32-bit division where both fit: it takes a third of the instructions.
DEVICE i64 quotient(i64 a, i64 b) {
    if (((a | b) >> 32) == 0) return i64(u32(a) / u32(b));
    return a / b;
}

// out[row] = the number of entries before a row of the result; out has nrows + 1 elements.
extern "C" __global__ void kronecker_offsets(i64 nrows, const AP* a_indptr, i64 b_nrows, const BP* b_indptr, P* out) {
    const i64 b_nvals = i64(b_indptr[b_nrows]);
    for (i64 row = thread_id(); row <= nrows; row += thread_count()) {
        const i64 i = b_nrows == 0 ? 0 : quotient(row, b_nrows);
        const i64 begin = i64(a_indptr[i]);
        i64 before = begin * b_nvals;
        if (row < nrows) before += (i64(a_indptr[i + 1]) - begin) * i64(b_indptr[row - i * b_nrows]);
        out[row] = P(before);
    }
}

// Position p of the result, in a row with entries: entries pa of A and pb of B.
struct Place {
    i64 row, row_end, i, k, pa, pb, b_begin, b_end;

    DEVICE Place(i64 row, i64 p, const P* indptr, const AP* a_indptr, i64 b_nrows, const BP* b_indptr) : row(row) {
        const i64 row_begin = i64(indptr[row]);
        row_end = i64(indptr[row + 1]);
        i = b_nrows == 1 ? row : quotient(row, b_nrows);
        k = row - i * b_nrows;
        b_begin = i64(b_indptr[k]);
        b_end = i64(b_indptr[k + 1]);
        const i64 block = quotient(p - row_begin, b_end - b_begin);
        pa = i64(a_indptr[i]) + block;
        pb = b_begin + p - row_begin - block * (b_end - b_begin);
    }
    // The next position of the same row.
    DEVICE void advance() {
        if (++pb < b_end) return;
        pb = b_begin;
        ++pa;
    }
};

constexpr int EACH = 4;  // neighbouring entries that a thread writes at once

template <class T>
struct alignas((sizeof(T) & (sizeof(T) - 1)) != 0 ? alignof(T) : sizeof(T) < 4 ? EACH * sizeof(T) : 16) Pack {
    T elements[EACH];
};
// Writes the first `count` elements of a pack to out[p]; p is a multiple of EACH.
template <class T>
DEVICE void write_pack(T* out, i64 p, const Pack<T>& pack, int count) {
    if (count == EACH) {
        *reinterpret_cast<Pack<T>*>(out + p) = pack;
        return;
    }
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
        if (e < count) out[p + e] = pack.elements[e];
    }
}

// A thread writes EACH neighbouring entries of the result.  Null out_values: columns only.
extern "C" __global__ void kronecker_entries(i64 n, i64 nrows, const P* indptr, const AP* a_indptr,
                                             const AI* a_indices, const A* a_values, A a_iso, i64 b_nrows,
                                             i64 b_ncols, const BP* b_indptr, const BI* b_indices,
                                             const B* b_values, B b_iso, J* out_indices, combine_z* out_values) {
    const WarpRange range(0, n);
    if (range.first >= range.end) return;
    RowFinder<P> finder(indptr, nrows, range.first);
    for (i64 first = range.first; first < range.end; first += CHUNK) {
        const i64 last = first + CHUNK < range.end ? first + CHUNK - 1 : range.end - 1;
        finder.enter(first, last);
#pragma unroll 1
        for (int slot = EACH * lane_id(); slot < CHUNK; slot += 32 * EACH) {
            const i64 row = finder.row(first, slot), p = first + slot;
            if (p > last) continue;
            const int count = last - p < EACH ? int(last - p) + 1 : EACH;
            Place place(row, p, indptr, a_indptr, b_nrows, b_indptr);
            i64 pa[EACH], pb[EACH], i[EACH], k[EACH];
#pragma unroll
            for (int e = 0; e < EACH; ++e) {
                if (e > 0 && e < count) {
                    if (p + e < place.row_end) place.advance();
                    else {
                        const i64 next = upper_bound(indptr, place.row + 1, finder.high + 1, p + e) - 1;
                        place = Place(next, p + e, indptr, a_indptr, b_nrows, b_indptr);
                    }
                }
                pa[e] = place.pa, pb[e] = place.pb, i[e] = place.i, k[e] = place.k;
            }
            Pack<J> columns;
            Pack<combine_z> values;
#pragma unroll
            for (int e = 0; e < EACH; ++e) {
                const i64 j = i64(a_indices[pa[e]]), l = i64(b_indices[pb[e]]);
                columns.elements[e] = J(j * b_ncols + l);
                if (out_values == nullptr) continue;
                A x = a_iso;
                B y = b_iso;
                if constexpr (combine_reads_x) x = value_at(a_values, a_iso, pa[e]);
                if constexpr (combine_reads_y) y = value_at(b_values, b_iso, pb[e]);
                values.elements[e] = combine(x, y, i[e], j, k[e], l);
            }
            write_pack(out_indices, p, columns, count);
            if (out_values != nullptr) write_pack(out_values, p, values, count);
        }
    }
}
