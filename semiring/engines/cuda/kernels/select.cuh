// select: marks the entries for which keep(a(i, j), i, j, k) holds.

#include "mark.cuh"

extern "C" __global__ void select_mark(i64 n, const u32* present, const P* indptr, i64 nrows, const I* indices,
                                       const A* values, A iso, K k, u32* out, i64* count) {
    mark_entries<keep_reads_i>(n, present, EntryIndices<P, I>{indptr, nrows, indices}, out, count,
                               [=](i64 p, i64 i, i64 j) {
                                   A x = iso;
                                   if constexpr (keep_reads_x) x = value_at(values, iso, p);
                                   return keep(x, i, j, k) != keep_z(0);
                               });
}
