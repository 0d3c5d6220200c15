// C<M> accum= T in the arrays of C, for the positions of a list: each position is written by one thread.
//
//     where T has an entry:        C accum T, or T where C has none or without an accumulator
//     elsewhere, without an accumulator:  no entry
//
// Types: C, T of the values, M of the mask's values, I of the list.  T and the mask have a slot for each position (null
// words: all are present if `all` is nonzero, else none), or T has one for each element of the list (`aligned`).

#include "entries.cuh"

extern "C" __global__ void update_vector(i64 n, const I* list, int aligned, const u32* t_words, int t_all, const T* t_values,
                                         T t_iso, const u32* mask_words, int mask_all, const M* mask_values,
                                         M mask_iso, int complement, u32* c_words, C* c_values, const i64* before,
                                         i64 known, i64* count) {
    i64 added = count != nullptr && thread_id() == 0 ? (before == nullptr ? known : *before) : 0;
    for (i64 p = thread_id(); p < n; p += thread_count()) {
        const i64 i = i64(list[p]), s = aligned != 0 ? p : i;
        if constexpr (MASKED) {
            bool marked = mask_words == nullptr ? mask_all != 0 : bit_test(mask_words, i);
            if constexpr (VALUED) marked = marked && value_at(mask_values, mask_iso, i) != M(0);
            if (marked == (complement != 0)) continue;
        }
        const bool held = c_words == nullptr || bit_test(c_words, i);
        const u32 bit = u32(1) << (i & 31);
        if (t_words == nullptr ? t_all != 0 : bit_test(t_words, s)) {
            const T t = value_at(t_values, t_iso, s);
            if constexpr (ACCUMULATED) c_values[i] = held ? cast<C>(accumulate(c_values[i], t)) : cast<C>(t);
            else c_values[i] = cast<C>(t);
            if (!held) {
                atomicOr(c_words + (i >> 5), bit);
                ++added;
            }
        } else if (!ACCUMULATED && held && c_words != nullptr) {
            atomicAnd(c_words + (i >> 5), ~bit);
            --added;
        }
    }
    if (count != nullptr) add_count(count, added);
}
