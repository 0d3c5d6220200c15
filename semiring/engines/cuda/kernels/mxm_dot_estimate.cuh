// The cost of dot products, before their kernels are compiled.  The prologue is that of mxm_dot.cuh.

#include "dot_table.cuh"

// sums[0] += the probes of `samples` entries of the mask, evenly spaced; sums[1] = the most probes of a row that one warp
// processes, if each of its entries had as many as the one that is sampled.  `sums` is initially 0.
extern "C" __global__ void mxm_dot_estimate(const DotProductArguments s, i64 mask_nvals, i64 samples, i64* sums) {
    i64 probes = 0, longest = 0;
    for (i64 t = thread_id(); t < samples; t += thread_count()) {
        const i64 m = i64(f64(t) / f64(samples) * f64(mask_nvals));
        const i64 i = upper_bound(s.mask_indptr, 0, s.nrows + 1, m) - 1;
        const i64 first = i64(s.a_indptr[i]), entries = i64(s.a_indptr[i + 1]) - first, swapped = SWAP * entries;
        if (entries == 0) continue;
        const i64 low = i64(s.a_indices[first]), high = i64(s.a_indices[first + entries - 1]);
        const bool searched = entries > LARGE && !fits_as_bits(low, high, 2 * u32(LARGE));
        const Admitted at(s, m, m + 1, low, high);
        const i64 length = at.end - at.begin, mine = length < swapped ? length : swapped;
        probes += mine * (searched ? SEARCHED : 1);
        const i64 admitted = i64(s.mask_indptr[i + 1]) - i64(s.mask_indptr[i]);
        if (entries <= SMALL && admitted <= SEGMENT && admitted * mine > longest) longest = admitted * mine;
    }
    add_count(sums, probes);
    if (longest > load_relaxed(sums + 1)) atomicMax(sums + 1, longest);  // an outdated value is less: one atomic more
}
