// The cost of dot products, before their kernels are compiled.  The prologue is that of mxm_dot.cuh.

#include "dot_table.cuh"

// *sum += the probes of `samples` entries of the mask, evenly spaced.
extern "C" __global__ void mxm_dot_estimate(const DotArguments s, i64 mask_nvals, i64 samples, i64* sum) {
    i64 probes = 0;
    for (i64 t = thread_id(); t < samples; t += thread_count()) {
        const i64 m = i64(f64(t) / f64(samples) * f64(mask_nvals));
        const i64 i = upper_bound(s.mask_indptr, 0, s.nrows + 1, m) - 1;
        const i64 first = i64(s.a_indptr[i]), entries = i64(s.a_indptr[i + 1]) - first, swapped = SWAP * entries;
        if (entries == 0) continue;
        const i64 low = i64(s.a_indices[first]), high = i64(s.a_indices[first + entries - 1]);
        const bool searched = entries > LARGE && !fits_as_bits(low, high, 2 * u32(LARGE));
        const Admitted at(s, m, m + 1, low, high);
        const i64 length = at.end - at.begin;
        probes += (length < swapped ? length : swapped) * (searched ? SEARCHED : 1);
    }
    add_count(sum, probes);
}
