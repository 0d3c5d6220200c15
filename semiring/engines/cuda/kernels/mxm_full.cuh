// Definitions for products with full rows: values in groups, sums of products without a combined identity.
//
// The prologue defines the semiring, and STARTED: sums begin with a neutral value, so they need no flag of presence.

#pragma once

#include "semiring.cuh"

typedef add_z Z;

// N consecutive values, a power of two, transferred by instructions of up to 16 bytes.  Addresses are aligned to them,
// that of one value to its parts.
template <class T, int N>
struct Pack {
    static constexpr int STEP = N * int(sizeof(T)) < 16 ? N * int(sizeof(T)) : 16;
    typedef choose<STEP == 16, uint4, unsigned_of<STEP == 16 ? 8 : STEP>> Word;
    T at[N];

    DEVICE void load(const T* from) {
        if constexpr (N == 1) {
            at[0] = *from;
            return;
        }
#pragma unroll
        for (int w = 0; w < N * int(sizeof(T)) / STEP; w++) {
            const Word word = reinterpret_cast<const Word*>(from)[w];
            memcpy(at + w * (STEP / int(sizeof(T))), &word, STEP);
        }
    }
    DEVICE void store(T* to) const {
        if constexpr (N == 1) {
            *to = at[0];
            return;
        }
#pragma unroll
        for (int w = 0; w < N * int(sizeof(T)) / STEP; w++) {
            Word word;
            memcpy(&word, at + w * (STEP / int(sizeof(T))), STEP);
            reinterpret_cast<Word*>(to)[w] = word;
        }
    }
    DEVICE void fill(T value) {
#pragma unroll
        for (int v = 0; v < N; v++) at[v] = value;
    }
};

// sum = sum (+) z.  `hit`: the sum has a term.
DEVICE void accumulate(Z& sum, bool hit, Z z) {
    if constexpr (STARTED) sum = add(sum, z);
    else sum = hit ? add(sum, z) : z;
}
// Adds the sum of the lane whose number differs in the bits `delta`.  Every lane of the warp must call.
DEVICE void accumulate_lane(Z& sum, bool hit, bool other_hit, int delta) {
    const Z other = shuffle_xor(sum, delta);
    if constexpr (STARTED) sum = add(sum, other);
    else if (other_hit) sum = hit ? add(sum, other) : other;
}
DEVICE bool lane_hit(bool hit, int delta) {
    if constexpr (STARTED) return true;
    else return __shfl_xor_sync(FULL_WARP, int(hit), delta) != 0;
}
