// Facts about the rows of a pattern: the nonempty rows, their number, and the longest length.
// The prologue defines the type P (offsets).

extern "C" __global__ void degrees(const P* indptr, i64 nrows, u32* words, u64* nonempty_and_longest) {
    i64 longest = 0;
    const i64 nonempty = write_bits(nrows, words, [&](i64 i) {
        const i64 degree = i64(indptr[i + 1]) - i64(indptr[i]);
        longest = degree > longest ? degree : longest;
        return degree > 0;
    });
    const Maybe<i64> most = block_reduce(Maybe<i64>{true, longest}, [](i64 a, i64 b) { return a > b ? a : b; });
    add_count(nonempty_and_longest, nonempty);
    if (threadIdx.x == 0) atomicMax(nonempty_and_longest + 1, u64(most.value));
}
