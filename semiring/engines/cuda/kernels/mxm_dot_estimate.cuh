// The cost of dot products, before their kernels are compiled.  The prologue is that of mxm_dot.cuh.

#include "dot_table.cuh"

// Of `samples` entries of the mask, evenly spaced: sums[0] += their probes, sums[1] = the most probes of a row that one
// warp processes, if each of its entries had as many as the one that is sampled, sums[2] += their shares of the entries
// that tables of rows of A receive, sums[3] += the entries of the shorter row.  Of `of_a` entries of A: sums[4] += their
// products, from the offsets of the rows of B, which may be null.  `sums` is initially 0.
extern "C" __global__ void mxm_dot_estimate(const DotProductArguments s, i64 mask_nvals, i64 samples, const BP* rows,
                                            i64 a_nvals, i64 of_a, i64* sums) {
    i64 probes = 0, longest = 0, filled = 0, shorter = 0, products = 0;
    for (i64 t = thread_id(); rows != nullptr && t < of_a; t += thread_count()) {
        const i64 k = i64(s.a_indices[i64(f64(t) / f64(of_a) * f64(a_nvals))]);
        products += i64(rows[k + 1]) - i64(rows[k]);
    }
    add_count(sums + 4, products);
    for (i64 t = thread_id(); t < samples; t += thread_count()) {
        const i64 m = i64(f64(t) / f64(samples) * f64(mask_nvals));
        const i64 i = upper_bound(s.mask_indptr, 0, s.nrows + 1, m) - 1;
        const i64 first = i64(s.a_indptr[i]), entries = i64(s.a_indptr[i + 1]) - first, swapped = SWAP * entries;
        if (entries == 0) continue;
        const i64 low = i64(s.a_indices[first]), high = i64(s.a_indices[first + entries - 1]);
        const bool bits = !READS_X && fits_as_bits(low, high, 2 * u32(LARGE)), searched = entries > LARGE && !bits;
        const Admitted at(s, m, m + 1, low, high);
        const i64 length = at.end - at.begin, mine = length < swapped ? length : swapped;
        probes += mine * (searched ? SEARCHED : 1);
        const i64 admitted = i64(s.mask_indptr[i + 1]) - i64(s.mask_indptr[i]);
        if (entries <= SMALL && admitted <= SEGMENT && admitted * mine > longest) longest = admitted * mine;
        const i64 j = i64(s.mask_indices[m]), others = i64(s.b_indptr[j + 1]) - i64(s.b_indptr[j]);
        filled += searched ? 0 : entries / admitted;
        shorter += others < entries ? others : entries;
    }
    add_count(sums, probes);
    if (longest > load_relaxed(sums + 1)) atomicMax(sums + 1, longest);  // an outdated value is less: one atomic more
    add_count(sums + 2, filled);
    add_count(sums + 3, shorter);
}
