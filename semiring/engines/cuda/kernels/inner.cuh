// The inner product  s = (+)_k  u(k) (x) v(k)  over the common entries: products and their sum in one pass.
//
// The prologue defines the semiring; the types U and V of the values, I of listed indices; and LISTED: u is an index
// list with n entries, and v is dense.  Otherwise both are dense, with n slots.

#include "entries.cuh"
#include "grid.cuh"

struct Sum {
    DEVICE add_z operator()(add_z x, add_z y) const { return add(x, y); }
};

extern "C" __global__ void inner_product(i64 n, const I* indices, const u32* u_words, const U* u_values, U u_iso,
                                         const u32* v_words, const V* v_values, V v_iso, u64* result, u64* arrived) {
    constexpr bool READS_FIRST = SWAPPED ? multiply_reads_y : multiply_reads_x;
    constexpr bool READS_SECOND = SWAPPED ? multiply_reads_x : multiply_reads_y;
    constexpr int AT_ONCE = 4;  // loads of several positions overlap
    Maybe<add_z> sum{false, add_z()};
    for (i64 base = thread_id(); base < n; base += AT_ONCE * thread_count()) {
        i64 k[AT_ONCE];
        bool hit[AT_ONCE];
        U x[AT_ONCE];
        V y[AT_ONCE];
#pragma unroll
        for (int e = 0; e < AT_ONCE; e++) {
            const i64 p = base + e * thread_count();
            hit[e] = p < n;
            k[e] = 0;
            x[e] = U();
            y[e] = V();
            if (!hit[e]) continue;
            k[e] = LISTED ? i64(indices[p]) : p;
            hit[e] = is_present(v_words, k[e]) && (LISTED || is_present(u_words, k[e]));
            if constexpr (READS_FIRST) x[e] = value_at(u_values, u_iso, p);
            if constexpr (READS_SECOND) y[e] = value_at(v_values, v_iso, k[e]);
        }
#pragma unroll
        for (int e = 0; e < AT_ONCE; e++) {
            if (!hit[e]) continue;
            add_z z;
            if constexpr (SWAPPED) z = multiply(y[e], x[e], 0, k[e], k[e], 0);
            else z = multiply(x[e], y[e], 0, k[e], k[e], 0);
            sum = join(sum, {true, z}, Sum());
        }
    }
    reduce_blocks(sum, Sum(), result, arrived);
}
