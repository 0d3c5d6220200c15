// A row of source bits: WORDS words of 32 sources, in parts of PART words (up to 16 bytes, one load).
//
// The prologue defines WORDS: 1, 2, 4, 8, 16 or 32.

#pragma once

#include "warp.cuh"

constexpr int PART = WORDS < 4 ? int(WORDS) : 4;
constexpr int LANES = int(WORDS) / PART;  // parts of a row, one for each of so many lanes

struct Part {
    u32 word[PART];

    DEVICE bool any() const {
        u32 bits = 0;
#pragma unroll
        for (int i = 0; i < PART; i++) bits |= word[i];
        return bits != 0;
    }
    DEVICE void operator|=(const Part& other) {
#pragma unroll
        for (int i = 0; i < PART; i++) word[i] |= other.word[i];
    }
    DEVICE Part operator|(const Part& other) const {
        Part made = *this;
        made |= other;
        return made;
    }
    DEVICE Part operator&(const Part& other) const {
        Part made;
#pragma unroll
        for (int i = 0; i < PART; i++) made.word[i] = word[i] & other.word[i];
        return made;
    }
    DEVICE Part without(const Part& other) const {
        Part made;
#pragma unroll
        for (int i = 0; i < PART; i++) made.word[i] = word[i] & ~other.word[i];
        return made;
    }
};

DEVICE Part load_part(const u32* from) {
    Part made;
    if constexpr (PART == 4) {
        const uint4 four = *reinterpret_cast<const uint4*>(from);
        made.word[0] = four.x, made.word[1] = four.y, made.word[2] = four.z, made.word[3] = four.w;
    } else if constexpr (PART == 2) {
        const uint2 two = *reinterpret_cast<const uint2*>(from);
        made.word[0] = two.x, made.word[1] = two.y;
    } else {
        made.word[0] = *from;
    }
    return made;
}
DEVICE void store_part(u32* to, const Part& part) {
    if constexpr (PART == 4)
        *reinterpret_cast<uint4*>(to) = make_uint4(part.word[0], part.word[1], part.word[2], part.word[3]);
    else if constexpr (PART == 2) *reinterpret_cast<uint2*>(to) = make_uint2(part.word[0], part.word[1]);
    else *to = part.word[0];
}
