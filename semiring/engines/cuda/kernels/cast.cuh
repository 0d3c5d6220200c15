// out[p] = in[p], converted by `cast` of types.cuh.

#include "semiring.cuh"

extern "C" __global__ void cast_values(i64 n, const A* in, Z* out) {
    for (i64 p = thread_id(); p < n; p += thread_count()) out[p] = cast<Z>(in[p]);
}

// out[p] = value for every p.
extern "C" __global__ void cast_fill(i64 n, Z value, Z* out) {
    for (i64 p = thread_id(); p < n; p += thread_count()) out[p] = value;
}
