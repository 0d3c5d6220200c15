// The number of edges that a push of a vector follows: the entries of the rows in which the vector has an entry.
// The prologue defines the types P (offsets) and X (indices), and LISTED (an index list, else presence words).

#include "semiring.cuh"

extern "C" __global__ void count_edges(const P* indptr, const X* indices, const u32* words, i64 items, i64* total) {
    i64 edges = 0;
    for (i64 at = thread_id(); at < items; at += thread_count()) {
        if (!LISTED && !bit_test(words, at)) continue;
        const i64 k = LISTED ? i64(indices[at]) : at;
        edges += i64(indptr[k + 1]) - i64(indptr[k]);
    }
    add_count(total, edges);
}
