// C<M> accum= T in the arrays of C, for the positions that a list or a bitmap names.
//
//     where T has an entry:        C accum T, or T where C has none or without an accumulator
//     elsewhere, without an accumulator:  no entry
//
// LISTED: a thread takes a position of a list of type I; else a warp takes the words of a bitmap, each lane a bit.
// Types: C, T of the values, M of the mask's values.  T and the mask have a slot for each position (null words: all are
// present if `all` is nonzero, else none), or T has one for each element of the list (`aligned`).

#include "entries.cuh"

// The operands of the update, by position.
struct Update {
    int aligned;
    const u32* t_words;
    int t_all;
    const T* t_values;
    T t_iso;
    const u32* mask_words;
    int mask_all;
    const M* mask_values;
    M mask_iso;
    int complement;
    u32* c_words;
    C* c_values;

    // Write the value of position i, whose slot in T is s; 1 if C gets an entry there, -1 if it loses its own.
    DEVICE int write(i64 i, i64 s) const {
        if constexpr (MASKED) {
            bool marked = mask_words == nullptr ? mask_all != 0 : bit_test(mask_words, i);
            if constexpr (VALUED) marked = marked && value_at(mask_values, mask_iso, i) != M(0);
            if (marked == (complement != 0)) return 0;
        }
        const bool held = c_words == nullptr || bit_test(c_words, i);
        if (t_words == nullptr ? t_all != 0 : bit_test(t_words, s)) {
            const T t = value_at(t_values, t_iso, s);
            if constexpr (ACCUMULATED) c_values[i] = held ? cast<C>(accumulate(c_values[i], t)) : cast<C>(t);
            else c_values[i] = cast<C>(t);
            return held ? 0 : 1;
        }
        return !ACCUMULATED && held && c_words != nullptr ? -1 : 0;
    }
};

// The words of a bitmap are `list`, and n is their number.  The words of C are written by one lane each.
DEVICE i64 update_marked(const Update& update, i64 n, const u32* list) {
    i64 added = 0;
    for (i64 first = 32 * warp_id(); first < n; first += 32 * warp_count()) {
        const u32 mine = first + lane_id() < n ? list[first + lane_id()] : 0;
        for_each_lane(mine != 0, [&](int at) {
            const u32 word = shuffle(mine, at);
            const i64 w = first + at, i = 32 * w + lane_id();
            const int change = (word >> lane_id() & 1u) != 0 ? update.write(i, i) : 0;
            const u32 more = __ballot_sync(FULL_WARP, change > 0), fewer = __ballot_sync(FULL_WARP, change < 0);
            if (lane_id() == 0 && (more | fewer) != 0) {
                update.c_words[w] = (update.c_words[w] | more) & ~fewer;
                added += __popc(more) - __popc(fewer);
            }
        });
    }
    return added;
}

extern "C" __global__ void update_vector(i64 n, const I* list, int aligned, const u32* t_words, int t_all, const T* t_values,
                                         T t_iso, const u32* mask_words, int mask_all, const M* mask_values,
                                         M mask_iso, int complement, u32* c_words, C* c_values, const i64* before,
                                         i64 known, i64* count) {
    const Update update{aligned, t_words, t_all, t_values, t_iso, mask_words, mask_all, mask_values, mask_iso, complement,
                        c_words, c_values};
    i64 added = count != nullptr && thread_id() == 0 ? (before == nullptr ? known : *before) : 0;
    if constexpr (LISTED) {
        for (i64 p = thread_id(); p < n; p += thread_count()) {
            const i64 i = i64(list[p]);
            const int change = update.write(i, aligned != 0 ? p : i);
            const u32 bit = u32(1) << (i & 31);
            if (change > 0) atomicOr(c_words + (i >> 5), bit);
            if (change < 0) atomicAnd(c_words + (i >> 5), ~bit);
            added += change;
        }
    } else {
        // Here I is u32; the branch is compiled for lists too.
        added += update_marked(update, n, reinterpret_cast<const u32*>(list));
    }
    add_count(count, added);
}
