// Facts about the rows of a pattern: the nonempty rows, their number, and the longest length.
// The prologue defines the types P (offsets) and X (indices of a vector), and LISTED (an index list, else presence words).

#include "semiring.cuh"

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

// *total += the entries of the rows in which a vector has an entry: the edges that its push follows.
extern "C" __global__ void count_edges(const P* indptr, const X* indices, const u32* words, i64 items, i64* total) {
    i64 edges = 0;
    for (i64 at = thread_id(); at < items; at += thread_count()) {
        if (!LISTED && !bit_test(words, at)) continue;
        const i64 k = LISTED ? i64(indices[at]) : at;
        edges += i64(indptr[k + 1]) - i64(indptr[k]);
    }
    add_count(total, edges);
}
