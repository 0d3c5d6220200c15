// Columns renumbered by the number of their entries: column `columns[r]` has rank r, and the column of rank 0 has the most.
// The prologue defines J (columns).

#include "warp.cuh"

// missing[j] -= the number of the entries of column j, of every `step`-th entry.
extern "C" __global__ void ranked_count(const J* indices, i64 n, i64 step, u32* missing) {
    for (i64 p = thread_id() * step; p < n; p += thread_count() * step) atomicSub(missing + indices[p], 1u);
}

// rank[columns[r]] = r.
extern "C" __global__ void ranked_invert(const J* columns, i64 n, J* rank) {
    for (i64 r = thread_id(); r < n; r += thread_count()) rank[columns[r]] = J(r);
}

// *total += the counts of the first n ranks.
extern "C" __global__ void ranked_share(const u32* missing, i64 n, u64* total) {
    i64 mine = 0;
    for (i64 r = thread_id(); r < n; r += thread_count()) mine += i64(~missing[r]);
    add_count(total, mine);
}

// out[p] = the rank of the column of entry p.
extern "C" __global__ void ranked_rename(const J* indices, const J* rank, i64 n, J* out) {
    for (i64 p = thread_id(); p < n; p += thread_count()) __stcs(out + p, rank[__ldcs(indices + p)]);
}
