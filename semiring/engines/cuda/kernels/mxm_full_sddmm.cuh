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

struct RowOfA {
    Pack<A, V> at[R];

    // The values from column k on, R times at a distance of COLUMNS.
    DEVICE void load(const SddmmArguments& s, i64 row, i64 k) {
#pragma unroll
        for (int r = 0; r < R; r++) {
            if constexpr (A_VALUES) {
                if (k + r * COLUMNS < s.inner) at[r].load(s.a_values + row + k + r * COLUMNS);
            } else {
                at[r].fill(s.a_iso);
            }
        }
    }
};

extern "C" __global__ void __launch_bounds__(BLOCK) mxm_sddmm(const SddmmArguments s) {
    const int lane = int(threadIdx.x) % LANES;
    const i64 item = i64(blockIdx.x) * (BLOCK / LANES) + threadIdx.x / LANES;
    i64 i = item - s.segment_count, begin = 0, end = 0, row = 0;
    if (item < s.segment_count) {
        i = s.segments[2 * item];
        begin = s.segments[2 * item + 1];
        end = i64(s.mask_indptr[i + 1]);
        end = end < begin + SEGMENT ? end : begin + SEGMENT;
    } else if (i < s.nrows) {
        begin = i64(s.mask_indptr[i]);
        end = i64(s.mask_indptr[i + 1]);
        if (end - begin > SEGMENT) end = begin;
    }
    if constexpr (A_EVERY) {
        row = i * s.stride;
    } else if (begin < end) {
        row = i64(s.a_indptr[i]);
        if (row == i64(s.a_indptr[i + 1])) end = begin;
    }
    const i64 k0 = lane % G * V;
    RowOfA a;
    if constexpr (!CHUNKED) {
        if (begin < end) a.load(s, row, k0);
    }
    for (i64 base = begin + lane / G; __any_sync(FULL_WARP, base < end); base += UNROLL * E) {
        bool in[UNROLL], hit[UNROLL];
        i64 j[UNROLL], from[UNROLL];
        Z sum[UNROLL];
        Pack<B, V> y[UNROLL][R];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            const i64 p = base + u * E;
            in[u] = p < end;
            hit[u] = false;
            sum[u] = s.start;
            j[u] = in[u] ? i64(s.mask_indices[p]) : 0;
            if constexpr (VALUED) in[u] = in[u] && value_at(s.mask_values, s.mask_iso, p) != M(0);
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            if constexpr (B_EVERY) {
                from[u] = j[u] * s.stride;
            } else if (in[u]) {
                from[u] = i64(s.t_indptr[j[u]]);
                in[u] = from[u] != i64(s.t_indptr[j[u] + 1]);
            }
        }
        for (i64 k = k0; k < s.inner; k += COLUMNS * R) {
            if constexpr (CHUNKED) {
                if (base < end) a.load(s, row, k);
            }
#pragma unroll
            for (int u = 0; u < UNROLL; u++) {
#pragma unroll
                for (int r = 0; r < R; r++) {
                    if constexpr (B_VALUES) {
                        const i64 at = k + r * COLUMNS;
                        if (in[u] && at < s.inner) y[u][r].load(s.t_values + from[u] + at);
                    } else {
                        y[u][r].fill(s.t_iso);
                    }
                }
            }
#pragma unroll
            for (int u = 0; u < UNROLL; u++) {
#pragma unroll
                for (int r = 0; r < R; r++) {
                    if (!in[u] || k + r * COLUMNS >= s.inner) continue;
#pragma unroll
                    for (int v = 0; v < V; v++) {
                        const i64 inner = k + r * COLUMNS + v;
                        accumulate(sum[u], hit[u], cast<Z>(multiply(a.at[r].at[v], y[u][r].at[v], i, inner, inner, j[u])));
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
            for (int u = 0; u < UNROLL; u++) {
                const bool other_hit = lane_hit(hit[u], delta);
                accumulate_lane(sum[u], hit[u], other_hit, delta);
                if constexpr (!STARTED) hit[u] = hit[u] || other_hit;
            }
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            const i64 p = base + u * E;
            if (lane % G != 0 || p >= end) continue;
            if constexpr (MARKED) {
                if (!in[u]) continue;
                atomicOr(s.marks + (p >> 5), 1u << (p & 31));
            }
            if (s.values != nullptr) s.values[p] = sum[u];
        }
    }
}
