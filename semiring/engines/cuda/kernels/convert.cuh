// Conversions between vector formats.  V is an unsigned integer of the size of the values; I is the type of indices.

#include "semiring.cuh"

// Index list to bitmap.  `words` must be 0.  If `values` is null (iso-valued), `out` is not written.
extern "C" __global__ void convert_scatter(i64 n, const I* indices, const V* values, u32* words, V* out) {
    for (i64 p = thread_id(); p < n; p += thread_count()) {
        const i64 i = i64(indices[p]);
        atomicOr(words + (i >> 5), 1u << (i & 31));
        if (values != nullptr) out[i] = values[p];
    }
}

// Marks all entries as present.
extern "C" __global__ void convert_fill(i64 size, u32* words) {
    const i64 count = (size + 31) / 32;
    for (i64 w = thread_id(); w < count; w += thread_count()) words[w] = valid_bits(size, w);
}

// out[p] = start + step * p.
extern "C" __global__ void convert_range(i64 n, i64 start, i64 step, I* out) {
    for (i64 p = thread_id(); p < n; p += thread_count()) out[p] = I(start + step * p);
}

// *count += the number of set bits of presence words.
extern "C" __global__ void count_bits(const u32* words, i64 word_count, u64* count) {
    i64 mine = 0;
    for (i64 w = thread_id(); w < word_count; w += thread_count()) mine += __popc(words[w]);
    add_count(count, mine);
}

// counts[b] = the set bits in words [b * each, (b + 1) * each).
extern "C" __global__ void count_bits_by_block(const u32* words, i64 word_count, i64 each, i64 blocks, u32* counts) {
    for (i64 block = thread_id(); block < blocks; block += thread_count()) {
        const i64 end = (block + 1) * each < word_count ? (block + 1) * each : word_count;
        u32 found = 0;
        for (i64 w = block * each; w < end; ++w) found += u32(__popc(words[w]));
        counts[block] = found;
    }
}
