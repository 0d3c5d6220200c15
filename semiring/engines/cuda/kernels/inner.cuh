// The inner product  s = (+)_k  u(k) (x) v(k), where both are present: products and their sum in one pass.
//
// The prologue defines the semiring; the types U and V of the values, I of listed indices; and LISTED: u is an index list
// with n entries, and v dense.  Else both are dense, with n slots.

#include "entries.cuh"
#include "reduce_blocks.cuh"

struct Sum {
    DEVICE add_z operator()(add_z x, add_z y) const { return add(x, y); }
};

extern "C" __global__ void inner_product(i64 n, const I* indices, const u32* u_words, const U* u_values, U u_iso,
                                         const u32* v_words, const V* v_values, V v_iso, u64* result, u64* arrived) {
    Maybe<add_z> sum{false, add_z()};
    for (i64 p = thread_id(); p < n; p += thread_count()) {
        const i64 k = LISTED ? i64(indices[p]) : p;
        if (!is_present(v_words, k) || (!LISTED && !is_present(u_words, k))) continue;
        U x = U();
        V y = V();
        if constexpr (SWAPPED ? multiply_reads_y : multiply_reads_x) x = value_at(u_values, u_iso, p);
        if constexpr (SWAPPED ? multiply_reads_x : multiply_reads_y) y = value_at(v_values, v_iso, k);
        add_z z;
        if constexpr (SWAPPED) z = multiply(y, x, 0, k, k, 0);
        else z = multiply(x, y, 0, k, k, 0);
        sum = join(sum, {true, z}, Sum());
    }
    reduce_blocks(sum, Sum(), result, arrived);
}
