// mxm of full rows under a mask:  c(i, j) = (+)_k a(i, k) (x) t(j, k) for the entries (i, j) of the mask; t is B'.
//
// G lanes share an entry: each reads R times V consecutive values of the row j of t.  E such groups process different
// entries of a row of the mask, UNROLL each at once; the values of the row i of a remain in registers.  An item is a row
// of the mask, or a segment of one with more than SEGMENT entries.
//
// The prologue defines the semiring; the types MP, MI, M (offsets, columns, values of the mask), AP, A, BP, B (offsets
// and values of a and t); the constants of mxm_full.cuh; G, E, V, R, UNROLL, SEGMENT, BLOCK; CHUNKED (a row has more
// than G V R values); MARKED (mark the entries that are admitted and whose rows are not empty; else all are); VALUED (the
// mask admits by value); A_EVERY, B_EVERY (no row is empty); A_VALUES, B_VALUES (products read the arrays of values).

#include "mxm_full.cuh"

struct SddmmArguments {
    const MP* mask_indptr;
    const MI* mask_indices;
    const M* mask_values;
    M mask_iso;
    const AP* a_indptr;
    const A* a_values;
    A a_iso;
    const BP* t_indptr;
    const B* t_values;
    B t_iso;
    Z start;
    i64 nrows;
    i64 inner;  // the number of k that are read
    i64 stride;  // the length of the rows of a and t
    i64 segment_count;
    const i64* segments;  // the row and the first entry of each
    Z* values;
    u32* marks;
};

constexpr int LANES = int(G * E);
constexpr int COLUMNS = int(G * V);

extern "C" __global__ void __launch_bounds__(BLOCK) mxm_sddmm(const SddmmArguments s) {
    const int lane = int(threadIdx.x) % LANES;
    const i64 item = i64(blockIdx.x) * (BLOCK / LANES) + threadIdx.x / LANES;
    const RowPart part(item, s.segment_count, s.segments, s.mask_indptr, s.nrows, SEGMENT);
    const i64 i = part.i;
    i64 row = 0;
    bool some = part.begin < part.end;
    find_row<A_EVERY>(s.a_indptr, i, s.stride, row, some);
    const i64 end = some ? part.end : part.begin, k0 = lane % G * V;
    A a[R][V];
    if constexpr (!CHUNKED) {
        load_columns<A_VALUES, COLUMNS>(a, s.a_values, row, k0, s.inner, s.a_iso, some && k0 < s.inner);
    }
    for (i64 base = part.begin + lane / G; __any_sync(FULL_WARP, base < end); base += UNROLL * E) {
        bool in[UNROLL], hit[UNROLL];
        i64 j[UNROLL], from[UNROLL];
        Z sum[UNROLL][1];
        B y[UNROLL][R][V];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            const i64 p = base + u * E;
            in[u] = p < end;
            hit[u] = false;
            sum[u][0] = s.start;
            j[u] = in[u] ? i64(s.mask_indices[p]) : 0;
            if constexpr (VALUED) in[u] = in[u] && value_at(s.mask_values, s.mask_iso, p) != M(0);
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++) find_row<B_EVERY>(s.t_indptr, j[u], s.stride, from[u], in[u]);
        for (i64 k = k0; k < s.inner; k += COLUMNS * R) {
            if constexpr (CHUNKED) {
                load_columns<A_VALUES, COLUMNS>(a, s.a_values, row, k, s.inner, s.a_iso, base < end);
            }
#pragma unroll
            for (int u = 0; u < UNROLL; u++) {
                load_columns<B_VALUES, COLUMNS>(y[u], s.t_values, from[u], k, s.inner, s.t_iso, in[u]);
            }
#pragma unroll
            for (int u = 0; u < UNROLL; u++) {
#pragma unroll
                for (int r = 0; r < R; r++) {
                    if (!in[u] || k + r * COLUMNS >= s.inner) continue;
#pragma unroll
                    for (int v = 0; v < V; v++) {
                        const i64 inner = k + r * COLUMNS + v;
                        accumulate(sum[u][0], hit[u], cast<Z>(multiply(a[r][v], y[u][r][v], i, inner, inner, j[u])));
                        hit[u] = true;
                    }
                }
            }
            if constexpr (!CHUNKED) break;
        }
        __syncwarp();
#pragma unroll
        for (int delta = 1; delta < G; delta *= 2) {
#pragma unroll
            for (int u = 0; u < UNROLL; u++) accumulate_lane(sum[u], hit[u], delta);
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            const i64 p = base + u * E;
            if (lane % G != 0 || p >= end) continue;
            if constexpr (MARKED) {
                if (!in[u]) continue;
                atomicOr(s.marks + (p >> 5), 1u << (p & 31));
            }
            if (s.values != nullptr) s.values[p] = sum[u][0];
        }
    }
}
