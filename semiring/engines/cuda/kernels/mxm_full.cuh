// What products with full rows share: entries of a sparse row and the full rows that they select, values in groups, sums
// of products without a combined identity.
//
// The prologue defines the semiring, and STARTED: sums begin with a neutral value, so they need no flag of presence.

#pragma once

#include "semiring.cuh"

typedef add_z Z;

// The type of the accesses of N consecutive values, a power of two: up to 16 bytes, to which addresses are aligned; that
// of one value is aligned to its parts.
template <class T, int N>
struct Access {
    static constexpr int BYTES = N * int(sizeof(T)) < 16 ? N * int(sizeof(T)) : 16;
    static constexpr int COUNT = N * int(sizeof(T)) / BYTES, VALUES = BYTES / int(sizeof(T));
    typedef choose<BYTES == 16, uint4, unsigned_of<BYTES == 16 ? 8 : BYTES>> Word;
};
template <class T, int N>
DEVICE void load_values(T (&values)[N], const T* from) {
    typedef Access<T, N> At;
    if constexpr (N == 1) {
        values[0] = *from;
    } else {
#pragma unroll
        for (int w = 0; w < At::COUNT; w++) {
            const typename At::Word word = reinterpret_cast<const typename At::Word*>(from)[w];
            memcpy(values + w * At::VALUES, &word, At::BYTES);
        }
    }
}
template <class T, int N>
DEVICE void store_values(T* to, const T (&values)[N]) {
    typedef Access<T, N> At;
    if constexpr (N == 1) {
        *to = values[0];
    } else {
#pragma unroll
        for (int w = 0; w < At::COUNT; w++) {
            typename At::Word word;
            memcpy(&word, values + w * At::VALUES, At::BYTES);
            reinterpret_cast<typename At::Word*>(to)[w] = word;
        }
    }
}

// Reads the columns j, j + STEP, ... before `end` of a full row, and the V - 1 after each; without VALUES, all are `iso`.
// The first is before `end` if `in`.
template <bool VALUES, int STEP, class T, int R, int V>
DEVICE void load_columns(T (&values)[R][V], const T* array, i64 row, i64 j, i64 end, T iso, bool in) {
#pragma unroll
    for (int r = 0; r < R; r++) {
        if constexpr (VALUES) {
            if (in && (r == 0 || j + r * STEP < end)) load_values(values[r], array + row + j + r * STEP);
        } else {
#pragma unroll
            for (int v = 0; v < V; v++) values[r][v] = iso;
        }
    }
}

// Where row k of a full matrix begins; `in` becomes false if the row is empty.  EVERY: none is.
template <bool EVERY, class P>
DEVICE void find_row(const P* indptr, i64 k, i64 width, i64& from, bool& in) {
    if constexpr (EVERY) {
        from = k * width;
    } else if (in) {
        from = i64(indptr[k]);
        in = from != i64(indptr[k + 1]);
    }
}

// Item `item` of a launch: the segments of long rows (mxm_full_rows.cuh), then the rows with up to SEGMENT entries.
struct RowPart {
    i64 i, begin, end;
    bool segment;

    template <class P>
    DEVICE RowPart(i64 item, i64 segment_count, const i64* segments, const P* indptr, i64 nrows, i64 most)
        : i(item - segment_count), begin(0), end(0), segment(item < segment_count) {
        if (segment) {
            i = segments[2 * item];
            begin = segments[2 * item + 1];
            end = i64(indptr[i + 1]);
            end = end < begin + most ? end : begin + most;
        } else if (i < nrows) {
            begin = i64(indptr[i]);
            end = i64(indptr[i + 1]);
            if (end - begin > most) end = begin;
        }
    }
};

// N entries of a row of a sparse matrix, STEP apart, and the full rows that they select; all loads overlap.  EVERY: no
// full row is empty.  VALUES: products read the array of values.
template <int N, int STEP, bool EVERY, bool VALUES, class T>
struct RowEntries {
    bool in[N];   // whether there is an entry, and its full row is not empty
    i64 k[N];     // its column
    i64 from[N];  // where its full row begins
    T x[N];       // its value

    // The entries p, p + STEP, ... before `end`; without GUARDED all of them are.
    template <bool GUARDED, class S>
    DEVICE void load(const S& s, i64 p, i64 end) {
#pragma unroll
        for (int u = 0; u < N; u++) {
            in[u] = !GUARDED || p + u * STEP < end;
            k[u] = in[u] ? i64(s.a_indices[p + u * STEP]) : 0;
            x[u] = s.a_iso;
            if constexpr (VALUES) {
                if (in[u]) x[u] = s.a_values[p + u * STEP];
            }
        }
#pragma unroll
        for (int u = 0; u < N; u++) find_row<EVERY>(s.b_indptr, k[u], s.width, from[u], in[u]);
    }
};

// sum = sum (+) z.  `hit`: the sum has a term.
DEVICE void accumulate(Z& sum, bool hit, Z z) {
    if constexpr (STARTED) sum = add(sum, z);
    else sum = hit ? add(sum, z) : z;
}
// Adds the sums of the lane whose number differs in the bits `delta`; `hit`: they have a term.  Every lane of the warp
// calls.
template <int N>
DEVICE void accumulate_lane(Z (&sums)[N], bool& hit, int delta) {
    bool other_hit = true;
    if constexpr (!STARTED) other_hit = __shfl_xor_sync(FULL_WARP, int(hit), delta) != 0;
#pragma unroll
    for (int n = 0; n < N; n++) {
        const Z other = shuffle_xor(sums[n], delta);
        if (other_hit) accumulate(sums[n], hit, other);
    }
    if constexpr (!STARTED) hit = hit || other_hit;
}
// Adds the sums of all lanes whose numbers differ in bits from FROM to below TO.
template <int FROM, int TO, int N>
DEVICE void accumulate_lanes(Z (&sums)[N], bool& hit) {
#pragma unroll
    for (int delta = FROM; delta < TO; delta *= 2) accumulate_lane(sums, hit, delta);
}
