// mxm of a sparse matrix and full rows under a mask:  c(i, j) = (+)_k a(i, k) (x) b(k, j)  for the entries (i, j) of the
// mask.
//
// A row is computed in one of two ways.  If the mask has many of its entries, or its row of a is long, all its columns are
// computed first, by mxm_full_spmm.cuh, and those of the mask are copied.  Of other rows only the entries of the mask are
// computed: G lanes hold different ones, E such groups process different entries of the row of a, UNROLL each at once.
//
// The prologue defines the semiring; the types AP, AI, A (offsets, columns, values of the sparse matrix), BP, B (offsets
// and values of the full one), MP, MI, M (of the mask), CP (offsets of the whole rows); the constants of mxm_full.cuh; G,
// E, UNROLL, BLOCK; VALUED (the mask admits by value); EVERY_ROW (no row of b is empty); A_VALUES, B_VALUES (products read
// the arrays of values).

#include "mxm_full.cuh"

struct MaskedArguments {
    const AP* a_indptr;
    const AI* a_indices;
    const A* a_values;
    A a_iso;
    const BP* b_indptr;
    const B* b_values;
    B b_iso;
    const MP* mask_indptr;
    const MI* mask_indices;
    const M* mask_values;
    M mask_iso;
    const u32* present;  // the rows of the product that are not empty
    const CP* c_indptr;  // the rows of which all columns are computed
    const Z* c_values;
    Z start;
    i64 nrows;
    i64 width;
    Z* values;
    u32* marks;
};

constexpr int LANES = int(G * E);

// Adds the products of the entries p, p + E, ... before `end`, UNROLL of them, for column j.
DEVICE void add_products(const MaskedArguments& s, i64 i, i64 j, i64 p, i64 end, Z& sum, bool& hit) {
    RowEntries<int(UNROLL), int(E), EVERY_ROW, A_VALUES, A> read;
    read.load<true>(s, p, end);
    B y[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        y[u] = s.b_iso;
        if constexpr (B_VALUES) {
            if (read.in[u]) y[u] = s.b_values[read.from[u] + j];
        }
    }
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        if (!read.in[u]) continue;
        accumulate(sum, hit, cast<Z>(multiply(read.x[u], y[u], i, read.k[u], read.k[u], j)));
        hit = true;
    }
}

// Marks the entries of the mask that are admitted and have a product, and stores their values.
extern "C" __global__ void __launch_bounds__(BLOCK) mxm_full_masked(const MaskedArguments s) {
    const int lane = int(threadIdx.x) % LANES;
    const i64 i = i64(blockIdx.x) * (BLOCK / LANES) + threadIdx.x / LANES;
    i64 begin = 0, end = 0, first = 0, last = 0, at = 0;
    bool whole = false;
    if (i < s.nrows && (s.present[i >> 5] >> (i & 31) & 1u) != 0) {
        first = i64(s.mask_indptr[i]);
        last = i64(s.mask_indptr[i + 1]);
        at = i64(s.c_indptr[i]);
        whole = at != i64(s.c_indptr[i + 1]);
        begin = i64(s.a_indptr[i]);
        end = whole ? begin : i64(s.a_indptr[i + 1]);
    }
    for (i64 m = first + lane % G; __any_sync(FULL_WARP, m < last); m += G) {
        bool in = m < last;
        const i64 j = in ? i64(s.mask_indices[m]) : 0;
        if constexpr (VALUED) in = in && value_at(s.mask_values, s.mask_iso, m) != M(0);
        Z sum[] = {s.start};
        bool hit = false;
        if (in) {
            for (i64 p = begin + lane / G; p < end && !(hit && add_is_terminal(sum[0])); p += UNROLL * E) {
                add_products(s, i, j, p, end, sum[0], hit);
            }
        }
        __syncwarp();
        accumulate_lanes<int(G), LANES>(sum, hit);
        if (!in || lane >= G) continue;
        s.values[m] = whole ? s.c_values[at + j] : sum[0];
        atomicOr(s.marks + (m >> 5), 1u << (m & 31));
    }
}
