// Facts about the rows of a pattern: the nonempty rows, their number, and the longest length.
// The prologue defines the type P (offsets).

extern "C" __global__ void degrees(const P* indptr, i64 nrows, u32* words, u64* nonempty_and_longest) {
    i64 nonempty = 0, longest = 0;
    for (i64 w = warp_id(); 32 * w < nrows; w += warp_count()) {
        const i64 i = 32 * w + lane_id();
        const i64 degree = i < nrows ? i64(indptr[i + 1]) - i64(indptr[i]) : 0;
        const u32 word = __ballot_sync(FULL_WARP, degree > 0);
        longest = degree > longest ? degree : longest;
        if (lane_id() == 0) {
            words[w] = word;
            nonempty += __popc(word);
        }
    }
    const i64 total = block_sum(nonempty);
    const Maybe<i64> most = block_reduce(Maybe<i64>{true, longest}, [](i64 a, i64 b) { return a > b ? a : b; });
    if (threadIdx.x == 0) {
        atomicAdd(nonempty_and_longest, u64(total));
        atomicMax(nonempty_and_longest + 1, u64(most.value));
    }
}
