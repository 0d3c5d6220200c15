// The cost of dot products, before their kernels are compiled.  The prologue is that of mxm_dot.cuh.

#include "dot_table.cuh"

// sums[0] += the probes, sums[1] += the products of `samples` entries, of the mask and of A, evenly spaced.
// b_indptr: the offsets of B by rows; null: its products are not counted.
extern "C" __global__ void mxm_dot_estimate(const DotArguments s, const BP* b_indptr, i64 a_nvals, i64 mask_nvals,
                                            i64 samples, i64* sums) {
    i64 probes = 0, products = 0;
    for (i64 t = thread_id(); t < samples; t += thread_count()) {
        const i64 m = i64(f64(t) / f64(samples) * f64(mask_nvals));
        const i64 i = upper_bound(s.mask_indptr, 0, s.nrows + 1, m) - 1;
        const i64 first = i64(s.a_indptr[i]), entries = i64(s.a_indptr[i + 1]) - first, swapped = SWAP * entries;
        if (entries != 0) {
            const i64 low = i64(s.a_indices[first]), high = i64(s.a_indices[first + entries - 1]);
            const bool searched = entries > LARGE && !fits_as_bits(low, high, 2 * u32(LARGE));
            const Admitted at(s, m, m + 1, low, high);
            const i64 length = at.end - at.begin;
            probes += (length < swapped ? length : swapped) * (searched ? SEARCHED : 1);
        }
        if (b_indptr == nullptr) continue;
        const i64 k = i64(s.a_indices[i64(f64(t) / f64(samples) * f64(a_nvals))]);
        products += i64(b_indptr[k + 1]) - i64(b_indptr[k]);
    }
    add_count(sums, probes);
    add_count(sums + 1, products);
}
