// scale over ranked columns (ranked.cuh): t(i, j) = combine(A(i, j), u(j)), with the elements of u of the first ranks in shared
// memory, where most entries of a skewed graph find theirs; the others read the second-level cache.
//
// The prologue defines: J, the type of columns; X and Y, of the values of the matrix and the vector; combine; THREADS, of a
// block.  One block a multiprocessor is resident.

#include "quads.cuh"

struct Ranks {
    Quad<J> rank;
    Quad<X> values;
};

// u: the elements of the vector by rank, of which the first `table` are copied to shared memory.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
scale_ranked(i64 n, const J* ranks, const X* values, X iso, const Y* u, i64 table, combine_z* out) {
    extern __shared__ uint4 shared[];
    Y* const first = reinterpret_cast<Y*>(shared);
    for (int r = int(threadIdx.x); r < table; r += int(THREADS)) first[r] = u[r];
    __syncthreads();
    const auto read = [=](i64 p) {
        const i64 left = n - p;
        const int count = left >= QUAD ? QUAD : left > 0 ? int(left) : 0;
        Ranks made;
        made.rank = load_quad(ranks + p, count);
        if constexpr (combine_reads_x) {
            if (values != nullptr) made.values = load_quad(values + p, count);
        }
        return made;
    };
    const i64 step = QUAD * thread_count();
    Ranks next = read(QUAD * thread_id());
    for (i64 p = QUAD * thread_id(); p < n; p += step) {
        const Ranks now = next;
        next = read(p + step);
        Quad<Y> scale;
#pragma unroll
        for (int e = 0; e < QUAD; ++e) scale.at[e] = i64(now.rank.at[e]) < table ? first[now.rank.at[e]] : u[now.rank.at[e]];
        Quad<combine_z> made;
#pragma unroll
        for (int e = 0; e < QUAD; ++e) made.at[e] = combine(values == nullptr ? iso : now.values.at[e], scale.at[e]);
        store_quad(out + p, made, n - p < QUAD ? int(n - p) : QUAD);
    }
}
