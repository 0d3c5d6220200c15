// Pull: every admitted row reduces its products.  A warp owns 32 rows and writes their presence word without atomics.
// See product.cuh for the prologue; here also GROUP (lanes a row) and PROBES.

#include "product.cuh"

// Lane 0 writes the presence word of a warp's rows.  Returns the number of present rows in lane 0, 0 in other lanes.
DEVICE int write_word(u32* out_words, i64 w, u32 word) {
    if (UNMASKED_FULL || lane_id() != 0) return 0;
    out_words[w] = word;
    return __popc(word);
}

// For rows of similar length: GROUP lanes a row, 32 / GROUP rows at a time.
extern "C" __global__ void mxv_pull_group(PRODUCT_ARGUMENTS, u64* count) {
    PRODUCT_OPERANDS
    static_assert(CODEC == UNCOMPRESSED || GROUP == 1 || GROUP == 32, "a lane or a warp decodes a compressed row");
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
                if constexpr (CODEC == UNCOMPRESSED) {
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
#pragma unroll
            for (int delta = 1; delta < int(GROUP); delta *= 2) {
                Maybe<Z> other;
                other.hit = __shfl_down_sync(FULL_WARP, int(sum.hit), delta) != 0 && sub + delta < int(GROUP);
                other.value = shuffle_down(sum.value, delta);
                sum = join(sum, other, Add());
            }
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
        counted += write_word(out_words, w, word);
    }
    if constexpr (!UNMASKED_FULL) add_count(count, counted);
}

// For monoids with a terminal value: each lane reads the first PROBES entries of its row; the warp then reads the rest
// of each unfinished row, until a lane has a terminal sum.
extern "C" __global__ void mxv_pull_early(PRODUCT_ARGUMENTS, u64* count) {
    PRODUCT_OPERANDS
    i64 counted = 0;
    for (i64 w = warp_id(); 32 * w < nout; w += warp_count()) {
        const i64 o = 32 * w + lane_id();
        Maybe<Z> sum = {false, Z()};
        i64 p = 0, end = 0;
        if (o < nout && mask.admits(o)) {
            p = i64(indptr[o]);
            end = i64(indptr[o + 1]);
        }
        const i64 stop = p + PROBES < end ? p + PROBES : end;
        if (p < stop) {
            for (ColumnCursor entry(columns, p, p); p < stop && !finished(sum); p++, entry.next()) {
                const i64 k = entry.column();
                if (u.has(k)) sum = join(sum, Maybe<Z>{true, product(a, u, o, k, p)}, Add());
            }
        }
        u32 rest = __ballot_sync(FULL_WARP, p < end && !finished(sum));
        for (; rest; rest &= rest - 1) {
            const int lane = __ffs(int(rest)) - 1;
            const i64 row_end = shuffle(end, lane), first = shuffle(p, lane), row = 32 * w + lane;
            Maybe<Z> part = {false, Z()};
            WarpColumns walk(columns, CODEC == UNCOMPRESSED ? 0 : i64(indptr[row]), first, row_end);
            while (walk.next()) {
                if (walk.inside && u.has(walk.column)) {
                    part = join(part, Maybe<Z>{true, product(a, u, row, walk.column, walk.p)}, Add());
                }
                if (__any_sync(FULL_WARP, finished(part))) break;
            }
            part = warp_reduce(part, Add());
            part.hit = __shfl_sync(FULL_WARP, int(part.hit), 0) != 0;
            part.value = shuffle(part.value, 0);
            if (lane_id() == lane) sum = join(sum, part, Add());
        }
        if constexpr (VALUED) {
            if (sum.hit) out_values[o] = sum.value;
        }
        counted += write_word(out_words, w, __ballot_sync(FULL_WARP, sum.hit));
    }
    if constexpr (!UNMASKED_FULL) add_count(count, counted);
}
