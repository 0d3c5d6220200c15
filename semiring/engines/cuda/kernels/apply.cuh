// apply: out = function(a(i, j), i, j, k) for every entry, and for every slot of a dense vector.

#include "entries.cuh"

extern "C" __global__ void apply_entries(i64 n, const P* indptr, i64 nrows, const I* indices, const A* values,
                                         A iso, K k, Z* out) {
    const auto at = [=](i64 p, i64 i) {
        A x = iso;
        if constexpr (function_reads_x) x = value_at(values, iso, p);
        i64 j = 0;
        if constexpr (FORM == ROWS && function_reads_j) j = i64(indices[p]);
        out[p] = function(x, i, j, k);
    };
    if constexpr (FORM == ROWS && function_reads_i) {
        for_each_entry(indptr, nrows, 0, n, at);
    } else {
        for (i64 p = thread_id(); p < n; p += thread_count()) {
            if constexpr (FORM == LIST && function_reads_i) at(p, i64(indices[p]));
            else at(p, p);
        }
    }
}
