// kronecker: C(i r + k, j c + l) = combine(A(i, j), B(k, l)), where B has r rows and c columns.
//
// The prologue defines: AP, AI, A and BP, BI, B, the types of row offsets, columns and values of both operands; P and J,
// the types of row offsets and columns of the result; combine; FORM.  Row i r + k of the result holds, for each entry
// of row i of A, all entries of row k of B, so its columns ascend and every position follows from the row offsets.

#include "entries.cuh"

// a / b for a >= 0 and b > 0, by a 32-bit division where both fit: it takes a third of the instructions.
template <class A, class B>
DEVICE i64 quotient(A a, B b) {
    if constexpr (sizeof(A) == 4 && sizeof(B) == 4) return i64(u32(a) / u32(b));
    else if (((i64(a) | i64(b)) >> 32) == 0) return i64(u32(a) / u32(b));
    else return i64(a) / i64(b);
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
    i64 row, i, k;
    P row_end;
    AP pa;
    BP pb, b_begin, b_end;

    DEVICE Place(i64 row, P p, const P* indptr, const AP* a_indptr, i64 b_nrows, const BP* b_indptr) : row(row) {
        const P row_begin = indptr[row];
        row_end = indptr[row + 1];
        i = quotient(row, b_nrows);
        k = row - i * b_nrows;
        b_begin = b_indptr[k];
        b_end = b_indptr[k + 1];
        const P within = p - row_begin;
        const i64 block = quotient(within, b_end - b_begin);
        pa = AP(a_indptr[i] + block);
        pb = BP(b_begin + (within - block * (b_end - b_begin)));
    }
    // Position p of the result, of a B of one row with b_nvals entries; i is unknown.
    DEVICE Place(P p, BP b_nvals) : row(0), i(0), k(0), row_end(highest<P>()), b_begin(0), b_end(b_nvals) {
        pa = AP(quotient(p, b_nvals));
        pb = BP(p - P(pa) * P(b_nvals));
    }
    // The next position of the same row.
    DEVICE void advance() {
        if (++pb < b_end) return;
        pb = b_begin;
        ++pa;
    }
};

// The factors, and the result.
struct Factors {
    i64 n;
    i64 nrows;
    const P* indptr;
    const AP* a_indptr;
    const AI* a_indices;
    const A* a_values;
    A a_iso;
    i64 b_nrows;
    i64 b_ncols;
    const BP* b_indptr;
    const BI* b_indices;
    const B* b_values;
    B b_iso;
    J* out_indices;
    combine_z* out_values;  // null: columns only
};

// Writes the `count` entries from p on; next(e) moves the place to position p + e.
template <class F>
DEVICE void write_entries(const Factors& s, i64 p, int count, Place& place, F next) {
    AP pa[QUAD];
    BP pb[QUAD];
    i64 i[QUAD], k[QUAD];
#pragma unroll
    for (int e = 0; e < QUAD; ++e) {
        if (e > 0 && e < count) next(e);
        pa[e] = place.pa, pb[e] = place.pb, i[e] = place.i, k[e] = place.k;
    }
    Quad<AI> js;
    Quad<BI> ls;
    Quad<A> xs;
    Quad<B> ys;
#pragma unroll
    for (int e = 0; e < QUAD; ++e) {
        js.at[e] = s.a_indices[pa[e]];
        ls.at[e] = s.b_indices[pb[e]];
        xs.at[e] = s.a_iso;
        ys.at[e] = s.b_iso;
        if (s.out_values == nullptr) continue;
        if constexpr (combine_reads_x) xs.at[e] = value_at(s.a_values, s.a_iso, pa[e]);
        if constexpr (combine_reads_y) ys.at[e] = value_at(s.b_values, s.b_iso, pb[e]);
    }
    Quad<J> columns;
#pragma unroll
    for (int e = 0; e < QUAD; ++e) columns.at[e] = J(J(js.at[e]) * J(s.b_ncols) + J(ls.at[e]));
    store_quad(s.out_indices + p, columns, count);
    if (s.out_values == nullptr) return;
    Quad<combine_z> values;
#pragma unroll
    for (int e = 0; e < QUAD; ++e) {
        values.at[e] = combine(xs.at[e], ys.at[e], i[e], i64(js.at[e]), k[e], i64(ls.at[e]));
    }
    store_quad(s.out_values + p, values, count);
}

// A thread writes QUAD neighboring entries of the result.
extern "C" __global__ void __launch_bounds__(256, 5)
kronecker_entries(i64 n, i64 nrows, const P* indptr, const AP* a_indptr, const AI* a_indices, const A* a_values, A a_iso,
                  i64 b_nrows, i64 b_ncols, const BP* b_indptr, const BI* b_indices, const B* b_values, B b_iso,
                  J* out_indices, combine_z* out_values) {
    const Factors s{n,       nrows,    indptr,    a_indptr, a_indices, a_values,    a_iso,     b_nrows,
                    b_ncols, b_indptr, b_indices, b_values, b_iso,     out_indices, out_values};
    const BP b_nvals = s.b_indptr[s.b_nrows];
    if (s.b_nrows == 1 && !combine_reads_xi) {  // no search: positions are those of A, b_nvals times each
        for (i64 p = QUAD * thread_id(); p < s.n; p += QUAD * thread_count()) {
            Place place(P(p), b_nvals);
            write_entries(s, p, quad_length<1>(p, s.n), place, [&](int) { place.advance(); });
        }
        return;
    }
    const WarpRange range(0, s.n);
    if (range.first >= range.end) return;
    RowFinder<P> finder(s.indptr, s.nrows, range.first);
    for (i64 first = range.first; first < range.end; first += CHUNK) {
        const i64 last = first + CHUNK < range.end ? first + CHUNK - 1 : range.end - 1, p = first + QUAD * lane_id();
        finder.enter(first, last);
        const i64 row = finder.row(first, QUAD * lane_id());
        if (p > last) continue;
        Place place(row, P(p), s.indptr, s.a_indptr, s.b_nrows, s.b_indptr);
        write_entries(s, p, quad_length<1>(p, range.end), place, [&](int e) {
            if (p + e < i64(place.row_end)) return place.advance();
            const i64 next = upper_bound(s.indptr, place.row + 1, finder.high + 1, p + e) - 1;
            place = Place(next, P(p + e), s.indptr, s.a_indptr, s.b_nrows, s.b_indptr);
        });
    }
}
