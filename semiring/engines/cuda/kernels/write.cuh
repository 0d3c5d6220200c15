// The whole write of a vector, for one entry:
//
//     where the mask admits:  with an accumulator, the union of C and T, both combined; without, T
//     elsewhere:              C, or no entry under `replace`
//
// C, T and the mask are dense: presence words (null: all entries are present if `all` is nonzero, else none) and
// values (null: iso-valued).  A warp writes one presence word, the ballot of its 32 entries.

#include "entries.cuh"

extern "C" __global__ void write_vector(i64 size, const u32* c_words, int c_all, const C* c_values, C c_iso,
                                        const u32* t_words, int t_all, const T* t_values, T t_iso,
                                        const u32* mask_words, int mask_all, const M* mask_values, M mask_iso,
                                        int complement, int replace, u32* out_words, C* out_values,
                                        i64* count) {
    add_count(count, write_bits(size, out_words, [=](i64 p) {
        const bool c_hit = c_words == nullptr ? c_all != 0 : bit_test(c_words, p);
        const bool t_hit = t_words == nullptr ? t_all != 0 : bit_test(t_words, p);
        bool admitted = true;
        if constexpr (MASKED) {
            bool listed = mask_words == nullptr ? mask_all != 0 : bit_test(mask_words, p);
            if constexpr (VALUED) listed = listed && value_at(mask_values, mask_iso, p) != M(0);
            admitted = listed != (complement != 0);
        }
        bool hit = c_hit && replace == 0;
        bool from_c = hit, from_t = false;
        if (admitted) {
            from_t = t_hit;
            from_c = ACCUMULATED && c_hit;
            hit = from_c || from_t;
        }
        if (hit && out_values != nullptr) {
            C value;
            if (from_c) value = value_at(c_values, c_iso, p);
            if (from_t) {
                const T t = value_at(t_values, t_iso, p);
                if constexpr (ACCUMULATED) value = from_c ? cast<C>(accumulate(value, t)) : cast<C>(t);
                else value = cast<C>(t);
            }
            out_values[p] = value;
        }
        return hit;
    }));
}
