// Short rows of a product of matrices: a thread merges the rows of B that a row of A selects.
//
// The heads of up to LISTS rows of B are in registers.  A step takes the least column among them and combines the
// products of that column, k ascending: sums need no atomics, their order is fixed, and columns are in order.  A warp
// merges 32 consecutive rows and stores their results at once.
//
// Beside the parameters of mxm_operands.cuh, the prologue defines the types O (columns of the result), P (offsets of its
// rows); and the constants LISTS, MERGED (products of a row, at most), and STAGE (results of a warp in shared memory).

#include "mxm_operands.cuh"

typedef choose<sizeof(BI) == 8, u64, u32> Key;
constexpr Key NONE = ~Key(0);
constexpr int BLOCK = 256;
constexpr int WARPS = BLOCK / 32;
// Rows of at most so many entries need fewer registers and instructions.
constexpr int FEW = 4;

// body(j, sum) for every column j of row i that the mask admits, in ascending order.  VALUES: compute the sums.
template <int WIDTH, bool VALUES, class F>
DEVICE void merge(const ProductArguments& s, i64 i, i64 begin, int entries, F body) {
    Key head[WIDTH];
    BP at[WIDTH], end[WIDTH];
    AI column[WIDTH];
    A x[WIDTH];
#pragma unroll
    for (int t = 0; t < WIDTH; t++) {
        head[t] = NONE;
        at[t] = end[t] = 0;
        column[t] = 0;
        x[t] = A();
        if (t < entries) {
            column[t] = s.a_indices[begin + t];
            at[t] = s.b_indptr[column[t]];
            end[t] = s.b_indptr[i64(column[t]) + 1];
            if constexpr (VALUES) x[t] = left_value(s, begin + t);
        }
    }
#pragma unroll
    for (int t = 0; t < WIDTH; t++) {
        if (at[t] < end[t]) head[t] = Key(s.b_indices[at[t]]);
    }
    MaskRow mask(s, i);
    for (;;) {
        Key least = head[0];
#pragma unroll
        for (int t = 1; t < WIDTH; t++) least = head[t] < least ? head[t] : least;
        if (least == NONE) return;
        const bool admitted = mask.admits_next(i64(least));
        bool hit = false;
        Z sum = Z();
#pragma unroll
        for (int t = 0; t < WIDTH; t++) {
            if (head[t] != least) continue;
            if constexpr (VALUES) {
                if (admitted && !(hit && add_is_terminal(sum))) {
                    const Z z = product(s, x[t], i64(at[t]), i, i64(column[t]), i64(least));
                    sum = hit ? add(sum, z) : z;
                    hit = true;
                }
            }
            at[t]++;
            head[t] = at[t] < end[t] ? Key(s.b_indices[at[t]]) : NONE;
        }
        if (admitted) body(i64(least), sum);
    }
}

template <bool VALUES, class F>
DEVICE void merge_row(const ProductArguments& s, i64 i, bool mine, F body) {
    i64 begin = 0;
    int entries = 0;
    if (mine) {
        begin = i64(s.a_indptr[i]);
        entries = int(i64(s.a_indptr[i + 1]) - begin);
    }
    const bool many = __any_sync(FULL_WARP, entries > FEW);
    if (entries == 0) return;
    if (many) merge<int(LISTS), VALUES>(s, i, begin, entries, body);
    else merge<FEW, VALUES>(s, i, begin, entries, body);
}

// Whether row i, which has `size` products, is merged; rows without products are too.
DEVICE bool is_merged(const ProductArguments& s, i64 i, u32 size) {
    return size <= MERGED && (size == 0 || i64(s.a_indptr[i + 1]) - i64(s.a_indptr[i]) <= LISTS);
}

// counts = the entries of each row of the result that is merged; 0 for rows without products.
extern "C" __global__ void __launch_bounds__(BLOCK) mxm_merge_count(const ProductArguments s, const u16* sizes,
                                                                    O* counts) {
    for (i64 first = 32 * warp_id(); first < s.nrows; first += 32 * warp_count()) {
        const i64 i = first + lane_id();
        const bool inside = i < s.nrows;
        const u32 size = inside ? sizes[i] : 0;
        const bool mine = inside && is_merged(s, i, size);
        int count = 0;
        merge_row<false>(s, i, mine && size != 0, [&](i64, Z) { count++; });
        if (mine) counts[i] = O(count);
    }
}

struct Stage {
    Z values[KEEPS ? STAGE : 1];
    O columns[STAGE];
};

// The same rows, stored.  If all 32 rows of a warp are merged and the stage has room, they are stored contiguously.
extern "C" __global__ void __launch_bounds__(BLOCK) mxm_merge_store(const ProductArguments s, const u16* sizes,
                                                                    const P* offsets, O* indices, Z* values) {
    __shared__ Stage stages[WARPS];
    Stage& stage = stages[warp_in_block()];
    for (i64 first = 32 * warp_id(); first < s.nrows; first += 32 * warp_count()) {
        const i64 i = first + lane_id();
        const bool inside = i < s.nrows;
        const u32 size = inside ? sizes[i] : 0;
        const bool mine = inside && is_merged(s, i, size);
        const i64 last = first + 32 < s.nrows ? first + 32 : s.nrows;
        const i64 begin = i64(offsets[first]);
        const i64 end = i64(offsets[last]);
        const bool staged = end - begin <= STAGE && __all_sync(FULL_WARP, mine || !inside);
        i64 to = mine ? i64(offsets[i]) : 0;
        if (staged) to -= begin;
        merge_row<KEEPS>(s, i, mine && size != 0, [&](i64 j, Z z) {
            if (staged) {
                stage.columns[to] = O(j);
                if constexpr (KEEPS) stage.values[to] = z;
            } else {
                indices[to] = O(j);
                if constexpr (KEEPS) values[to] = z;
            }
            to++;
        });
        __syncwarp();
        if (staged) {
            for (int t = lane_id(); t < int(end - begin); t += 32) {
                indices[begin + t] = stage.columns[t];
                if constexpr (KEEPS) values[begin + t] = stage.values[t];
            }
        }
        __syncwarp();
    }
}
