// The columns of a pattern that have entries, and whether a vector has an entry in each of them.
// The prologue defines the type J (columns).

#include "atomics.cuh"

extern "C" __global__ void covered_columns(const J* indices, i64 nvals, u32* words) {
    for (i64 p = thread_id(); p < nvals; p += thread_count()) bit_claim(words, i64(indices[p]));
}
// missing: the columns with entries in which the vector has none.
extern "C" __global__ void covered_missing(const u32* columns, const u32* words, i64 word_count, u64* missing) {
    i64 mine = 0;
    for (i64 w = thread_id(); w < word_count; w += thread_count()) mine += __popc(columns[w] & ~words[w]);
    add_count(missing, mine);
}
