// Pull: every admitted row reduces its products.
// See product.cuh for the prologue; here also GROUP (lanes a row) and PROBES.

#include "mxv_gather.cuh"

// For rows of similar length: GROUP lanes a row, 32 / GROUP rows at a time.
extern "C" __global__ void mxv_pull_group(PRODUCT_ARGUMENTS, u64* count) {
    PRODUCT_OPERANDS
    static_assert(!COMPRESSED || GROUP == 1 || GROUP == 32, "a lane or a warp decodes a compressed row");
    constexpr int ROWS = 32 / int(GROUP);
    const int sub = lane_id() % int(GROUP);
    i64 counted = 0;
    for (i64 w = warp_id(); 32 * w < nout; w += warp_count()) {
        u32 word = 0;
#pragma unroll 1
        for (int r = 0; r < int(GROUP); r++) {
            const i64 o = 32 * w + r * ROWS + lane_id() / int(GROUP);
            Maybe<Z> sum = {false, Z()};
            if (o < nout && mask.admits(o)) {
                const i64 begin = i64(indptr[o]), end = i64(indptr[o + 1]);
                const auto gather = [&](i64 k, i64 p) {
                    if (u.has(k)) sum = join(sum, Maybe<Z>{true, product(a, u, o, k, p)}, Add());
                };
                if constexpr (!COMPRESSED) {
#pragma unroll 4
                    for (i64 p = begin + sub; p < end; p += GROUP) gather(columns.at(begin, p), p);
                } else if constexpr (GROUP == 1) {
                    i64 p = begin;
                    if (p < end) {
                        for (ColumnCursor e(columns, begin, p); p < end; p++, e.next()) gather(e.column(), p);
                    }
                } else {
                    WarpColumns walk(columns, begin, begin, end);
                    while (walk.next()) {
                        if (walk.inside) gather(walk.column, walk.p);
                    }
                }
            }
            sum = group_reduce<int(GROUP)>(sum, Add());
            const bool hit = sub == 0 && sum.hit;
            if constexpr (VALUED) {
                if (hit) out_values[o] = sum.value;
            }
            if constexpr (!UNMASKED_FULL) {
                // Compacts the bits of the first lane of each group.
                const u32 spread = __ballot_sync(FULL_WARP, hit);
                const bool mine = lane_id() < ROWS && ((spread >> (lane_id() * int(GROUP) % 32)) & 1u);
                word |= __ballot_sync(FULL_WARP, mine) << (r * ROWS);
            }
        }
        if constexpr (!UNMASKED_FULL) counted += write_word(out_words, w, word);
    }
    if constexpr (!UNMASKED_FULL) add_count(count, counted);
}

// For monoids with a terminal value.
extern "C" __global__ void mxv_pull_early(PRODUCT_ARGUMENTS, u64* count) {
    PRODUCT_OPERANDS
    const i64 counted = pull_early(indptr, columns, a, u, mask, out_words, out_values, nout);
    if constexpr (!UNMASKED_FULL) add_count(count, counted);
}
