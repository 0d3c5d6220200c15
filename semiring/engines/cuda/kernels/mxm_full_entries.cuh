// Entries of a row of a sparse matrix, and the rows of a full one that they select.
//
// The prologue defines AP, AI, A, BP (offsets, columns, values of the sparse matrix, offsets of the full one); E, UNROLL;
// EVERY_ROW (no row of the full matrix is empty); A_VALUES (products read the array of values).

#pragma once

#include "mxm_full.cuh"

// UNROLL entries, E apart; all loads overlap.
struct RowEntries {
    bool in[UNROLL];    // whether there is an entry, and its row of b is not empty
    i64 k[UNROLL];      // its column
    i64 from[UNROLL];   // where its row of b begins
    A x[UNROLL];        // its value

    // The entries p, p + E, ... before `end`; without GUARDED all of them are.
    template <bool GUARDED, class S>
    DEVICE void load(const S& s, i64 p, i64 end) {
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            in[u] = !GUARDED || p + u * E < end;
            k[u] = in[u] ? i64(s.a_indices[p + u * E]) : 0;
            x[u] = s.a_iso;
            if constexpr (A_VALUES) {
                if (in[u]) x[u] = s.a_values[p + u * E];
            }
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            if constexpr (EVERY_ROW) {
                from[u] = k[u] * s.width;
            } else if (in[u]) {
                from[u] = i64(s.b_indptr[k[u]]);
                in[u] = from[u] != i64(s.b_indptr[k[u] + 1]);
            }
        }
    }
};
