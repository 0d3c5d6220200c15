// select: the entries for which keep(a(i, j), i, j, k) holds; of vectors, their marks.

#include "keep_rows.cuh"
#include "mark.cuh"

extern "C" __global__ void select_mark(i64 n, const u32* present, const I* indices, const A* values, A iso, K k, u32* out,
                                       i64* count) {
    if constexpr (FORM != ROWS) {
        mark_entries<keep_reads_i>(n, present, EntryIndices<P, I>{nullptr, 0, indices}, out, count,
                                   [=](i64 p, i64 i, i64 j) {
                                       A x = iso;
                                       if constexpr (keep_reads_x) x = value_at(values, iso, p);
                                       return keep(x, i, j, k) != keep_z(0);
                                   });
    }
}

// Whether an entry is kept, whose value has the given bits; without values, x is `iso`.
struct Kept {
    bool valued;
    A iso;
    K k;

    DEVICE bool operator()(V bits, i64 i, i64 j) const {
        A x = iso;
        if constexpr (keep_reads_x && sizeof(A) == sizeof(V)) {
            if (valued) x = from_bits<A>(bits);
        }
        return keep(x, i, j, k) != keep_z(0);
    }
};

// `values` is only compared with null: the values are loaded by keep_rows.
extern "C" __global__ void __launch_bounds__(TILE_THREADS, KEEP_RESIDENT)
    select_rows(const KeepArguments rows, const A* values, A iso, K k) {
    if constexpr (FORM == ROWS) keep_rows<keep_reads_x, keep_reads_i>(rows, Kept{values != nullptr, iso, k});
}

extern "C" __global__ void __launch_bounds__(TILE_THREADS, KEEP_RESIDENT)
    select_count(const KeepArguments rows, const A* values, A iso, K k) {
    if constexpr (FORM == ROWS) count_kept<keep_reads_x, keep_reads_i>(rows, Kept{values != nullptr, iso, k});
}
